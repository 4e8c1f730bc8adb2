//! Node conditions: their entries after streams of events, and the entries that are lost.

use std::collections::BTreeMap;

use cluster::{
    Clearing, Conditions, KubeEvents,
    batch::{by_node, may_act, order_decides, received},
    condition::NO_FAILURES,
    message::{FREE_TEXT_MAX_BYTES, MESSAGE_MAX_BYTES, is_torn},
};
use proptest::prelude::*;
use proto::{HealthEvent, ProcessingStrategy, RecommendedAction};
use rstest::rstest;

use crate::words::{at, batch, reported};

/// The conditions after these lines, each a batch of its own.
fn after(clearing: Clearing, lines: &[&str]) -> Conditions {
    let mut conditions = Conditions::default();
    for line in lines {
        conditions.apply(clearing, [&reported(line)]);
    }
    conditions
}

/// Checks the number of entries of `check` after these lines.
fn check(clearing: Clearing, lines: &[&str], name: &str, entries: usize) {
    let conditions = after(clearing, lines);
    let condition = conditions.get(name).unwrap();
    assert_eq!(condition.entries().count(), entries, "{condition:?}");
    assert_eq!(condition.is_faulty, entries > 0, "{condition:?}");
}

const STATE: &str = "InfiniBandStateCheck";
const COUNTER: &str = "InfiniBandDegradationCheck";

#[test]
fn a_fatal_event_makes_a_condition_true_under_its_checks_name() {
    let lines = ["fatal state NIC:mlx5_0 NICPort:1 @5 -- Port mlx5_0 port 1: state DOWN; gone"];
    let conditions = after(Clearing::ALL, &lines);
    let condition = conditions.get(STATE).unwrap();
    assert!(condition.is_faulty);
    assert_eq!(condition.reason(STATE), "InfiniBandStateCheckIsNotHealthy");
    assert_eq!(
        condition.message,
        "NIC:mlx5_0 NICPort:1 Port mlx5_0 port 1: state DOWN. gone Recommended Action=REPLACE_VM;"
    );
    assert_eq!(conditions.faulty().collect::<Vec<_>>(), [STATE]);
}

#[test]
fn a_code_stands_before_the_entities() {
    let lines = ["fatal counter !link_downed NIC:mlx5_0 NICPort:1 -- down"];
    let conditions = after(Clearing::ALL, &lines);
    assert_eq!(
        conditions.get(COUNTER).unwrap().message,
        "ErrorCode:link_downed NIC:mlx5_0 NICPort:1 down Recommended Action=REPLACE_VM;"
    );
}

#[test]
fn a_first_healthy_event_makes_a_condition_that_is_false() {
    let conditions = after(Clearing::ALL, &["healthy state NIC:mlx5_0 NICPort:1"]);
    let condition = conditions.get(STATE).unwrap();
    assert!(!condition.is_faulty);
    assert_eq!(condition.message, NO_FAILURES);
    assert_eq!(condition.reason(STATE), "InfiniBandStateCheckIsHealthy");
}

#[test]
fn the_heartbeat_moves_with_each_event_and_the_transition_with_the_status() {
    let lines = [
        "fatal state NIC:mlx5_0 @1",
        "fatal state NIC:mlx5_1 @2",
        "healthy state NIC:mlx5_0 @3",
        "healthy state NIC:mlx5_1 @4",
        "healthy state NIC:mlx5_1 @9",
    ];
    let expected = [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 4.0), (9.0, 4.0)];
    let mut conditions = Conditions::default();
    for (line, (heartbeat, transition)) in lines.iter().zip(expected) {
        conditions.apply(Clearing::ALL, [&reported(line)]);
        let condition = conditions.get(STATE).unwrap();
        assert_eq!(condition.heartbeat, at(heartbeat), "{line}");
        assert_eq!(condition.transition, at(transition), "{line}");
    }
}

#[rstest]
#[case::all_of_its_entities(Clearing::ALL, "healthy state NIC:mlx5_0 NICPort:1", 0)]
#[case::another_nics_port_1(Clearing::ALL, "healthy state NIC:mlx5_1 NICPort:1", 1)]
#[case::another_nics_port_1_when_any_was_enough(
    Clearing::ANY,
    "healthy state NIC:mlx5_1 NICPort:1",
    0
)]
#[case::any_with_code_likewise(Clearing::ANY_WITH_CODE, "healthy state NIC:mlx5_1 NICPort:1", 0)]
#[case::the_whole_nic(Clearing::ALL, "healthy state NIC:mlx5_0", 0)]
#[case::one_entity_too_many(Clearing::ALL, "healthy state NIC:mlx5_0 NICPort:1 GPU:0", 1)]
#[case::no_entity_at_all(Clearing::ALL, "healthy state", 0)]
#[case::another_check(Clearing::ALL, "healthy counter NIC:mlx5_0 NICPort:1", 1)]
#[case::a_code_that_the_fault_lacks(Clearing::ALL, "healthy state !x NIC:mlx5_0 NICPort:1", 1)]
#[case::a_code_before_codes_counted(Clearing::ANY, "healthy state !x NIC:mlx5_0 NICPort:1", 0)]
#[case::a_name_that_only_begins_alike(Clearing::ALL, "healthy state NIC:mlx5_ NICPort:1", 1)]
#[case::an_orphan_of_a_rename(Clearing::ALL, "healthy state NIC:ibp3s0 NICPort:1", 1)]
#[case::another_agent(Clearing::ALL, "healthy state agent=other NIC:mlx5_0 NICPort:1", 0)]
#[case::another_class(Clearing::ALL, "healthy state class=GPU NIC:mlx5_0 NICPort:1", 0)]
fn a_port_fault_is_cleared_by(
    #[case] clearing: Clearing,
    #[case] healthy: &str,
    #[case] entries: usize,
) {
    check(
        clearing,
        &["fatal state NIC:mlx5_0 NICPort:1", healthy],
        STATE,
        entries,
    );
}

#[rstest]
#[case::by_the_device(Clearing::ALL, "healthy state NIC:mlx5_0", 0)]
#[case::not_by_its_port(Clearing::ALL, "healthy state NIC:mlx5_0 NICPort:1", 1)]
#[case::by_its_port_when_any_was_enough(Clearing::ANY, "healthy state NIC:mlx5_0 NICPort:1", 0)]
#[case::not_by_mlx5_01(Clearing::ALL, "healthy state NIC:mlx5_01", 1)]
fn a_device_fault_is_cleared(
    #[case] clearing: Clearing,
    #[case] healthy: &str,
    #[case] entries: usize,
) {
    check(
        clearing,
        &["fatal state NIC:mlx5_0", healthy],
        STATE,
        entries,
    );
}

#[rstest]
#[case::by_its_own_code("healthy counter !link_downed NIC:mlx5_0 NICPort:1", 1)]
#[case::by_either_code(
    "healthy counter !link_downed !symbol_error_fatal NIC:mlx5_0 NICPort:1",
    0
)]
#[case::by_no_code_all_of_them("healthy counter NIC:mlx5_0 NICPort:1", 0)]
#[case::without_entities_the_code_is_ignored("healthy counter !link_downed", 0)]
fn two_counters_of_one_port_are_told_apart(#[case] healthy: &str, #[case] entries: usize) {
    let lines = [
        "fatal counter !link_downed NIC:mlx5_0 NICPort:1 -- one",
        "fatal counter !symbol_error_fatal NIC:mlx5_0 NICPort:1 -- two",
        healthy,
    ];
    check(Clearing::ALL, &lines, COUNTER, entries);
}

#[test]
fn one_of_an_entrys_two_codes_is_enough_to_clear_it() {
    let lines = [
        "fatal counter !a !b NIC:mlx5_0",
        "healthy counter !b NIC:mlx5_0",
    ];
    check(Clearing::ALL, &lines, COUNTER, 0);
}

#[test]
fn the_same_entry_is_added_once_and_another_value_makes_another_entry() {
    let lines = [
        "fatal counter NIC:mlx5_0 NICPort:1 -- link_downed (value=1, delta=1)",
        "fatal counter NIC:mlx5_0 NICPort:1 -- link_downed (value=1, delta=1)",
        "fatal counter NIC:mlx5_0 NICPort:1 -- link_downed (value=2, delta=1)",
    ];
    check(Clearing::ALL, &lines, COUNTER, 2);
}

/// 30 ports, each with a message longer than what a compacted entry keeps.
fn thirty_faults() -> Vec<String> {
    let text = "x".repeat(2 * FREE_TEXT_MAX_BYTES);
    let fault = |n| format!("fatal state NIC:mlx5_{n} NICPort:1 -- {text}");
    (0..30).map(fault).collect()
}

#[test]
fn a_long_message_loses_free_text_before_it_loses_entries() {
    let lines = thirty_faults();
    let mut conditions = Conditions::default();
    let events: Vec<HealthEvent> = lines.iter().take(8).map(|line| reported(line)).collect();
    let changes = conditions.apply(Clearing::ALL, &events);
    assert!(changes[0].loss.is_none(), "{:?}", changes[0].loss);
    let condition = conditions.get(STATE).unwrap();
    assert_eq!(condition.entries().count(), 8);
    let short = "x".repeat(FREE_TEXT_MAX_BYTES);
    for (n, entry) in condition.entries().enumerate() {
        assert_eq!(
            entry,
            format!("NIC:mlx5_{n} NICPort:1 {short} Recommended Action=REPLACE_VM")
        );
    }
}

#[test]
fn what_does_not_fit_is_forgotten_and_said_to_be() {
    let events: Vec<HealthEvent> = thirty_faults().iter().map(|line| reported(line)).collect();
    let mut conditions = Conditions::default();
    let change = conditions.apply(Clearing::ALL, &events).remove(0);
    let condition = conditions.get(STATE).unwrap();
    assert_eq!(condition.message.len(), MESSAGE_MAX_BYTES);
    assert!(condition.message.ends_with("..."));
    // An entry about `mlx5_0` to `mlx5_9` has 21 + 72 + 30 bytes and its `;`, so eight of them have
    // 992 bytes, and 29 bytes of the ninth fit before the mark.
    assert_eq!(condition.entries().count(), 9);
    let torn: Vec<&str> = condition.entries().filter(|entry| is_torn(entry)).collect();
    assert!(matches!(torn[..], [entry] if entry.starts_with("NIC:mlx5_8 ")));
    assert!(change.loss.torn.unwrap().starts_with("NIC:mlx5_8 "));
    assert_eq!(change.loss.forgotten.len(), 21);
    assert!(change.loss.forgotten[20].starts_with("NIC:mlx5_29 "));
    let healthy = reported("healthy state NIC:mlx5_29 NICPort:1");
    let forgotten = conditions.apply(Clearing::ALL, [&healthy]).remove(0);
    assert_eq!(
        forgotten.now.entries().count(),
        9,
        "there is nothing to clear"
    );
}

#[test]
fn entries_of_one_gpu_are_one_when_room_is_short_and_entries_of_one_nic_never_are() {
    let text = "y".repeat(200);
    let lines: Vec<String> = (0..6)
        .map(|n| format!("fatal state GPU:7 -- {n}{text}"))
        .collect();
    let events: Vec<HealthEvent> = lines.iter().map(|line| reported(line)).collect();
    let mut conditions = Conditions::default();
    conditions.apply(Clearing::ALL, &events);
    assert_eq!(conditions.get(STATE).unwrap().entries().count(), 1);
    let of_a_nic = lines
        .iter()
        .map(|line| reported(&line.replace("GPU:7", "NIC:7")));
    let events: Vec<HealthEvent> = of_a_nic.collect();
    let mut conditions = Conditions::default();
    conditions.apply(Clearing::ALL, &events);
    assert_eq!(conditions.get(STATE).unwrap().entries().count(), 6);
}

#[test]
fn a_batch_is_applied_by_its_stamps() {
    let call = batch(&[
        "fatal state NIC:mlx5_0 @2",
        "healthy state @1",
        "fatal state NIC:mlx5_0 node=node-2 @3",
    ]);
    let events = received(&call).unwrap();
    let nodes = by_node(&events);
    assert_eq!(
        nodes.keys().copied().collect::<Vec<_>>(),
        ["node-1", "node-2"]
    );
    let healthy: Vec<bool> = nodes["node-1"]
        .iter()
        .map(|event| event.is_healthy)
        .collect();
    assert_eq!(healthy, [true, false]);
}

#[rstest]
#[case::a_clear_and_its_fault(&["healthy state @1", "fatal state NIC:mlx5_0 @1"], true)]
#[case::back_dated_by_a_second(&["healthy state @0", "fatal state NIC:mlx5_0 @1"], false)]
#[case::two_faults(&["fatal state NIC:mlx5_0 @1", "fatal state NIC:mlx5_1 @1"], false)]
#[case::a_fault_elsewhere(&["healthy state NIC:mlx5_1 @1", "fatal state NIC:mlx5_0 @1"], false)]
#[case::another_check(&["healthy counter @1", "fatal state NIC:mlx5_0 @1"], false)]
#[case::a_fault_that_makes_no_condition(&["healthy state @1", "warning state NIC:mlx5_0 @1"], false)]
#[case::settled_by_a_later_clear(
    &["healthy state @1", "fatal state NIC:mlx5_0 @1", "healthy state NIC:mlx5_0 @2"], false
)]
#[case::settled_by_a_later_fault(
    &["healthy state @1", "fatal state NIC:mlx5_0 @1", "fatal state NIC:mlx5_0 @2"], false
)]
fn equal_stamps_are_a_finding_where_their_order_decides(
    #[case] lines: &[&str],
    #[case] decides: bool,
) {
    let events = received(&batch(lines)).unwrap();
    let sorted = by_node(&events).remove("node-1").unwrap();
    let found = order_decides(&Conditions::default(), Clearing::ALL, &sorted);
    assert_eq!(!found.is_empty(), decides, "{found:?}");
}

#[test]
fn an_unspecified_strategy_acts_and_the_two_that_only_keep_do_not() {
    let of = |strategy: ProcessingStrategy| {
        let mut call = batch(&["fatal state NIC:mlx5_0"]);
        call.events[0].set_processing_strategy(strategy);
        let events = received(&call).unwrap();
        assert_ne!(
            events[0].processing_strategy(),
            ProcessingStrategy::Unspecified
        );
        (may_act(&events[0]), by_node(&events).len())
    };
    assert_eq!(of(ProcessingStrategy::Unspecified), (true, 1));
    assert_eq!(of(ProcessingStrategy::ExecuteRemediation), (true, 1));
    assert_eq!(of(ProcessingStrategy::StoreOnly), (false, 0));
    assert_eq!(of(ProcessingStrategy::StoreAndAnalyse), (false, 0));
}

#[test]
fn a_custom_action_without_a_name_refuses_the_whole_call() {
    let mut call = batch(&[
        "fatal state NIC:mlx5_0",
        "fatal state NIC:mlx5_1 action=CUSTOM",
    ]);
    let refused = received(&call).unwrap_err();
    assert_eq!((refused.event, refused.check.as_str()), (2, STATE));
    call.events[1].custom_recommended_action = "POWER_CYCLE".to_owned();
    let events = received(&call).unwrap();
    assert_eq!(events[1].recommended_action(), RecommendedAction::Custom);
    let mut conditions = Conditions::default();
    conditions.apply(Clearing::ALL, &events);
    let message = &conditions.get(STATE).unwrap().message;
    assert!(
        message.ends_with("Recommended Action=POWER_CYCLE;"),
        "{message}"
    );
}

#[test]
fn a_warning_is_a_kubernetes_event_and_no_condition() {
    let warning = reported("warning counter NIC:mlx5_0 NICPort:1 @1 -- slow");
    let mut conditions = Conditions::default();
    assert!(conditions.apply(Clearing::ALL, [&warning]).is_empty());
    assert_eq!(conditions, Conditions::default());
    let mut seen = KubeEvents::default();
    let (key, count) = seen.take(&warning).unwrap();
    assert_eq!(
        (key.reason().as_str(), count),
        ("InfiniBandDegradationCheckIsNotHealthy", 1)
    );
    assert_eq!(
        seen.take(&reported("healthy counter NIC:mlx5_0 NICPort:1 @1")),
        None
    );
    assert_eq!(
        seen.take(&reported("fatal counter NIC:mlx5_0 NICPort:1 @1")),
        None
    );
}

#[test]
fn the_same_warning_is_counted_and_another_text_is_another_event() {
    let mut seen = KubeEvents::default();
    let count = |seen: &mut KubeEvents, line: &str| seen.take(&reported(line)).unwrap().1;
    assert_eq!(count(&mut seen, "warning counter NIC:mlx5_0 @1 -- slow"), 1);
    assert_eq!(count(&mut seen, "warning counter NIC:mlx5_0 @2 -- slow"), 2);
    assert_eq!(
        count(&mut seen, "warning counter NIC:mlx5_0 @3 -- slower"),
        1
    );
    assert_eq!(count(&mut seen, "warning counter NIC:mlx5_1 @4 -- slow"), 1);
    assert_eq!(seen.iter().count(), 3);
}

#[test]
fn a_kubernetes_event_is_forgotten_an_hour_after_it_was_seen_last() {
    let mut seen = KubeEvents::default();
    seen.take(&reported("warning counter NIC:mlx5_0 @1 -- slow"));
    seen.take(&reported("warning counter NIC:mlx5_1 @3601 -- slow"));
    assert_eq!(
        seen.iter().count(),
        2,
        "the last instant at which it is kept"
    );
    seen.take(&reported("warning counter NIC:mlx5_2 @3601.001 -- slow"));
    let nics: Vec<&str> = seen.iter().map(|(key, _)| &key.message[..10]).collect();
    assert_eq!(nics, ["NIC:mlx5_1", "NIC:mlx5_2"]);
}

/// Any event about one of three NICs with one of two ports.
fn any_event() -> impl Strategy<Value = HealthEvent> {
    let kind = prop::sample::select(vec!["fatal", "warning", "healthy"]);
    let entities = prop::sample::select(vec![
        "",
        "NIC:mlx5_0",
        "NIC:mlx5_1",
        "NIC:mlx5_0 NICPort:1",
        "NIC:mlx5_1 NICPort:1",
    ]);
    let codes = prop::sample::select(vec!["", "!a", "!b", "!a !b"]);
    let stamp = 0_u8..3;
    (kind, entities, codes, stamp).prop_map(|(kind, entities, codes, stamp)| {
        reported(&format!("{kind} state {entities} {codes} @{stamp}"))
    })
}

fn entries_of(conditions: &Conditions) -> BTreeMap<String, Vec<String>> {
    let sorted = |(check, condition): (&str, &cluster::Condition)| {
        let mut entries: Vec<String> = condition.entries().map(str::to_owned).collect();
        entries.sort();
        (check.to_owned(), entries)
    };
    conditions.iter().map(sorted).collect()
}

proptest! {
    /// `order_decides` gives the same result as trying every order of equal timestamps.
    #[test]
    fn order_decides_exactly_where_some_order_leaves_other_entries(
        before in prop::collection::vec(any_event(), 0..4),
        events in prop::collection::vec(any_event(), 0..5),
        clearing in prop::sample::select(vec![Clearing::ALL, Clearing::ANY]),
    ) {
        let mut conditions = Conditions::default();
        conditions.apply(clearing, &before);
        let sorted: Vec<&HealthEvent> = {
            let mut events: Vec<&HealthEvent> = events.iter().collect();
            events.sort_by_key(|event| cluster::Stamp::of(event.generated_timestamp.as_ref()));
            events
        };
        let mut outcomes = std::collections::BTreeSet::new();
        for order in orders(&sorted) {
            let mut after = conditions.clone();
            after.apply(clearing, order);
            outcomes.insert(format!("{:?}", entries_of(&after)));
        }
        let found = order_decides(&conditions, clearing, &sorted);
        prop_assert_eq!(!found.is_empty(), outcomes.len() > 1);
    }

    /// A healthy event without entities leaves no entry.
    #[test]
    fn a_check_scoped_clear_always_clears(before in prop::collection::vec(any_event(), 0..40)) {
        let mut conditions = Conditions::default();
        conditions.apply(Clearing::ALL, &before);
        conditions.apply(Clearing::ALL, [&reported("healthy state @9")]);
        prop_assert_eq!(conditions.faulty().count(), 0);
    }

    /// A message never exceeds its limit.
    #[test]
    fn a_message_never_outgrows_its_limit(
        texts in prop::collection::vec("[a-zäß;: ]{0,300}", 0..20),
    ) {
        let mut conditions = Conditions::default();
        for text in texts {
            let mut event = reported("fatal state NIC:mlx5_0 NICPort:1");
            event.message = text;
            conditions.apply(Clearing::ALL, [&event]);
        }
        for (_, condition) in conditions.iter() {
            prop_assert!(condition.message.len() <= MESSAGE_MAX_BYTES);
        }
    }
}

/// Every order of these events in which timestamps do not decrease.
fn orders<'a>(sorted: &[&'a HealthEvent]) -> Vec<Vec<&'a HealthEvent>> {
    let Some(first) = sorted.first() else {
        return vec![Vec::new()];
    };
    let stamp = first.generated_timestamp;
    let equal = sorted.partition_point(|event| event.generated_timestamp == stamp);
    let mut all = Vec::new();
    for at in 0..equal {
        let mut rest = sorted.to_vec();
        let chosen = rest.remove(at);
        for mut order in orders(&rest) {
            order.insert(0, chosen);
            all.push(order);
        }
    }
    all
}
