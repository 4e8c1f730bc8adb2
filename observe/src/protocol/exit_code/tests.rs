//! What runs say, and descriptions of runs that say nothing.

use rstest::rstest;

use super::*;
use crate::UNNAMED;

/// A description as a value of TOML.
fn codes(text: &str) -> Result<ExitCodes, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| error.to_string())
}

/// What a run says.
fn observed(
    codes: &ExitCodes,
    end: RunEnd,
    output: &str,
    open: &mut BTreeSet<Subject>,
) -> Vec<Observation> {
    let said = codes.run_says(end, output, open);
    said.expect("its codes count").observations
}

/// What a run says, with a code and no output.
fn check(text: &str, code: i32, severity: Severity) {
    let end = RunEnd::Exit(Exit::Code(code));
    let observed = observed(&codes(text).unwrap(), end, "", &mut BTreeSet::new());
    let [observation] = &observed[..] else {
        panic!("one statement: {observed:?}");
    };
    assert_eq!(observation.severity, severity, "{text}, code {code}");
}

#[rstest]
#[case("npd", &[(0, Severity::Healthy), (1, Severity::NonFatal), (2, Severity::Unknown), (127, Severity::Unknown)])]
#[case("nagios", &[(0, Severity::Healthy), (1, Severity::NonFatal), (2, Severity::Fatal), (3, Severity::Unknown), (4, Severity::Unknown)])]
#[case("nhc", &[(0, Severity::Healthy), (1, Severity::Fatal), (77, Severity::Fatal), (142, Severity::Unknown), (145, Severity::Unknown)])]
fn a_known_meaning_has_its_codes(#[case] word: &str, #[case] pairs: &[(i32, Severity)]) {
    for (code, severity) in pairs {
        check(&format!("codes = '{word}'"), *code, *severity);
    }
}

#[test]
fn of_a_map_zero_is_healthy_unless_it_says_otherwise() {
    check("codes = { '3' = 'nonfatal' }", 0, Severity::Healthy);
    check(
        "codes = { '0' = 'unknown', '3' = 'nonfatal' }",
        0,
        Severity::Unknown,
    );
    check("codes = { '3' = 'nonfatal' }", 3, Severity::NonFatal);
    let map = codes("codes = { '3' = 'nonfatal' }").unwrap();
    let end = RunEnd::Exit(Exit::Code(4));
    let observed = observed(&map, end, "", &mut BTreeSet::new());
    assert_eq!(
        observed[0].fields,
        [(UNNAMED.to_owned(), "exit code 4".to_owned())]
    );
}

#[test]
fn a_run_that_was_killed_knows_nothing() {
    let nhc = codes("codes = 'nhc'").unwrap();
    for end in [RunEnd::Overran, RunEnd::Exit(Exit::Signal(9))] {
        let mut open = BTreeSet::from([Subject::Node]);
        let observed = observed(&nhc, end, "", &mut open);
        assert_eq!(observed[0].severity, Severity::Unknown);
        assert_eq!(open.len(), 1, "what stood stands");
    }
}

/// What runs say one after another, each with its code and output.
fn check_runs(runs: &[(i32, &str, &[&str])]) {
    let nhc = codes(
        r"codes = 'nhc'
subject = 'port (?P<device>\S+)/(?P<port>\d+) (?P<text>.*)'",
    )
    .unwrap();
    let mut open = BTreeSet::new();
    for (code, output, stated) in runs {
        let end = RunEnd::Exit(Exit::Code(*code));
        let observed = observed(&nhc, end, output, &mut open);
        let lines: Vec<String> = observed.iter().map(ToString::to_string).collect();
        assert_eq!(lines, *stated, "{output}");
    }
}

#[test]
fn what_a_run_does_not_name_any_more_is_taken_back() {
    let gone = "\"it is not named any more\"";
    check_runs(&[
        (
            1,
            "port a/1 is down\nport b/1 is down\n",
            &[
                "fatal NIC=a NICPort=1 \"is down\"",
                "fatal NIC=b NICPort=1 \"is down\"",
            ],
        ),
        (
            1,
            "hello\nport b/1 is down",
            &[
                &format!("healthy NIC=a NICPort=1 {gone}"),
                "fatal NIC=b NICPort=1 \"is down\"",
            ],
        ),
        (142, "watchdog", &["unknown \"watchdog\""]),
        (
            1,
            "it is broken\n",
            &[
                &format!("healthy NIC=b NICPort=1 {gone}"),
                "fatal \"it is broken\"",
            ],
        ),
        (0, "", &["healthy \"exit code 0\""]),
    ]);
}

#[rstest]
#[case("", "`exit_code` does not say what the codes mean")]
#[case(
    "codes = 'nhc'\nactions = 'slurm'",
    "`exit_code` has `codes` beside `actions`"
)]
#[case(
    "codes = 'nhc'\ndrained_by = 'me'",
    "`drained_by` is for a program that asks Slurm"
)]
#[case(
    "codes = 'nhc'\nsubject = '(?P<nic>x)'",
    "`(?P<nic>x)` has the group `nic`, which means nothing"
)]
fn what_says_nothing_is_refused(#[case] text: &str, #[case] what: &str) {
    assert_eq!(codes(text).unwrap().problems().remove(0).what, what);
}

#[rstest]
#[case("codes = 'slurm'", "`slurm` is no meaning of exit codes")]
#[case("codes = { '256' = 'fatal' }", "`256` is no exit code")]
#[case("codes = { '1' = 'bad' }", "bad")]
fn what_is_no_code_is_refused(#[case] text: &str, #[case] what: &str) {
    let error = codes(text).unwrap_err();
    assert!(error.contains(what), "{error}");
}

/// A signal is a crash in every meaning of codes; which codes are depends on the meaning.
#[rstest]
#[case("codes = 'npd'", &[2, 125], &[126, 127, 139])]
#[case("codes = 'nagios'", &[0, 3], &[4, 127])]
#[case("codes = 'nhc'", &[1, 127, 142], &[])]
#[case("codes = { '1' = 'fatal', '139' = 'unknown' }", &[0, 1, 139], &[2, 127])]
#[case("actions = 'slurm'", &[0, 1, 125], &[126, 127])]
fn a_signal_and_a_code_without_a_meaning_are_crashes(
    #[case] text: &str,
    #[case] means: &[i32],
    #[case] crashes: &[i32],
) {
    let codes = codes(text).unwrap();
    let is_crash = |code: &i32| codes.is_crash(RunEnd::Exit(Exit::Code(*code)));
    assert!(!means.iter().any(is_crash), "{text}");
    assert!(crashes.iter().all(is_crash), "{text}");
    assert!(codes.is_crash(RunEnd::Exit(Exit::Signal(11))));
    assert!(!codes.is_crash(RunEnd::Overran), "nobody waited for it");
}
