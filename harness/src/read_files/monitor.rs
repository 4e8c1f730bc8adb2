//! The monitor that a user names: a shipped descriptor, a descriptor's file, or a program. Start at [`read_monitor`].

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use files::FileError;
use observe::{Descriptor, shipped_descriptors};

use super::{Library, error::ReadError, texts::text_of, wanted::is_wanted};
use crate::{alert_rules, check::kind::FileKind, descriptors, near};

/// How many files beside one that is not there are looked at. Chosen: a folder of descriptors.
const LOOKED_AT: usize = 50;

/// How many names a hint lists. Chosen.
const NAMES_MAX: usize = 3;

/// The monitor named by `asked`: a shipped descriptor's name, a descriptor file, or a program. Its promises may be about the
/// counters of this library.
///
/// # Errors
/// If it is none of these.
pub fn read_monitor(asked: &str, library: &Library) -> Result<Descriptor, ReadError> {
    if let Some(descriptor) = descriptors::shipped(asked) {
        return Ok(descriptor);
    }
    if [".yaml", ".yml"]
        .iter()
        .any(|ending| asked.ends_with(ending))
    {
        let text = text_of(Path::new(asked)).map_err(|error| error.or_hint(|| beside(asked)))?;
        is_wanted(asked, &text, "descriptor", &[FileKind::Descriptor])?;
        return monitor_in(asked, &text, library);
    }
    match program(asked) {
        Some(path) => Ok(Descriptor::of_program(&path.display().to_string())),
        None if Path::new(asked).is_dir() => Err(ReadError::NoSuchMonitor {
            asked: asked.to_owned(),
            hint: format!("that is a folder: name its descriptor, such as `{asked}/monitor.yaml`"),
        }),
        None => {
            let known = known();
            let here = format!("./{asked}");
            let near = match Path::new(&here).is_file() {
                true => vec![here.as_str()],
                false => near::names(asked, &known),
            };
            let near = near::did_you_mean(&near).or_else(|| near::files(Path::new(asked)));
            let near = near.map_or_else(String::new, |near| format!("{near} "));
            Err(ReadError::NoSuchMonitor {
                asked: asked.to_owned(),
                hint: format!(
                    "{near}known are {}, a descriptor's file (`.yaml`), or a program",
                    near::quoted(&known).join(", ")
                ),
            })
        }
    }
}

/// The monitor of a descriptor's file with this text.
///
/// # Errors
/// If the text is no descriptor, or the alert rules that it names cannot be read.
pub(crate) fn monitor_in(
    file: &str,
    text: &str,
    library: &Library,
) -> Result<Descriptor, ReadError> {
    let mut descriptor = descriptors::read_for(file, text, library)?;
    // A relative program path is relative to the descriptor's folder.
    if descriptor.command[0].starts_with("./") || descriptor.command[0].starts_with("../") {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let folder = fs::canonicalize(if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        })
        .map_err(|cause| ReadError::io(Path::new(file), cause))?;
        descriptor.command[0] = folder.join(&descriptor.command[0]).display().to_string();
    }
    read_rules((file, text), &mut descriptor)?;
    Ok(descriptor)
}

/// The names of the shipped descriptors.
fn known() -> Vec<&'static str> {
    shipped_descriptors()
        .map(|(file, _)| file.trim_end_matches(".yaml"))
        .collect()
}

/// The hint at a descriptor's file that is not there: the descriptors in its folder, or else what a monitor can be.
fn beside(asked: &str) -> String {
    let folder = Path::new(asked).parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter();
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|end| end == "yaml" || end == "yml")
        })
        .collect();
    files.sort();
    files.truncate(LOOKED_AT);
    let names = files.iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?;
        let kind = FileKind::of(name, &text_of(path).ok()?);
        (kind == Some(FileKind::Descriptor)).then_some(name)
    });
    let names: Vec<&str> = names.take(NAMES_MAX).collect();
    match names.is_empty() {
        false => format!(
            "descriptors beside it are {}",
            near::quoted(&names).join(", ")
        ),
        true => format!(
            "no descriptor lies there; known are {}, a descriptor's file, or a program, and `nicdrill init` writes a descriptor",
            near::quoted(&known()).join(", ")
        ),
    }
}

/// Reads the alert rules that a descriptor names, whose path starts at the descriptor's folder. Each alert of which the descriptor
/// says what it means is one of them.
fn read_rules((asked, text): (&str, &str), descriptor: &mut Descriptor) -> Result<(), ReadError> {
    let Some(prometheus) = &mut descriptor.prometheus else {
        return Ok(());
    };
    let folder = Path::new(asked).parent().unwrap_or(Path::new(""));
    let path = folder.join(&prometheus.rules);
    prometheus.rules_text = text_of(&path)?;
    prometheus.rules = path.display().to_string();
    let rules = alert_rules::read(&prometheus.rules, &prometheus.rules_text, prometheus)?;
    let unknown = alert_rules::unknown(&descriptor.alerts, prometheus, &rules).into_iter();
    let mut unknown: Vec<FileError> = unknown
        .map(|problem| problem.located(asked, text))
        .collect();
    unknown.sort_by_key(|mistake| mistake.place);
    ReadError::none_of(unknown.into_iter().map(ReadError::from).collect())
}

/// The path of a program given by path, or by a name in `PATH`.
fn program(asked: &str) -> Option<PathBuf> {
    if asked.contains('/') {
        return fs::canonicalize(asked).ok().filter(|path| path.is_file());
    }
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(asked))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(asked: &str) -> Result<Descriptor, ReadError> {
        let library = Library::read(&[], &[]).expect("the suite can be read");
        read_monitor(asked, &library)
    }

    #[test]
    fn a_monitor_is_a_name_a_file_or_a_program() {
        assert_eq!(read("reference").unwrap().name, "reference");
        assert!(read("/bin/true").unwrap().command[0].ends_with("true"));
        let error = read("refrence").unwrap_err().to_string();
        assert!(
            error.contains("hint: did you mean `reference`? known are"),
            "{error}"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.yaml");
        let text = "descriptor_version: 1\nname: mine\ncommand: [./bin/mine]\n";
        fs::write(&path, text).unwrap();
        let command = &read(path.to_str().unwrap()).unwrap().command[0];
        let there = fs::canonicalize(folder.path()).unwrap();
        assert!(Path::new(command).starts_with(there), "{command}");
    }

    #[test]
    fn a_descriptor_that_does_not_exist_is_refused_with_the_names_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("monitor.yaml"), "").unwrap();
        for asked in ["montior.yaml", "mon"] {
            let path = folder.path().join(asked);
            let error = read(path.to_str().unwrap()).unwrap_err();
            let hint = error.hint().expect("a hint").into_owned();
            assert!(hint.contains("monitor.yaml`?"), "{hint}");
        }
        // A name that is near to none.
        let path = folder.path().join("elsewhere.yaml");
        let hint = |path: &Path| {
            let error = read(path.to_str().unwrap()).unwrap_err();
            error.hint().expect("a hint").into_owned()
        };
        assert!(
            hint(&path).contains("`nicdrill init` writes"),
            "{}",
            hint(&path)
        );
        let mine = "descriptor_version: 1\nname: mine\ncommand: [./mine]\n";
        fs::write(folder.path().join("mine.yaml"), mine).unwrap();
        assert_eq!(hint(&path), "descriptors beside it are `mine.yaml`");
    }
}
