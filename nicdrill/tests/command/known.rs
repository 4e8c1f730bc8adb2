//! Known deviations, `accept`, and the comparison with an earlier run: what is red, and what is not.

use rstest::rstest;

use crate::{
    groups::{UNFAIR, WORDS},
    scratch::{Scratch, can_play_processes, reference_descriptor},
};

fn unfair() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("port/unfair.yaml", UNFAIR);
    scratch
}

/// A file with one entry.
fn entry(scratch: &Scratch, id: &str, more: &str) {
    let text = format!("[[known]]\nid = \"{id}\"\nreason = \"by design\"\n{more}");
    scratch.file("known.toml", &text);
}

#[test]
fn a_known_finding_is_not_red_and_is_told() {
    let scratch = unfair();
    entry(&scratch, "port/unfair#*", "");
    let mut words = WORDS.to_vec();
    words.extend(["--report", "json=run.json,junit=run.xml"]);
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains(": 0 passed, 0 failed, "), "{ran}");
    assert!(ran.out.contains(" known; "), "{ran}");
    assert!(
        ran.out
            .contains("known: known.toml:1: port/unfair#* (by design)"),
        "{ran}"
    );
    assert_eq!(scratch.text("nicdrill.out/failed.txt"), "");
    assert!(
        scratch
            .text("nicdrill.out/known.txt")
            .contains("port/unfair@h100-oci ")
    );
    assert!(scratch.text("run.json").contains("\"outcome\": \"known\""));
    assert!(scratch.text("run.xml").contains("failures=\"0\""));
}

/// A report does not take the place of what a run reads or keeps.
#[rstest]
#[case::the_monitor("m.yaml", "a file that runs are made of")]
#[case::what_is_known("known.toml", "a file that runs are made of")]
#[case::the_record_of_a_run("out/run.json", "a file of a run folder")]
fn a_report_that_would_replace_an_input_is_refused(#[case] file: &str, #[case] what: &str) {
    let scratch = Scratch::new();
    scratch.file("m.yaml", reference_descriptor());
    entry(&scratch, "port/cable-pulled#crashed", "");
    let drill = "port/cable-pulled@h100-oci";
    let words = [
        "run",
        drill,
        "--arm",
        "memory",
        "--monitor",
        "m.yaml",
        "--out",
    ];
    let ran = scratch.run(&[&words[..], &["out"]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    let before = scratch.text(file);
    let report = format!("json={file}");
    let ran = scratch.run(&[&words[..], &["other", "--report", &report]].concat());
    assert_eq!(ran.code, 110, "{ran}");
    let told = format!(
        "error: `{file}` is {what}, and a report would take its place; it is left alone\nhint: give the report a file of its own"
    );
    assert!(ran.err.contains(&told), "{ran}");
    assert_eq!(scratch.text(file), before);
}

/// A process could still show what memory does not, so both arms are needed.
#[test]
fn an_entry_that_no_longer_occurs_is_red_until_it_is_removed() {
    let scratch = unfair();
    entry(
        &scratch,
        "port/unfair#crashed",
        "drill = \"port/unfair@h100-oci\"\n",
    );
    let ran = scratch.run(&["run", "./port", "--platform", "h100-oci", "--arm", "memory"]);
    assert!(!ran.out.contains("no longer occurs"), "{ran}");
    if !can_play_processes() {
        return;
    }
    let all = ["run", "./port", "--platform", "h100-oci", "--full"];
    let ran = scratch.run(&all);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out
            .contains("no longer occurs, so the entry must be removed: known.toml:1:"),
        "{ran}"
    );
    // On another platform its drill is not played, so it is not judged there.
    let ran = scratch.run(&["run", "./port", "--platform", "dgx-h100", "--full"]);
    assert!(!ran.out.contains("no longer occurs"), "{ran}");
}

#[test]
fn an_entry_without_a_drill_is_gone_when_all_drills_of_its_scenarios_were_played() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let one = UNFAIR.replace("platforms: all", "platforms: [ h100-oci, dgx-h100 ]");
    scratch.file("port/unfair.yaml", &one);
    scratch.file("port/unfair-too.yaml", &one);
    entry(&scratch, "port/unfair*#crashed", "");
    let is_gone = |words: &[&str]| {
        let ran = scratch.run(&[&["run", "./port"], words].concat());
        assert_eq!(ran.code, 100, "{ran}");
        ran.out.contains("no longer occurs")
    };
    assert!(!is_gone(&["port/unfair", "--full"]));
    assert!(!is_gone(&["--platform", "h100-oci", "--full"]));
    assert!(!is_gone(&["--shard", "1/2", "--full"]));
    assert!(!is_gone(&["--arm", "process", "--full"]));
    assert!(is_gone(&["--full"]));
}

#[rstest]
#[case::scenario(
    "port/unfiar#*",
    "",
    Some("there is no scenario `port/unfiar`; did you mean `port/unfair`?")
)]
#[case::platform(
    "port/unfair#*",
    "drill = \"port/unfair@h100-oic\"\n",
    Some("there is no platform `h100-oic`; did you mean `h100-oci`?")
)]
#[case::drill(
    "port/*#*",
    "drill = \"port/unfiar@h100-oci\"\n",
    Some("there is no scenario `port/unfiar`; did you mean `port/unfair`?")
)]
#[case::of_the_built_in_suite("port/cable-pulled#*", "", None)]
#[case::pattern("port/un*#*", "", None)]
fn an_entry_about_what_does_not_exist_is_noted(
    #[case] id: &str,
    #[case] more: &str,
    #[case] noted: Option<&str>,
) {
    let scratch = unfair();
    entry(&scratch, id, more);
    let ran = scratch.run(&WORDS);
    let note = noted.map(|what| format!("NOTE  known.toml:1: {what}"));
    let notes: Vec<&str> = ran
        .err
        .lines()
        .filter(|line| line.starts_with("NOTE"))
        .collect();
    assert_eq!(
        notes,
        note.as_deref().into_iter().collect::<Vec<_>>(),
        "{ran}"
    );
}

#[test]
fn an_expired_entry_is_red() {
    let scratch = unfair();
    entry(&scratch, "port/unfair#*", "expires = 2020-01-31\n");
    let ran = scratch.run(&WORDS);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(
        ran.out.contains("(by design), expired on 2020-01-31"),
        "{ran}"
    );
    entry(&scratch, "port/unfair#*", "expires = 9999-01-31\n");
    assert_eq!(scratch.run(&WORDS).code, 0);
}

#[rstest]
#[case::no_reason("[[known]]\nid = \"a/b#c\"\n", "known.toml:1: missing field `reason`")]
#[case::empty_reason(
    "[[known]]\nid = \"a/b#c\"\nreason = \" \"\n",
    "known.toml:3: an empty `reason`"
)]
#[case::id(
    "[[known]]\nid = \"a/b\"\nreason = \"r\"\n",
    "known.toml:2: invalid id `a/b`"
)]
#[case::key(
    "[[known]]\nid = \"a/b#c\"\nreason = \"r\"\nuntil = 1\n",
    "known.toml:4: unknown field `until`"
)]
#[case::time(
    "[[known]]\nid = \"a/b#c\"\nreason = \"r\"\nexpires = 07:32:00\n",
    "known.toml:4: `expires` is 07:32:00, not a day"
)]
#[case::drill(
    "[[known]]\nid = \"a/b#c\"\nreason = \"r\"\ndrill = \"a/b\"\n",
    "known.toml:4: invalid drill name `a/b`"
)]
fn an_error_in_the_file_names_its_line_and_what_is_allowed(
    #[case] text: &str,
    #[case] error: &str,
) {
    let scratch = unfair();
    scratch.file("known.toml", text);
    let ran = scratch.run(&WORDS);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(error), "{ran}");
    assert!(ran.err.contains("hint: "), "{ran}");
}

#[test]
fn what_is_accepted_is_known_in_the_next_run() {
    let scratch = unfair();
    assert_eq!(scratch.run(&WORDS).code, 100);
    let ran = scratch.run(&["accept", "--reason", "the \"fast\" path", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = scratch.run(&WORDS);
    assert_eq!(ran.code, 0, "{ran}");
    let before = scratch.text("known.toml");
    let ran = scratch.run(&["accept", "--reason", "again", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.err.contains("nothing to accept"), "{ran}");
    assert_eq!(scratch.text("known.toml"), before);
    assert!(ran.err.contains("is known already"), "{ran}");
    // A finding that is known can be accepted in another file.
    let ran = scratch.run(&["accept", "--reason", "r", "--known", "other.toml", "--yes"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        scratch.text("other.toml").contains("reason = \"r\""),
        "{ran}"
    );
}

#[rstest]
#[case::an_id_of_no_finding(&["port/nosuch#missing"], "the last run has no finding `port/nosuch#missing`", "hint: ")]
#[case::a_day_that_has_passed(&["--expires", "2020-01-31"], "`--expires 2020-01-31` has passed", "hint: it is the last day")]
#[case::a_day_that_does_not_exist(&["--expires", "2027-02-30"], "`--expires 2027-02-30` is no day", "such as `2027-01-31`")]
fn what_cannot_be_accepted_is_refused(
    #[case] more: &[&str],
    #[case] told: &str,
    #[case] hint: &str,
) {
    let scratch = unfair();
    assert_eq!(scratch.run(&WORDS).code, 100);
    let ran = scratch.run(&[&["accept", "--reason", "r", "--yes"][..], more].concat());
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains(told) && ran.err.contains(hint), "{ran}");
    assert!(!scratch.path("known.toml").exists());
}

#[test]
fn accept_asks_first_and_never_writes_in_ci() {
    let scratch = unfair();
    assert_eq!(scratch.run(&WORDS).code, 100);
    let ran = scratch.run_with(&["accept", "--reason", "r", "--yes"], &[("CI", "true")]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("`accept` is refused while CI is set"),
        "{ran}"
    );
    let ran = scratch.shell("\"$NICDRILL\" accept --reason r </dev/null");
    assert_eq!(ran.code, 2, "{ran}");
    assert!(
        ran.err.contains("hint: `--yes` writes without asking"),
        "{ran}"
    );
    assert!(!scratch.path("known.toml").exists());
}

#[test]
fn with_a_baseline_only_new_findings_are_red() {
    let scratch = unfair();
    assert_eq!(scratch.run(&WORDS).code, 100);
    let mut words = WORDS.to_vec();
    words.extend(["--baseline", "nicdrill.out"]);
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("same: port/unfair#"), "{ran}");
    scratch.file("port/unfair-too.yaml", UNFAIR);
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 100, "{ran}");
    assert!(ran.out.contains("new: port/unfair-too#"), "{ran}");
    assert!(ran.out.contains("same: port/unfair#"), "{ran}");
}

/// What an earlier run found in memory may still be found in a process.
#[test]
fn what_a_baseline_had_is_gone_when_its_drills_were_played_in_both_arms() {
    let scratch = unfair();
    let platform = ["run", "./port", "--platform", "h100-oci"];
    let words = |more: &[&'static str]| [&platform, more].concat();
    let ran = scratch.run(&words(&["--arm", "memory", "--out", "before"]));
    assert_eq!(ran.code, 100, "{ran}");
    let quiet = UNFAIR.replace("    do: [ { disable: victim } ]\n", "");
    scratch.file("port/unfair.yaml", &quiet);
    let ran = scratch.run(&words(&["--arm", "memory", "--baseline", "before"]));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("gone: "), "{ran}");
    if !can_play_processes() {
        return;
    }
    let ran = scratch.run(&words(&["--full", "--baseline", "before"]));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("gone: port/unfair#"), "{ran}");
}

#[test]
fn a_baseline_that_is_no_run_is_refused() {
    let scratch = unfair();
    let ran = scratch.run(&["run", "./port", "--baseline", "elsewhere"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.err.contains("elsewhere/failed.txt"), "{ran}");
}
