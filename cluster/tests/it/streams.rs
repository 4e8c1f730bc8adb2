//! Whole streams: whether the node is cordoned, which conditions are present, and which rules fire.

use cluster::{
    Clearing, Cluster, Consequence, ConsequenceKind, Quarantine, Ruleset, Rulesets, Stamp,
    kernel_log::{Functions, KernelLogMonitor, KernelLogProfile},
    rules::{Analyzer, shipped},
};
use proto::HealthEvents;
use rstest::rstest;

use crate::words::{START, at, batch, reported};

fn cluster(clearing: Clearing, rulesets: Rulesets, rules: &str) -> Cluster {
    let analyzer = Analyzer::new(shipped(rules).unwrap(), None);
    Cluster::new(clearing, Quarantine::new(rulesets), analyzer)
}

/// Plays calls, each of one or more lines joined by ` + `, with the clock advancing between them.
fn play(cluster: &mut Cluster, calls: &[&str]) -> Vec<Consequence> {
    let mut consequence = Vec::new();
    for call in calls {
        let lines: Vec<&str> = call.split(" + ").collect();
        let call = batch(&lines);
        let first = Stamp::of(call.events[0].generated_timestamp.as_ref());
        consequence.extend(cluster.run_until(first));
        consequence.extend(cluster.receive(&call).unwrap());
    }
    consequence
}

/// Checks which conditions are present and whether the node is cordoned, after these calls.
fn check(mut cluster: Cluster, calls: &[&str], stands: &[&str], cordoned: bool) {
    play(&mut cluster, calls);
    let conditions = cluster.conditions().get("node-1");
    let standing: Vec<&str> = conditions
        .into_iter()
        .flat_map(|node| node.faulty())
        .collect();
    assert_eq!(standing, stands);
    assert_eq!(cluster.quarantine().is_cordoned("node-1"), cordoned);
}

const STATE: &str = "InfiniBandStateCheck";
const COUNTER: &str = "InfiniBandDegradationCheck";

/// As deployed today: conditions clear by all entities, and NIC faults cordon.
fn now() -> Cluster {
    cluster(Clearing::ALL, Rulesets::shipped(), "nvsentinel")
}

/// As deployed when "NIC Health Monitor: Link State Detection" was written.
fn then() -> Cluster {
    cluster(Clearing::ANY, Rulesets::without_nics(), "lsd-text")
}

/// The rows of "would the node be cordoned?".
#[rstest]
#[case::port_down(&["fatal state NIC:a NICPort:1"], &[STATE], true)]
#[case::link_downed(&["fatal counter !link_downed NIC:a NICPort:1"], &[COUNTER], true)]
#[case::then_its_healthy_event(
    &["fatal state NIC:a NICPort:1 @1", "healthy state NIC:a NICPort:1 @2"], &[], false
)]
#[case::then_only_one_of_two(
    &["fatal state NIC:a NICPort:1 @1", "fatal state NIC:b NICPort:1 @1", "healthy state NIC:a NICPort:1 @2"],
    &[STATE], true
)]
#[case::down_and_link_downed_then_active(
    &["fatal state NIC:a NICPort:1 @1", "fatal counter !link_downed NIC:a NICPort:1 @1", "healthy state NIC:a NICPort:1 @2"],
    &[COUNTER], true
)]
#[case::until_the_counter_is_reset(
    &[
        "fatal state NIC:a NICPort:1 @1", "fatal counter !link_downed NIC:a NICPort:1 @1",
        "healthy state NIC:a NICPort:1 @2", "healthy counter !link_downed NIC:a NICPort:1 @3",
    ],
    &[], false
)]
#[case::non_fatal_counter(&["warning counter !symbol_error NIC:a NICPort:1"], &[], false)]
#[case::non_fatal_kernel_line(
    &["warning SysLogsNICDriverError agent=syslog-health-monitor !netdev_watchdog NIC:a"], &[], false
)]
#[case::three_non_fatal_of_one_port(
    &[
        "warning counter !symbol_error NIC:a NICPort:1 @1",
        "warning counter !port_rcv_errors NIC:a NICPort:1 @2",
        "warning counter !port_xmit_discards NIC:a NICPort:1 @3",
    ],
    &["RepeatedNICDegradation"], false
)]
#[case::which_nothing_clears(
    &[
        "warning counter !symbol_error NIC:a NICPort:1 @1",
        "warning counter !port_rcv_errors NIC:a NICPort:1 @2",
        "warning counter !port_xmit_discards NIC:a NICPort:1 @3",
        "healthy counter @4",
    ],
    &["RepeatedNICDegradation"], false
)]
#[case::stored_only(&["fatal state strategy=STORE_ONLY NIC:a NICPort:1"], &[], false)]
#[case::reboot_clear(
    &["fatal state NIC:a NICPort:1 @1", "fatal state NIC:b @2", "healthy state @3"], &[], false
)]
#[case::reboot_clear_of_one_check(
    &["fatal state NIC:a NICPort:1 @1", "fatal counter !link_downed NIC:a NICPort:1 @1", "healthy state @3"],
    &[COUNTER], true
)]
#[case::three_link_downed_in_ten_minutes(
    &[
        "fatal counter !link_downed NIC:a NICPort:1 @1",
        "fatal counter !link_downed NIC:a NICPort:1 @2",
        "fatal counter !link_downed NIC:a NICPort:1 @3",
    ],
    &[COUNTER], true
)]
fn would_the_node_be_cordoned(
    #[case] calls: &[&str],
    #[case] stands: &[&str],
    #[case] cordoned: bool,
) {
    check(now(), calls, stands, cordoned);
}

/// The same rows where the older deployment differs.
#[rstest]
#[case::no_ruleset_named_nics(&["fatal state NIC:a NICPort:1"], &[STATE])]
#[case::one_name_for_state_and_counter(
    &["fatal state NIC:a NICPort:1 @1", "fatal state NIC:a NICPort:1 @1 -- link_downed", "healthy state NIC:a NICPort:1 @2"],
    &[]
)]
#[case::one_nics_port_1_clears_another_nics(
    &["fatal state NIC:a NICPort:1 @1", "fatal state NIC:b NICPort:1 @1", "healthy state NIC:a NICPort:1 @2"],
    &[]
)]
#[case::three_link_downed_in_ten_minutes(
    &[
        "fatal state NIC:a NICPort:1 @1 -- link_downed 1",
        "fatal state NIC:a NICPort:1 @2 -- link_downed 2",
        "fatal state NIC:a NICPort:1 @3 -- link_downed 3",
    ],
    &[STATE, "RepeatedNICLinkFlap"]
)]
fn would_the_node_have_been_cordoned(#[case] calls: &[&str], #[case] stands: &[&str]) {
    check(then(), calls, stands, false);
}

#[test]
fn with_a_ruleset_of_ones_own_the_analyzer_cordons_and_nothing_releases() {
    let own = Ruleset::new("ours", "health-events-analyzer", &[]);
    let calls = [
        "warning counter !symbol_error NIC:a NICPort:1 @1",
        "warning counter !port_rcv_errors NIC:a NICPort:1 @2",
        "warning counter !port_xmit_discards NIC:a NICPort:1 @3",
        "healthy counter @4",
    ];
    let cluster = cluster(Clearing::ALL, Rulesets::shipped().with(own), "nvsentinel");
    check(cluster, &calls, &["RepeatedNICDegradation"], true);
}

#[rstest]
#[case::as_deployed(KernelLogProfile::DEPLOYED, true)]
#[case::mended(KernelLogProfile::MENDED, false)]
fn a_fatal_kernel_line_and_then_a_reboot(
    #[case] profile: KernelLogProfile,
    #[case] stays_cordoned: bool,
) {
    let mut cluster = now();
    let mut monitor = KernelLogMonitor::new("node-1", profile);
    let line = "mlx5_core: INFO: synd 0x8: unrecoverable hardware error.";
    let fault = monitor.line(at(1.0), line, &Functions::new()).unwrap();
    for event in [fault, monitor.rebooted(at(60.0))] {
        let call = HealthEvents {
            version: 1,
            events: vec![event],
        };
        cluster.receive(&call).unwrap();
    }
    assert_eq!(cluster.conditions()["node-1"].faulty().count(), 0);
    assert_eq!(cluster.quarantine().is_cordoned("node-1"), stays_cordoned);
}

#[test]
fn three_watchdogs_become_a_driver_error() {
    let mut cluster = now();
    let mut monitor = KernelLogMonitor::new("node-1", KernelLogProfile::DEPLOYED);
    let line = "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 0 timed out";
    for s in [0.0, 1800.0, 3600.0] {
        let event = monitor.line(at(s), line, &Functions::new()).unwrap();
        let call = HealthEvents {
            version: 1,
            events: vec![event],
        };
        cluster.receive(&call).unwrap();
    }
    let standing: Vec<&str> = cluster.conditions()["node-1"].faulty().collect();
    assert_eq!(standing, ["RepeatedNICDriverError"]);
}

/// The flap diagram, 6.4, as the reference monitor's events.
#[test]
fn the_flap_diagram_to_the_second() {
    let down = "fatal state NIC:mlx5_0 NICPort:1";
    let up = "healthy state NIC:mlx5_0 NICPort:1";
    let text = "-- Port mlx5_0 port 1: state DOWN, phys_state Disabled";
    let downed = "fatal counter !link_downed NIC:mlx5_0 NICPort:1 @90 -- Port mlx5_0 port 1: \
        link_downed - Port Training State Machine failed - QP disconnect";
    let calls = [
        format!("{down} @90 {text}"),
        downed.to_owned(),
        format!("{up} @105"),
        format!("{down} @260 {text}"),
        format!("{up} @275"),
        format!("{down} @430 {text}"),
    ];
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    let mut cluster = cluster(Clearing::ALL, Rulesets::shipped(), "lsd");
    let consequence: Vec<String> = play(&mut cluster, &calls)
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(consequence.join("\n"));
}

#[test]
fn four_minutes_of_silence_make_and_unmake_a_condition() {
    let mut cluster = cluster(Clearing::ALL, Rulesets::shipped(), "lsd");
    let down = "fatal state NIC:a NICPort:1 @30 -- Port a port 1: state DOWN, phys_state Polling";
    let consequence = play(&mut cluster, &[down, "healthy state NIC:a NICPort:1 @300"]);
    let seconds = |wanted: fn(&ConsequenceKind) -> bool| {
        let found = consequence
            .iter()
            .filter(|consequence| wanted(&consequence.what));
        let s = found.map(|consequence| (consequence.at.as_ns() - START.as_ns()) / 1_000_000_000);
        s.collect::<Vec<_>>()
    };
    let drop = |kind: &ConsequenceKind| matches!(kind, ConsequenceKind::ConditionStands { check, .. } if check == "NICPortDrop");
    let over = |kind: &ConsequenceKind| matches!(kind, ConsequenceKind::ConditionCleared { check, .. } if check == "NICPortDrop");
    assert_eq!(seconds(drop), [270]);
    assert_eq!(seconds(over), [300]);
}

#[test]
fn a_call_whose_order_decides_is_told() {
    let mut cluster = now();
    let consequence = play(&mut cluster, &["healthy state @1 + fatal state NIC:a @1"]);
    let found = consequence
        .iter()
        .any(|consequence| matches!(&consequence.what, ConsequenceKind::OrderDecides { check, .. } if check == STATE));
    assert!(found, "{consequence:#?}");
}

#[test]
fn a_refused_call_does_nothing() {
    let mut cluster = now();
    let call = batch(&["fatal state NIC:a", "fatal state NIC:b action=CUSTOM"]);
    assert_eq!(cluster.receive(&call).unwrap_err().event, 2);
    assert!(cluster.conditions().is_empty());
    assert!(!cluster.quarantine().is_cordoned("node-1"));
}

#[test]
fn what_is_lost_of_a_message_is_told() {
    let mut cluster = now();
    let mut call = batch(&[]);
    call.events = (0..40)
        .map(|n| reported(&format!("fatal state NIC:mlx5_{n} NICPort:1 -- gone")))
        .collect();
    let consequence = cluster.receive(&call).unwrap();
    let lost = consequence
        .iter()
        .find(|consequence| matches!(consequence.what, ConsequenceKind::EntriesLost { .. }));
    assert!(
        lost.unwrap()
            .to_string()
            .contains("do not fit and are forgotten")
    );
}
