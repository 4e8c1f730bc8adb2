//! A law over the cards of all makes: a story that applies to a platform can be staged there. What its drivers do not have is
//! found when the story is resolved, with a reason.

use std::collections::BTreeSet;

use director::{FreezeError, freeze_at};
use platforms::{NodeName, Platform, Platforms};
use scenarios::AtRest;

/// NVIDIA's cards, which the golden traces of the suite are played on.
const NVIDIA: u16 = 0x15b3;

#[test]
fn a_story_that_applies_to_the_cards_of_another_make_is_staged_there() {
    let node = NodeName::from("node-a");
    let vendors_of = |platform: &Platform| -> BTreeSet<u16> {
        let machine = platform.machine(&node);
        machine.functions.values().map(|of| of.vendor).collect()
    };
    let shipped = Platforms::shipped();
    let all: BTreeSet<u16> = shipped.iter().flat_map(|(_, of)| vendors_of(of)).collect();
    let foreign: BTreeSet<u16> = all.iter().copied().filter(|of| *of != NVIDIA).collect();
    let read = suite::scenarios()
        .into_iter()
        .map(|(file, text)| scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}")));
    let read: Vec<_> = read.collect();
    let (mut staged, mut failed) = (0, Vec::new());
    for needs_topology in [true, false] {
        let platforms = Platforms::shipped().for_monitor(&foreign, needs_topology);
        for (name, platform) in platforms.iter() {
            if vendors_of(platform).is_disjoint(&foreign) {
                continue;
            }
            let rest = AtRest::new(&node, platform);
            for story in read.iter().filter_map(|story| story.at_rest(&rest).ok()) {
                // What is done within a poll is left out without a monitor, and what follows from it.
                if story.steps.iter().any(|step| step.moment.is_some()) {
                    continue;
                }
                staged += 1;
                if let Err(FreezeError::Stage(error)) = freeze_at(&story, None) {
                    failed.push(format!("{}@{name}: {error}", story.name));
                }
            }
        }
    }
    assert_eq!(failed, [""; 0]);
    assert!(staged > 200, "{staged}");
}
