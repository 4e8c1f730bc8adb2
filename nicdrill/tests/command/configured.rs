//! What a descriptor gives to a monitor: files, defaults of its configuration, and what it needs at its start.

use crate::scratch::{Ran, Scratch, can_play_processes, reference_descriptor};

/// The reference monitor's descriptor, with more.
fn reference(name: &str, more: &str) -> String {
    format!(
        "{}{more}",
        reference_descriptor().replace("name: reference", &format!("name: {name}"))
    )
}

fn run(descriptor: &str, drills: &[&str]) -> Ran {
    let scratch = Scratch::new();
    scratch.file("monitor.yaml", descriptor);
    let words = ["run", "--monitor", "monitor.yaml", "--full"];
    scratch.run(&[&words[..], drills].concat())
}

#[test]
fn a_monitor_finds_its_files_with_their_placeholders_filled_in() {
    if !can_play_processes() {
        return;
    }
    let ran = run(
        "descriptor_version: 1\n\
         name: reads-files\n\
         command: [ sh, -c, 'cat {files}/etc/nic.yaml {files}/b; exit 3' ]\n\
         files:\n  etc/nic.yaml: \"node: {node} not {{node}}\\n\"\n  b: \"checks: {checks}\\n\"\n",
        &["start/baseline@h100-oci"],
    );
    let text = ran.to_string();
    assert!(text.contains(" not {node}\n"), "{text}");
    assert!(!text.contains("node: {node}"), "{text}");
    assert!(text.contains("checks: InfiniBandStateCheck,"), "{text}");
}

/// The reference monitor refuses a table that is written twice, as every program does that reads TOML.
#[test]
fn a_storys_own_tables_replace_the_default_configuration() {
    let drills = ["counter/detection-switched-off@h100-oci"];
    let table = "  [counterDetection]\n  enabled = true\n";
    let ran = run(
        &reference("defaults", &format!("config_default: |\n{table}")),
        &drills,
    );
    assert_eq!(ran.code, 0, "{ran}");
    let twice = reference("twice", "").replace(
        "  sysClassNetPath = \"{root}/sys/class/net\"\n",
        &format!("  sysClassNetPath = \"{{root}}/sys/class/net\"\n{table}"),
    );
    let ran = run(&twice, &drills);
    assert_ne!(ran.code, 0, "{ran}");
}

#[test]
fn a_monitor_that_needs_its_socket_is_not_started_without_it() {
    let scratch = Scratch::new();
    scratch.file(
        "monitor.yaml",
        &reference("needs", "").replace("\nclock: file", "\nneeds_socket: true\nclock: file"),
    );
    let drill = "connector/socket-absent-at-start@h100-oci";
    let ran = scratch.run(&["list", "--drills", "--monitor", "monitor.yaml", drill]);
    let text = ran.to_string();
    assert!(
        text.contains("`needs` needs the connector when it starts, and nothing listens at 0s"),
        "{text}"
    );
}

/// As `docs/events.md` says of a monitor that has the state checks alone.
#[test]
fn scenarios_with_checks_that_no_loop_runs_are_not_applicable() {
    let scratch = Scratch::new();
    let loops = "loops:\n  - checks: [InfiniBandStateCheck, EthernetStateCheck]\n";
    let text = reference("states", "").replace("listings_per_poll: 1\n", loops);
    assert!(text.contains(loops), "{text}");
    scratch.file("monitor.yaml", &text);
    let words = |family| {
        [
            "list",
            "--drills",
            family,
            "--monitor",
            "monitor.yaml",
            "--platform",
            "h100-oci",
        ]
    };
    let counters = scratch.run(&words("counter"));
    assert_eq!(counters.code, 4, "{counters}");
    let reason = "no loop of `states` runs InfiniBandDegradationCheck";
    assert!(counters.out.contains(reason), "{counters}");
    let ports = scratch.run(&words("port"));
    assert_eq!(ports.code, 0, "{ports}");
    assert!(!ports.out.contains("no loop of"), "{ports}");
}
