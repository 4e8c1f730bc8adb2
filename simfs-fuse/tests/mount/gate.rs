//! The anchor's listing is a gate.

use std::thread;

use crate::support::{Setting, Stage, device, file, fuse_or_skip, list, read, remove, two_devices};
use simfs_fuse::Options;

fn gated() -> Option<Stage> {
    fuse_or_skip(
        two_devices(),
        Setting {
            options: Options::default(),
            ..Setting::default()
        },
    )
}

/// Lists the anchor in a thread, changes the world at the gate, and returns the listing.
fn check(stage: &Stage, at_gate: impl FnOnce()) -> Result<Vec<String>, i32> {
    let anchor = stage.path("class");
    thread::scope(|scope| {
        let listing = scope.spawn(|| list(&anchor));
        let hold = stage.gate();
        at_gate();
        assert!(stage.server.release(hold));
        listing.join().unwrap()
    })
}

#[test]
fn a_listing_of_the_anchor_sees_what_was_changed_while_it_was_held() {
    let Some(stage) = gated() else { return };
    let seen = check(&stage, || {
        stage.edit(&[device("c"), vec![remove("class/a")]].concat())
    });
    assert_eq!(seen.unwrap(), ["b", "c"]);
}

#[test]
fn a_held_poll_blocks_no_other_reader() {
    let Some(stage) = gated() else { return };
    let seen = check(&stage, || {
        assert_eq!(read(&stage.path("class/a/state")).unwrap(), "4: ACTIVE\n");
        assert_eq!(list(&stage.path("devices")).unwrap(), ["a", "b"]);
    });
    assert_eq!(seen.unwrap(), ["a", "b"]);
}

#[test]
fn an_anchor_that_goes_while_its_listing_is_held_is_not_found() {
    let Some(stage) = gated() else { return };
    let seen = check(&stage, || stage.edit(&[remove("class")]));
    assert_eq!(seen, Err(2));
}

#[test]
fn the_gate_sees_a_poll_also_while_the_anchor_is_absent() {
    let Some(stage) = gated() else { return };
    stage.edit(&[remove("class")]);
    assert_eq!(check(&stage, || {}), Err(2));
    assert_eq!(check(&stage, || stage.edit(&device("a"))).unwrap(), ["a"]);
    stage.edit(&[file("devices/a/state", "1: DOWN\n")]);
    assert_eq!(read(&stage.path("class/a/state")).unwrap(), "1: DOWN\n");
    assert_eq!(check(&stage, || {}).unwrap(), ["a"]);
    assert_eq!(
        stage.trace(),
        [
            "list class: ENOENT",
            "list class: 1",
            "read class/a/state: 8",
            "list class: 1"
        ]
    );
}

#[test]
fn an_anchor_that_went_and_came_back_while_held_is_listed_as_it_is_now() {
    let Some(stage) = gated() else { return };
    let seen = check(&stage, || {
        stage.edit(&[remove("class")]);
        stage.edit(&device("z"));
    });
    assert_eq!(seen.unwrap(), ["z"]);
}

#[test]
fn unmounting_lets_a_held_listing_go() {
    let Some(stage) = gated() else { return };
    let anchor = stage.path("class");
    let listing = thread::spawn(move || list(&anchor));
    stage.gate();
    stage.server.unmount().unwrap();
    assert!(listing.join().is_ok());
}
