//! Loops of descriptors: what is refused, and what is expected of them in a scenario.

use std::{borrow::Cow, time::Duration};

use super::*;

const IB_STATE: &str = "InfiniBandStateCheck";
const IB_COUNTERS: &str = "InfiniBandDegradationCheck";
const CHAR_DEVICES: &str = "InfiniBandCharDeviceCheck";
const ETH_STATE: &str = "EthernetStateCheck";
const ETH_COUNTERS: &str = "EthernetDegradationCheck";

const TICK: Duration = Duration::from_secs(1);

fn of(checks: &[&str]) -> Loop {
    Loop {
        checks: checks.iter().map(ToString::to_string).collect(),
        listings: 1,
        interval: None,
        real_interval: None,
        switch: None,
    }
}

/// What is wrong with loops, the first of it.
fn refused(loops: &[Loop]) -> Option<&'static str> {
    match problems(loops).into_iter().next()?.what {
        Cow::Borrowed(what) => Some(what),
        Cow::Owned(what) => panic!("{what} is put together"),
    }
}

fn monitor(loops: Vec<Loop>) -> Descriptor {
    Descriptor {
        loops,
        poll_unit: PollUnit::Check,
        ..Descriptor::of_program("./two-loops")
    }
}

fn two_loops() -> Descriptor {
    monitor(vec![
        of(&[IB_STATE, CHAR_DEVICES, ETH_STATE]),
        Loop {
            interval: Span::parse("5s"),
            ..of(&[IB_COUNTERS, ETH_COUNTERS])
        },
    ])
}

#[test]
fn a_loop_whose_checks_do_not_run_is_not_expected() {
    let loops = two_loops();
    let expected = |checks: &[&str]| {
        let expected = loops.expected_loops(checks, TICK).into_iter();
        expected
            .map(|spec| (spec.listings, spec.every))
            .collect::<Vec<_>>()
    };
    assert_eq!(expected(&[IB_STATE, ETH_STATE]), [(2, 1)]);
    assert_eq!(expected(&[IB_COUNTERS, ETH_COUNTERS]), [(2, 5)]);
    assert_eq!(expected(&Check::NAMES), [(3, 1), (2, 5)]);
}

#[test]
fn an_interval_is_counted_in_ticks_of_the_story() {
    let every = |tick| two_loops().expected_loops(&[IB_COUNTERS], tick)[0].every;
    assert_eq!(every(Duration::from_secs(1)), 5);
    assert_eq!(every(Duration::from_secs(2)), 3);
    assert_eq!(every(Duration::from_secs(60)), 1);
    assert_eq!(two_loops().ticks_behind(CheckKind::Degradation, TICK), 4);
    assert_eq!(two_loops().ticks_behind(CheckKind::State, TICK), 0);
    assert_eq!(
        Descriptor::of_program("x").ticks_behind(CheckKind::State, TICK),
        0
    );
}

#[test]
fn loops_that_read_the_same_files_are_refused() {
    assert_eq!(refused(&two_loops().loops), None);
    assert_eq!(
        refused(&[of(&[IB_STATE]), of(&[CHAR_DEVICES]), of(&[IB_COUNTERS])]),
        None
    );
    let alike = Some("two loops cannot be told apart: they read the same files");
    assert_eq!(refused(&[of(&[IB_STATE]), of(&[ETH_STATE])]), alike);
    assert_eq!(
        refused(&[of(&[IB_STATE, IB_COUNTERS]), of(&[ETH_COUNTERS])]),
        alike
    );
    assert_eq!(refused(&[of(&[])]), Some("a loop has no checks"));
    assert_eq!(
        refused(&[of(&["StateCheck"])]),
        Some("a loop names a check that does not exist")
    );
    assert_eq!(
        refused(&[of(&[IB_STATE]), of(&[IB_STATE, IB_COUNTERS])]),
        Some("two loops run the same check")
    );
    let without_listing = Loop {
        listings: 0,
        ..of(&[IB_STATE])
    };
    assert_eq!(
        refused(&[without_listing]),
        Some("a poll has at least one listing")
    );
}

/// Loops that differ with all checks may be alike with some of them.
#[test]
fn a_story_whose_checks_make_two_loops_alike_is_not_applicable() {
    let by_layer = monitor(vec![of(&[IB_STATE, CHAR_DEVICES]), of(&[ETH_STATE])]);
    assert_eq!(problems(&by_layer.loops), []);
    assert_eq!(
        by_layer.unattributable(&[IB_STATE, CHAR_DEVICES, ETH_STATE], TICK),
        None
    );
    assert_eq!(by_layer.unattributable(&[ETH_STATE], TICK), None);
    assert_eq!(
        by_layer
            .unattributable(&[IB_STATE, ETH_STATE], TICK)
            .unwrap(),
        "two loops of `./two-loops` cannot be told apart: with these checks they read the same files"
    );
    assert_eq!(
        by_layer
            .unattributable(&[ETH_STATE, ETH_COUNTERS], TICK)
            .unwrap(),
        "no loop of `./two-loops` runs EthernetDegradationCheck"
    );
    assert_eq!(
        Descriptor::of_program("x").unattributable(&[ETH_STATE], TICK),
        None
    );
}

#[test]
fn a_read_of_a_counter_or_of_character_devices_tells_of_its_check() {
    let port = "sys/class/infiniband/mlx5_0/ports/1";
    let net = "sys/class/net/eth0";
    for file in [
        format!("read {port}/counters/link_downed: 2"),
        format!("read {port}/hw_counters/out_of_sequence: EIO"),
        format!("read {net}/statistics/rx_errors: 2"),
        format!("read {net}/carrier_changes: 2"),
    ] {
        assert_eq!(told_by(&file), Some(CheckKind::Degradation), "{file}");
    }
    assert_eq!(
        told_by("list sys/class/infiniband_mad: 18"),
        Some(CheckKind::CharDevice)
    );
    assert_eq!(told_by(&format!("read {port}/state: 10")), None);
    assert_eq!(told_by("list sys/class/infiniband: 18"), None);
}

#[test]
fn a_real_interval_is_also_the_simulated_one_unless_another_is_stated() {
    let with = |interval| {
        monitor(vec![Loop {
            interval,
            real_interval: Span::parse("5s"),
            switch: None,
            ..of(&[IB_COUNTERS])
        }])
    };
    let every = |interval| with(interval).expected_loops(&[IB_COUNTERS], TICK)[0].every;
    assert_eq!(every(None), 5);
    assert_eq!(every(Span::parse("2s")), 2);
    let between = with(None).between_polls(&[IB_COUNTERS], 51, TICK);
    assert_eq!(between, Duration::from_secs(50));
}

#[test]
fn two_loops_with_a_real_interval_are_refused() {
    let paced = |checks: &[&str]| Loop {
        real_interval: Span::parse("5s"),
        switch: None,
        ..of(checks)
    };
    let one = [paced(&[IB_STATE]), of(&[IB_COUNTERS])];
    assert_eq!(refused(&one), None);
    let two = [paced(&[IB_STATE]), paced(&[IB_COUNTERS])];
    assert!(refused(&two).is_some_and(|what| what.starts_with("two loops have a `real_interval`")));
}

/// A loop is expected where its switch is on: by the story's lines, else by the default ones.
#[test]
fn a_loop_that_is_switched_off_is_not_expected() {
    let mut counting = of(&["EthernetDegradationCheck"]);
    counting.switch = Some("detection.enabled".to_owned());
    let mut monitor = monitor(vec![of(&["EthernetStateCheck"]), counting]);
    let on = |monitor: &Descriptor, lines: &str| {
        monitor.switched_on(&["EthernetStateCheck", "EthernetDegradationCheck"], lines)
    };
    assert_eq!(on(&monitor, ""), ["EthernetStateCheck"]);
    monitor.config_default = Some("[detection]\nenabled = true\n".to_owned());
    assert_eq!(on(&monitor, "").len(), 2);
    let off = "[detection]\nenabled = false\n";
    assert_eq!(on(&monitor, off), ["EthernetStateCheck"]);
}
