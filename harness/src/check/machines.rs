//! Checks platforms and drivers, each as far as it can be read beside the others. Start at [`Machines::of`].

use std::collections::BTreeMap;

use memory::{FoundRoles, Unclassified, classified};
use platforms::{NicRole, Platform, Platforms, PortFacts, Survey, natural};

use super::{FileKind, Mistake, Source};

/// The platforms that can be read, and the mistakes of all.
#[derive(Debug)]
pub(super) struct Machines {
    /// The shipped ones and those of the files.
    pub(super) platforms: Platforms,
    pub(super) mistakes: Vec<Mistake>,
    /// The names of platforms that cannot be read.
    pub(super) broken: Vec<String>,
}

impl Machines {
    /// Reads the platforms and drivers among these files.
    pub(super) fn of(files: &[Source]) -> Self {
        let of_kind = |kind: FileKind| {
            let files = files.iter().filter(move |file| file.kind == Some(kind));
            files.map(|file| (file.name.as_str(), file.text.as_str()))
        };
        let drivers: Vec<(&str, &str)> = of_kind(FileKind::Driver).collect();
        let profiles: Vec<(&str, &str)> = of_kind(FileKind::Platform).collect();
        let survey = Survey::of(&drivers, &profiles);
        let mut mistakes: Vec<Mistake> = survey.mistakes.iter().map(Mistake::from).collect();
        let all = drivers.into_iter().chain(profiles);
        let mut sound: Vec<(&str, &str)> = all
            .filter(|(file, _)| survey.sound.contains(*file))
            .collect();
        let platforms = loop {
            let error = match Platforms::read(&sound) {
                Ok(platforms) => break platforms,
                Err(error) => error,
            };
            // The keys of a driver may stand where only a survey finds them.
            mistakes.push(Mistake::from(&error));
            let before = sound.len();
            sound.retain(|(file, _)| *file != error.file);
            if sound.len() == before {
                break Platforms::shipped();
            }
        };
        let own = |platform: &Platform| sound.iter().any(|(file, _)| *file == platform.file());
        for (name, platform) in platforms.iter().filter(|(_, platform)| own(platform)) {
            if platform.check().is_empty() {
                let found = classified(platform);
                let unlike = unlike_declared(platform, &found).into_iter();
                let file = platform.file();
                mistakes.extend(unlike.map(|what| {
                    Mistake::new(file, None, format_args!("{file}: `{name}`: {what}"))
                }));
            }
        }
        let is_read = |file: &str| sound.iter().any(|(sound, _)| *sound == file);
        let broken = of_kind(FileKind::Platform).filter(|(file, _)| !is_read(file));
        let broken = broken.filter_map(|(_, text)| name_in(text)).collect();
        Self {
            platforms,
            mistakes,
            broken,
        }
    }
}

/// The name in a text that may be no YAML.
fn name_in(text: &str) -> Option<String> {
    let name = text.lines().find_map(|line| line.strip_prefix("name:"))?;
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}

/// The differences between the declarations of a platform and what the reference monitor finds on it, one text each.
#[must_use]
pub fn unlike_declared(
    platform: &Platform,
    found: &Result<FoundRoles, Unclassified>,
) -> Vec<String> {
    match (platform.documented_refusal(), found) {
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

fn unlike(platform: &Platform, found: &FoundRoles) -> Vec<String> {
    let mut problems = Vec::new();
    let declared: BTreeMap<String, PortFacts> = platform
        .ports()
        .into_iter()
        .map(|port| (port.device.to_string(), port))
        .collect();
    let mut in_order: Vec<(&String, &PortFacts)> = declared.iter().collect();
    in_order.sort_by_cached_key(|(device, _)| natural(device));
    for (device, port) in in_order {
        let wanted = match port.role {
            _ if !port.is_monitored() => None,
            NicRole::Compute => Some(NicRole::Compute),
            NicRole::Storage => Some(NicRole::Storage),
            NicRole::Management => None,
        };
        let rendered = declared_role(port);
        match (wanted, found.get(device)) {
            (_, None) => problems.push(format!(
                "`{device}` is declared {rendered}, and is not in the tree"
            )),
            (None, Some(Err(_))) => {}
            (None, Some(Ok(watched))) if watched.role == NicRole::Management => {}
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
            .filter(|(_, found)| matches!(found, Ok(it) if it.role != NicRole::Management))
            .map(|(device, _)| {
                format!("`{device}` is watched by the monitor, and is not declared")
            }),
    );
    problems
}

#[cfg(test)]
mod tests {
    use memory::Unmonitored;

    use super::*;

    /// A shipped driver and a shipped platform with it, under other names, with these changes: what is told of them.
    fn check(of_driver: &[(&str, &str)], of_platform: &[(&str, &str)], expected: &[&str]) {
        let spoilt = |file: &str, changes: &[(&str, &str)]| {
            let mut shipped = Platforms::shipped_texts();
            let (_, text) = shipped.find(|(known, _)| known == file).unwrap();
            let text = text
                .replace("name: mlx5-eth\n", "name: own-eth\n")
                .replace("name: h100-oci\n", "name: mine\n")
                .replace("driver: mlx5-eth", "driver: own-eth");
            changes.iter().fold(text, |text, (from, to)| {
                assert!(text.contains(from), "`{from}` is not in the text");
                text.replacen(from, to, 1)
            })
        };
        let files = [
            (
                "p",
                FileKind::Platform,
                "profiles/h100-oci.yaml",
                of_platform,
            ),
            ("d", FileKind::Driver, "drivers/mlx5-eth.yaml", of_driver),
        ];
        let files = files.map(|(name, kind, file, changes)| Source {
            name: name.to_owned(),
            text: spoilt(file, changes),
            kind: Some(kind),
        });
        let machines = Machines::of(&files);
        let told: Vec<&str> = machines
            .mistakes
            .iter()
            .map(|it| it.text.as_str())
            .collect();
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(
                told.contains(expected),
                "expected `{expected}`, told:\n{told}"
            );
        }
        let is_read = machines.platforms.get("mine").is_some();
        assert_eq!(is_read, expected.is_empty());
    }

    #[test]
    fn a_platform_and_its_driver_without_a_mistake_are_read() {
        check(&[], &[], &[]);
    }

    /// docs/decisions.md, 11: the name of a device decides before its vendor.
    #[test]
    fn a_card_of_another_vendor_that_is_named_as_nvidias_is_watched() {
        let models = [
            ("{ vendor: 0x15b3", "{ vendor: 0x4242"),
            ("{ vendor: 0x15b3", "{ vendor: 0x4242"),
        ];
        check(&[], &models, &[]);
    }

    #[test]
    fn mistakes_of_words_names_and_values_are_told_at_once() {
        let of_driver = [
            ("gid_table:", "gid_tabel:"),
            ("node_type: \"1: CA\"", "node_type: \"1:CA\""),
        ];
        let of_platform = [
            ("role: compute", "role: compuet"),
            ("model: cx6dx", "model: cx6"),
            ("topo: NODE PXB NODE*2 SYS*4", "topo: NODE PXB NODE*2 SYS*5"),
            ("driver: own-eth, numa: 1", "driver: own-ethe, numa: 1"),
            (
                "default_route: none",
                "default_route: none\n    colour: red",
            ),
        ];
        let expected = [
            "did you mean `1: CA`?",
            "did you mean `gid_table`?",
            "unknown word `compuet`",
            "names model `cx6`",
            "has 9 topology levels for 8 GPUs",
            "names driver `own-ethe`",
            "unknown key `colour`",
        ];
        check(&of_driver, &of_platform, &expected);
    }

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
        let unknown = Unmonitored::Unknown("it is a test".to_owned());
        found.insert(watched.clone(), Err(unknown));
        let problems = unlike(platform, &found);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(&watched) && problems[0].contains("it is a test"));
    }
}
