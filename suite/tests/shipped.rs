//! The shipped suite: every file can be read and is played somewhere.

use std::collections::BTreeMap;

use platforms::{NodeName, Platforms};
use scenarios::{AtRest, Scenario, Unfit, WordKind, World, read};

/// Every scenario; what is wrong with any of them ends the test.
fn scenarios() -> Vec<Scenario> {
    let (mut read_ones, mut wrong) = (Vec::new(), Vec::new());
    for (name, text) in suite::scenarios() {
        match read(name, text) {
            Ok(scenario) => read_ones.push(scenario),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n\n"));
    read_ones
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
fn every_world_has_a_story() {
    let scenarios = scenarios();
    for (file, text) in suite::worlds() {
        let world = World::read(file, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(format!("{}.yaml", world.name()), file);
        let mut stories = scenarios.iter().filter_map(Scenario::world);
        assert!(
            stories.any(|rendered| rendered == world.name()),
            "{file} has no story"
        );
    }
}

/// The joint cases of links, workloads and the monitor, each with its stories.
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
fn a_scenario_that_names_platforms_says_why_properties_are_not_enough() {
    let scenarios = scenarios();
    let naming = scenarios
        .iter()
        .filter(|scenario| scenario.names_platforms());
    let silent: Vec<String> = naming
        .filter(|scenario| scenario.platforms_because().is_none())
        .map(Scenario::name)
        .collect();
    assert!(
        silent.is_empty(),
        "write what each needs, as in `platforms: {{ with: {{ compute_cards: \">= 4\" }} }}`, or `because:` beside \
         the names: {silent:?}"
    );
}

#[test]
fn every_word_that_is_built_is_used_by_a_shipped_scenario() {
    let texts: String = suite::scenarios()
        .into_iter()
        .map(|(_, text)| text)
        .collect();
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
