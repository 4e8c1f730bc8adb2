//! Counters: growth over a threshold, faults that remain until a reset, and what does not count as
//! growth.
//!
//! The first poll of a rig here reads no counter, and its baseline is not checked unless a test
//! says so.

mod owners;

use checks::ReadError;
use rstest::rstest;

use super::nics;
use crate::world::{ANCHOR, Connector, DISABLED, ETH, NET, Nic, Rig, UP, brief, nic};

const COUNTERS: [&str; 10] = [
    "counters/link_downed",
    "counters/excessive_buffer_overrun_errors",
    "counters/local_link_integrity_errors",
    "counters/symbol_error",
    "counters/link_error_recovery",
    "counters/port_rcv_errors",
    "counters/port_xmit_discards",
    "hw_counters/rnr_nak_retry_err",
    "hw_counters/local_ack_timeout_err",
    "hw_counters/roce_slow_restart",
];

fn path(name: &str, counter: &str) -> String {
    format!("{ANCHOR}/{name}/ports/1/{counter}")
}

fn put(rig: &mut Rig, name: &str, counter: &str, value: u64) {
    rig.world.put(&path(name, counter), &value.to_string());
}

fn downed(rig: &mut Rig, name: &str, value: u64) {
    put(rig, name, "counters/link_downed", value);
}

fn put_counters(rig: &mut Rig, nic: &Nic) {
    for counter in COUNTERS {
        put(rig, &nic.name, counter, 0);
    }
    if let Some(interface) = &nic.interface {
        rig.world
            .put(&format!("{NET}/{interface}/carrier_changes"), "1");
    }
}

fn rig(nics: &[Nic], checks: &str) -> Rig {
    let mut rig = Rig::new(nics);
    rig.args = vec![format!("--checks={checks}")];
    for nic in nics {
        put_counters(&mut rig, nic);
    }
    rig
}

const BOTH: &str = "InfiniBandDegradationCheck,EthernetDegradationCheck";
const ALL: &str =
    "InfiniBandStateCheck,InfiniBandDegradationCheck,EthernetStateCheck,EthernetDegradationCheck";

/// A rig that watches counters, after its first poll.
fn counting(nics: &[Nic]) -> Rig {
    let mut rig = rig(nics, BOTH);
    rig.poll();
    rig
}

const DOWNED: &str = "F mlx5_1/1: Port mlx5_1 port 1: link_downed - Port Training State Machine failed - QP disconnect";

#[test]
fn growth_is_said_once_and_a_reset_is_its_recovery() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 1);
    assert_eq!(
        rig.poll(),
        [format!("{DOWNED} (value=1, delta=1, rate=0.00/interval)")]
    );
    downed(&mut rig, "mlx5_1", 7);
    assert!(rig.polls(5).is_empty(), "a breach stands");
    downed(&mut rig, "mlx5_1", 0);
    assert_eq!(
        rig.poll(),
        ["h mlx5_1/1: Counter link_downed recovered on port mlx5_1 port 1"]
    );
    downed(&mut rig, "mlx5_1", 2);
    assert_eq!(
        rig.poll(),
        [format!("{DOWNED} (value=2, delta=2, rate=0.00/interval)")]
    );
}

#[test]
fn an_event_carries_its_counters_name_and_its_checks() {
    let mut rig = counting(&[nic(0), nic(1).ethernet()]);
    downed(&mut rig, "mlx5_0", 1);
    put(&mut rig, "mlx5_1", "counters/symbol_error", 11);
    rig.poll();
    let rendered: Vec<(&str, &[String], i32)> = rig.calls[rig.calls.len() - 2..]
        .iter()
        .map(|(check, events)| {
            let event = &events[0];
            (
                check.as_str(),
                event.error_code.as_slice(),
                event.recommended_action,
            )
        })
        .collect();
    let code = |code: &str| vec![code.to_owned()];
    assert_eq!(
        rendered,
        [
            (
                "InfiniBandDegradationCheck",
                code("link_downed").as_slice(),
                25
            ),
            (
                "EthernetDegradationCheck",
                code("symbol_error").as_slice(),
                0
            ),
        ]
    );
}

#[test]
fn a_blind_first_poll_says_that_each_counter_is_healthy_and_a_standing_value_is_none() {
    let mut rig = rig(&nics(1), BOTH);
    downed(&mut rig, "mlx5_0", 3);
    let said = rig.poll();
    assert_eq!(said.len(), 11, "symbol_error is two counters: {said:?}");
    assert_eq!(
        said[0],
        "h mlx5_0/1: Counter link_downed healthy on port mlx5_0 port 1"
    );
    assert!(said.iter().all(|line| line.starts_with('h')));
    assert!(rig.polls(3).is_empty());
}

#[rstest]
#[case::second("counters/symbol_error", 10, 1, None)]
#[case::second_above(
    "counters/symbol_error",
    11,
    1,
    Some("value=11, delta=11, rate=11.00/sec")
)]
#[case::minute("counters/link_error_recovery", 5, 60, None)]
#[case::minute_above(
    "counters/link_error_recovery",
    6,
    60,
    Some("value=6, delta=6, rate=6.00/min")
)]
#[case::hour("counters/symbol_error", 120, 3600, None)]
fn a_rate_must_pass_its_threshold_in_a_closed_window(
    #[case] counter: &str,
    #[case] growth: u64,
    #[case] seconds: u64,
    #[case] want: Option<&str>,
) {
    let mut rig = counting(&nics(1));
    rig.wait(seconds - 1);
    put(&mut rig, "mlx5_0", counter, growth);
    let said = rig.poll();
    match want {
        None => assert!(said.is_empty(), "{said:?}"),
        Some(part) => assert!(said.len() == 1 && said[0].contains(part), "{said:?}"),
    }
}

#[test]
fn an_hours_window_closes_after_an_hour_of_boot_time() {
    let mut rig = counting(&nics(1));
    rig.wait(10);
    put(&mut rig, "mlx5_0", "counters/symbol_error", 121);
    rig.world.wall_ns -= 7200 * 1_000_000_000;
    let said = rig.poll();
    assert_eq!(said.len(), 1, "121 in a second and in 11: {said:?}");
    rig.wait(3587);
    assert!(rig.poll().is_empty(), "an hour but a second");
    let said = rig.poll();
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("F mlx5_0/1: Port mlx5_0 port 1: symbol_error_fatal - Symbol"));
    assert!(
        said[0].ends_with("(value=121, delta=121, rate=121.00/hour)"),
        "{said:?}"
    );
}

#[test]
fn slow_growth_is_no_delta_and_no_rate() {
    let mut rig = counting(&nics(1));
    for value in 1..200 {
        put(&mut rig, "mlx5_0", "counters/port_rcv_errors", 10 * value);
        assert!(rig.poll().is_empty());
    }
}

#[test]
fn a_breach_that_nobody_took_is_said_until_somebody_does() {
    let mut rig = counting(&nics(1));
    rig.connector = Connector::Refuses(3);
    put(&mut rig, "mlx5_0", "counters/symbol_error", 11);
    assert!(rig.poll().is_empty());
    rig.polls(20);
    rig.connector = Connector::Accepts;
    let said = rig.poll();
    assert!(
        said[0].ends_with("(value=11, delta=11, rate=11.00/sec)"),
        "{said:?}"
    );
    assert!(rig.polls(3).is_empty());
    rig.connector = Connector::Refuses(3);
    put(&mut rig, "mlx5_0", "counters/symbol_error", 0);
    rig.poll();
    put(&mut rig, "mlx5_0", "counters/symbol_error", 5);
    rig.polls(2);
    rig.connector = Connector::Accepts;
    assert_eq!(
        rig.poll(),
        ["h mlx5_0/1: Counter symbol_error recovered on port mlx5_0 port 1"]
    );
}

#[test]
fn a_breach_whose_reply_was_lost_may_stand_and_is_cleared() {
    let mut rig = counting(&nics(1));
    rig.connector = Connector::LosesReply;
    rig.args.push("--publish-attempts=1".to_owned());
    downed(&mut rig, "mlx5_0", 1);
    assert!(!rig.poll().is_empty());
    rig.connector = Connector::Accepts;
    downed(&mut rig, "mlx5_0", 0);
    assert_eq!(
        brief(&rig.poll()),
        ["h mlx5_0/1"],
        "it may stand at the connector"
    );
}

#[test]
fn what_stands_survives_a_restart_and_so_does_the_last_value() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_0", 3);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    downed(&mut rig, "mlx5_0", 9);
    rig.poll();
    rig.kill();
    assert!(rig.poll().is_empty());
    rig.kill();
    // A reset, and growth past the value at which the breach was found.
    downed(&mut rig, "mlx5_0", 5);
    assert_eq!(
        rig.poll(),
        ["h mlx5_0/1: Counter link_downed recovered on port mlx5_0 port 1"]
    );
}

#[test]
fn growth_between_two_lives_is_growth() {
    let mut rig = counting(&nics(1));
    rig.kill();
    downed(&mut rig, "mlx5_0", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

#[rstest]
#[case::absent(None, 0)]
#[case::io_error(Some(ReadError::EIO), 1)]
#[case::timeout(Some(ReadError::TimedOut), 1)]
fn a_counter_that_cannot_be_read_says_nothing_and_keeps_its_breach(
    #[case] error: Option<ReadError>,
    #[case] logged: usize,
) {
    let mut rig = counting(&nics(1));
    downed(&mut rig, "mlx5_0", 1);
    rig.poll();
    let file = path("mlx5_0", "counters/link_downed");
    match error {
        Some(error) => rig.world.errors.insert(file.clone(), error).is_none(),
        None => rig.world.files.remove(&file).is_some(),
    };
    assert!(rig.polls(5).is_empty());
    assert_eq!(rig.records_with("cannot be read"), logged);
    rig.world.errors.clear();
    downed(&mut rig, "mlx5_0", 4);
    assert!(rig.poll().is_empty(), "it still stands");
    downed(&mut rig, "mlx5_0", 0);
    assert_eq!(brief(&rig.poll()), ["h mlx5_0/1"]);
}

#[test]
fn no_pma_is_unreadable_and_a_counter_that_appears_is_seen_for_the_first_time() {
    let mut rig = rig(&nics(1), BOTH);
    let file = path("mlx5_0", "counters/link_downed");
    rig.world.put(&file, "N/A (no PMA)");
    assert_eq!(rig.poll().len(), 10);
    rig.polls(2);
    assert_eq!(rig.records_with("garbled"), 1);
    downed(&mut rig, "mlx5_0", 200);
    assert_eq!(
        rig.poll(),
        ["h mlx5_0/1: Counter link_downed healthy on port mlx5_0 port 1"]
    );
    downed(&mut rig, "mlx5_0", 201);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

#[test]
fn a_field_at_its_maximum_is_told_once() {
    let mut rig = counting(&nics(1));
    downed(&mut rig, "mlx5_0", 255);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    rig.polls(3);
    assert_eq!(rig.records_with("maximum of its field"), 1);
}

#[test]
fn a_ports_health_does_not_clear_its_counters() {
    let mut rig = rig(&nics(3), ALL);
    rig.poll();
    rig.world.set("mlx5_1", 1, DISABLED);
    downed(&mut rig, "mlx5_1", 1);
    let said = rig.poll();
    assert_eq!(brief(&said), ["F mlx5_1/1", "F mlx5_1/1"]);
    let checks: Vec<&str> = rig
        .calls
        .iter()
        .rev()
        .take(2)
        .map(|(c, _)| c.as_str())
        .collect();
    assert_eq!(
        checks,
        ["InfiniBandDegradationCheck", "InfiniBandStateCheck"]
    );
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(
        rig.poll(),
        ["h mlx5_1/1: Port mlx5_1 port 1: healthy (ACTIVE, LinkUp)"]
    );
    assert_eq!(rig.agent.as_ref().unwrap().standing().len(), 1);
}

#[test]
fn counters_of_management_and_virtual_functions_are_nobodys() {
    let mut rig = counting(&[nic(0), nic(1).numa(7), nic(2).vf()]);
    downed(&mut rig, "mlx5_1", 1);
    downed(&mut rig, "mlx5_2", 1);
    assert!(rig.polls(3).is_empty());
}

#[test]
fn carrier_changes_are_read_from_the_interface_itself() {
    let mut rig = counting(&[nic(0).ethernet().interface("eth0"), nic(1).interface("ib0")]);
    for value in [3, 5] {
        rig.world
            .put(&format!("{NET}/eth0/carrier_changes"), &value.to_string());
        assert!(rig.poll().is_empty(), "two a poll are no more than two");
    }
    rig.world.put(&format!("{NET}/eth0/carrier_changes"), "8");
    rig.world.put(&format!("{NET}/ib0/carrier_changes"), "8");
    assert_eq!(
        rig.poll(),
        [
            "n mlx5_0/1: Port mlx5_0 port 1: carrier_changes - Link instability - carrier state \
             changes (value=8, delta=3, rate=0.00/interval)"
        ]
    );
}

#[test]
fn what_leaves_the_scope_is_cleared() {
    let mut rig = counting(&nics(2));
    downed(&mut rig, "mlx5_1", 1);
    rig.poll();
    rig.stop();
    rig.config = "nicExclusionRegex = 'mlx5_1'".to_owned();
    assert_eq!(
        rig.poll(),
        ["h mlx5_1/1: NIC mlx5_1 no longer monitored (excluded by nicExclusionRegex): clearing"]
    );
}

#[test]
fn a_check_or_a_counter_that_is_off_is_cleared() {
    let off = "[[counterDetection.counters]]\nname = 'symbol_error'\nthresholdType = 'delta'";
    for (checks, config, want) in [
        (
            "EthernetDegradationCheck",
            "",
            "NIC mlx5_1 no longer monitored (InfiniBandDegradationCheck is not enabled): clearing",
        ),
        (
            BOTH,
            off,
            "Counter link_downed on mlx5_1 is no longer monitored (counter disabled or device out \
             of monitoring scope); clearing stale breach",
        ),
    ] {
        let mut rig = counting(&nics(2));
        downed(&mut rig, "mlx5_1", 1);
        rig.poll();
        rig.stop();
        rig.args = vec![format!("--checks={checks}")];
        rig.config = config.to_owned();
        assert_eq!(rig.poll(), [format!("h mlx5_1/1: {want}")]);
    }
}

#[test]
fn only_listed_counters_are_watched_by_the_operators_thresholds() {
    let mut rig = rig(&nics(1), BOTH);
    rig.config = "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\n\
                  threshold = 2\n[[counterDetection.counters]]\nname = 'port_rcv_errors'\n\
                  enabled = false\nthresholdType = 'velocity'\nvelocityUnit = 'second'"
        .to_owned();
    assert_eq!(rig.poll().len(), 1);
    downed(&mut rig, "mlx5_0", 2);
    put(&mut rig, "mlx5_0", "counters/port_rcv_errors", 60_000);
    assert!(rig.poll().is_empty());
    downed(&mut rig, "mlx5_0", 5);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

#[test]
fn an_empty_list_is_none_and_a_section_that_is_off_leaves_no_counter_check() {
    let mut none = rig(&nics(1), BOTH);
    none.config = "[counterDetection]\nenabled = true\ncounters = []".to_owned();
    assert!(none.polls(2).is_empty());
    assert_eq!(none.records_with("no counter is watched"), 1);
    let mut off = rig(&nics(1), BOTH);
    off.config = "[counterDetection]\nenabled = false".to_owned();
    let refusal = off.try_start().unwrap_err();
    assert_eq!(refusal.code, 1);
    let line = refusal.to_string();
    assert!(line.contains("counterDetection.enabled is false"), "{line}");
    let mut state = rig(&nics(1), ALL);
    state.config = "[counterDetection]\nenabled = false".to_owned();
    assert_eq!(brief(&state.poll()), ["h mlx5_0", "h mlx5_0/1"]);
}

#[test]
fn counters_have_an_interval_of_their_own() {
    let mut rig = rig(&nics(1), BOTH);
    rig.args.push("--counter-polling-interval=5s".to_owned());
    rig.poll();
    downed(&mut rig, "mlx5_0", 1);
    assert!(rig.polls(4).is_empty());
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

#[test]
fn states_may_be_judged_less_often_than_counters() {
    let mut rig = rig(&nics(1), ALL);
    rig.args.push("--state-polling-interval=5s".to_owned());
    rig.poll();
    rig.world.set("mlx5_0", 1, DISABLED);
    downed(&mut rig, "mlx5_0", 1);
    assert_eq!(rig.poll().len(), 1);
    assert!(rig.polls(3).is_empty());
    assert_eq!(
        rig.poll(),
        ["F mlx5_0/1: Port mlx5_0 port 1: state DOWN, phys_state Disabled"]
    );
}

#[test]
fn a_counter_that_stands_still_costs_no_write_and_one_that_moves_does() {
    let mut rig = rig(&nics(1), BOTH);
    rig.config = "[[counterDetection.counters]]\nname = 'link_downed'\nthresholdType = 'delta'\n\
                  threshold = 5"
        .to_owned();
    rig.poll();
    let saves = rig.saves;
    rig.polls(5);
    assert_eq!(rig.saves, saves);
    downed(&mut rig, "mlx5_0", 1);
    rig.polls(5);
    assert_eq!(rig.saves, saves + 1);
}

#[test]
fn shared_keys_tell_values_and_breaches() {
    let mut rig = counting(&[nic(0).ethernet().interface("eth0")]);
    downed(&mut rig, "mlx5_0", 1);
    rig.world.put(&format!("{NET}/eth0/carrier_changes"), "8");
    assert_eq!(rig.poll().len(), 2);
    let file: serde_json::Value = serde_json::from_slice(rig.disk.as_ref().unwrap()).unwrap();
    assert_eq!(
        file["counter_snapshots"]["mlx5_0:1:link_downed"]["value"],
        1
    );
    assert_eq!(
        file["counter_snapshots"]["net:eth0:carrier_changes"]["value"],
        8
    );
    let flag = &file["breach_flags"]["mlx5_0:1:link_downed"];
    assert_eq!(flag["check_name"], "EthernetDegradationCheck");
    assert_eq!(flag["is_fatal"], true);
    assert_eq!(flag["since"], "2025-03-01T00:00:02Z");
    assert_eq!(flag["device"], "mlx5_0");
    assert_eq!(flag["port"], "1");
    assert_eq!(
        file["breach_flags"]["net:eth0:carrier_changes"]["is_fatal"],
        false
    );
}

#[test]
fn a_counter_first_read_after_a_restart_owes_its_baseline_as_one_read_before_it() {
    for restarts in [false, true] {
        let mut rig = rig(&nics(1), BOTH);
        let file = path("mlx5_0", "counters/link_downed");
        rig.world.errors.insert(file.clone(), ReadError::EIO);
        rig.poll();
        if restarts {
            rig.restart();
        }
        rig.world.errors.remove(&file);
        let said = rig.poll();
        assert_eq!(brief(&said), ["h mlx5_0/1"], "{restarts}: {said:?}");
        assert!(said[0].contains("link_downed"), "{said:?}");
    }
}

#[test]
fn counters_are_cleared_when_no_counter_check_runs_any_more() {
    let mut rig = rig(&nics(2), ALL);
    rig.poll();
    downed(&mut rig, "mlx5_1", 1);
    rig.poll();
    rig.stop();
    rig.args = vec!["--checks=InfiniBandStateCheck".to_owned()];
    let clearing = "h mlx5_1/1: NIC mlx5_1 no longer monitored (InfiniBandDegradationCheck is not \
                    enabled): clearing";
    assert_eq!(rig.poll(), [clearing]);
}

#[test]
fn a_port_whose_layer_cannot_be_read_speaks_what_it_spoke() {
    let mut rig = counting(&[nic(0), nic(1).ports(2)]);
    let layer = format!("{ANCHOR}/mlx5_1/ports/1/link_layer");
    rig.world.errors.insert(layer, ReadError::EIO);
    downed(&mut rig, "mlx5_1", 1);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
}
