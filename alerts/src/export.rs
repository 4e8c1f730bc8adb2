//! A test file for `promtool test rules` that a person keeps: what was scraped in a drill, and which alerts fire by it.
//!
//! What is expected is what the engine said. Only instants at which it changes are asked about, and the ones just before
//! them. `ALERTS` is asked and not `alert_rule_test`, which would bind the test to the text of annotations. Start at
//! [`export`].

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::{
    firing::{Firing, Labels},
    grid::{Instants, MS},
    history::{History, selector, shift_of},
    rule_file::RuleFile,
    test_file::FIRING,
};

/// The text of the file. `head` is a comment of one line, `rules_at` the path of the rule file.
#[must_use]
pub fn export(
    (head, rules_at): (&str, &str),
    rules: &RuleFile,
    external_labels: &BTreeMap<String, String>,
    (history, instants, firings): (&History, Instants, &[Firing]),
) -> String {
    let (step, input) = history.input(instants, &rules.words());
    let mut lines = vec![
        format!("# {head}"),
        format!("rule_files: [{}]", json!(rules_at)),
        format!("evaluation_interval: {}ms", instants.interval_ns / MS),
        "tests:".to_owned(),
        format!("- interval: {step}ms"),
        format!("  external_labels: {}", json!(external_labels)),
        "  input_series:".to_owned(),
    ];
    let series = input.iter().map(|(series, values)| {
        format!(
            "  - {{ series: {}, values: {} }}",
            json!(series),
            json!(values)
        )
    });
    lines.extend(series);
    lines.push("  promql_expr_test:".to_owned());
    for (at, fired) in changes(instants, firings) {
        let at = (at + shift_of(instants)) / MS;
        let samples = fired
            .iter()
            .map(|labels| json!({ "labels": selector("ALERTS", labels), "value": 1 }).to_string());
        let samples: Vec<String> = samples.collect();
        lines.push(format!("  - expr: {}", json!(FIRING)));
        lines.push(format!("    eval_time: {at}ms"));
        lines.push(format!("    exp_samples: [{}]", samples.join(", ")));
    }
    lines.join("\n") + "\n"
}

/// The instants at which other alerts fire than before, the ones before them, and the last one; with what fires.
fn changes(instants: Instants, firings: &[Firing]) -> BTreeMap<u64, BTreeSet<Labels>> {
    let mut fired: BTreeMap<u64, BTreeSet<Labels>> = BTreeMap::new();
    for firing in firings {
        let mut labels = firing.labels.clone();
        labels.insert("alertname".to_owned(), firing.alert.clone());
        labels.insert("alertstate".to_owned(), "firing".to_owned());
        fired.entry(firing.at_ns).or_default().insert(labels);
    }
    let all: Vec<(u64, BTreeSet<Labels>)> = instants
        .iter()
        .map(|at| (at, fired.remove(&at).unwrap_or_default()))
        .collect();
    let mut asked = BTreeMap::new();
    for pair in all.windows(2) {
        if pair[0].1 != pair[1].1 {
            asked.extend(pair.iter().cloned());
        }
    }
    asked.extend(all.last().cloned());
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_asked_and_what_was_before_it() {
        let fires = |at: u64| Firing {
            at_ns: at * MS,
            alert: "A".to_owned(),
            labels: Labels::new(),
        };
        let instants = Instants::with_phase(MS, (0, 1), 9 * MS);
        let asked = changes(instants, &[fires(4), fires(5), fires(6)]);
        let asked: Vec<(u64, usize)> = asked.iter().map(|(at, set)| (at / MS, set.len())).collect();
        assert_eq!(asked, [(3, 0), (4, 1), (6, 1), (7, 0), (9, 0)]);
    }
}
