//! `nicdrill init`: writes a working monitor, its descriptor, the `.proto` and a CI file into a folder.
//!
//! The files are those of `templates/common` and of the language's folder beside it. `nicdrill.md` has the
//! commands that come next; they are printed too. Nothing is overwritten. Start at [`init`].

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use include_dir::{Dir, DirEntry, include_dir};
use reports::ExitCode;

use super::Stop;
use crate::{
    arguments::{Color, InitArguments, Language},
    new_file::write_new,
    terminal::Terminal,
};

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The file whose code block has the next commands.
const GUIDE: &str = "nicdrill.md";

/// A file of a template: its path in the folder, and its text.
type Template = (PathBuf, &'static str);

/// Writes the files and prints what to do next.
pub(crate) fn init(arguments: &InitArguments) -> Result<ExitCode, Stop> {
    let folder = &arguments.dir;
    let files = files(arguments.lang);
    let taken: Vec<String> = files
        .iter()
        .map(|(path, _)| folder.join(path))
        .filter(|path| fs::symlink_metadata(path).is_ok())
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if !taken.is_empty() {
        let plural = if taken.len() == 1 { "exists" } else { "exist" };
        return Err(
            Stop::usage(format!("{} already {plural}", taken.join(", ")))
                .hint("name an empty folder, or move them away; nothing was written"),
        );
    }
    let mut page = String::new();
    for (place, (path, text)) in files.iter().enumerate() {
        let path = folder.join(path);
        write(&path, text).map_err(|error| {
            // A part of the files would stand in the way of another attempt.
            for (written, _) in &files[..place] {
                let _ = fs::remove_file(folder.join(written));
            }
            Stop::usage(format!("`{}` cannot be written: {error}", path.display()))
        })?;
        writeln!(page, "wrote {}", path.display()).expect("writing to a string cannot fail");
    }
    let guide = files.iter().find(|(path, _)| path == Path::new(GUIDE));
    let (_, guide) = guide.expect("each template has a guide");
    write!(page, "next:\n  cd {}\n", folder.display()).expect("writing to a string cannot fail");
    for command in next_commands(guide) {
        writeln!(page, "  {command}").expect("writing to a string cannot fail");
    }
    Terminal::new(Color::Never).out(&page);
    Ok(ExitCode::Success)
}

/// The files of a language's monitor, by path.
fn files(language: Language) -> Vec<Template> {
    let folder = match language {
        Language::Python => "python",
        Language::Go => "go",
        Language::Rust => "rust",
        Language::Bash => "bash",
    };
    let mut files = Vec::new();
    // A script writes lines.
    if language != Language::Bash {
        files.push((PathBuf::from("health_event.proto"), proto::TEXT));
    }
    for folder in ["common", folder] {
        let root = TEMPLATES.get_dir(folder).expect("each language has one");
        collect(root, root.path(), &mut files);
    }
    files.sort();
    files
}

fn collect(folder: &'static Dir<'static>, root: &Path, files: &mut Vec<Template>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(folder) => collect(folder, root, files),
            DirEntry::File(file) => {
                let path = file.path().strip_prefix(root).expect("it lies in it");
                let text = file.contents_utf8().expect("a template is text");
                files.push((path.to_owned(), text));
            }
        }
    }
}

/// Writes a new file; a script is executable.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mode = if text.starts_with("#!") { 0o777 } else { 0o666 };
    write_new(path, text, mode)
}

/// The lines of a guide's first code block.
fn next_commands(guide: &str) -> impl Iterator<Item = &str> {
    let lines = guide.lines().skip_while(|line| !line.starts_with("```"));
    lines.skip(1).take_while(|line| !line.starts_with("```"))
}
