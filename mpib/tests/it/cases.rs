//! The acceptance cases of `cases.yaml`; each row is a test with its own name.
//!
//! Expectations were written from the documents. A range (`at_least`, `at_most`) is a value like any
//! other; everything else must be equal. One more test changes each expected value in turn and
//! requires every change to fail, so that no row can pass trivially.

mod observe;
mod row;
mod stage;

use std::collections::{BTreeMap, BTreeSet};

use files::yaml;
use serde_json::{Value, json};

use row::Row;
use stage::Stage;

const CASES: &str = include_str!("cases.yaml");

fn read() -> BTreeMap<String, Value> {
    yaml::read("cases.yaml", CASES).unwrap_or_else(|error| panic!("{error}"))
}

fn row(name: &str, value: &Value) -> Row {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("`{name}`: {error}"))
}

fn play(row: &Row) -> Stage {
    let mut stage = Stage::new(row);
    for step in &row.steps {
        stage.play(step);
    }
    stage
}

/// The expectations of a played row that do not hold.
fn differences(stage: &Stage, expect: &BTreeMap<String, Value>) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, expected) in expect {
        let observed = stage.observe(name, expected);
        if !holds(expected, &observed) {
            differences.push(format!("{name}: expected {expected}, observed {observed}"));
        }
    }
    differences
}

fn holds(expected: &Value, observed: &Value) -> bool {
    match (expected, observed) {
        (Value::Object(range), Value::Number(_)) => {
            let bound = |name: &str| range[name].as_f64().expect("a bound");
            let observed = observed.as_f64().expect("a number");
            (bound("at_least")..=bound("at_most")).contains(&observed)
        }
        (Value::Object(expected), Value::Object(observed)) => {
            let is_same = |(key, expected): (&String, &Value)| {
                observed
                    .get(key)
                    .is_some_and(|observed| holds(expected, observed))
            };
            expected.len() == observed.len() && expected.iter().all(is_same)
        }
        (Value::Array(expected), Value::Array(observed)) => {
            let pairs = expected.iter().zip(observed);
            expected.len() == observed.len() && pairs.into_iter().all(|(a, b)| holds(a, b))
        }
        _ => expected == observed,
    }
}

#[track_caller]
fn check(name: &str) {
    let cases = read();
    let row = row(name, &cases[name]);
    let differences = differences(&play(&row), &row.expect);
    assert!(
        differences.is_empty(),
        "{} ({}):\n{}",
        row.case,
        name,
        differences.join("\n")
    );
}

/// Every value that differs from `value` in one place.
fn alterations(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!(0)],
        Value::Bool(is) => vec![json!(!is)],
        Value::Number(number) => vec![json!(number.as_i64().expect("whole numbers only") + 1)],
        Value::String(text) => vec![json!(format!("{text} altered"))],
        Value::Array(items) => {
            let mut all = vec![json!([items.as_slice(), &[json!("altered")]].concat())];
            for (index, item) in items.iter().enumerate() {
                for altered in alterations(item) {
                    let mut items = items.clone();
                    items[index] = altered;
                    all.push(Value::Array(items));
                }
            }
            all
        }
        Value::Object(members) if members.contains_key("at_least") => {
            let bound = |name: &str| members[name].as_i64().expect("a whole bound");
            let (least, most) = (bound("at_least"), bound("at_most"));
            vec![
                json!({ "at_least": least, "at_most": least - 1 }),
                json!({ "at_least": most + 1, "at_most": 2 * most + 2 }),
            ]
        }
        Value::Object(members) => {
            let mut all = Vec::new();
            for (key, member) in members {
                for altered in alterations(member) {
                    let mut members = members.clone();
                    members[key] = altered;
                    all.push(Value::Object(members));
                }
            }
            all
        }
    }
}

#[test]
fn every_altered_expectation_fails() {
    for (name, value) in &read() {
        let row = row(name, value);
        let stage = play(&row);
        for (what, expected) in &row.expect {
            for altered in alterations(expected) {
                let expect = BTreeMap::from([(what.clone(), altered.clone())]);
                assert_eq!(
                    differences(&stage, &expect).len(),
                    1,
                    "`{name}`: `{what}` may as well be {altered}"
                );
            }
        }
    }
}

/// The numbers have gaps; each existing one has a row.
#[test]
fn every_case_has_a_row_and_no_other() {
    let mpib = [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28,
        30, 31, 33, 34, 35,
    ];
    let mpib = mpib.map(|number| format!("MP-{number:02}"));
    let joint = [1, 2, 14, 22].map(|number| format!("J-{number:02}"));
    let listed: BTreeSet<String> = mpib.into_iter().chain(joint).collect();
    let cases = read();
    let rendered: BTreeSet<String> = cases
        .iter()
        .map(|(name, value)| row(name, value).case)
        .collect();
    assert_eq!(rendered, listed);
    assert!(
        cases
            .iter()
            .all(|(name, value)| !row(name, value).expect.is_empty()),
        "a row expects something"
    );
}

/// One test for each row, and a list of them.
macro_rules! rows {
    ($($name:ident),* $(,)?) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        #[test]
        fn every_row_is_a_test() {
            let tests = BTreeSet::from([$(stringify!($name).to_owned()),*]);
            let rows: BTreeSet<String> = read().into_keys().collect();
            assert_eq!(tests, rows);
        }
    };
}

rows! {
    mp_01_first_and_fourth_of_an_island,
    mp_01_one_of_each_island,
    mp_01_an_address_and_itself,
    mp_02_an_island_is_parted_by_30_and_longer,
    mp_03_two_islands_are_one_up_to_22,
    mp_04_prefix_unset,
    mp_04_prefix_no_number,
    mp_04_prefix_0,
    mp_04_prefix_33,
    mp_04_prefix_hexadecimal,
    mp_04_prefix_32,
    mp_05_both_ends_of_an_island_log_sup,
    mp_06_both_ends_between_islands_log_sout,
    mp_07_the_ring_alternates,
    mp_08_each_nic_moves_for_its_own_pairs,
    mp_09_the_mesh_of_eight,
    mp_11_every_size_has_sup_only,
    mp_13_hint_16777218,
    mp_13_hint_16777219,
    mp_14_hint_0,
    mp_14_hint_1,
    mp_14_hint_256,
    mp_14_hint_512,
    mp_14_hint_1023,
    mp_14_hint_1024,
    mp_14_hint_1025,
    mp_15_no_hint_reaches_traffic_between_islands,
    mp_16_clear_to_send_stays_on_sup_when_data_does_not,
    mp_17_a_hint_acts_from_the_next_send_on,
    mp_18_a_send_spins_on_a_half_written_hint,
    mp_18_edges_between_islands_go_on,
    mp_18_the_time_limit_ends_the_hang,
    mp_19_no_shared_memory,
    mp_19_another_magic,
    mp_20_a_dead_agents_last_hint_is_kept,
    mp_21_the_257th_pair_is_refused,
    mp_22_connections_of_one_pair_share_a_slot,
    mp_23_a_missing_name_is_invalid_usage,
    mp_23_an_infiniband_port_is_not_offered,
    mp_24_nothing_is_posted_before_clear_to_send,
    mp_24_clear_to_send_lets_the_next_call_post,
    mp_25_a_receive_ends_with_its_last_part,
    mp_26_a_short_outage_stalls_one_edge,
    mp_28_an_outage_of_the_idle_rail_is_not_felt,
    mp_30_an_outage_while_idle_is_not_felt,
    mp_31_one_dead_edge_fails_every_rank,
    mp_33_two_gids_without_an_address_are_one_island,
    mp_33_one_gid_without_an_address_is_apart,
    mp_34_no_queue_pairs_on_sup_between_islands,
    mp_35_a_send_completes_with_nothing_sent,
    mp_35_the_receiver_hangs,
    j_01_a_cable_pulled_for_good,
    j_02_a_cable_out_for_5_seconds,
    j_14_the_other_rail_down_in_spec,
    j_14_the_other_rail_down_in_g1,
    j_22_no_agent,
}
