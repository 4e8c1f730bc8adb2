//! What a user meets who mistypes, runs again, and pastes: every mistake of a file at once, warnings, and commands that
//! work when they are pasted.

use rstest::rstest;

use crate::scratch::Scratch;

/// A scenario with this rest.
fn scenario(rest: &str) -> String {
    format!("scenario: a test\nwhy: a test\nplatforms: all\n{rest}")
}

const QUIET: &str = "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 0s\n    expect: [ { this_poll: baseline } ]\nuntil: 3s\n";

const UNFAIR: &str = "let: { victim: { nth: 1 } }\ntimeline:\n  - at: 2s\n    do: [ { disable: victim } ]\n    expect: [ { nothing: victim } ]\nuntil: 5s\n";

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    let scratch = Scratch::new();
    scratch.file(
        "port/bad.yaml",
        &scenario(
            "let: { victim: { nthh: 1 } }\ntimeline:\n  - at: 2\n    do: [ { cutt: victim }, { flap: victim, times: x, down: 1s, up: 1s } ]\n  - at: 3s\n    expect: [ { fatal: nobody } ]\nunti: 5s\n",
        ),
    );
    let ran = scratch.run(&["run", "port/bad.yaml"]);
    assert_eq!(ran.code, 2, "{ran}");
    let places: Vec<&str> = ran
        .err
        .lines()
        .filter_map(|line| Some(line.split_once("port/bad.yaml:")?.1.split_once(": ")?.0))
        .collect();
    let lines: Vec<&str> = places
        .iter()
        .filter_map(|place| Some(place.split_once(':')?.0))
        .collect();
    assert_eq!(lines, ["4", "6", "7", "7", "9", "10"], "{ran}");
    for (wrong, right) in [("nthh", "nth"), ("cutt", "cut"), ("unti", "until")] {
        assert!(ran.err.contains(&format!("`{wrong}`")), "{ran}");
        assert!(
            ran.err.contains(&format!("did you mean `{right}`?")),
            "{ran}"
        );
    }
}

#[test]
fn after_a_green_run_nothing_failed_in_the_run_before() {
    let scratch = Scratch::new();
    scratch.file("port/quiet.yaml", &scenario(QUIET));
    let words = ["run", "./port", "--platform", "h100-oci", "--arm", "memory"];
    assert_eq!(scratch.run(&words).code, 0);
    let failed = scratch.run(&["run", "./port", "--failed"]);
    assert_eq!(failed.code, 4, "{failed}");
    assert!(
        failed.err.contains("nothing failed in the run before"),
        "{failed}"
    );
}

#[rstest]
#[case::in_a_folder("port/unfair.yaml", "port/unfair.yaml")]
#[case::beside_one("unfair.yaml", "./unfair.yaml")]
#[case::above_one("unfair.yaml", "../here/unfair.yaml")]
#[case::with_a_space("my port/unfair.yaml", "my port/unfair.yaml")]
fn what_repeats_a_drill_works_when_it_is_pasted(#[case] file: &str, #[case] asked: &str) {
    let scratch = Scratch::new();
    scratch.file(&format!("here/{file}"), &scenario(UNFAIR));
    let line = format!("cd here && \"$NICDRILL\" run '{asked}' --platform h100-oci --arm memory");
    let ran = scratch.shell(&line);
    assert_eq!(ran.code, 100, "{ran}");
    let repeat = ran
        .out
        .lines()
        .find_map(|line| line.trim().strip_prefix("repeat it: nicdrill "))
        .unwrap_or_else(|| panic!("no command repeats it\n{ran}"));
    let again = scratch.shell(&format!("cd here && \"$NICDRILL\" {repeat}"));
    assert_eq!(again.code, 100, "{again}");
    assert!(
        again
            .out
            .contains("1 drill of `reference`: 0 passed, 1 failed"),
        "{again}"
    );
}

#[rstest]
#[case::a_name_that_looks_like_a_placeholder(
    "let: { a: { nth: 1 }, b: { nth: 2 } }\ntimeline:\n  - at: 2s\n    do: [ { reboot: { takes: 9s, names: { a: \"{b.device}\" } } } ]\n",
    &["7:", "`{b.device}` is no device name", "such as `mlx5_5`"]
)]
#[case::a_counter_that_no_driver_has(
    "let: { a: { nth: 1 } }\ntimeline:\n  - at: 2s\n    do: [ { counter: a, name: symbol_eror, add: 1 } ]\n    expect: [ { nothing: a } ]\n",
    &["7:", "unknown counter `symbol_eror`", "did you mean `symbol_error`?"]
)]
#[case::a_device_that_no_platform_has(
    "let: { a: { device: mlx5_99 } }\ntimeline:\n  - at: 2s\n    do: [ { cut: a } ]\n    expect: [ { fatal: a } ]\n",
    &["4:", "no platform that this applies to has the device `mlx5_99`"]
)]
fn what_no_platform_has_is_found_when_the_file_is_read(#[case] rest: &str, #[case] says: &[&str]) {
    let scratch = Scratch::new();
    scratch.file("port/bad.yaml", &scenario(rest));
    for command in ["list", "run"] {
        let ran = scratch.run(&[command, "port/bad.yaml", "--platform", "h100-oci"]);
        assert_eq!(ran.code, 2, "{ran}");
        for part in says {
            assert!(ran.err.contains(part), "does not say `{part}`: {ran}");
        }
    }
}

#[test]
fn a_misspelt_prefix_of_a_clause_is_a_warning() {
    let scratch = Scratch::new();
    let text =
        scenario(QUIET).replace("platforms: all", "covers: [ lsf/3.2/down ]\nplatforms: all");
    scratch.file("port/quiet.yaml", &text);
    let ran = scratch.run(&["run", "./port", "--platform", "h100-oci", "--arm", "memory"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.err.contains("warning: ./port/quiet.yaml:3:"), "{ran}");
    assert!(ran.err.contains("did you mean `lsd/3.2/down`?"), "{ran}");
}
