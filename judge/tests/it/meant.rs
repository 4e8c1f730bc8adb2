//! What a line says is what it means: a first poll without some of its events, silence of a counter or about what comes
//! late, a log line of two letters.

use judge::{Bite, altered, judge};
use reports::{Finding, FindingKind};

use crate::promises::Case;
use crate::wire::reference;

fn played(lines: &str) -> Case {
    Case::played(&format!(
        "scenario: an example\nwhy: an example\nplatforms: all\nlet: {{ victim: {{ device: mlx5_3 }} }}\n{lines}"
    ))
}

fn found(case: &Case) -> Vec<Finding> {
    judge(&case.story, &case.truth, &case.recording, &reference()).findings
}

/// What came although nobody expects it, one text for each finding.
#[track_caller]
fn check_unexpected(lines: &str, came: &[&str]) {
    let case = played(lines);
    let found = found(&case);
    let of_it = |finding: &Finding| finding.kind == FindingKind::Unexpected;
    assert!(found.iter().all(of_it), "{found:#?}");
    let texts: Vec<String> = found.iter().map(|of| of.came.join(" ")).collect();
    assert_eq!(texts.len(), came.len(), "{texts:#?}");
    for (text, wanted) in texts.iter().zip(came) {
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn a_first_poll_is_without_exactly_what_is_excepted() {
    let of_card = "timeline: [ { at: 0s, expect: [ { this_poll: [ { baseline: null, except: card of victim } ] } ] } ]\nuntil: 3s\n";
    check_unexpected(of_card, &["Card "]);
    let of_device = of_card.replace("card of", "device of");
    check_unexpected(&of_device, &["Device mlx5_3: healthy"]);
    let of_counter = format!(
        "checks: all\n{}",
        of_card.replace(
            "except: card of victim",
            "except: victim, counter: link_downed"
        )
    );
    check_unexpected(&of_counter, &["Counter link_downed healthy on port mlx5_3"]);
}

#[test]
fn a_first_poll_says_nothing_of_what_the_configuration_excludes() {
    let lines = "config: 'nicExclusionRegex = \"^mlx5_3$\"'\ntimeline: [ { at: 0s, expect: [ { this_poll: baseline } ] } ]\nuntil: 3s\n";
    check_unexpected(lines, &[]);
}

/// The device and the card of a port that comes up later may say so, unless silence is asked for.
#[test]
fn silence_is_silence_about_what_a_first_poll_left_open() {
    let lines = "given: [ { cut: victim } ]
timeline:
  - { at: 0s, expect: [ { this_poll: baseline } ] }
  - at: 10s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 4 polls }SILENCE ]
until: 20s
";
    check_unexpected(&lines.replace("SILENCE", ""), &[]);
    let silent = lines.replace("SILENCE", ", { nothing: null, from: 5s, to: 18s }");
    check_unexpected(&silent, &["Device mlx5_3", "Card "]);
}

#[test]
fn silence_may_be_about_one_counter() {
    let lines = "checks: all
timeline:
  - at: 5s
    do: [ { cut: victim } ]
    expect:
      - { fatal: victim }
      - { fatal: victim, counter: link_downed }
      - { nothing: victim, counter: COUNTER, from: 5s, to: 9s }
until: 9s
";
    check_unexpected(&lines.replace("COUNTER", "symbol_error"), &[]);
    let unsaid = lines.replace("      - { fatal: victim, counter: link_downed }\n", "");
    let case = played(&unsaid.replace("COUNTER", "link_downed"));
    let found = found(&case);
    let line = found[0].line.as_ref().map(|line| line.text.as_str());
    assert!(
        line.is_some_and(|line| line.contains("nothing: victim")),
        "{found:#?}"
    );
    // Of another counter the line says nothing.
    let case = played(&unsaid.replace("COUNTER", "symbol_error"));
    assert_eq!(self::found(&case)[0].line, None);
}

#[test]
fn a_log_line_of_two_letters_asserts_nothing() {
    let lines = "config: 'nicExclusionRegex = \".*\"'
timeline: [ { at: 0s, expect: [ { this_poll: nothing }, { log: TEXT, within: 2 polls } ] } ]
until: 5s
";
    let bite = |text: &str| {
        let case = played(&lines.replace("TEXT", text));
        let all = altered(&case.story, &case.truth, &case.recording, &reference());
        let all = all.unwrap_or_else(|red| panic!("{red:#?}"));
        let of_it = all
            .into_iter()
            .find(|one| one.alteration == "a line about something else");
        of_it.map(|one| one.bite)
    };
    assert_eq!(bite("\"no\""), Some(Bite::Green));
    assert_eq!(bite("\"no device is monitored\""), Some(Bite::Red));
}
