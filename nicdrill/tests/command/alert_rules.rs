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
    let missing = ["promtool", "prometheus-node-exporter"]
        .into_iter()
        .find(|it| !starts(it));
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
        is_in = if is_rule {
            line == begins
        } else {
            is_in && !line.starts_with("- name")
        };
        if !is_in {
            left.push(line);
        }
    }
    assert_ne!(left.len(), RULES.lines().count(), "the rules have {alert}");
    left.join("\n") + "\n"
}

/// What `rules check -v` prints of one scenario on one platform, whose ticks last `tick`.
fn checked(rules: &str, (tick, steps, until): (&str, &str, &str)) -> Ran {
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", rules);
    scratch.file(
        "own/own/story.yaml",
        &format!(
            "scenario: a fault that stands\nwhy: for alert rules\nplatforms: [ dgx-h100 ]\ntick: {tick}\n\
             let: {{ victim: {{ nth: 1 }}, other: {{ nth: 2 }} }}\ntimeline:\n  \
             - {{ at: 0s, expect: [ {{ this_poll: baseline }} ] }}\n{steps}\nuntil: {until}\n"
        ),
    );
    let ran = scratch.run(&["rules", "check", "alerts.yaml", "-v", "./own"]);
    assert_eq!(ran.code, 0, "{ran}");
    ran
}

/// The expressions of rules are Prometheus' own to judge: all that it refuses comes with its place, beside what else is wrong.
#[test]
fn every_expression_that_prometheus_refuses_is_told_by_check() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file(
        "alerts.yaml",
        "groups:\n- name: g\n  rules:\n  - { alert: A, expr: sum(up, for: soon }\n  - alert: B\n    expr: |\n      up ==\n        foo(0)\n\
         \x20 - { alert: C, expr: up, annotations: { text: \"{{ nosuch }}\" } }\n  - { alert: D, expr: up == 0 }\n",
    );
    let ran = scratch.run(&["check", "alerts.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    for told in [
        "alerts.yaml:4:17: Prometheus refuses the expression: 1:",
        "alerts.yaml:4:31: `soon` is no duration",
        "alerts.yaml:6:5: Prometheus refuses the expression: 2:3: parse error: unknown function",
        "hint: the place is line and column in the expression",
        "alerts.yaml:9:5: Prometheus refuses the rule: annotation",
        "4 mistakes",
    ] {
        assert!(ran.out.contains(told), "`{told}`: {ran}");
    }
    let (above, _) = DESCRIPTOR.split_once("\nalerts:").expect("rows of alerts");
    scratch.file(
        "m.yaml",
        &format!("{above}\nalerts: {{ A: {{ says: fatal }} }}\n"),
    );
    let ran = scratch.run(&["check", "m.yaml"]);
    assert!(ran.out.contains("m.yaml: alerts.yaml:4:17: "), "{ran}");
}

/// Without promtool the rest is checked, and what is not looked at is said.
#[test]
fn check_says_when_expressions_were_not_looked_at() {
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", RULES);
    let ran = scratch.run_with(&["check", "alerts.yaml"], &[("PATH", "/nowhere")]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.err.contains(
            "expressions of alert rules were not looked at: `promtool` cannot be started"
        ),
        "{ran}"
    );
}

/// After healing every alert gets its next evaluation, its `for`, and the time that its expression reads back.
#[rstest]
#[case::the_evaluation_after_healing("port/link-error-recovery-persists@dgx-h100")]
#[case::a_range_of_five_minutes("port/cable-pulled@dgx-h100")]
#[case::a_flap_that_only_a_counter_shows("port/down-and-up-between-polls@dgx-h100")]
fn an_alert_that_ends_some_time_after_healing_is_cleared(#[case] drill: &str) {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", RULES);
    scratch.file("m.yaml", DESCRIPTOR);
    let ran = scratch.run(&["run", "--monitor", "m.yaml", drill]);
    assert!(ran.out.contains("passed, 0 failed; process arm"), "{ran}");
}

/// The example's rules, one case each: without the rule, the fault is not noticed; with it, it is.
#[rstest]
#[case::state(
    "NicPortNotActive",
    ("5s", "  - { at: 1m, do: [ { set: victim, state: INIT } ] }", "5m"),
    "init of"
)]
#[case::link(
    "NicPortNoLink",
    ("5s", "  - { at: 1m, do: [ { set: victim, phys_state: Disabled } ] }", "5m"),
    "disabled of"
)]
#[case::rate(
    "NicPortSlow",
    ("5s", "  - { at: 1m, do: [ { speed: victim, rate: 2X EDR } ] }", "5m"),
    "slow of"
)]
#[case::symbols(
    "NicSymbolErrors",
    ("5s", "  - { at: 1m, do: [ { counter: victim, name: symbol_error, add: 50 } ] }", "5m"),
    "counter.symbol_error of"
)]
#[case::a_flap_between_scrapes(
    "NicLinkDowned",
    ("1s", "  - { at: 61s, do: [ { flap: victim, times: 1, down: 3s, up: 30s } ] }", "3m"),
    "polling of"
)]
#[case::one_rate_that_cannot_be_read(
    "NicCollectorFailed",
    ("5s", "  - { at: 1m, do: [ { read: other/rate, fail: EIO } ] }\n  - { at: 2m, do: [ { cut: victim } ] }", "6m"),
    "polling of"
)]
#[case::a_device_that_is_gone(
    "NicPortGone",
    ("5s", "  - { at: 1m, do: [ { remove: device of victim } ] }", "5m"),
    "gone_device of"
)]
#[case::a_read_that_hangs(
    "NicExporterDown",
    ("5s", "  - { at: 1m, do: [ { read: other/state, hang: given_up } ] }\n  - { at: 90s, do: [ { cut: victim } ] }", "6m"),
    "polling of"
)]
fn each_rule_of_the_example_is_needed(
    #[case] alert: &str,
    #[case] story: (&str, &str, &str),
    #[case] fault: &str,
) {
    if !has_programs() {
        return;
    }
    let told = |rules: &str| {
        let ran = checked(rules, story);
        let lines: Vec<String> = ran
            .out
            .lines()
            .filter(|line| line.contains(fault))
            .map(str::to_owned)
            .collect();
        assert!(!lines.is_empty(), "{ran}");
        lines.concat()
    };
    let (with, without) = (told(RULES), told(&without(alert)));
    assert!(with.contains(": noticed"), "{with}");
    // A fault between two scrapes can be told by a counter only.
    let is_unnoticed = [": never noticed", ": not scraped while it stood"];
    assert!(
        is_unnoticed.iter().any(|told| without.contains(told)),
        "{without}"
    );
}

/// Least and most seconds in `noticed after 60 s to 75 s`; `None` if it says `never noticed`.
fn late(ran: &Ran, fault: &str) -> Option<(u64, u64)> {
    let line = ran.out.lines().find(|line| line.contains(fault));
    let line = line.unwrap_or_else(|| panic!("{fault} is told: {ran}"));
    let (_, told) = line.split_once(": noticed after ")?;
    let words: Vec<&str> = told.split(' ').collect();
    Some((words[0].parse().unwrap(), words[3].parse().unwrap()))
}

/// The interface is down while the RDMA port is ACTIVE: no other rule reads an interface.
#[test]
fn the_rule_about_interfaces_is_needed() {
    if !has_programs() {
        return;
    }
    let fires = |rules: &str| {
        let scratch = Scratch::new();
        scratch.file("alerts.yaml", rules);
        scratch.file(
            "own/story.yaml",
            "scenario: an interface is down\nwhy: for alert rules\nplatforms: [ h100-oci ]\ntick: 5s\n\
             let: { victim: { role: compute, nth: 1 } }\ntimeline:\n  \
             - { at: 0s, expect: [ { this_poll: baseline } ] }\n  \
             - { at: 1m, do: [ { operstate: victim, to: lowerlayerdown } ] }\nuntil: 5m\n",
        );
        let drill = "own/story@h100-oci";
        let ran = scratch.run(&[
            "rules",
            "export",
            drill,
            "--scenarios",
            "own",
            "--rules",
            "alerts.yaml",
            "--out",
            "tests.yaml",
        ]);
        assert_eq!(ran.code, 0, "{ran}");
        let text = scratch.text("tests.yaml");
        let (_, fired) = text.split_once("promql_expr_test:").expect("it asks");
        // Another port of the platform has no cable, of which alerts tell in both cases.
        ["rdma0", "mlx5_0"].map(|name| fired.contains(&format!("device=\\\"{name}\\\"")))
    };
    assert_eq!(fires(RULES), [true, false]);
    assert_eq!(fires(&without("NicInterfaceDown")), [false, false]);
}

/// The long stories are the suite's.
#[rstest]
#[case::a_cable("port/cable-out-for-a-quarter-of-an-hour", "cut: victim", "polling of")]
#[case::a_port(
    "port/disabled-for-a-quarter-of-an-hour",
    "disable: victim",
    "disabled of"
)]
#[case::a_device(
    "device/gone-for-a-quarter-of-an-hour",
    "remove: device of victim",
    "gone_device of"
)]
#[case::a_rate(
    "port/slow-for-a-quarter-of-an-hour",
    "speed: victim, rate: 2X EDR",
    "slow of"
)]
fn an_alert_that_is_pending_nine_minutes_longer_comes_nine_minutes_later_or_never(
    #[case] long: &str,
    #[case] action: &str,
    #[case] fault: &str,
) {
    if !has_programs() {
        return;
    }
    // The counter tells of the link at once, whatever the state rules wait for.
    let minute = without("NicLinkDowned");
    let ten = minute.replace("for: 1m", "for: 10m");
    let of_suite = |rules: &str| {
        let scratch = Scratch::new();
        scratch.file("alerts.yaml", rules);
        let ran = scratch.run(&["rules", "check", "alerts.yaml", "-v", long]);
        assert_eq!(ran.code, 0, "{ran}");
        late(&ran, fault)
    };
    let (soon, later) = (of_suite(&minute), of_suite(&ten));
    let soon = soon.expect("it stands for long");
    assert_eq!(later, Some((soon.0 + 540, soon.1 + 540)));
    let step = format!("  - {{ at: 2m, do: [ {{ {action} }} ] }}");
    let short = ("15s", step.as_str(), "7m");
    assert_eq!(late(&checked(&minute, short), fault), Some(soon));
    assert_eq!(late(&checked(&ten, short), fault), None);
}

#[test]
fn promtool_is_green_on_what_is_exported() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    let ran = scratch.run(&[
        "rules",
        "export",
        "port/cable-pulled@dgx-h100",
        "--out",
        "tests.yaml",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = scratch.shell("promtool test rules tests.yaml");
    assert_eq!(ran.code, 0, "{ran}");
    // What fires by the drill is asked: another rule is another answer.
    scratch.file("alerts.yaml", &without("NicLinkDowned"));
    let ran = scratch.shell("promtool test rules tests.yaml");
    assert_eq!(ran.code, 1, "{ran}");
}

#[test]
fn a_platform_of_ones_own_is_named_by_its_file() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", RULES);
    let words = ["platform", "new", "mine", "--from", "dgx-h100"];
    let made = scratch.run(&words);
    assert_eq!(made.code, 0, "{made}");
    let words = ["rules", "check", "alerts.yaml", "port/cable-pulled"];
    let of = |platform: &str| {
        let ran = scratch.run(&[&words[..], &["--platform", platform]].concat());
        assert_eq!(ran.code, 0, "{ran}");
        ran.out
    };
    // A file's variants are played with it, as those of a name are; `NAME:` leaves them out.
    assert_eq!(
        of("./mine.yaml"),
        of("dgx-h100").replace("dgx-h100", "mine")
    );
    assert_ne!(of("dgx-h100"), of("dgx-h100:"));
}

#[test]
fn rules_that_the_engine_refuses_end_with_the_code_of_the_stage() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file(
        "alerts.yaml",
        &RULES.replace(
            "node_infiniband_state_id != 4",
            "node_infiniband_state_id !! 4",
        ),
    );
    let words = [
        "rules",
        "check",
        "alerts.yaml",
        "port/cable-pulled@dgx-h100",
    ];
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 102, "{ran}");
    assert!(ran.err.contains("could not parse expression"), "{ran}");
}

#[test]
fn the_example_is_drilled_like_any_monitor() {
    if !has_programs() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("alerts.yaml", RULES);
    scratch.file("alert-rules.yaml", DESCRIPTOR);
    let ran = scratch.run(&[
        "run",
        "--monitor",
        "alert-rules.yaml",
        "--needs",
        "example",
        "port/cable-pulled@dgx-h100",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("process arm: 1 of 1 run"), "{ran}");
}
