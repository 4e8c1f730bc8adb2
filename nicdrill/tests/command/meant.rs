//! What a user may have meant: names in `nicdrill.toml` and on the command line that do not exist, and a monitor that is
//! not named.

use rstest::rstest;

use crate::{groups::UNFAIR, scratch::Scratch};

#[rstest]
#[case::key(
    "monitr = \"m.yaml\"\n",
    "nicdrill.toml:1:1: unknown key `monitr`",
    "did you mean `monitor`? allowed: monitor, platforms, scenarios, out"
)]
#[case::descriptor(
    "out = \"o\"\nmonitor = \"monitr.yaml\"\n",
    "nicdrill.toml:2:11: `monitr.yaml` cannot be read: No such file or directory (os error 2)",
    "did you mean `monitor.yaml`?"
)]
#[case::name(
    "monitor = \"refrence\"\n",
    "nicdrill.toml:1:11: there is no monitor `refrence`",
    "did you mean `reference`?"
)]
#[case::invalid_descriptor(
    "monitor = \"monitor.yaml\"\n",
    "error: monitor.yaml",
    "`descriptor_version: 1`"
)]
fn a_mistake_in_the_settings_is_refused_with_its_place_and_what_may_be_meant(
    #[case] settings: &str,
    #[case] found: &str,
    #[case] hint: &str,
) {
    let scratch = Scratch::new();
    scratch.file("monitor.yaml", "");
    scratch.file("nicdrill.toml", settings);
    let ran = scratch.run(&["run", "start/baseline@h100-oci"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(found) && ran.err.contains(hint), "{ran}");
}

#[rstest]
#[case::drill(
    "port/cable-puled@h100-oci",
    "there is no scenario `port/cable-puled`\nhint: did you mean `port/cable-pulled`?"
)]
#[case::without_its_family(
    "cable-pulled@h100-oci",
    "there is no scenario `cable-pulled`\nhint: did you mean `link/cable-pulled` or `port/cable-pulled`?"
)]
#[case::platform_of_a_drill(
    "port/cable-pulled@h100-oic",
    "there is no platform `h100-oic`\nhint: did you mean `h100-oci`?"
)]
#[case::part_of_a_platform(
    "port/cable-pulled@ndv5",
    "there is no platform `ndv5`\nhint: did you mean `azure-ndv5`"
)]
#[case::folder(
    "./prot",
    "`./prot` cannot be read: No such file or directory (os error 2)\nhint: did you mean `./port`?"
)]
#[case::file(
    "port/unfiar.yaml",
    "`port/unfiar.yaml` cannot be read: No such file or directory (os error 2)\nhint: did you mean `port/unfair.yaml`?"
)]
fn a_misspelt_drill_or_file_is_refused_with_what_may_be_meant(
    #[case] asked: &str,
    #[case] told: &str,
) {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    let ran = scratch.run(&["run", asked]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(told), "{ran}");
}

#[test]
fn a_program_beside_is_a_monitor_by_its_path_only() {
    let scratch = Scratch::new();
    scratch.file("ports.sh", "#!/bin/sh\n");
    let ran = scratch.run(&["run", "--monitor", "ports.sh"]);
    assert_eq!(ran.code, 2, "{ran}");
    let told = "there is no monitor `ports.sh`\nhint: did you mean `./ports.sh`? known are ";
    assert!(ran.err.contains(told), "{ran}");
}

/// What a descriptor or needs may be about is told at the place of the mistake, before anything runs.
#[rstest]
#[case::counter(
    "promises:\n  rows:\n    down: usual\n    counter.symbol_eror: silent\n",
    "m.yaml:7:5: there is no counter `symbol_eror`",
    "did you mean `counter.symbol_error`?"
)]
#[case::kind(
    "promises: { rows: { down: usual, poling: usual } }\n",
    "m.yaml:4:34: unknown word `poling`",
    "did you mean `polling`? allowed: "
)]
#[case::key_of_another_kind(
    "promises: { rows: { down: usual, init: { when: every_poll } } }\n",
    "m.yaml:4:42: the row of `init`: `when` is for `card` only",
    "leave it out"
)]
#[case::verdict_of_an_episode_that_has_none(
    "promises: { rows: { down: usual, reboot: { verdict: nonfatal } } }\n",
    "m.yaml:4:44: the row of `reboot`: what still stands after a reboot has the verdict of its own row",
    "leave it out"
)]
#[case::key_without_an_effect(
    "promises: { style: level, rows: { down: { subject: device } } }\n",
    "m.yaml:4:43: the row of `down`: `subject` has no effect with `style: level`",
    "leave it out, or write `granularity: device`"
)]
#[case::key_about_events_where_alarms_are_judged(
    "promises:\n  style: level\n  rows:\n    hot_added: { healthy: silent }\n",
    "m.yaml:7:18: the row of `hot_added`: `healthy` has no effect with `style: level`",
    "leave it out"
)]
#[case::key_of_an_episode_where_alarms_are_judged(
    "promises:\n  style: level\n  rows:\n    reboot: { restates: nothing }\n",
    "m.yaml:7:15: the row of `reboot`: `restates` has no effect: with `style: level`",
    "write it in the rows of what stands"
)]
#[case::names_of_ports(
    "promises: { names: all, rows: { down: usual } }\n",
    "m.yaml:4:13: `names: all` has no effect with `granularity: port`",
    "write `granularity: device` or `node`"
)]
#[case::subjects_of_a_first_poll_of_which_nothing_is_promised(
    "promises:\n  rows: { down: usual }\n  wire: { baselines: { cards: false } }\n",
    "m.yaml:6:11: `baselines` has no effect without `first_poll: events`",
    "write `first_poll: events`"
)]
#[case::row_of_a_connector_that_it_does_not_call(
    "speaks: lines\nlines: [ { pattern: a, says: fatal } ]\npromises: { rows: { connector: { within: 1 poll } } }\n",
    "m.yaml:6:34: the row of `connector`: `within` has no effect: it calls no connector",
    "leave it out"
)]
#[case::row_of_a_state_file_that_is_its_own(
    "promises: { rows: { state_file: { restates: nothing } } }\n",
    "m.yaml:4:35: the row of `state_file`: `restates` has no effect: `state_file` is `own`",
    "leave it out"
)]
#[case::subject_that_is_no_port(
    "promises:\n  rows:\n    gone_device: { subject: port }\n",
    "m.yaml:6:20: the row of `gone_device`: `subject: port` has no effect",
    "write `device`, `card` or `node`"
)]
#[case::group_of_a_line(
    "speaks: lines\nlines:\n  - { pattern: a, says: fatal }\n  - pattern: '(?P<nic>b)'\n    says: fatal\n",
    "m.yaml:7:5: `(?P<nic>b)` has the group `nic`, which means nothing",
    "the groups are `device`"
)]
fn a_mistake_in_a_descriptor_is_refused_at_its_place(
    #[case] more: &str,
    #[case] found: &str,
    #[case] hint: &str,
) {
    let scratch = Scratch::new();
    let head = "descriptor_version: 1\nname: m\ncommand: [/bin/true]\n";
    scratch.file("m.yaml", &format!("{head}{more}"));
    let ran = scratch.run(&["list", "start/baseline@h100-oci", "--monitor", "m.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(found) && ran.err.contains(hint), "{ran}");
}

#[rstest]
#[case::settings_without_a_monitor(Some(""), &[], true, true)]
#[case::no_settings(None, &[], false, true)]
#[case::named_in_the_settings(Some("monitor = \"reference\"\n"), &[], false, false)]
#[case::named_on_the_command_line(Some(""), &["--monitor", "reference"], false, false)]
fn a_run_names_its_monitor_and_says_if_the_settings_name_none(
    #[case] settings: Option<&str>,
    #[case] words: &[&str],
    #[case] noted: bool,
    #[case] is_own: bool,
) {
    let scratch = Scratch::new();
    if let Some(settings) = settings {
        scratch.file("nicdrill.toml", settings);
    }
    let drill = ["run", "start/baseline@h100-oci", "--arm", "memory"];
    let ran = scratch.run(&[&drill[..], words].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let first = match is_own {
        true => "no monitor was named, so nicdrill's own was drilled, `reference`",
        false => "1 drill of `reference`: ",
    };
    assert!(ran.out.starts_with(first), "{ran}");
    let note = "NOTE  nicdrill.toml names no `monitor`, so `reference` is drilled\n";
    assert_eq!(ran.err.contains(note), noted, "{ran}");
}

/// A pipeline that names no monitor tests nothing of its own.
#[test]
fn in_ci_a_run_that_names_no_monitor_is_refused() {
    let scratch = Scratch::new();
    let drill = ["run", "start/baseline@h100-oci", "--arm", "memory"];
    let ran = scratch.run_with(&drill, &[("CI", "true")]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("no monitor is named") && ran.err.contains("--monitor FILE"),
        "{ran}"
    );
    let named = [&drill[..], &["--monitor", "reference"]].concat();
    let ran = scratch.run_with(&named, &[("CI", "true")]);
    assert_eq!(ran.code, 0, "{ran}");
    for no_ci in ["", "0", "false", "False"] {
        let ran = scratch.run_with(&drill, &[("CI", no_ci)]);
        assert_eq!(ran.code, 0, "CI={no_ci}: {ran}");
        let accepted = ["accept", "--reason", "r", "--yes"];
        let ran = scratch.run_with(&accepted, &[("CI", no_ci)]);
        assert!(!ran.err.contains("while CI is set"), "CI={no_ci}: {ran}");
    }
}

/// The folder of a repeated run lists the results of the whole, so that `--failed` finds them.
#[test]
fn a_repeated_run_lists_what_failed() {
    let scratch = Scratch::new();
    scratch.file(
        "own/own/red.yaml",
        "scenario: a line that nobody logs\nwhy: to be red\nplatforms: [ dgx-h100 ]\ntimeline:\n  \
         - { at: 5s, expect: [ { log: no such line is written } ] }\n",
    );
    let ran = scratch.run(&["run", "./own", "--arm", "memory", "--repeat", "2"]);
    assert_eq!(ran.code, 100, "{ran}");
    let failed = scratch.text("nicdrill.out/failed.txt");
    assert_eq!(failed, "own/red@dgx-h100 log\n");
    let ran = scratch.run(&["run", "./own", "--arm", "memory", "--failed"]);
    assert!(ran.out.contains("0 passed, 1 failed"), "{ran}");
}
