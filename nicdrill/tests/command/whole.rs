//! The whole suite: it passes in both arms, equals its golden traces, and catches every wrong
//! monitor.

use std::path::Path;

use crate::scratch::{Scratch, can_play_processes};

/// The suite in the repository, with its golden traces.
fn suite() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite/scenarios");
    folder.display().to_string()
}

/// One run for all that is asked of the whole suite: in both arms where processes can be played, else in memory.
#[test]
fn the_suite_holds_in_both_arms_and_tells_what_its_golden_traces_tell() {
    let suite = suite();
    let is_played_in_both = can_play_processes();
    let arms: &[&str] = if is_played_in_both {
        &["--require", "process"]
    } else {
        &["--arm", "memory"]
    };
    let ran = Scratch::new().run(&[&["run", &suite][..], arms].concat());
    assert_eq!(ran.code, 0, "{ran}");
    if !is_played_in_both {
        return;
    }
    assert!(!ran.out.contains("process arm: 0 of"), "{ran}");
    let last = ran.out.trim_end().lines().last().unwrap_or_default();
    assert!(
        last.starts_with("judged ") && last.ends_with("(100 %)"),
        "{last}"
    );
}

#[test]
fn every_wrong_monitor_is_caught() {
    let ran = Scratch::new().run(&["zoo"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("not caught"), "{ran}");
}
