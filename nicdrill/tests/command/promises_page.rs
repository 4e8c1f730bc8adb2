//! `docs/monitor.md` is true of promises: it lists every kind with a scenario that exists, and its examples
//! are descriptors.

use std::collections::BTreeSet;

use observe::promises::{Kind, KindOf};

use crate::schema;

const PAGE: &str = include_str!("../../../docs/monitor.md");

/// The rows of the table between these marks. The last column of each names scenarios of the suite, or says that
/// every one asks for it.
fn rows(mark: &str) -> Vec<Vec<&'static str>> {
    let (open, close) = (format!("<!-- {mark} -->"), format!("<!-- /{mark} -->"));
    let (_, rest) = PAGE.split_once(&open).expect("the table begins");
    let (table, _) = rest.split_once(&close).expect("the table ends");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    for row in &rows {
        let scenarios = row.last().expect("a row has columns");
        for scenario in scenarios.split(", ").filter(|word| *word != "every one") {
            let file = suite::scenarios()
                .into_iter()
                .find(|(path, _)| path.trim_end_matches(".yaml") == scenario.trim_matches('`'));
            assert!(file.is_some(), "no scenario `{scenario}` in {row:?}");
        }
    }
    rows
}

/// Checks that the table between these marks has a row for each kind, in order, with its title.
fn check(mark: &str, of: KindOf) {
    let mut kinds = Kind::words().filter(|(_, kind, _)| *kind == of);
    for row in rows(mark) {
        if row[0].contains("counter.") {
            continue;
        }
        let (word, _, title) = kinds.next().expect("no more rows than kinds");
        assert_eq!((row[0], row[1]), (format!("`{word}`").as_str(), title));
    }
    assert_eq!(kinds.next(), None, "a kind without a row");
}

/// Checks that the table between these marks has the keys of a part of the descriptor's schema.
fn check_keys(mark: &str, part: &str) {
    let rows = rows(mark);
    let on_page = rows.iter().flat_map(|row| row[0].split(", "));
    let on_page: BTreeSet<&str> = on_page.map(|key| key.trim_matches('`')).collect();
    let form = schema::form("descriptor");
    let keys = form["$defs"][part]["properties"].as_object();
    let keys = keys.expect("it is a map").keys();
    let keys: BTreeSet<&str> = keys.map(String::as_str).collect();
    assert_eq!(on_page, keys);
}

#[test]
fn every_condition_stands_on_the_page_with_a_scenario() {
    check("conditions", KindOf::Condition);
}

#[test]
fn every_episode_stands_on_the_page_with_a_scenario() {
    check("episodes", KindOf::Episode);
}

#[test]
fn every_key_of_promises_stands_on_the_page_with_a_scenario() {
    check_keys("promises", "Promises");
    check_keys("row", "Says");
    check_keys("wire", "Wire");
}

#[test]
fn the_examples_of_the_page_are_descriptors() {
    let blocks = PAGE.split("```yaml\n").skip(1);
    let texts = blocks.filter_map(|rest| rest.split_once("```").map(|(text, _)| text));
    let whole: Vec<&str> = texts
        .filter(|text| text.contains("descriptor_version"))
        .collect();
    assert_eq!(whole.len(), 9);
    for text in whole {
        let read = harness::descriptors::read("example.yaml", text);
        let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
        // One that knows ports only knows no counters either.
        let told = read.promises.wire.and_then(|wire| wire.baselines);
        let told = told.unwrap_or_default();
        assert!(told.cards || !told.counters, "{text}");
    }
}
