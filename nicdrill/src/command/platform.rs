//! `nicdrill platform`: lists, shows and checks platforms, and prints `topo -m` texts.

use std::path::{Path, PathBuf};

use harness::{
    check::FileKind,
    read_files::{self, Library},
};
use platforms::Platforms;
use reports::ExitCode;

use super::{Stop, check::check, select::is_path};
use crate::{
    arguments::{CheckArguments, Color, OnePlatform, PlatformFolders},
    pages::{platform_check, platform_pages},
    settings::Settings,
    terminal::{Terminal, log},
};

/// Lists every platform and variant, one per line.
pub(crate) fn platform_list(folders: &PlatformFolders) -> Result<ExitCode, Stop> {
    let (platforms, _) = read(&folders.platforms)?;
    out(&platform_pages::list(&platforms))
}

/// Prints one platform's devices, roles and cables.
pub(crate) fn platform_show(one: &OnePlatform) -> Result<ExitCode, Stop> {
    let what = one.platform.as_str();
    if !is_path(what) {
        let (platforms, _) = read(&one.folders.platforms)?;
        return out(&platform_pages::show(&platforms, what).map_err(Stop::input)?);
    }
    out(&each_of(
        what,
        &one.folders.platforms,
        platform_pages::show,
    )?)
}

/// A page about each platform in a file or folder.
fn each_of<E: std::fmt::Display>(
    path: &str,
    folders: &[String],
    page: impl Fn(&Platforms, &str) -> Result<String, E>,
) -> Result<String, Stop> {
    let mut paths = folders.to_vec();
    paths.push(path.to_owned());
    let (platforms, own) = read(&paths)?;
    let meant = read_files::platforms_of(Path::new(path), (&platforms, &own[..]));
    let meant = meant.map_err(Stop::input)?;
    let pages = meant.iter().map(|name| page(&platforms, name));
    let pages: Vec<String> = pages.collect::<Result<_, _>>().map_err(Stop::input)?;
    Ok(pages.join("\n"))
}

/// Prints the `topo -m` text of a platform or of those in a file, or the metadata of what a tool printed.
pub(crate) fn platform_topo(one: &OnePlatform) -> Result<ExitCode, Stop> {
    let what = one.platform.as_str();
    if what == "-" || is_path(what) || Path::new(what).is_file() {
        return topo_metadata(what, &one.folders.platforms);
    }
    let (platforms, _) = read(&one.folders.platforms)?;
    let matrix = platform_pages::matrix(&platforms, &one.platform).map_err(Stop::input)?;
    Ok(print_matrix(&matrix))
}

/// It has tabs between its columns, for programs that read what `nvidia-smi` prints.
fn print_matrix(text: &str) -> ExitCode {
    Terminal::new(Color::Never).verbatim(text);
    ExitCode::Success
}

fn topo_metadata(file: &str, folders: &[String]) -> Result<ExitCode, Stop> {
    let (name, text) = if file == "-" {
        (
            "standard input",
            read_files::text_in().map_err(Stop::input)?,
        )
    } else {
        let text = read_files::text_of(Path::new(file)).map_err(Stop::input)?;
        (file, text)
    };
    if file != "-" && FileKind::of(file, &text) == Some(FileKind::Platform) {
        let matrices = each_of(file, folders, platform_pages::matrix)?;
        return Ok(print_matrix(&matrices));
    }
    if file != "-" {
        let wanted = read_files::is_wanted(name, &text, "platform", &[FileKind::Platform]);
        wanted.map_err(Stop::input)?;
    }
    let (json, notes) = platform_pages::metadata(&text)
        .map_err(|error| Stop::input(format_args!("{name}: {error}")))?;
    for note in notes {
        log(&format!("{name}: {note}"));
    }
    out(&json)
}

/// Parses, renders and classifies platforms, and lists problems.
pub(crate) fn platform_check(what: &[String], monitor: &str) -> Result<ExitCode, Stop> {
    let (paths, names): (Vec<&String>, Vec<&String>) = what.iter().partition(|what| is_path(what));
    let paths: Vec<String> = paths.into_iter().cloned().collect();
    let settings = Settings::read()?;
    let mut platforms = settings.platforms;
    platforms.extend(paths.iter().map(PathBuf::from));
    let library = match Library::read(&settings.scenarios, &platforms) {
        Ok(library) => library,
        // What cannot be read is told like every file of a user: with all its mistakes.
        Err(error) if paths.is_empty() => return Err(Stop::input(error)),
        Err(error) => {
            let files = CheckArguments { files: paths };
            return match check(&files)? {
                ExitCode::Success => Err(Stop::input(error)),
                code => Ok(code),
            };
        }
    };
    let mut names: Vec<String> = names.into_iter().cloned().collect();
    if !paths.is_empty() {
        let own = (&library.platforms, &library.own_platforms[..]);
        let of_path = |path: &String| read_files::platforms_of(Path::new(path), own).ok();
        let meant: Vec<String> = paths.iter().filter_map(of_path).flatten().collect();
        if meant.is_empty() && names.is_empty() {
            let shown = paths.join("`, `");
            log(&format!(
                "NOTE  `{shown}` has drivers only, and no platform: they are checked as `nicdrill check` does"
            ));
            return check(&CheckArguments { files: paths });
        }
        names.extend(meant);
    }
    let descriptor = read_files::read_monitor(monitor, &library).map_err(Stop::input)?;
    let checked = platform_check::check(&library, &names, &descriptor).map_err(Stop::input)?;
    out(&checked.text)?;
    Ok(if checked.problems == 0 {
        ExitCode::Success
    } else {
        ExitCode::Usage
    })
}

pub(super) fn read(paths: &[String]) -> Result<(Platforms, Vec<String>), Stop> {
    let mut all = Settings::read()?.platforms;
    all.extend(paths.iter().map(PathBuf::from));
    read_files::read_platforms(&all).map_err(Stop::input)
}

fn out(text: &str) -> Result<ExitCode, Stop> {
    Terminal::new(Color::Never).out(text);
    Ok(ExitCode::Success)
}
