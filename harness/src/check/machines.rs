//! Checks platforms and drivers, each as far as it can be read beside the others. Start at [`Machines::of`].

use std::collections::BTreeMap;

use memory::{Found, classified};
use platforms::{
    Driver, Platform, Platforms, PortFacts, Role,
    profile::Profile,
    yaml::{self, YamlError},
};

use super::{FileKind, Mistake, Source};

/// The platforms that can be read, and the mistakes of all.
#[derive(Debug)]
pub(super) struct Machines {
    /// The shipped ones and those of the files.
    pub(super) platforms: Platforms,
    /// The mistakes.
    pub(super) mistakes: Vec<Mistake>,
}

impl Machines {
    /// Reads the platforms and drivers among these files.
    pub(super) fn of(files: &[Source]) -> Self {
        let mut mistakes: Vec<Mistake> = Vec::new();
        let mut sound: Vec<&Source> = Vec::new();
        let mut broken: Vec<&Source> = Vec::new();
        for file in files {
            let Source { name, text, kind } = file;
            let wrong = match kind {
                Some(FileKind::Driver) => wrong::<Driver>(name, text),
                Some(FileKind::Platform) => wrong::<Profile>(name, text),
                _ => continue,
            };
            match wrong.is_empty() {
                true => sound.push(file),
                false => broken.push(file),
            }
            mistakes.extend(wrong.iter().map(Mistake::from));
        }
        let platforms = loop {
            // What is wrong with a platform may be that its driver cannot be read.
            sound.retain(|file| !broken.iter().any(|driver| uses(file, driver)));
            let texts = sound.iter().map(|file| (file.name.as_str(), &*file.text));
            let texts: Vec<(&str, &str)> = texts.collect();
            let error = match Platforms::read(&texts) {
                Ok(platforms) => break platforms,
                Err(error) => error,
            };
            mistakes.push(error.located().into());
            let at = sound.iter().position(|it| it.name == error.located().file);
            match at {
                Some(at) => broken.push(sound.remove(at)),
                None => break Platforms::shipped(),
            }
        };
        let own = |platform: &Platform| sound.iter().any(|file| file.name == platform.file());
        for (name, platform) in platforms.iter().filter(|(_, platform)| own(platform)) {
            let problems = platform.check();
            mistakes.extend(problems.iter().map(|problem| Mistake::from(&problem.error)));
            if problems.is_empty() {
                let found = classified(platform);
                let unlike = unlike_declared(platform, &found).into_iter();
                let file = platform.file();
                mistakes.extend(unlike.map(|what| {
                    Mistake::new(file, None, format_args!("{file}: `{name}`: {what}"))
                }));
            }
        }
        Self {
            platforms,
            mistakes,
        }
    }
}

fn wrong<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Vec<YamlError> {
    yaml::read_every::<T>(name, text).err().unwrap_or_default()
}

/// Whether a platform names a driver.
fn uses(file: &Source, driver: &Source) -> bool {
    let name = driver
        .text
        .lines()
        .find_map(|line| line.strip_prefix("name:"));
    let name = name.unwrap_or_default().trim();
    let is_it = driver.kind == Some(FileKind::Driver) && file.kind == Some(FileKind::Platform);
    is_it && !name.is_empty() && file.text.contains(name)
}

/// The differences between the declarations of a platform and what the reference monitor finds on it, one text each.
#[must_use]
pub fn unlike_declared(platform: &Platform, found: &Result<Found, String>) -> Vec<String> {
    match (platform.refusal(), found) {
        (None, Ok(found)) => unlike(platform, found),
        (Some(_), Err(_)) => Vec::new(),
        (None, Err(line)) => vec![format!("the monitor does not start on it: {line}")],
        (Some(refusal), Ok(_)) => vec![format!("the monitor starts on it, although {refusal}")],
    }
}

/// The declared role of a port's device.
#[must_use]
pub fn declared_role(port: &PortFacts) -> String {
    if port.is_vf {
        "virtual".to_owned()
    } else {
        port.role.to_string()
    }
}

fn unlike(platform: &Platform, found: &Found) -> Vec<String> {
    let mut problems = Vec::new();
    let declared: BTreeMap<String, PortFacts> = platform
        .ports()
        .into_iter()
        .map(|port| (port.device.to_string(), port))
        .collect();
    for (device, port) in &declared {
        let wanted = match port.role {
            _ if !port.is_monitored() => None,
            Role::Compute => Some(Role::Compute),
            Role::Storage => Some(Role::Storage),
            Role::Management => None,
        };
        let rendered = declared_role(port);
        match (wanted, found.get(device)) {
            (_, None) => problems.push(format!(
                "`{device}` is declared {rendered}, and is not in the tree"
            )),
            (None, Some(Err(_))) => {}
            (None, Some(Ok(watched))) if watched.role == Role::Management => {}
            (Some(wanted), Some(Ok(watched))) if watched.role == wanted => {}
            (_, Some(Ok(watched))) => {
                let role = watched.role;
                problems.push(format!(
                    "`{device}` is declared {rendered}, the monitor finds {role}"
                ));
            }
            (Some(_), Some(Err(reason))) => problems.push(format!(
                "`{device}` is declared {rendered}, the monitor does not watch it: {reason}"
            )),
        }
    }
    let unknown = found
        .iter()
        .filter(|(device, _)| !declared.contains_key(*device));
    problems.extend(
        unknown
            .filter(|(_, found)| matches!(found, Ok(it) if it.role != Role::Management))
            .map(|(device, _)| {
                format!("`{device}` is watched by the monitor, and is not declared")
            }),
    );
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_that_the_tree_does_not_bear_out_is_named() {
        let shipped = Platforms::shipped();
        let (_, platform) = shipped.iter().next().unwrap();
        let mut found = classified(platform).unwrap();
        let watched = found
            .iter()
            .find(|(_, role)| role.is_ok())
            .unwrap()
            .0
            .clone();
        found.insert(watched.clone(), Err("it is a test".to_owned()));
        let problems = unlike(platform, &found);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(&watched) && problems[0].contains("it is a test"));
    }
}
