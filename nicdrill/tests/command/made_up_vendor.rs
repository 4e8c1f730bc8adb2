//! A fictitious vendor, added by three files: its cards' drivers and a node with them. Part of the suite
//! is drilled there with a small monitor of the vendor.
//!
//! The program is the example `acme_monitor` (`tests/vendor/monitor.rs`), which cargo builds before it
//! runs these tests.

use crate::scratch::{Scratch, can_play_processes, example};

/// The families of the drills.
const FAMILIES: [&str; 5] = ["port", "device", "read", "restart", "connector"];

/// A working folder with the vendor's files, and its monitor's descriptor with these additional lines.
fn scratch(more: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.file("acme/acme-ib.yaml", include_str!("../vendor/acme-ib.yaml"));
    scratch.file(
        "acme/acme-eth.yaml",
        include_str!("../vendor/acme-eth.yaml"),
    );
    scratch.file("acme/acme0.yaml", include_str!("../vendor/acme0.yaml"));
    scratch.file(
        "acme-monitor.yaml",
        &format!(
            "descriptor_version: 1\n\
             name: acme-monitor\n\
             command: [{}, --root, '{{root}}', --socket, '{{socket}}', --node, '{{node}}', --state, '{{state_file}}', --vendor, '0x0acb']\n\
             clock: file\n\
             promises: {{ like: reference, wire: {{ baselines: {{ devices: false, cards: false, counters: false }} }} }}\n\
             {more}",
            example("acme_monitor").display()
        ),
    );
    scratch
}

#[test]
fn a_made_up_vendor_is_drilled_by_data_alone() {
    if !can_play_processes() {
        return;
    }
    let scratch = scratch("vendors: [0x0acb]\n");
    let checked = scratch.run(&["platform", "show", "acme0", "--platforms", "acme"]);
    assert_eq!(checked.code, 0, "{checked}");
    let words = [
        "run",
        "--monitor",
        "acme-monitor.yaml",
        "--platform",
        "./acme",
        "--require",
        "process",
    ];
    let ran = scratch.run(&[&words[..], &FAMILIES[..]].concat());
    let passed = scratch.text("nicdrill.out/passed.txt");
    let passed = passed
        .lines()
        .filter(|drill| drill.ends_with("@acme0"))
        .count();
    let of_families = suite::scenarios().into_iter().filter(|(file, _)| {
        let family = file.split('/').next().unwrap_or_default();
        FAMILIES.contains(&family)
    });
    let all = of_families.count();
    assert!(all > 80, "{all} scenarios in these families");
    // Failures may be the monitor's, but not the stage's.
    assert!([0, 100, 101].contains(&ran.code), "{ran}");
    assert!(passed * 100 >= all * 60, "{passed} of {all} passed\n{ran}");
}

/// The vendor's cards lack the counter of the story.
#[test]
fn a_story_about_a_counter_that_a_card_lacks_does_not_apply() {
    let scratch = scratch("vendors: [0x0acb]\n");
    let drill = "port/counters-say-nothing-to-a-state-check@acme0";
    let words = [
        "list",
        "--drills",
        drill,
        "--monitor",
        "acme-monitor.yaml",
        "--platform",
        "./acme",
    ];
    let listed = scratch.run(&words);
    assert_eq!(listed.code, 4, "{listed}");
    let reason = format!("{drill}  not applicable: `acme0` has no counter `symbol_error`");
    assert!(listed.out.contains(&reason), "{listed}");
}

#[test]
fn without_its_vendor_a_monitor_has_nothing_to_watch_there() {
    let scratch = scratch("");
    let listed = scratch.run(&[
        "list",
        "--drills",
        "port",
        "--monitor",
        "acme-monitor.yaml",
        "--platform",
        "./acme",
    ]);
    assert_eq!(listed.code, 4, "{listed}");
    assert!(
        listed
            .out
            .contains("port/cable-pulled@acme0  not applicable: "),
        "{listed}"
    );
}
