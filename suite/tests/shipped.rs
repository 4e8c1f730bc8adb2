//! The suite as it ships: every file is in the list, can be read, and is told somewhere.

use std::collections::BTreeMap;
use std::path::Path;

use platforms::{NodeName, Platforms};
use scenarios::{AtRest, Scenario, Unfit, WordKind, World, read};

/// Every file of the suite's folder, by its name below it.
#[expect(
    clippy::disallowed_methods,
    reason = "the test compares the list with the folder"
)]
fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files = BTreeMap::new();
    for family in std::fs::read_dir(&root).expect("the suite's folder is there") {
        let family = family.expect("a readable folder");
        for file in std::fs::read_dir(family.path()).expect("families are folders") {
            let file = file.expect("a readable folder");
            let name = format!(
                "{}/{}",
                family.file_name().display(),
                file.file_name().display()
            );
            files.insert(
                name,
                std::fs::read_to_string(file.path()).expect("a readable file"),
            );
        }
    }
    files
}

/// Every scenario of the folder; what is wrong with any of them ends the test.
fn scenarios() -> Vec<Scenario> {
    let (mut read_ones, mut wrong) = (Vec::new(), Vec::new());
    for (name, text) in files() {
        match read(&name, &text) {
            Ok(scenario) => read_ones.push(scenario),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n\n"));
    read_ones
}

#[test]
fn every_file_of_the_suite_is_in_the_list() {
    let listed: Vec<&str> = suite::scenarios().iter().map(|(name, _)| *name).collect();
    let files = files();
    let missing: Vec<String> = files
        .keys()
        .filter(|name| !listed.contains(&name.as_str()))
        .map(|name| format!("        {name:?},"))
        .collect();
    assert!(
        missing.is_empty(),
        "missing in `suite/src/lib.rs`:\n{}",
        missing.join("\n")
    );
    assert!(
        listed.is_sorted(),
        "the list in `suite/src/lib.rs` is not in order of name"
    );
    assert_eq!(listed.len(), files.len());
}

#[test]
fn every_scenario_is_told_on_some_platform_and_wrong_on_none() {
    let platforms = Platforms::shipped();
    let node = NodeName::from("node-a");
    let worlds: Vec<World> = suite::worlds()
        .iter()
        .map(|(file, text)| World::read(file, text).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    let of_world = |world: &World| {
        AtRest::of_world(world, &platforms).unwrap_or_else(|error| panic!("{error}"))
    };
    let rests: Vec<(&str, AtRest)> = platforms
        .iter()
        .map(|(name, platform)| (name, AtRest::new(&node, platform)))
        .chain(worlds.iter().map(|world| (world.name(), of_world(world))))
        .collect();
    let mut wrong = Vec::new();
    for scenario in scenarios() {
        let mut rendered = 0;
        let mut reasons = Vec::new();
        for (name, rest) in &rests {
            match scenario.at_rest(rest) {
                Ok(_) => rendered += 1,
                Err(Unfit::NotApplicable { reason }) => reasons.push(reason),
                Err(Unfit::Wrong(error)) => wrong.push(format!("{}: {error}", name)),
            }
        }
        if rendered == 0 {
            wrong.push(format!(
                "{} is told nowhere:\n{}",
                scenario.name(),
                reasons.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n\n"));
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test compares the list with the folder"
)]
fn every_world_of_the_folder_is_in_the_list_and_has_a_story() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds");
    let files = std::fs::read_dir(folder).expect("the worlds' folder is there");
    let mut files: Vec<String> = files
        .map(|file| {
            file.expect("a readable folder")
                .file_name()
                .display()
                .to_string()
        })
        .collect();
    files.sort();
    let listed: Vec<&str> = suite::worlds().iter().map(|(file, _)| *file).collect();
    assert_eq!(listed, files);
    let scenarios = scenarios();
    for (file, text) in suite::worlds() {
        let world = World::read(file, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format!("{}.yaml", world.name()), *file);
        let mut stories = scenarios.iter().filter_map(Scenario::world);
        assert!(
            stories.any(|rendered| rendered == world.name()),
            "{file} has no story"
        );
    }
}

/// The joint cases of links, workloads and the monitor, each with the stories that tell it.
const JOINT: [(&str, &[&str]); 17] = [
    ("J-01", &["joint/cable-pulled-for-good"]),
    ("J-02", &["joint/cable-out-for-five-seconds"]),
    ("J-04", &["joint/one-of-two-storage-interfaces"]),
    ("J-06", &["joint/bounced-between-polls"]),
    ("J-07", &["joint/bounced-for-three-seconds"]),
    ("J-08", &["joint/three-flaps-in-ten-minutes"]),
    ("J-09", &["joint/host-reboots-in-good-order"]),
    ("J-10", &["joint/host-loses-power"]),
    ("J-11", &["joint/driver-unloaded"]),
    ("J-12", &["joint/no-subnet-manager-after-a-bounce"]),
    ("J-13", &["joint/somebody-elses-port"]),
    ("J-14", &["joint/idle-rail"]),
    ("J-16", &["joint/buffer-overrun"]),
    (
        "J-17",
        &[
            "joint/power-policy-on-all-cards",
            "joint/power-policy-on-one-card",
        ],
    ),
    ("J-20", &["joint/monitor-restarts-on-a-dead-port"]),
    ("J-21", &["link/omni-path-is-nobodys-to-watch"]),
    ("J-22", &["joint/no-agent-and-no-fault"]),
];

#[test]
fn every_joint_case_is_told_and_says_which_it_is() {
    let scenarios = scenarios();
    for (case, stories) in JOINT {
        let named = format!("({case})");
        let telling: Vec<String> = scenarios
            .iter()
            .filter(|scenario| scenario.why().contains(&named))
            .map(Scenario::name)
            .collect();
        assert_eq!(telling, stories, "{case}");
    }
}

#[test]
fn links_and_workloads_have_eighty_scenarios_and_more() {
    let count = scenarios()
        .iter()
        .filter(|scenario| ["link", "lnet", "mpib", "joint"].contains(&scenario.family().as_str()))
        .count();
    assert!(count >= 80, "{count}");
}

#[test]
fn every_scenario_has_a_name_of_its_own_and_names_the_clauses_it_covers() {
    let mut titles = BTreeMap::new();
    for scenario in scenarios() {
        assert!(
            !scenario.covers().is_empty(),
            "{} covers no clause",
            scenario.name()
        );
        assert_eq!(format!("{}.yaml", scenario.name()), scenario.file());
        if let Some(other) = titles.insert(scenario.title().to_owned(), scenario.name()) {
            panic!("{other} and {} have the same title", scenario.name());
        }
    }
}

#[test]
fn every_word_that_is_built_is_used_by_a_shipped_scenario() {
    let texts: String = files().into_values().collect();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let used: std::collections::BTreeSet<&str> = texts.split(|c| !is_word(c)).collect();
    let unused: Vec<&str> = scenarios::vocabulary()
        .iter()
        .filter(|word| word.built)
        .filter(|word| matches!(word.kind, WordKind::StepAction | WordKind::Expectation))
        .map(|word| word.word)
        .filter(|word| !used.contains(word))
        .collect();
    assert!(unused.is_empty(), "no scenario uses {unused:?}");
}
