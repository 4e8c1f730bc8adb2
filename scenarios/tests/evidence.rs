//! Evidence: what a story is about, and whether a platform lets it matter.

use platforms::{NodeName, Platforms};
use rstest::rstest;
use scenarios::{AtRest, Evidence, Scenario, Topic, read};

fn evidence(scenario: &Scenario, platform: &str) -> Evidence {
    let platforms = Platforms::shipped();
    let platform = platforms.get(platform).expect("a shipped platform");
    let rest = AtRest::new(&NodeName::from("node-a"), platform);
    let story = scenario
        .at_rest(&rest)
        .unwrap_or_else(|error| panic!("{error}"));
    scenario.evidence(&rest, &story)
}

/// A scenario of the suite.
fn shipped(name: &str) -> Scenario {
    let file = format!("{name}.yaml");
    let mut all = suite::scenarios().iter();
    let (file, text) = all
        .find(|(path, _)| path.ends_with(&file))
        .unwrap_or_else(|| panic!("no scenario `{name}`"));
    read(file, text).unwrap_or_else(|error| panic!("{error}"))
}

/// `true` if the topic can matter, `false` if not; `None` if the story is not about it.
fn holds(evidence: &Evidence, topic: Topic) -> Option<bool> {
    let mut facts = evidence.facts().iter();
    facts
        .find(|fact| fact.topic == topic)
        .map(|fact| fact.holds)
}
