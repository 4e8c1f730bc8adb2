//! What was judged of a drill, and what not: in `nicdrill show`, and with `-v`.

use crate::scratch::{Scratch, can_play_processes, reference_descriptor};

/// The reference monitor's descriptor with other promises.
fn promising(promises: &str) -> String {
    let (head, _) = reference_descriptor()
        .split_once("\npromises:")
        .expect("it promises");
    let head = head.replace("name: reference", "name: other");
    format!("{head}\n{promises}")
}

#[test]
fn a_shown_drill_says_what_was_judged_and_what_not() {
    let scratch = Scratch::new();
    let ran = scratch.run(&["show", "port/cable-pulled@h100-oci"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.out.ends_with("\njudged 3 of 3 expectations (100 %)\n"),
        "{ran}"
    );
}

/// The reference monitor, of which a descriptor says that a pulled cable is nonfatal.
#[test]
fn a_row_that_is_weaker_is_told_by_every_run_and_left_out_against_the_documents() {
    let scratch = Scratch::new();
    let mut shipped = observe::shipped_descriptors();
    let (_, text) = shipped.find(|(file, _)| *file == "reference.yaml").unwrap();
    let milder = text.replace(
        "polling: { verdict: fatal,",
        "polling: { verdict: nonfatal,",
    );
    assert_ne!(milder, text);
    scratch.file("m.yaml", &milder);
    let drill = "port/cable-pulled@dgx-h100";
    let words = ["--monitor", "m.yaml", drill, "--arm", "memory"];
    let ran = scratch.run(&[&["run"], &words[..]].concat());
    assert_eq!(ran.code, 100, "{ran}");
    let told = "promised less than the documents ask in 1 row; `--against documents` judges by theirs\n  \
         polling: nonfatal where the documents ask for fatal; `port/cable-pulled` shows it\n";
    assert!(ran.out.contains(told), "{ran}");
    let against = ["--against", "documents"];
    let ran = scratch.run(&[&["run"], &words[..], &against].concat());
    assert_eq!(ran.code, 0, "{ran}");
    assert!(!ran.out.contains("promised less"), "{ran}");
    assert!(
        ran.out.ends_with(", judged by the documents' rows\n"),
        "{ran}"
    );
    let shown = scratch.run(&[&["show"], &words[..], &against].concat());
    assert_eq!(shown.code, 0, "{shown}");
    let both = ["--needs", "example"];
    let ran = scratch.run(&[&["run"], &words[..], &against, &both].concat());
    assert_eq!(ran.code, 2, "{ran}");
}

#[test]
fn a_run_by_needs_is_repeated_and_shown_by_needs() {
    let scratch = Scratch::new();
    scratch.file(
        "n.yaml",
        "needs_version: 1\nnever_alarms: { disabled: always }\n",
    );
    let drill = [
        "port/disabled-by-operator@h100-oci",
        "--arm",
        "memory",
        "--needs",
        "n.yaml",
    ];
    let ran = scratch.run(&[&["run"], &drill[..]].concat());
    assert_eq!(ran.code, 100, "{ran}");
    for (what, command) in [("repeat it", "run"), ("in full", "show")] {
        let line =
            format!("  {what}: nicdrill {command} --needs n.yaml port/disabled-by-operator@");
        assert!(ran.out.contains(&line), "{ran}");
    }
    assert!(ran.out.contains(", judged by needs of n.yaml"), "{ran}");
    let shown = scratch.run(&[&["show"], &drill[..]].concat());
    assert_eq!(shown.code, 100, "{shown}");
    assert!(
        shown.out.ends_with(", judged by needs of n.yaml\n"),
        "{shown}"
    );
}

#[test]
fn a_shown_drill_of_a_monitor_that_promises_nothing_ends_with_4_as_its_run_does() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("monitor.yaml", &promising(""));
    for command in ["show", "run"] {
        let drill = ["port/cable-pulled@h100-oci", "--arm", "process"];
        let words = [&[command][..], &drill, &["--monitor", "monitor.yaml"]].concat();
        let ran = scratch.run(&words);
        assert_eq!(ran.code, 4, "{ran}");
        let judged = "judged 0 of 3 expectations (0 %): the monitor promises nothing, so it is judged by the laws alone";
        assert!(ran.out.contains(judged), "{ran}");
        assert!(ran.err.contains("exit code 4: nothing was judged"), "{ran}");
    }
}

#[test]
fn with_v_each_expectation_that_was_not_judged_is_told_with_its_reason() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let promises = "promises: { rows: { down: usual } }\n";
    scratch.file("monitor.yaml", &promising(promises));
    let drill = ["run", "port/cable-pulled@h100-oci", "--arm", "process"];
    let words = [&drill[..], &["--monitor", "monitor.yaml", "-v"]].concat();
    let ran = scratch.run(&words);
    assert!(
        ran.out.contains("  not judged: port/cable-pulled.yaml:"),
        "{ran}"
    );
}
