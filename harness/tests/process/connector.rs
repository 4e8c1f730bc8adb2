//! Every behaviour of a connector, over a real socket, with a real client.

use harness::process::ProcessOptions;
use observe::Broken;

use crate::{log, play, rendered, story, toy};

/// Polls 1 and 2 meet the behaviour; in polls 0 and 3 the connector accepts.
fn check(action: &str, received: &str, heard: &str) {
    let story = story(&format!(
        "timeline:\n  - at: 1s\n    do: [ {{ connector: {action} }} ]\n  - at: 3s\n    do: [ {{ connector: accept }} ]\nuntil: 3s\nheal: never\nbecause: a test\n"
    ));
    let played = play(&story, &toy("caller", ""), ProcessOptions::default());
    assert_eq!(played.recording.broken, None);
    assert_eq!((&*log(&played)[0], &*log(&played)[2]), ("Ok", heard));
    // A client may only notice by a failed call that an old connection is closed.
    let first = &log(&played)[1];
    assert!(
        first == heard || (heard == "Unavailable" && first == "Unknown"),
        "{first}"
    );
    assert_eq!(
        rendered(&played)[..3],
        [
            "1 [accepted: 18 ports] []",
            &format!("1 [{received}] []"),
            &format!("1 [{received}] []")
        ]
    );
    let last = &log(&played)[3];
    assert!(last == "Ok" || last == heard, "{last}");
}

pub(crate) fn accepts() {
    check("accept", "accepted: ", "Ok");
}

pub(crate) fn is_absent() {
    check("absent", "", "Unavailable");
}

pub(crate) fn nobody_listens() {
    check("down", "", "Unavailable");
}

pub(crate) fn refuses() {
    check("refuse", "UNAVAILABLE: ", "Unavailable");
}

pub(crate) fn answers_with_a_code() {
    check(
        "{ code: INVALID_ARGUMENT }",
        "INVALID_ARGUMENT: ",
        "InvalidArgument",
    );
}

pub(crate) fn is_slow() {
    check("{ slow: 20ms }", "accepted after 0.02s: ", "Ok");
}

pub(crate) fn hangs() {
    check("hang", "no answer: ", "Cancelled");
}

pub(crate) fn loses_the_reply() {
    check("lose_reply", "accepted, reply lost: ", "Unknown");
}

pub(crate) fn disconnects() {
    check("disconnect", "cut off: ", "Unknown");
}

/// The third poll is that of tick 2.
pub(crate) fn a_socket_that_the_monitor_removes_ends_the_drill_as_its_doing() {
    let calm = "timeline:\n  - at: 2s\n    do: [ { cut: victim } ]\nuntil: 4s\nheal: never\nbecause: a test\n";
    let played = play(
        &story(calm),
        &toy("removing", ""),
        ProcessOptions::default(),
    );
    let what = "the socket was removed or renamed by somebody in the monitor's namespace";
    assert_eq!(
        played.recording.broken,
        Some(Broken::SocketTampered {
            tick: 3,
            what: what.to_owned()
        })
    );
}
