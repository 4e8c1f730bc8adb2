//! `nicdrill explain`: each fault has a story, and each view of it tells what was seen.

use rstest::rstest;

use crate::{
    page::{check, shown},
    scratch::Scratch,
};

const PAGE: &str = include_str!("../../../docs/one-fault.md");

/// The views, in the order of the page.
const VIEWS: [&str; 8] = [
    "host",
    "link",
    "kernel log",
    "fabric manager's log",
    "LNet",
    "MPIB",
    "monitor",
    "cluster",
];

/// A view of a fault, without its heading.
fn view(fault: &str, name: &str) -> String {
    let ran = Scratch::new().shell(&format!("\"$NICDRILL\" explain {fault}"));
    assert_eq!(ran.code, 0, "{ran}");
    let parts: Vec<&str> = ran.out.split("\n== ").skip(1).collect();
    assert_eq!(parts.len(), VIEWS.len(), "{ran}");
    for (part, view) in parts.iter().zip(VIEWS) {
        let (heading, lines) = part.split_once('\n').expect("a view has lines");
        assert!(heading.starts_with(view), "{heading}: {view}");
        assert!(!lines.trim().is_empty(), "{view} of {fault} says nothing");
    }
    let part = parts.into_iter().find(|part| part.starts_with(name));
    let (_, lines) = part
        .and_then(|part| part.split_once('\n'))
        .expect("the view is there");
    lines.to_owned()
}

#[test]
fn each_fault_has_a_story() {
    let ran = Scratch::new().shell("\"$NICDRILL\" explain");
    let mut faults: Vec<&str> = ran
        .out
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    // More than one story may play a fault.
    faults.dedup();
    let wanted: Vec<String> = (1..=24).map(|number| format!("F{number}")).collect();
    assert_eq!(faults, wanted);
}

/// Signs of the table "One fault, all views".
#[rstest]
#[case::cable_host("F1", "host", &["1: DOWN, 3: Disabled", "link_downed 1"])]
#[case::cable_ends("F1", "link", &["vm1 mlx5_1/1: Down (Neigh Unknown), Polling, LinkDownReason Neigh Unknown", "island-a port 1: Down (Neigh Unknown), Polling, LinkDownReason Neigh Unknown"])]
#[case::cable_job("F1", "MPIB", &["IBV_EVENT_PORT_ERR (10)", "WC 12 IBV_WC_RETRY_EXC_ERR after 8 tries"])]
#[case::short_outage("F2", "MPIB", &["job survives"])]
#[case::long_outage("F3", "LNet", &["down, fatal, health 1000"])]
#[case::switch_disables("F4", "link", &["LinkDownReason Switch Mgmt", "NeighborLinkDownReason Switch Mgmt"])]
#[case::bounce("F6", "link", &["LinkDownReason FM Bounce", "NeighborLinkDownReason FM Bounce"])]
#[case::overrun("F8", "monitor", &["excessive_buffer_overrun_errors", "link_downed", "state DOWN"])]
#[case::speed_policy("F9", "link", &["Speed Policy"])]
#[case::power_policy("F10", "link", &["Down, Offline, OfflineDisabledReason Power Policy", "NeighborLinkDownReason Reboot"])]
#[case::reboot_at_switch("F11", "link", &["NeighborLinkDownReason Reboot"])]
#[case::power_loss("F12", "link", &["unavailable", "LinkDownReason Neigh Unknown"])]
#[case::unloaded_host("F13", "host", &["no such device"])]
#[case::unloaded_job("F13", "MPIB", &["IBV_EVENT_DEVICE_FATAL", "ncclSystemError"])]
#[case::unloaded_monitor("F13", "monitor", &["disappeared from sysfs"])]
#[case::no_manager("F15", "host", &["2: INIT, 5: LinkUp"])]
#[case::not_installed("F18", "link", &["Not Installed"])]
#[case::module("F19", "link", &["OfflineDisabledReason"])]
#[case::elsewhere("F21", "monitor", &["vm2: fatal"])]
#[case::elsewhere_job("F21", "MPIB", &["job fails"])]
#[case::software_link("F22", "link", &["nothing"])]
#[case::software_monitor("F22", "monitor", &["nothing"])]
#[case::symbols("F23", "host", &["symbol_error"])]
#[case::idle_rail("F24", "MPIB", &["job survives"])]
fn a_view_shows_the_signs_of_its_fault(
    #[case] fault: &str,
    #[case] name: &str,
    #[case] signs: &[&str],
) {
    let lines = view(fault, name);
    for sign in signs {
        assert!(
            lines.contains(sign),
            "{name} of {fault} lacks `{sign}`:\n{lines}"
        );
    }
}

#[test]
fn the_page_on_one_fault_shows_what_its_command_prints() {
    let commands = shown(PAGE);
    assert_eq!(commands.len(), 1);
    for (command, lines) in commands {
        let ran = Scratch::new().shell(&command.replacen("nicdrill", "\"$NICDRILL\"", 1));
        check(command, &lines, &ran.out);
    }
}

#[rstest]
#[case::unknown("F25", 2, "no story plays the fault `F25`")]
#[case::unknown_scenario("port/nosuch", 2, "port/nosuch")]
fn a_fault_that_nobody_plays_is_refused_with_those_that_are(
    #[case] fault: &str,
    #[case] code: i32,
    #[case] told: &str,
) {
    let ran = Scratch::new().shell(&format!("\"$NICDRILL\" explain {fault}"));
    assert_eq!(ran.code, code, "{ran}");
    assert!(ran.err.contains(told), "{ran}");
}

/// A folder of `nicdrill init` names a monitor in its profile; what a fault looks like does not depend on it.
#[test]
fn a_monitor_of_a_profile_does_not_explain_faults() {
    let scratch = Scratch::new();
    let made = scratch.run(&["init", "--lang", "bash", "mine"]);
    assert_eq!(made.code, 0, "{made}");
    let ran = scratch.shell("cd mine && \"$NICDRILL\" explain F13");
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(ran.out, scratch.run(&["explain", "F13"]).out);
}
