//! `docs/monitor.md` is true of promises: it lists every kind with a scenario that exists, and its examples
//! are descriptors.

use observe::promises::{Kind, KindOf};

const PAGE: &str = include_str!("../../../docs/monitor.md");

/// Checks that the table between these marks has a row for each kind, in order, with its title and a
/// scenario of the suite in its last column.
fn check(mark: &str, of: KindOf) {
    let (open, close) = (format!("<!-- {mark} -->"), format!("<!-- /{mark} -->"));
    let (_, rest) = PAGE.split_once(&open).expect("the table begins");
    let (table, _) = rest.split_once(&close).expect("the table ends");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let mut kinds = Kind::words().filter(|(_, kind, _)| *kind == of);
    for row in &rows {
        let scenario = row.last().expect("a row has columns").trim_matches('`');
        let file = suite::scenarios()
            .into_iter()
            .find(|(path, _)| path.trim_end_matches(".yaml") == scenario);
        assert!(file.is_some(), "no scenario `{scenario}` in {row:?}");
        if row[0].contains("counter.") {
            continue;
        }
        let (word, _, title) = kinds.next().expect("no more rows than kinds");
        assert_eq!((row[0], row[1]), (format!("`{word}`").as_str(), title));
    }
    assert_eq!(kinds.next(), None, "a kind without a row");
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
fn the_examples_of_the_page_are_descriptors() {
    let blocks = PAGE.split("```yaml\n").skip(1);
    let texts = blocks.filter_map(|rest| rest.split_once("```").map(|(text, _)| text));
    let whole: Vec<&str> = texts
        .filter(|text| text.contains("descriptor_version"))
        .collect();
    assert_eq!(whole.len(), 3);
    for text in whole {
        let read = harness::descriptors::read("example.yaml", text);
        assert!(read.is_ok(), "{read:?}\n{text}");
    }
}
