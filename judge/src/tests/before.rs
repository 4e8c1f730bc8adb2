//! What a failure tells of the time before it.

use fabric::Action;
use scenarios::{Step, StepAction};
use simfs::SimTime;

use super::*;

#[test]
fn a_failure_tells_since_when_nobody_has_connected_to_a_connector_that_listens_again() {
    let mut case = expecting([(What::Polls(7), 4, 4)]);
    case.story.heal = Heal::Never {
        because: "an example".to_owned(),
    };
    let mut recording = polls(6);
    let node = recording.ticks[0].monitors.keys().next().expect("a node");
    recording.unreached = [1, 3, 4, 5].map(|tick| (node.to_string(), tick)).into();
    let found = found(&case, &recording);
    let of_polls = found.iter().find(|one| one.cause.kind == CauseKind::Polls);
    let before = &of_polls.expect("it failed").before;
    assert_eq!(before.len(), 1);
    let begins = "poll 3: the connector listens again, and the monitor has not connected to it";
    assert!(before[0].starts_with(begins), "{before:?}");
}

#[test]
fn a_failure_tells_the_last_two_steps_and_the_last_call_until_then_that_was_not_accepted() {
    let mut case = expecting([(What::Polls(7), 4, 4)]);
    case.story.heal = Heal::Never {
        because: "an example".to_owned(),
    };
    let place = case.story.expectations[0].place.clone();
    let step = |seconds: u64| Step {
        at: SimTime::from_secs(seconds),
        place: place.clone(),
        text: format!("the step of {seconds}s"),
        moment: None,
        actions: vec![StepAction::World(Action::SubnetManager {
            running: false,
            reinitialise: false,
            keeps_logs: true,
        })],
    };
    case.story.steps = [1, 2, 3, 9].map(step).into();
    let mut recording = polls(6);
    let refused = |recording: &mut Recording, tick| {
        say(recording, tick, event(IB, port("mlx5_0", "1")), false);
    };
    refused(&mut recording, 1);
    refused(&mut recording, 3);
    refused(&mut recording, 5);
    let found = found(&case, &recording);
    let of_polls = found.iter().find(|one| one.cause.kind == CauseKind::Polls);
    let before = &of_polls.expect("it failed").before;
    assert_eq!(
        before,
        &[
            "2s: the step of 2s",
            "3s: the step of 3s",
            "poll 3: a call of 1 event was not accepted: UNAVAILABLE"
        ]
    );
}
