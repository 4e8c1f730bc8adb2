//! What lines say, and rules that say nothing.

use rstest::rstest;

use super::*;
use crate::Subject;
use crate::UNNAMED;

const RULES: &str = r"[
    { pattern = '^(?P<device>mlx5_[0-9]+)(/(?P<port>[0-9]+))? (?P<verdict>[A-Z]+)(: (?P<text>.*))?', verdicts = WORDS },
    { pattern = 'counter (?P<code>[a-z_]+) of (?P<device>\S+)', says = 'nonfatal' },
    { pattern = 'node is well', says = 'healthy' },
]";

const WORDS: &str = "{ DOWN = 'fatal', SLOW = 'nonfatal', UP = 'healthy', LOST = 'unknown' }";

/// Rules as a value of TOML.
fn rules(text: &str) -> Result<Lines, String> {
    #[derive(Debug, Deserialize)]
    struct Rules {
        lines: Lines,
    }
    let text = text.replace("WORDS", WORDS);
    let rules: Result<Rules, _> = toml::from_str(&format!("lines = {text}"));
    rules
        .map(|rules| rules.lines)
        .map_err(|error| error.to_string())
}

fn of_port() -> Subject {
    Subject::Port {
        device: "mlx5_3".to_owned(),
        port: "1".to_owned(),
    }
}

fn of_device() -> Subject {
    Subject::Device("mlx5_3".to_owned())
}

#[rstest]
#[case("mlx5_3/1 DOWN: no light", Some((Severity::Fatal, of_port(), "no light")))]
#[case("mlx5_3/1 SLOW", Some((Severity::NonFatal, of_port(), "mlx5_3/1 SLOW")))]
#[case("mlx5_3 UP", Some((Severity::Healthy, of_device(), "mlx5_3 UP")))]
#[case("mlx5_3 LOST", Some((Severity::Unknown, of_device(), "mlx5_3 LOST")))]
#[case("mlx5_3 ODD", Some((Severity::Unknown, of_device(), "mlx5_3 ODD")))]
#[case("the node is well", Some((Severity::Healthy, Subject::Node, "the node is well")))]
#[case("starting", None)]
#[case("", None)]
fn the_first_rule_that_matches_a_line_says_what_it_means(
    #[case] line: &str,
    #[case] said: Option<(Severity, Subject, &str)>,
) {
    let observed = rules(RULES).expect("the rules are right").line_says(line);
    let observed = observed.map(|delivery| delivery.observations);
    let observed = observed.as_deref().map(|all| {
        let [one] = all else {
            panic!("a line is one observation")
        };
        (one.severity, one.subject.clone(), one.text.as_str())
    });
    assert_eq!(observed, said);
}

#[test]
fn a_word_that_is_not_named_is_kept() {
    let rules = rules(RULES).expect("the rules are right");
    let fields = |line: &str| {
        let observed = rules.line_says(line).expect("a rule matches").observations;
        observed[0].fields.clone()
    };
    assert_eq!(
        fields("mlx5_3 ODD"),
        [(UNNAMED.to_owned(), "ODD".to_owned())]
    );
    assert_eq!(fields("mlx5_3 LOST"), []);
}

#[test]
fn a_code_tells_faults_of_one_subject_apart() {
    let rules = rules(RULES).expect("the rules are right");
    let observed = rules.line_says("counter link_downed of mlx5_0");
    let observed = observed.expect("a rule matches").observations;
    assert_eq!(observed[0].codes, ["link_downed"]);
}

#[rstest]
#[case("[]", "`lines` has no rule")]
#[case(
    "[ { pattern = 'x' } ]",
    "`x` has no group `verdict`, so it is open what such a line says"
)]
#[case(
    "[ { pattern = '(?P<verdict>x)', says = 'fatal' } ]",
    "`(?P<verdict>x)` has the group `verdict`, whose words have no meaning"
)]
#[case(
    "[ { pattern = '(?P<verdict>x)', says = 'fatal', verdicts = WORDS } ]",
    "`(?P<verdict>x)` has the group `verdict`, and `says` beside `verdicts`"
)]
#[case(
    "[ { pattern = '(?P<nic>x)', says = 'fatal' } ]",
    "`(?P<nic>x)` has the group `nic`, which means nothing"
)]
fn a_rule_that_says_nothing_is_refused(#[case] text: &str, #[case] what: &str) {
    let problems = rules(text).expect("it can be read").problems();
    let problem = problems.into_iter().next();
    assert_eq!(problem.expect("it is refused").what, what);
}

#[test]
fn what_is_no_regular_expression_is_refused_with_the_reason() {
    let what = rules("[ { pattern = '(x', says = 'fatal' } ]").expect_err("it is none");
    let reason = "`(x` is not a regular expression: unclosed group";
    assert!(what.contains(reason), "{what}");
}
