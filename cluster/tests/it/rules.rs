//! Correlation rules: the limits of each window, and each kind of rule with events in and out of order.

use cluster::{
    Stamp,
    rules::{ANALYZER, Analyzer, CabledPort, Cabling, Firing, FiringKind, Rule, read, shipped},
};
use proptest::prelude::*;
use proto::RecommendedAction;
use rstest::rstest;

use crate::words::{START, at, reported};

/// Plays lines and ticks (`tick @seconds`) through rules; before each event the clock advances through
/// every time at which a rule is due, as in a replay, unless the lines contain ticks.
fn play(rules: Vec<Rule>, cabling: Option<Cabling>, lines: &[&str]) -> Vec<Firing> {
    let mut analyzer = Analyzer::new(rules, cabling);
    let by_hand = lines.iter().any(|line| line.starts_with("tick"));
    let mut firings = Vec::new();
    for line in lines {
        if let Some(seconds) = line.strip_prefix("tick @") {
            firings.extend(analyzer.tick(at(seconds.parse().unwrap())));
            continue;
        }
        let event = reported(line);
        let stamp = Stamp::of(event.generated_timestamp.as_ref());
        while let Some(due) = analyzer.next_due().filter(|due| !by_hand && *due < stamp) {
            firings.extend(analyzer.tick(due));
        }
        firings.extend(analyzer.take(&event));
    }
    firings
}

fn rendered(firing: &Firing) -> String {
    let s = (firing.at.as_ns() - START.as_ns()) as f64 / 1e9;
    let kind = match firing.kind {
        FiringKind::Fired => "",
        FiringKind::Cleared => " cleared",
    };
    format!(
        "{}{kind} {} x{} @{s}",
        firing.rule, firing.group, firing.count
    )
}

/// Checks the events of a profile's rules for these lines.
fn check(profile: &str, lines: &[&str], expected: &[&str]) {
    let firings = play(shipped(profile).unwrap(), None, lines);
    let rendered: Vec<String> = firings.iter().map(rendered).collect();
    assert_eq!(rendered, expected, "{lines:#?}");
}

/// The rules of a file with one rule with these keys.
fn one_rule(keys: &str) -> Vec<Rule> {
    let text = format!(
        "rules_version = 1\n[[rule]]\nname = \"R\"\nmessage = \"m\"\naction = \"REPLACE_VM\"\n{keys}"
    );
    read("r.toml", &text).unwrap()
}

/// How often a rule with a count of three in 10 s fires for warnings at these times, and at which of
/// them.
fn fired_at(keys: &str, seconds: &[f64]) -> Vec<usize> {
    let keys = format!(
        "match = [{{ healthy = false }}]\ngroup_by = [\"node\"]\nwindow = \"10s\"\ncount = 3\n{keys}"
    );
    let mut analyzer = Analyzer::new(one_rule(&keys), None);
    let fires = |(n, s): (usize, &f64)| {
        let event = reported(&format!("warning counter NIC:a @{s} -- event {n}"));
        !analyzer.take(&event).is_empty()
    };
    let fired: Vec<bool> = seconds.iter().enumerate().map(fires).collect();
    (0..fired.len()).filter(|n| fired[*n]).collect()
}

#[rstest]
#[case::the_last_instant_that_counts("", &[0.0, 5.0, 10.0], &[2])]
#[case::the_first_that_does_not("", &[0.0, 5.0, 10.001], &[])]
#[case::equal_stamps("", &[5.0, 5.0, 5.0], &[2])]
#[case::each_further_one("", &[0.0, 1.0, 2.0, 3.0], &[2, 3])]
#[case::once("repeat = \"once\"", &[0.0, 1.0, 2.0, 3.0, 8.0], &[2])]
#[case::once_and_again("repeat = \"once\"", &[0.0, 1.0, 2.0, 20.0, 21.0, 22.0], &[2, 5])]
#[case::a_late_one_does_not_see_later_ones("", &[0.0, 9.0, 5.0], &[])]
#[case::but_later_ones_see_it("", &[0.0, 9.0, 5.0, 9.0], &[3])]
#[case::a_late_one_completes_its_own_window("", &[0.0, 4.0, 30.0, 5.0], &[3])]
#[case::before_a_step_back_lies_in_the_future("", &[3600.0, 3601.0, 1.0, 2.0], &[])]
#[case::after_a_step_back_it_counts_anew("", &[3600.0, 3601.0, 1.0, 2.0, 3.0], &[4])]
#[case::and_again_when_the_clock_has_caught_up("", &[3600.0, 1.0, 3601.0, 3602.0], &[3])]
#[case::fractions_count("", &[0.0, 1.0, 10.9], &[])]
#[case::fractions_do_not_count_by_whole_seconds("whole_seconds = true", &[0.0, 1.0, 10.9], &[2])]
#[case::whole_seconds_end_too("whole_seconds = true", &[0.9, 1.0, 11.0], &[])]
fn three_in_ten_seconds(#[case] keys: &str, #[case] seconds: &[f64], #[case] fired: &[usize]) {
    assert_eq!(fired_at(keys, seconds), fired);
}

/// A store that writes a batch again after a failure holds one event several times.
#[rstest]
#[case::one_event_three_times(&["NIC:a @5", "NIC:a @5", "NIC:a @5"], 0)]
#[case::its_copies_fire_nothing_further(&["NIC:a @1", "NIC:a @2", "NIC:a @3", "NIC:a @3", "NIC:a @2"], 1)]
#[case::other_nics(&["NIC:a @5", "NIC:b @5", "NIC:c @5"], 1)]
#[case::other_codes(&["NIC:a !x @5", "NIC:a !y @5", "NIC:a !z @5"], 1)]
#[case::other_texts(&["NIC:a @5 -- 1", "NIC:a @5 -- 2", "NIC:a @5 -- 3"], 1)]
#[case::within_one_second_for_the_deployed_engine(&["NIC:a @5.1", "NIC:a @5.2", "NIC:a @5.3"], 1)]
fn an_event_that_arrives_again_with_its_stamp_is_the_same_event(
    #[case] events: &[&str],
    #[case] fired: usize,
) {
    let keys = "match = [{ healthy = false }]\ngroup_by = [\"node\"]\nwindow = \"10s\"\ncount = 3\n\
        whole_seconds = true";
    let lines: Vec<String> = events
        .iter()
        .map(|event| format!("warning counter {event}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(play(one_rule(keys), None, &lines).len(), fired);
}

/// In every profile that counts, and for an event that only triggers.
#[rstest]
#[case::lsd("lsd", &[(DOWNED, 10.0), (DOWNED, 10.0), (DOWNED, 10.0)])]
#[case::lsd_with_its_state(
    "lsd", &[(DOWN, 10.0), (DOWNED, 10.0), (DOWN, 10.0), (DOWNED, 10.0), (DOWN, 10.0), (DOWNED, 10.0)]
)]
#[case::lsd_text("lsd-text", &[(DOWNED, 10.0), (DOWNED, 10.0), (DOWNED, 10.0)])]
#[case::nvsentinel("nvsentinel", &[(SLOW, 10.0), (SLOW, 10.0), (SLOW, 10.0)])]
fn three_copies_of_one_event_fire_no_shipped_rule(
    #[case] profile: &str,
    #[case] story: &[(&str, f64)],
) {
    check_port(profile, story, &[]);
}

#[test]
fn a_copy_of_a_trigger_triggers_nothing_again() {
    let story = [
        (DOWNED, 1.0),
        (DOWNED_RESET, 2.0),
        (DOWNED_RESET, 3.0),
        (DOWN, 4.0),
        (DOWN, 4.0),
    ];
    check_port(
        "lsd-text",
        &story,
        &["RepeatedNICLinkFlap node-1/mlx5_0/1 x3 @4"],
    );
}

/// "NIC Health Monitor: Link State Detection", 6.4: `timestamp > NOW() - 10 minutes`.
#[rstest]
#[case::the_last_instant_that_counts("edge = \"excluded\"", &[0.001, 5.0, 10.0], &[2])]
#[case::the_first_that_does_not("edge = \"excluded\"", &[0.0, 5.0, 10.0], &[])]
#[case::by_default_it_counts("edge = \"included\"", &[0.0, 5.0, 10.0], &[2])]
fn the_old_end_of_a_window(#[case] keys: &str, #[case] seconds: &[f64], #[case] fired: &[usize]) {
    assert_eq!(fired_at(keys, seconds), fired);
}

#[test]
fn what_fires_is_the_trigger_in_the_analyzers_name() {
    let lines = [
        "warning counter !symbol_error NIC:mlx5_0 NICPort:1 @1",
        "warning counter !port_rcv_errors NIC:mlx5_0 NICPort:1 @2",
        "warning counter !port_xmit_discards NIC:mlx5_0 NICPort:1 @3.5",
    ];
    let firings = play(shipped("nvsentinel").unwrap(), None, &lines);
    let event = &firings[0].event;
    let trigger = reported(lines[2]);
    assert_eq!(event.agent, ANALYZER);
    assert_eq!(event.check_name, "RepeatedNICDegradation");
    assert!(event.is_fatal && !event.is_healthy);
    assert_eq!(
        event.recommended_action(),
        RecommendedAction::ContactSupport
    );
    assert_eq!(event.entities_impacted, trigger.entities_impacted);
    assert_eq!(event.error_code, trigger.error_code);
    assert_eq!(event.generated_timestamp, trigger.generated_timestamp);
    assert_eq!(event.node_name, trigger.node_name);
    assert_eq!(event.component_class, trigger.component_class);
}

#[rstest]
#[case::two_on_one_port_and_one_on_the_other(&["1 1", "1 2", "2 3"], &[])]
#[case::three_on_one_port(&["1 1", "1 2", "2 3", "1 4"], &["RepeatedNICDegradation node-1/mlx5_0/1 x3 @4"])]
#[case::at_the_hour(&["1 0", "1 1", "1 3600"], &["RepeatedNICDegradation node-1/mlx5_0/1 x3 @3600"])]
#[case::within_the_hours_last_second(&["1 0", "1 1", "1 3600.9"], &["RepeatedNICDegradation node-1/mlx5_0/1 x3 @3600.9"])]
#[case::after_the_hour(&["1 0", "1 1", "1 3601"], &[])]
#[case::a_fourth_fires_again(
    &["1 0", "1 1", "1 2", "1 3"],
    &["RepeatedNICDegradation node-1/mlx5_0/1 x3 @2", "RepeatedNICDegradation node-1/mlx5_0/1 x4 @3"]
)]
fn repeated_degradation_counts_a_ports_warnings(
    #[case] warnings: &[&str],
    #[case] expected: &[&str],
) {
    let line = |reported: &&str| {
        let (port, second) = reported.split_once(' ').unwrap();
        format!("warning counter NIC:mlx5_0 NICPort:{port} @{second}")
    };
    let lines: Vec<String> = warnings.iter().map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check("nvsentinel", &lines, expected);
}

#[rstest]
#[case::fatal("fatal counter NIC:mlx5_0 NICPort:1")]
#[case::healthy("healthy counter NIC:mlx5_0 NICPort:1")]
#[case::state("warning state NIC:mlx5_0 NICPort:1")]
#[case::without_a_port("warning counter NIC:mlx5_0")]
#[case::of_another_agent("warning counter agent=other NIC:mlx5_0 NICPort:1")]
#[case::of_the_analyzer("warning counter agent=health-events-analyzer NIC:mlx5_0 NICPort:1")]
#[case::stored_only("warning counter strategy=STORE_ONLY NIC:mlx5_0 NICPort:1")]
fn repeated_degradation_does_not_count(#[case] line: &str) {
    let lines = [
        format!("{line} @1"),
        format!("{line} @2"),
        format!("{line} @3"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check("nvsentinel", &lines, &[]);
}

#[test]
fn what_is_stored_and_analysed_counts_although_it_touches_no_node() {
    let line = |s| format!("warning counter strategy=STORE_AND_ANALYSE NIC:a NICPort:1 @{s}");
    let lines = [line(1), line(2), line(3)];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(
        "nvsentinel",
        &lines,
        &["RepeatedNICDegradation node-1/a/1 x3 @3"],
    );
}

#[rstest]
#[case::one_type_on_three_nics(
    &["netdev_watchdog a", "netdev_watchdog b", "netdev_watchdog c"],
    &["RepeatedNICDriverError node-1/netdev_watchdog x3 @3"]
)]
#[case::three_types(&["netdev_watchdog a", "module_unplugged a", "pci_power_insufficient a"], &[])]
#[case::a_type_that_is_not_listed(&["access_reg_failed a", "access_reg_failed a", "access_reg_failed a"], &[])]
fn repeated_driver_error_counts_one_type_on_a_node(
    #[case] errors: &[&str],
    #[case] expected: &[&str],
) {
    let line = |(n, reported): (usize, &&str)| {
        let (code, nic) = reported.split_once(' ').unwrap();
        let agent = "agent=syslog-health-monitor";
        format!(
            "warning SysLogsNICDriverError {agent} !{code} NIC:{nic} @{}",
            n + 1
        )
    };
    let lines: Vec<String> = errors.iter().enumerate().map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check("nvsentinel", &lines, expected);
}

const DOWN: &str =
    "fatal state NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: state DOWN, phys_state Disabled";
const UP: &str =
    "healthy state NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: healthy (ACTIVE, LinkUp)";
const TRAINING: &str =
    "warning state NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: state INIT, phys_state LinkUp";
const POLLING: &str =
    "fatal state NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: state DOWN, phys_state Polling";
const STUCK: &str =
    "fatal state NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: state INIT, phys_state LinkUp";
const DISABLED: &str =
    "fatal state NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: state ACTIVE, phys_state Disabled";
const UNREAD: &str =
    "warning state NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: state unreadable (EIO)";
const SLOW: &str = "warning counter !symbol_error NIC:mlx5_0 NICPort:1 -- slow";
const DOWNED: &str = "fatal counter !link_downed NIC:mlx5_0 NICPort:1 -- Port mlx5_0 port 1: \
    link_downed - Port Training State Machine failed - QP disconnect (value=1, delta=1, rate=0.00/interval)";
const DOWNED_RESET: &str = "healthy counter !link_downed NIC:mlx5_0 NICPort:1 -- Counter link_downed recovered on port mlx5_0 port 1";

/// A line with its time, and with another NIC's name if one is given.
fn put(line: &str, s: f64) -> String {
    line.replacen(" -- ", &format!(" @{s} -- "), 1)
}

fn lines_of(reported: &[(&str, f64)]) -> Vec<String> {
    let line = |(line, s): &(&str, f64)| match *line {
        "tick" => format!("tick @{s}"),
        line => put(line, *s),
    };
    reported.iter().map(line).collect()
}

fn check_port(profile: &str, reported: &[(&str, f64)], expected: &[&str]) {
    let lines = lines_of(reported);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(profile, &lines, expected);
}

/// The flap diagram of "NIC Health Monitor: Link State Detection", 6.4, as events of a monitor that
/// latches its counters.
const FLAPS: [(&str, f64); 6] = [
    (DOWN, 90.0),
    (DOWNED, 90.0),
    (UP, 105.0),
    (DOWN, 260.0),
    (UP, 275.0),
    (DOWN, 430.0),
];

#[test]
fn the_flap_diagram_fires_at_seven_minutes_and_ten_seconds() {
    check_port(
        "lsd",
        &FLAPS,
        &["RepeatedNICLinkFlap node-1/mlx5_0/1 x3 @430"],
    );
}

#[test]
fn the_query_as_it_is_printed_is_silent_behind_a_latching_monitor() {
    check_port("lsd-text", &FLAPS, &[]);
}

#[test]
fn the_query_as_it_is_printed_counts_recoveries_and_fires_at_the_second_flap() {
    let story = [(DOWNED, 90.0), (DOWNED_RESET, 91.0), (DOWNED, 260.0)];
    check_port(
        "lsd-text",
        &story,
        &["RepeatedNICLinkFlap node-1/mlx5_0/1 x3 @260"],
    );
}

/// 6.4: `entity = 'mlx5_0_port1'`.
#[test]
fn the_query_as_it_is_printed_counts_one_port_of_one_device() {
    let on = |nic: &str| DOWNED.replace("NIC:mlx5_0", &format!("NIC:{nic}"));
    let (a, b, c) = (on("mlx5_0"), on("mlx5_1"), on("mlx5_2"));
    let story = [(a.as_str(), 1.0), (b.as_str(), 2.0), (c.as_str(), 3.0)];
    check_port("lsd-text", &story, &[]);
    check_port("lsd", &story, &[]);
    let port_2 = DOWNED.replace("NICPort:1", "NICPort:2");
    let story = [(DOWNED, 1.0), (port_2.as_str(), 2.0), (DOWNED, 3.0)];
    check_port("lsd-text", &story, &[]);
}

#[rstest]
#[case::of_its_port(DOWN, 600.0, &["RepeatedNICLinkFlap node-1/mlx5_0/1 x3 @600"])]
#[case::ten_minutes_after_the_first(DOWN, 601.0, &[])]
fn the_query_as_it_is_printed_looks_again_at_any_fault_of_its_port(
    #[case] fault: &str,
    #[case] at: f64,
    #[case] expected: &[&str],
) {
    let story = [
        (DOWNED, 1.0),
        (DOWNED_RESET, 2.0),
        (DOWNED_RESET, 3.0),
        (fault, at),
    ];
    check_port("lsd-text", &story, expected);
    let of_another = fault.replace("NIC:mlx5_0", "NIC:mlx5_1");
    let story = [story[0], story[1], story[2], (of_another.as_str(), at)];
    check_port("lsd-text", &story, &[]);
}

#[rstest]
#[case::at_the_windows_end(600.0, &["RepeatedNICLinkFlap node-1/mlx5_0/1 x3 @600"])]
#[case::after_the_windows_end(600.001, &[])]
fn a_flap_counts_for_ten_minutes(#[case] third: f64, #[case] expected: &[&str]) {
    let story = [
        (DOWN, 0.0),
        (UP, 1.0),
        (DOWN, 300.0),
        (UP, 301.0),
        (DOWN, third),
    ];
    check_port("lsd", &story, expected);
}

#[rstest]
#[case::the_two_tell_of_one_fall(&[(DOWN, 10.0), (DOWNED, 12.0), (UP, 20.0), (DOWN, 30.0)], 0)]
#[case::too_far_apart_they_are_two(&[(DOWN, 10.0), (DOWNED, 12.001), (UP, 20.0), (DOWN, 30.0)], 1)]
#[case::the_counter_first(&[(DOWNED, 10.0), (DOWN, 11.0), (UP, 20.0), (DOWN, 30.0)], 0)]
#[case::two_falls_are_never_one(&[(DOWN, 10.0), (UP, 10.5), (DOWN, 11.0), (UP, 11.5), (DOWN, 12.0)], 1)]
#[case::init_is_no_flap(&[(TRAINING, 10.0), (UP, 20.0), (TRAINING, 30.0), (UP, 40.0), (TRAINING, 50.0)], 0)]
#[case::init_that_lasts_is_no_flap(&[(STUCK, 10.0), (UP, 20.0), (STUCK, 30.0), (UP, 40.0), (STUCK, 50.0)], 0)]
#[case::unreadable_is_no_flap(&[(UNREAD, 10.0), (UP, 20.0), (UNREAD, 30.0), (UP, 40.0), (UNREAD, 50.0)], 0)]
#[case::disabled_but_not_down_is_no_flap(&[(DISABLED, 10.0), (UP, 20.0), (DISABLED, 30.0), (UP, 40.0), (DISABLED, 50.0)], 0)]
#[case::down_after_init_is_one(&[(TRAINING, 10.0), (DOWN, 20.0), (UP, 30.0), (DOWN, 40.0), (UP, 50.0), (DOWN, 60.0)], 1)]
#[case::down_after_what_is_not_down_is_one_without_a_healthy_event(
    &[(DOWN, 10.0), (TRAINING, 20.0), (DOWN, 30.0), (UNREAD, 40.0), (DOWN, 50.0)], 1
)]
#[case::down_in_other_words_is_no_further_one(&[(DOWN, 10.0), (POLLING, 20.0), (DOWN, 30.0), (POLLING, 40.0)], 0)]
#[case::a_repeated_word_is_no_fall(&[(DOWN, 10.0), (DOWN, 20.0), (DOWN, 30.0)], 0)]
#[case::a_line_that_comes_twice_is_no_fall(&[(DOWN, 10.0), (UP, 12.0), (DOWN, 10.0), (UP, 12.0), (DOWN, 20.0)], 0)]
#[case::a_fall_that_comes_after_its_end(&[(DOWN, 10.0), (UP, 12.0), (UP, 22.0), (DOWN, 20.0), (DOWN, 30.0)], 1)]
fn a_flap_is_a_fall_or_its_counter(#[case] story: &[(&str, f64)], #[case] fired: usize) {
    let lines = lines_of(story);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let firings = play(shipped("lsd").unwrap(), None, &lines);
    assert_eq!(firings.len(), fired, "{firings:#?}");
}

/// A crossing follows an event of the port itself: neither a reboot's clear of a whole check nor a
/// device's return says that the link was up.
#[rstest]
#[case::of_the_check("healthy state -- Host reboot detected")]
#[case::of_the_device("healthy state NIC:mlx5_0 -- Device mlx5_0 re-enumerated in sysfs")]
#[case::of_another_port(
    "healthy state NIC:mlx5_0 NICPort:2 -- Port mlx5_0 port 2: healthy (ACTIVE, LinkUp)"
)]
#[case::of_its_counters("healthy counter NIC:mlx5_0 NICPort:1 -- all well")]
fn what_is_said_of_something_else_makes_no_flap(#[case] clear: &str) {
    let story = [
        (DOWN, 10.0),
        (clear, 20.0),
        (DOWN, 30.0),
        (clear, 40.0),
        (DOWN, 50.0),
    ];
    check_port("lsd", &story, &[]);
}

#[rstest]
#[case::no_event_comes_and_the_clock_fires_it(
    &[(DOWN, 30.0), ("tick", 269.999), ("tick", 270.0), ("tick", 600.0)],
    &["NICPortDrop node-1/mlx5_0/1 x1 @270"]
)]
#[case::at_the_first_tick_after(&[(DOWN, 30.0), ("tick", 269.0), ("tick", 271.0)], &["NICPortDrop node-1/mlx5_0/1 x1 @271"])]
#[case::cleared_by_the_port(
    &[(DOWN, 30.0), ("tick", 270.0), (UP, 300.0), ("tick", 900.0)],
    &["NICPortDrop node-1/mlx5_0/1 x1 @270", "NICPortDrop cleared node-1/mlx5_0/1 x1 @300"]
)]
#[case::back_in_time(&[(DOWN, 30.0), (UP, 269.0), ("tick", 270.0)], &[])]
#[case::the_fall_itself_is_counted(&[(DOWN, 30.0), (DOWNED, 32.0), ("tick", 270.0)], &["NICPortDrop node-1/mlx5_0/1 x1 @270"])]
#[case::an_attempt_to_recover(&[(DOWN, 30.0), (DOWNED, 32.001), ("tick", 270.0), ("tick", 900.0)], &[])]
#[case::an_attempt_at_the_last_instant(&[(DOWN, 30.0), (DOWNED, 270.0), ("tick", 270.0)], &[])]
#[case::an_attempt_after_it(&[(DOWN, 30.0), (DOWNED, 270.001), ("tick", 271.0)], &["NICPortDrop node-1/mlx5_0/1 x1 @271"])]
#[case::an_attempt_told_before_the_fall(&[(DOWNED, 100.0), (DOWN, 30.0), ("tick", 270.0)], &[])]
#[case::a_fault_that_is_no_fall(&[(TRAINING, 30.0), ("tick", 900.0)], &[])]
#[case::from_training_to_down(&[(TRAINING, 30.0), (DOWN, 60.0), ("tick", 299.0), ("tick", 300.0)], &["NICPortDrop node-1/mlx5_0/1 x1 @300"])]
#[case::the_first_word_is_the_onset(&[(DOWN, 30.0), (DOWN, 200.0), ("tick", 270.0)], &["NICPortDrop node-1/mlx5_0/1 x1 @270"])]
#[case::a_fall_that_comes_after_its_end(&[(DOWN, 10.0), (UP, 40.0), (DOWN, 30.0), ("tick", 900.0)], &[])]
#[case::a_late_healthy_word_ends_nothing(&[(DOWN, 30.0), (UP, 20.0), ("tick", 270.0)], &["NICPortDrop node-1/mlx5_0/1 x1 @270"])]
#[case::equal_stamps_end_it(&[(DOWN, 30.0), (UP, 30.0), ("tick", 900.0)], &[])]
#[case::after_a_step_back_silence_begins_anew(
    &[(DOWN, 3600.0), ("tick", 3700.0), ("tick", 100.0), ("tick", 339.0), ("tick", 340.0)],
    &["NICPortDrop node-1/mlx5_0/1 x1 @340"]
)]
fn four_minutes_of_silence_are_a_drop(#[case] story: &[(&str, f64)], #[case] expected: &[&str]) {
    check_port("lsd", story, expected);
}

#[test]
fn a_drop_said_by_the_clock_bears_the_clocks_stamp_and_its_port() {
    let lines = lines_of(&[(DOWN, 30.0), ("tick", 270.0), (UP, 300.0)]);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let firings = play(shipped("lsd").unwrap(), None, &lines);
    let [fired, cleared] = firings.as_slice() else {
        panic!("{firings:#?}")
    };
    assert_eq!(fired.event.generated_timestamp, Some(at(270.0).to_wire()));
    assert_eq!(
        fired.event.entities_impacted,
        reported(DOWN).entities_impacted
    );
    assert!(fired.event.is_fatal);
    assert!(cleared.event.is_healthy && !cleared.event.is_fatal);
    assert_eq!(cleared.event.check_name, "NICPortDrop");
    assert_eq!(
        cleared.event.entities_impacted,
        fired.event.entities_impacted
    );
}

/// Three flaps, the third of which comes back at 445 s.
const FLAPPING: [(&str, f64); 6] = [
    (DOWN, 90.0),
    (UP, 105.0),
    (DOWN, 260.0),
    (UP, 275.0),
    (DOWN, 430.0),
    (UP, 445.0),
];

#[rstest]
#[case::quiet_afterwards(&[("tick", 1045.0), ("tick", 5000.0)], &[])]
#[case::one_more(
    &[(DOWN, 500.0), (UP, 510.0), ("tick", 1109.999), ("tick", 1110.0), ("tick", 5000.0)],
    &["RepeatedNICLinkFlap node-1/mlx5_0/1 x1 @1110"]
)]
#[case::two_more_are_one(
    &[(DOWN, 500.0), (UP, 510.0), (DOWN, 600.0), (UP, 610.0), ("tick", 1209.0), ("tick", 1210.0)],
    &["RepeatedNICLinkFlap node-1/mlx5_0/1 x2 @1210"]
)]
#[case::a_fall_alone_says_nothing_new(
    &[(DOWN, 1040.0), (UP, 1041.0), ("tick", 1641.0), ("tick", 5000.0)],
    &[]
)]
#[case::after_the_hold_it_fires_at_once(
    &[
        ("tick", 1045.0), (DOWN, 2000.0), (UP, 2001.0), (DOWN, 2010.0), (UP, 2011.0), (DOWN, 2020.0),
    ],
    &["RepeatedNICLinkFlap node-1/mlx5_0/1 x3 @2020"]
)]
#[case::a_drop_is_held_and_over_before_anybody_heard(
    &[(DOWN, 500.0), ("tick", 740.0), (UP, 800.0), ("tick", 1400.0)],
    &["RepeatedNICLinkFlap node-1/mlx5_0/1 x1 @1400"]
)]
fn after_a_flap_the_port_must_settle(#[case] then: &[(&str, f64)], #[case] expected: &[&str]) {
    let story: Vec<(&str, f64)> = FLAPPING.iter().chain(then).copied().collect();
    let mut all = vec!["RepeatedNICLinkFlap node-1/mlx5_0/1 x3 @430"];
    all.extend(expected);
    let mut ticked = story;
    if !ticked.iter().any(|(line, _)| *line == "tick") {
        ticked.push(("tick", 5000.0));
    }
    check_port("lsd", &ticked, &all);
}

#[test]
fn the_one_that_stands_for_many_says_how_many() {
    let story = [
        (DOWN, 500.0),
        (UP, 510.0),
        (DOWN, 600.0),
        (UP, 610.0),
        ("tick", 1210.0),
    ];
    let story: Vec<(&str, f64)> = FLAPPING.into_iter().chain(story).collect();
    let lines = lines_of(&story);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let firings = play(shipped("lsd").unwrap(), None, &lines);
    assert_eq!(
        firings[1].event.message,
        "NIC port flapping detected (2 more until the port was stable)"
    );
}

#[rstest]
#[case::long_enough(25.0, &["ib_port_flap node-1/mlx5_0/1 x3 @225"])]
#[case::too_short(24.999, &[])]
#[case::the_documents_own_flaps(15.0, &[])]
fn gpud_counts_returns_after_25_seconds(#[case] down_s: f64, #[case] expected: &[&str]) {
    let story = [
        (DOWN, 0.0),
        (UP, 25.0),
        (DOWN, 100.0),
        (UP, 125.0),
        (DOWN, 200.0),
        (UP, 200.0 + down_s),
    ];
    check_port("gpud", &story, expected);
}

#[test]
fn gpud_records_the_third_flap_and_not_the_fourth() {
    let story = [
        (DOWN, 0.0),
        (UP, 25.0),
        (DOWN, 100.0),
        (UP, 125.0),
        (DOWN, 200.0),
        (UP, 225.0),
        (DOWN, 300.0),
        (UP, 325.0),
    ];
    check_port("gpud", &story, &["ib_port_flap node-1/mlx5_0/1 x3 @225"]);
}

#[test]
fn gpud_keeps_a_drop_for_ten_minutes_after_it_recovered() {
    let story = [
        (DOWN, 0.0),
        ("tick", 239.0),
        ("tick", 240.0),
        (UP, 300.0),
        ("tick", 899.0),
        ("tick", 900.0),
    ];
    let expected = [
        "ib_port_drop node-1/mlx5_0/1 x1 @240",
        "ib_port_drop cleared node-1/mlx5_0/1 x1 @900",
    ];
    check_port("gpud", &story, &expected);
}

/// Port 1 of `mlx5_2` of this many nodes, on `leaf-3`.
fn leaf(nodes: usize) -> Cabling {
    let mut cabling = Cabling::default();
    for n in 1..=nodes {
        let port = CabledPort {
            node: format!("n{n}"),
            device: "mlx5_2".to_owned(),
            port: "1".to_owned(),
        };
        cabling.plug(port, "leaf-3");
    }
    cabling
}

#[rstest]
#[case::four_at_once(&[(1, 10.0), (2, 10.0), (3, 10.0), (4, 10.0)], &["FabricWideFault leaf-3 x4 @12"])]
#[case::two_are_not_enough(&[(1, 10.0), (2, 10.0)], &[])]
#[case::one_node_thrice(&[(1, 10.0), (1, 20.0), (1, 30.0)], &[])]
#[case::at_the_windows_end(&[(1, 10.0), (2, 20.0), (3, 70.0)], &["FabricWideFault leaf-3 x3 @72"])]
#[case::after_the_windows_end(&[(1, 10.0), (2, 20.0), (3, 70.001)], &[])]
#[case::the_last_that_is_still_waited_for(&[(1, 10.0), (2, 10.0), (3, 10.0), (4, 12.0)], &["FabricWideFault leaf-3 x4 @12"])]
#[case::one_that_comes_too_late(&[(1, 10.0), (2, 10.0), (3, 10.0), (4, 13.0)], &["FabricWideFault leaf-3 x3 @12"])]
#[case::a_node_elsewhere(&[(1, 10.0), (2, 10.0), (9, 10.0)], &[])]
#[case::once_and_again(
    &[(1, 10.0), (2, 10.0), (3, 10.0), (4, 200.0), (5, 200.0), (6, 200.0)],
    &["FabricWideFault leaf-3 x3 @12", "FabricWideFault leaf-3 x3 @202"]
)]
fn one_switch_is_seen_behind_many_nodes(#[case] falls: &[(u32, f64)], #[case] expected: &[&str]) {
    let fall =
        |(n, s): &(u32, f64)| format!("fatal state NIC:mlx5_2 NICPort:1 node=n{n} @{s} -- gone");
    let mut lines: Vec<String> = falls.iter().map(fall).collect();
    lines.push("warning counter NIC:x NICPort:1 @1000".to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let firings = play(shipped("lsd").unwrap(), Some(leaf(8)), &lines);
    let rendered: Vec<String> = firings.iter().map(rendered).collect();
    assert_eq!(rendered, expected);
}

#[test]
fn a_fabric_fault_asks_for_no_replacement() {
    let fall = |n| format!("fatal state NIC:mlx5_2 NICPort:1 node=n{n} @1 -- gone");
    let mut lines: Vec<String> = (1..=3).map(fall).collect();
    lines.push("warning counter NIC:x @9".to_owned());
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let firings = play(shipped("lsd").unwrap(), Some(leaf(8)), &lines);
    assert_eq!(
        firings[0].event.recommended_action(),
        RecommendedAction::None
    );
    assert!(!firings[0].event.is_fatal);
}

#[test]
fn without_the_cabling_the_rule_across_nodes_says_that_it_cannot_be_evaluated() {
    let without = Analyzer::new(shipped("lsd").unwrap(), None).unevaluable();
    assert_eq!(without.len(), 1);
    assert_eq!(without[0].rule, "FabricWideFault");
    assert!(
        without[0]
            .to_string()
            .contains("the cabling of ports and switches")
    );
    assert!(
        Analyzer::new(shipped("lsd").unwrap(), Some(leaf(1)))
            .unevaluable()
            .is_empty()
    );
    assert!(
        Analyzer::new(shipped("nvsentinel").unwrap(), None)
            .unevaluable()
            .is_empty()
    );
}

/// A port that flaps each minute for this many hours.
fn kept_after(profile: &str, hours: u32) -> usize {
    let mut analyzer = Analyzer::new(shipped(profile).unwrap(), None);
    for minute in 0..hours * 60 {
        let s = f64::from(minute) * 60.0;
        for (line, s) in [
            (DOWN, s),
            (DOWNED, s),
            (UP, s + 30.0),
            (DOWNED_RESET, s + 30.0),
        ] {
            let event = reported(&put(line, s));
            while let Some(due) = analyzer.next_due().filter(|due| *due < at(s)) {
                analyzer.tick(due);
            }
            analyzer.take(&event);
        }
    }
    analyzer.kept_bytes()
}

#[rstest]
#[case("lsd")]
#[case("lsd-text")]
#[case("nvsentinel")]
#[case("gpud")]
fn memory_follows_the_windows_and_not_the_history(#[case] profile: &str) {
    assert_eq!(kept_after(profile, 4), kept_after(profile, 24));
}

#[test]
fn what_is_long_over_is_forgotten() {
    let mut analyzer = Analyzer::new(shipped("lsd").unwrap(), None);
    let nothing = analyzer.kept_bytes();
    for n in 0..100 {
        analyzer.take(&reported(&format!(
            "fatal state NIC:mlx5_{n} NICPort:1 @1 -- x: state DOWN"
        )));
        analyzer.take(&reported(&format!(
            "healthy state NIC:mlx5_{n} NICPort:1 @2"
        )));
    }
    assert!(analyzer.kept_bytes() > nothing);
    analyzer.tick(at(10_000.0));
    assert_eq!(analyzer.kept_bytes(), nothing);
}

proptest! {
    /// The engine's count equals that of a query over the whole history.
    #[test]
    fn a_count_is_what_a_query_over_everything_would_find(
        seconds in prop::collection::vec(0_u32..60, 1..12),
    ) {
        let stamps: Vec<f64> = seconds.iter().map(|s| f64::from(*s)).collect();
        let query = |n: &usize| {
            let until = seconds[*n];
            let is_in = |s: &&u32| **s <= until && **s + 10 >= until;
            seconds[..=*n].iter().filter(is_in).count() >= 3
        };
        let expected: Vec<usize> = (0..seconds.len()).filter(query).collect();
        prop_assert_eq!(fired_at("", &stamps), expected);
    }

    /// The order of two nodes' events does not change the result for either.
    #[test]
    fn nodes_do_not_disturb_each_other(
        falls in prop::collection::vec((0_u8..2, any::<bool>()), 0..30),
    ) {
        let line = |n: usize, node: u8, is_up: bool| {
            let line = put(if is_up { UP } else { DOWN }, n as f64 * 20.0);
            line.replacen(" @", &format!(" node=n{node} @"), 1)
        };
        let all: Vec<(u8, String)> = falls
            .iter()
            .enumerate()
            .map(|(n, (node, is_up))| (*node, line(n, *node, *is_up)))
            .collect();
        let run = |lines: Vec<&str>| {
            let firings = play(shipped("lsd").unwrap(), None, &lines);
            firings.iter().map(rendered).collect::<Vec<_>>()
        };
        let together = run(all.iter().map(|(_, line)| line.as_str()).collect());
        for node in 0..2_u8 {
            let alone = all.iter().filter(|(of, _)| *of == node);
            let alone = run(alone.map(|(_, line)| line.as_str()).collect());
            let mark = format!(" n{node}/");
            let part: Vec<String> = together.iter().filter(|rendered| rendered.contains(&mark)).cloned().collect();
            // Without the other node's events the clock may not advance as far, so what only time causes
            // may be missing at the end.
            prop_assert_eq!(&part[..alone.len()], alone.as_slice());
        }
    }
}
