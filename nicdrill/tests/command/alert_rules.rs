//! Prometheus' alert rules in the chair: Debian's node_exporter is scraped, and promtool evaluates the rules.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{env, process::Command};

use rstest::rstest;

use crate::scratch::{Ran, Scratch, can_play_processes};

/// The example's rules and descriptor.
const RULES: &str = include_str!("../../../docs/alerts.yaml");
const DESCRIPTOR: &str = include_str!("../../../docs/alert-rules.yaml");

/// Whether the programs of Debian are there; in the gate's field part they must be.
fn has_programs() -> bool {
    let starts = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let missing = ["promtool", "prometheus-node-exporter"].into_iter().find(|it| !starts(it));
    match missing {
        None => can_play_processes(),
        Some(program) => {
            let must = env::var_os("NICDRILL_FIELD").is_some_and(|value| value == "1");
            assert!(!must, "`{program}` cannot be started");
            println!("skipped: `{program}` cannot be started");
            false
        }
    }
}

/// The rules without the alert of this name.
fn without(alert: &str) -> String {
    let begins = format!("  - alert: {alert}");
    let mut left = Vec::new();
    let mut is_in = false;
    for line in RULES.lines() {
        let is_rule = line.starts_with("  - alert: ");
        is_in = if is_rule { line == begins } else { is_in && !line.starts_with("- name") };
        if !is_in {
            left.push(line);
        }
    }
    assert_ne!(left.len(), RULES.lines().count(), "the rules have {alert}");
    left.join("\n") + "\n"
}

/// The page of `rules check` with these rules over these scenarios of one file each.
fn checked(rules: &str, scenarios: &[(&str, &str)], what: &[&str]) -> Ran {
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", rules);
    for (name, text) in scenarios {
        scratch.file(name, text);
    }
    let names: Vec<&str> = scenarios.iter().map(|(name, _)| *name).collect();
    let words = [&["rules", "check", "alerts.yaml", "-v"], what, &names[..]].concat();
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    ran
}

/// A scenario with ticks of five seconds.
fn scenario(from: &str, to: &str, until: &str) -> String {
    format!(
        "scenario: a fault that stands\nwhy: for alert rules\nplatforms: all\ntick: 5s\nlet: {{ victim: {{ nth: 1 }} }}\ntimeline:\n  - {{ at: 2m, do: [ {{ {from} }} ] }}\n  - {{ at: {to} }}\nuntil: {until}\n"
    )
}
