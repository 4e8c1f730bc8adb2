//! `nicdrill platform new` and `capture`: writes a platform's file from another platform, a node or
//! a dump.

use std::{
    io,
    path::{Path, PathBuf},
};

use harness::read_files;
use memory::roles_found;
use reports::ExitCode;

use super::{Stop, duration::duration, platform};
use crate::{
    arguments::{CaptureArguments, Color, NewArguments},
    new_file::write_new,
    terminal::{Terminal, log},
};

/// What a dump is.
const DUMP: &str = "a dump is one file: what `grep -r . /sys/class/infiniband/*/ /sys/class/infiniband/*/device/` and \
                    `ls -l /sys/class/infiniband` print on the node";

/// Refuses a name that no platform can have.
fn fits(name: &str) -> Result<(), Stop> {
    platforms::platform_name(name).map_err(|problem| {
        let stop = Stop::usage(problem.to_string());
        match problem.hint() {
            Some(hint) => stop.hint(hint),
            None => stop,
        }
    })
}

/// Copies another platform's or driver's file under a new name.
pub(crate) fn platform_new(arguments: &NewArguments) -> Result<ExitCode, Stop> {
    let (platforms, _) = platform::read(&arguments.folders.platforms)?;
    let name = &arguments.name;
    let from = arguments.from.as_deref();
    if arguments.driver {
        if platforms.has_driver(name) {
            return Err(Stop::usage(format!("there is a driver `{name}` already"))
                .hint("give it another name"));
        }
        let text = platforms
            .driver_template(name, from.unwrap_or("mlx5-eth"))
            .map_err(Stop::input)?;
        return put(&text, (name, "nicdrill check"), arguments.out.as_deref());
    }
    fits(name)?;
    if platforms.get(name).is_some() {
        return Err(Stop::usage(format!("there is a platform `{name}` already"))
            .hint("give it another name"));
    }
    let text = platforms
        .template(name, from.unwrap_or("h100-oci"))
        .map_err(Stop::input)?;
    put(&text, (name, CHECK), arguments.out.as_deref())
}

/// Writes a platform's file from a node or a dump.
pub(crate) fn platform_capture(arguments: &CaptureArguments) -> Result<ExitCode, Stop> {
    let (known, _) = platform::read(&arguments.folders.platforms)?;
    let name = arguments.name.as_str();
    fits(name)?;
    if let Some(dump) = arguments.from_dump.as_ref().filter(|dump| dump.is_dir()) {
        return Err(Stop::usage(format!("`{}` is a folder", dump.display())).hint(DUMP));
    }
    if known.get(name).is_some() {
        return Err(Stop::usage(format!("there is a platform `{name}` already"))
            .hint("give another by `--name`"));
    }
    if arguments.from_dump.is_none() {
        is_root(&arguments.root)?;
    }
    let text_of = |file: &Path| read_files::text_of(file).map_err(Stop::input);
    let matrix = match &arguments.topo {
        Some(file) => Some(text_of(file)?),
        None if arguments.from_dump.is_none() && capture::is_this_node(&arguments.root) => {
            capture::matrix_of_this_node()
        }
        None => None,
    };
    let matrix = matrix.as_deref();
    let asked = capture::Asked {
        counters: arguments.counters,
        identifiers: arguments.keep_identifiers,
    };
    let captured = match &arguments.from_dump {
        Some(file) => {
            let dump = text_of(file)?;
            if dump.trim().is_empty() {
                return Err(Stop::usage(format!("`{}` is empty", file.display())).hint(DUMP));
            }
            capture::of_dump(&dump, matrix, name, asked, &known, &roles_found)
        }
        None => {
            let limit = duration(&arguments.reading.read_limit)?;
            let mut root = capture::LiveRoot::new(&arguments.root, limit);
            capture::of_node(&mut root, matrix, name, asked, &known, &roles_found)
        }
    };
    let captured = captured.map_err(Stop::input)?;
    for note in &captured.notes {
        log(&format!("note: {note}"));
    }
    put(&captured.yaml, (name, CHECK), arguments.out.as_deref())
}

/// Refuses a root that is no folder: it would be read as a node without devices.
pub(super) fn is_root(root: &Path) -> Result<(), Stop> {
    let shown = root.display();
    if root.is_dir() {
        return Ok(());
    }
    Err(Stop::usage(match root.exists() {
        true => format!("`--root {shown}` is no folder"),
        false => format!("there is no folder `{shown}`"),
    })
    .hint("`--root` names the folder in which the node's `sys` and `proc` are"))
}

/// What checks a platform's file.
const CHECK: &str = "nicdrill platform check";

/// Writes a new file, and prints what to do next; `-` is standard output.
fn put(text: &str, (name, check): (&str, &str), out: Option<&Path>) -> Result<ExitCode, Stop> {
    if out == Some(Path::new("-")) {
        Terminal::new(Color::Never).out(text);
        return Ok(ExitCode::Success);
    }
    let file = out.map_or_else(|| PathBuf::from(format!("{name}.yaml")), Path::to_owned);
    let shown = file.display();
    write_new(&file, text, 0o666).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Stop::usage(format!("`{shown}` already exists")).hint("give another file by `--out`")
        }
        _ => Stop::usage(format!("`{shown}` cannot be written: {error}")),
    })?;
    let path = if file.is_absolute() || file.starts_with(".") || file.starts_with("..") {
        shown.to_string()
    } else {
        format!("./{shown}")
    };
    log(&format!(
        "{name} is written; `{check} {path}` says what it has"
    ));
    Ok(ExitCode::Success)
}
