//! The scenario that is named with what a descriptor concedes shows it: what the documents ask there is wrong by the weaker row.

use judge::judge;
use observe::Descriptor;
use platforms::{NodeName, Platforms};
use reports::Finding;
use rstest::rstest;

use crate::promises::{Case, of_suite, promising};

/// What is found where the reference monitor plays a scenario, on the first platform to which it applies: one with InfiniBand, unless
/// what is conceded is about Ethernet alone.
fn found(name: &str, descriptor: &Descriptor) -> Vec<Finding> {
    let scenario = of_suite(name);
    let platforms = Platforms::shipped();
    let mut platforms = platforms.iter().map(|(_, platform)| platform);
    let ethernet_only = is_of_ethernet(descriptor);
    let story = platforms.find_map(|platform| {
        let mut ports = platform.ports().into_iter();
        let fits = ethernet_only == ports.all(|port| port.layer == platforms::LinkLayer::Ethernet);
        let node = NodeName::from("node-a");
        scenario.in_world(&node, platform).ok().filter(|_| fits)
    });
    let story = story.unwrap_or_else(|| panic!("{name} applies to no platform"));
    let case = Case::of(story);
    judge(&case.story, &case.truth, &case.recording, descriptor).findings
}

/// Whether what a descriptor concedes is about Ethernet ports alone.
fn is_of_ethernet(descriptor: &Descriptor) -> bool {
    let conceded = descriptor.promises.conceded();
    conceded.iter().any(|it| it.hides.ends_with(" on Ethernet"))
}

#[rstest]
#[case("down: silent")]
#[case("disabled: silent")]
#[case("polling: silent")]
#[case("init: silent")]
#[case("armed: silent")]
#[case("persists: silent")]
#[case("persists: { ethernet: silent }")]
#[case("gone_port: silent")]
#[case("gone_device: silent")]
#[case("unreadable: silent")]
#[case("hang: silent")]
#[case("char_device: silent")]
#[case("card: silent")]
#[case("first_poll: silent")]
#[case("first_poll: { after: 60s }")]
fn the_scenario_that_is_named_shows_what_is_conceded(#[case] row: &str) {
    let descriptor = promising(&format!("rows: {{ {row} }}"));
    let conceded = descriptor.promises.conceded();
    let [one] = &conceded[..] else {
        panic!("{conceded:#?}")
    };
    assert_eq!(found(one.scenario, &promising("{}")), [], "{one}");
    assert_ne!(found(one.scenario, &descriptor), [], "{one}");
}
