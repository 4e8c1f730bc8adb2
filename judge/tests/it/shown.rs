//! A law over all platforms, drivers and scenarios: where an event about a fault is demanded, a file shows the fault.
//! Whatever happens to its link, a driver may say that its port is up; a story about that link does not apply there.

use std::collections::BTreeSet;

use director::{NodeView, Trees, Truth};
use memory::play_in_memory;
use platforms::{NodeName, Platforms};
use scenarios::{About, AtRest, Expectation, StepAction, Story, What};
use terms::Severity;

use crate::wire::reference;

/// The families that are played on every platform; on those whose cards are not the usual ones, all are.
const ON_ALL: [&str; 3] = ["port/", "roce/", "fabric/"];

/// The check of character devices, which are no part of what is known of a port.
const CHAR_DEVICES: &str = "InfiniBandCharDeviceCheck";

#[test]
fn a_demanded_fault_differs_from_health_in_a_file() {
    let shipped = Platforms::shipped();
    let node = NodeName::from("node-a");
    let vendors_of = |platform: &platforms::Platform| -> BTreeSet<u16> {
        let machine = platform.machine(&node);
        machine.functions.values().map(|of| of.vendor).collect()
    };
    let all: BTreeSet<u16> = shipped.iter().flat_map(|(_, of)| vendors_of(of)).collect();
    let platforms = shipped.for_monitor(&all, true);
    let (reference, mut trees) = (reference(), Trees::default());
    let (mut demanded, mut unseen) = (0, Vec::new());
    let scenarios: Vec<_> = suite::scenarios()
        .into_iter()
        .map(|(file, text)| scenarios::read(file, text).unwrap_or_else(|error| panic!("{error}")))
        .collect();
    for (name, platform) in platforms.iter() {
        let is_usual = vendors_of(platform).contains(&0x15b3);
        let rest = AtRest::new(&node, platform);
        for scenario in &scenarios {
            let is_meant = ON_ALL
                .iter()
                .any(|family| scenario.name().starts_with(family));
            let Some(story) = scenario
                .at_rest(&rest)
                .ok()
                .filter(|_| is_meant || !is_usual)
            else {
                continue;
            };
            let faults: Vec<_> = story.expectations.iter().filter_map(fault).collect();
            if faults.is_empty() || rules_a_file(&story) || has_moments(&story) {
                continue;
            }
            let played = play_in_memory(&story, &reference, None, &mut trees);
            demanded += faults.len();
            let of_it = faults
                .iter()
                .filter(|(about, by)| !is_seen(&played.truth, about, *by));
            unseen.extend(of_it.map(|(about, _)| format!("{}@{name}: {about:?}", story.name)));
        }
    }
    assert_eq!(unseen, [""; 0]);
    assert!(demanded > 1000, "{demanded}");
}

/// The subject of a fault that an expectation demands of the state checks, and the last tick in which it may come.
fn fault(expectation: &Expectation) -> Option<(&About, u64)> {
    match &expectation.what {
        What::Say { event, times, .. }
            if event.tone != Severity::Healthy
                && event.counter.is_none()
                && event.check.as_deref() != Some(CHAR_DEVICES)
                && times.at_least > 0 =>
        {
            Some((&event.about, expectation.window.to))
        }
        _ => None,
    }
}

/// What reads as another text than it is shows a fault by itself.
fn rules_a_file(story: &Story) -> bool {
    let mut actions = story.actions();
    actions.any(|action| matches!(action, StepAction::Rule(_)))
}

/// What is done within a poll is done for a monitor that reads the device.
fn has_moments(story: &Story) -> bool {
    story.steps.iter().any(|step| step.moment.is_some())
}

/// Whether a poll could see, by a tick, that a subject is not as it should be.
fn is_seen(truth: &Truth, about: &About, by: u64) -> bool {
    let differs = |views: &NodeView| match about {
        About::Port(slot) => !views.healthy(slot.pci, slot.port),
        About::Device(_, pci) => !views.is_whole(*pci),
        About::Card(_, pci) => {
            let functions = views.0.keys().filter(|of| of.card() == pci.card());
            functions.into_iter().any(|of| !views.is_whole(*of))
        }
        // What bears a name is found by it.
        About::NamedPort(name, _) | About::NamedDevice(name) => {
            let bearer = views.0.iter().find(|(_, view)| view.name == *name);
            bearer.is_none_or(|(pci, _)| !views.is_whole(*pci))
        }
        About::Check => true,
    };
    let ticks = truth
        .ticks
        .iter()
        .take(usize::try_from(by).map_or(usize::MAX, |by| by + 1));
    let views = ticks.flat_map(|tick| tick.nodes.values());
    views
        .flat_map(|node| [&node.views, &node.after])
        .any(|views| differs(views))
}
