//! The monitor that a user names: a shipped descriptor, a descriptor's file, or a program. Start at [`read_monitor`].

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use observe::{Descriptor, shipped_descriptors};

use super::{Library, error::ReadError, texts::text_of};
use crate::{alert_rules, descriptors, near};

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
        let mut descriptor = descriptors::read_for(asked, &text_of(Path::new(asked))?, library)?;
        // A relative program path is relative to the descriptor's folder.
        if descriptor.command[0].starts_with("./") || descriptor.command[0].starts_with("../") {
            let folder = Path::new(asked).parent().unwrap_or(Path::new(""));
            let folder = fs::canonicalize(if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            })
            .map_err(|cause| ReadError::io(Path::new(asked), cause))?;
            descriptor.command[0] = folder.join(&descriptor.command[0]).display().to_string();
        }
        read_rules(asked, &mut descriptor)?;
        return Ok(descriptor);
    }
    match program(asked) {
        Some(path) => Ok(Descriptor::of_program(&path.display().to_string())),
        None if Path::new(asked).is_dir() => Err(ReadError::NoSuchMonitor {
            asked: asked.to_owned(),
            hint: format!("that is a folder: name its descriptor, such as `{asked}/monitor.yaml`"),
        }),
        None => {
            let known: Vec<&str> = shipped_descriptors()
                .map(|(file, _)| file.trim_end_matches(".yaml"))
                .collect();
            let here = format!("./{asked}");
            let near = match Path::new(&here).is_file() {
                true => vec![here.as_str()],
                false => near::names(asked, &known),
            };
            let near = near::did_you_mean(&near).or_else(|| near::files(Path::new(asked)));
            let near = near.map_or_else(String::new, |near| format!("{near} "));
            let quoted: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            Err(ReadError::NoSuchMonitor {
                asked: asked.to_owned(),
                hint: format!(
                    "{near}known are {}, a descriptor's file (`.yaml`), or a program",
                    quoted.join(", ")
                ),
            })
        }
    }
}

/// Reads the alert rules that a descriptor names, whose path starts at the descriptor's folder.
fn read_rules(asked: &str, descriptor: &mut Descriptor) -> Result<(), ReadError> {
    let Some(prometheus) = &mut descriptor.prometheus else {
        return Ok(());
    };
    let folder = Path::new(asked).parent().unwrap_or(Path::new(""));
    let path = folder.join(&prometheus.rules);
    prometheus.rules_text = text_of(&path)?;
    prometheus.rules = path.display().to_string();
    alert_rules::read(&prometheus.rules, &prometheus.rules_text, prometheus)?;
    Ok(())
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
    }
}
