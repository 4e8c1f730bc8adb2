//! Quarantine: which streams cordon a node, which release it, and where the node condition differs.

use cluster::{
    Clearing, Conditions,
    quarantine::{Breaker, Quarantine, Ruleset, Rulesets, Verdict},
};
use proptest::prelude::*;
use proto::BehaviourOverrides;
use rstest::rstest;

use crate::words::reported;

/// Plays the lines and compares the node's condition and its cordon.
fn check(rulesets: Rulesets, lines: &[&str], condition_stands: bool, cordoned: bool) {
    let mut conditions = Conditions::default();
    let mut quarantine = Quarantine::new(rulesets);
    for line in lines {
        let event = reported(line);
        conditions.apply(Clearing::ALL, [&event]);
        quarantine.take(&event);
    }
    let stands = conditions.faulty().count() > 0;
    let held = quarantine.is_cordoned("node-1");
    assert_eq!((stands, held), (condition_stands, cordoned), "{lines:?}");
}

/// Every difference between the two kinds of matching, each next to the most similar case without
/// one.
#[rstest]
#[case::port_by_port(
    "state NIC:mlx5_0 NICPort:1",
    "state NIC:mlx5_0 NICPort:1",
    false,
    false
)]
#[case::port_by_its_device("state NIC:mlx5_0 NICPort:1", "state NIC:mlx5_0", false, true)]
#[case::device_by_its_port("state NIC:mlx5_0", "state NIC:mlx5_0 NICPort:1", true, false)]
#[case::device_by_device("state NIC:mlx5_0", "state NIC:mlx5_0", false, false)]
#[case::another_nics_port_1("state NIC:mlx5_0 NICPort:1", "state NIC:mlx5_1 NICPort:1", true, true)]
#[case::too_many_entities(
    "state NIC:mlx5_0 NICPort:1",
    "state NIC:mlx5_0 NICPort:1 GPU:0",
    true,
    false
)]
#[case::no_entities("state NIC:mlx5_0 NICPort:1", "state", false, false)]
#[case::another_check(
    "state NIC:mlx5_0 NICPort:1",
    "counter NIC:mlx5_0 NICPort:1",
    true,
    true
)]
#[case::another_class("state NIC:mlx5_0", "state class=GPU NIC:mlx5_0", false, true)]
#[case::another_class_and_no_entities("state NIC:mlx5_0", "state class=GPU", false, true)]
#[case::another_agent("state NIC:mlx5_0", "state agent=other NIC:mlx5_0", false, true)]
#[case::its_code("counter !a NIC:mlx5_0", "counter !a NIC:mlx5_0", false, false)]
#[case::no_code("counter !a NIC:mlx5_0", "counter NIC:mlx5_0", false, false)]
#[case::another_code("counter !a NIC:mlx5_0", "counter !b NIC:mlx5_0", true, true)]
#[case::one_of_two_codes("counter !a !b NIC:mlx5_0", "counter !b NIC:mlx5_0", false, true)]
#[case::both_codes("counter !a !b NIC:mlx5_0", "counter !a !b NIC:mlx5_0", false, false)]
#[case::a_code_that_the_fault_lacks("state NIC:mlx5_0", "state !a NIC:mlx5_0", true, true)]
#[case::another_code_and_no_entities("counter !a NIC:mlx5_0", "counter !b", false, true)]
#[case::a_fault_without_entities("state", "state NIC:mlx5_0", true, true)]
#[case::a_name_that_begins_alike("state NIC:mlx5_1", "state NIC:mlx5_10", true, true)]
fn a_fault_is_settled(
    #[case] fault: &str,
    #[case] healthy: &str,
    #[case] condition_stands: bool,
    #[case] cordoned: bool,
) {
    let lines = [format!("fatal {fault}"), format!("healthy {healthy}")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(Rulesets::shipped(), &lines, condition_stands, cordoned);
}

#[test]
fn keys_that_went_one_by_one_come_back_with_the_annotation() {
    let lines = [
        "fatal state NIC:mlx5_0 NICPort:1",
        "healthy state NIC:mlx5_0",
        "healthy state NIC:mlx5_1 NICPort:1",
    ];
    check(Rulesets::shipped(), &lines, false, true);
}

#[test]
fn a_node_is_released_when_its_last_fault_goes() {
    let mut quarantine = Quarantine::new(Rulesets::shipped());
    let verdicts: Vec<Verdict> = [
        "healthy state NIC:mlx5_0 NICPort:1",
        "fatal state NIC:mlx5_0 NICPort:1",
        "fatal state NIC:mlx5_1 NICPort:1",
        "fatal state NIC:mlx5_1 NICPort:1 -- the same, in other words",
        "warning counter NIC:mlx5_2 NICPort:1",
        "healthy state NIC:mlx5_0 NICPort:1",
        "healthy state NIC:mlx5_1 NICPort:1",
        "healthy state NIC:mlx5_1 NICPort:1",
    ]
    .iter()
    .map(|line| quarantine.take(&reported(line)))
    .collect();
    let cordoned = Verdict::Cordoned {
        by: "NIC health monitor".to_owned(),
    };
    let held = |faults| Verdict::AlreadyQuarantined { faults };
    assert_eq!(
        verdicts,
        [
            Verdict::Ignored,
            cordoned,
            held(2),
            held(2),
            Verdict::Ignored,
            held(1),
            Verdict::Uncordoned,
            Verdict::Ignored,
        ]
    );
}

#[test]
fn a_node_is_held_by_its_own_faults_alone() {
    let mut quarantine = Quarantine::new(Rulesets::shipped());
    quarantine.take(&reported("fatal state NIC:mlx5_0 node=node-1"));
    quarantine.take(&reported("fatal state NIC:mlx5_0 node=node-2"));
    quarantine.take(&reported("healthy state NIC:mlx5_0 node=node-2"));
    assert_eq!(
        quarantine
            .cordoned()
            .map(|(node, _)| node)
            .collect::<Vec<_>>(),
        ["node-1"]
    );
}

#[rstest]
#[case::nic_monitor(Rulesets::shipped(), "fatal state NIC:mlx5_0", true)]
#[case::non_fatal(Rulesets::shipped(), "warning state NIC:mlx5_0", false)]
#[case::kernel_log_nic(Rulesets::shipped(), "fatal X agent=syslog-health-monitor", true)]
#[case::kernel_log_gpu(
    Rulesets::shipped(),
    "fatal X agent=syslog-health-monitor class=GPU",
    true
)]
#[case::kernel_log_other(
    Rulesets::shipped(),
    "fatal X agent=syslog-health-monitor class=CPU",
    false
)]
#[case::analyzer(
    Rulesets::shipped(),
    "fatal RepeatedNICDegradation agent=health-events-analyzer",
    false
)]
#[case::stored_only(
    Rulesets::shipped(),
    "fatal state NIC:mlx5_0 strategy=STORE_ONLY",
    false
)]
#[case::stored_and_analysed(
    Rulesets::shipped(),
    "fatal state NIC:mlx5_0 strategy=STORE_AND_ANALYSE",
    false
)]
#[case::unspecified(
    Rulesets::shipped(),
    "fatal state NIC:mlx5_0 strategy=UNSPECIFIED",
    true
)]
#[case::no_action_needed(Rulesets::shipped(), "fatal state NIC:mlx5_0 action=NONE", true)]
#[case::before_nics_were_named(Rulesets::without_nics(), "fatal state NIC:mlx5_0", false)]
#[case::own_ruleset(
    Rulesets::shipped().with(Ruleset::new("ours", "health-events-analyzer", &[])),
    "fatal RepeatedNICDegradation agent=health-events-analyzer",
    true
)]
fn a_ruleset_cordons_for(#[case] rulesets: Rulesets, #[case] line: &str, #[case] cordoned: bool) {
    let mut quarantine = Quarantine::new(rulesets);
    quarantine.take(&reported(line));
    assert_eq!(quarantine.is_cordoned("node-1"), cordoned);
}

#[rstest]
#[case::force("warning state NIC:mlx5_0", true, false, true)]
#[case::skip("fatal state NIC:mlx5_0", false, true, false)]
#[case::skip_wins("fatal state NIC:mlx5_0", true, true, false)]
fn an_event_may_overrule_the_rulesets(
    #[case] line: &str,
    #[case] force: bool,
    #[case] skip: bool,
    #[case] cordoned: bool,
) {
    let mut event = reported(line);
    event.quarantine_overrides = Some(BehaviourOverrides { force, skip });
    let mut quarantine = Quarantine::new(Rulesets::shipped());
    quarantine.take(&event);
    assert_eq!(quarantine.is_cordoned("node-1"), cordoned);
}

/// Cordons one node after another at these times in seconds, in a fleet of this size; returns at
/// which one the breaker opened, if it did.
fn opened_at(fleet: usize, seconds: &[f64]) -> Option<usize> {
    let mut quarantine = Quarantine::new(Rulesets::shipped()).with_breaker(Breaker::new(fleet));
    seconds.iter().enumerate().position(|(n, s)| {
        quarantine.take(&reported(&format!("fatal state NIC:mlx5_0 node=n{n} @{s}")));
        quarantine.is_halted()
    })
}

#[rstest]
#[case::half_of_four(4, &[0.0, 1.0], Some(1))]
#[case::half_of_five_is_three(5, &[0.0, 1.0], None)]
#[case::three_of_five(5, &[0.0, 1.0, 2.0], Some(2))]
#[case::a_world_of_one(1, &[0.0], Some(0))]
#[case::the_last_instant_that_counts(4, &[0.0, 299.999], Some(1))]
#[case::the_first_that_does_not(4, &[0.0, 300.0], None)]
fn the_breaker_opens(#[case] fleet: usize, #[case] seconds: &[f64], #[case] opened: Option<usize>) {
    assert_eq!(opened_at(fleet, seconds), opened);
}

#[test]
fn an_open_breaker_halts_everything() {
    let mut quarantine = Quarantine::new(Rulesets::shipped()).with_breaker(Breaker::new(2));
    quarantine.take(&reported("fatal state NIC:mlx5_0 node=n1"));
    assert_eq!(
        quarantine.take(&reported("fatal state NIC:mlx5_0 node=n2")),
        Verdict::Halted
    );
    assert_eq!(
        quarantine.take(&reported("healthy state NIC:mlx5_0 node=n1")),
        Verdict::Halted
    );
    assert!(quarantine.is_cordoned("n1"), "the clear was not looked at");
}

proptest! {
    /// A healthy event with the same entities and codes always clears a fault, in both.
    #[test]
    fn a_faults_own_healthy_event_settles_it_everywhere(
        nics in prop::collection::btree_set(0_u8..4, 0..3),
        codes in prop::collection::btree_set("[a-d]", 0..3),
    ) {
        let entities: String = nics.iter().map(|nic| format!(" NIC:mlx5_{nic} NICPort:1")).collect();
        let codes: String = codes.iter().map(|code| format!(" !{code}")).collect();
        let fault = format!("fatal state{entities}{codes}");
        let healthy = format!("healthy state{entities}{codes}");
        check(Rulesets::shipped(), &[&fault], true, true);
        check(Rulesets::shipped(), &[&fault, &healthy], false, false);
    }
}

/// The rule sets of other agents are not modelled, so a cordoned node stays so while a fatal event of
/// such an agent is outstanding.
#[rstest]
#[case::said_before(&["fatal GpuCheck agent=gpu-health-monitor GPU:0", "fatal state NIC:a", "healthy state NIC:a"], true)]
#[case::said_while_cordoned(&["fatal state NIC:a", "fatal GpuCheck agent=gpu-health-monitor GPU:0", "healthy state NIC:a"], true)]
#[case::taken_back_before(
    &["fatal GpuCheck agent=gpu-health-monitor GPU:0", "fatal state NIC:a", "healthy GpuCheck agent=gpu-health-monitor GPU:0", "healthy state NIC:a"],
    false
)]
#[case::taken_back_after(
    &["fatal GpuCheck agent=gpu-health-monitor GPU:0", "fatal state NIC:a", "healthy state NIC:a", "healthy GpuCheck agent=gpu-health-monitor GPU:0"],
    false
)]
#[case::one_of_two_agents_taken_back(
    &["fatal GpuCheck agent=gpu-health-monitor GPU:0", "fatal PreflightCheck agent=preflight-nccl", "fatal state NIC:a", "healthy state NIC:a", "healthy GpuCheck agent=gpu-health-monitor GPU:0"],
    true
)]
#[case::not_fatal(&["warning GpuCheck agent=gpu-health-monitor GPU:0", "fatal state NIC:a", "healthy state NIC:a"], false)]
#[case::on_another_node(&["fatal GpuCheck agent=gpu-health-monitor node=n2 GPU:0", "fatal state NIC:a", "healthy state NIC:a"], false)]
#[case::stored_only(&["fatal GpuCheck agent=gpu-health-monitor strategy=STORE_ONLY GPU:0", "fatal state NIC:a", "healthy state NIC:a"], false)]
#[case::of_the_analyzer(&["fatal RepeatedNICLinkFlap agent=health-events-analyzer NIC:a", "fatal state NIC:a", "healthy state NIC:a"], false)]
#[case::of_a_class_that_no_rule_set_names(&["fatal SysLogs agent=syslog-health-monitor class=CPU", "fatal state NIC:a", "healthy state NIC:a"], false)]
#[case::alone_it_cordons_nothing(&["fatal GpuCheck agent=gpu-health-monitor GPU:0"], false)]
fn a_fault_of_an_agent_whose_rule_sets_are_left_out_holds_a_cordoned_node(
    #[case] lines: &[&str],
    #[case] cordoned: bool,
) {
    let mut quarantine = Quarantine::new(Rulesets::shipped());
    let verdicts: Vec<Verdict> = lines
        .iter()
        .map(|line| quarantine.take(&reported(line)))
        .collect();
    assert_eq!(quarantine.is_cordoned("node-1"), cordoned, "{verdicts:?}");
    assert_eq!(
        verdicts.contains(&Verdict::Uncordoned),
        !cordoned && lines.len() > 1,
        "{verdicts:?}"
    );
}
