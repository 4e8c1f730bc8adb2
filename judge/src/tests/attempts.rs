//! Attempts to report, whether they were taken or not.

use super::*;

/// An attempt is enough where only that is asked, and the fault is owed none the less.
#[test]
fn attempts_are_counted_whether_they_were_taken_or_not() {
    let attempts = |times: u32| {
        let what = What::Say {
            event: pattern(ib_port(1)),
            times: Times {
                at_least: times,
                at_most: 2,
            },
            reported: true,
            in_order: None,
        };
        let mut recording = polls(3);
        say(&mut recording, 0, event(IB, port("mlx5_0", "1")), false);
        say(&mut recording, 1, event(IB, port("mlx5_0", "1")), false);
        found(&expecting([(what, 0, 2)]), &recording).len()
    };
    assert_eq!([1, 2, 3].map(attempts), [0, 0, 1]);
}

/// Silence about attempts does not hear those that were asked for, and hears all others.
#[test]
fn an_attempt_that_was_asked_for_breaks_no_silence() {
    let silence = || What::Nothing {
        about: vec![],
        counter: None,
        reported: true,
    };
    let asked = |about, at_least, attempts| What::Say {
        event: pattern(about),
        times: Times {
            at_least,
            at_most: 1,
        },
        reported: attempts,
        in_order: None,
    };
    let mut recording = polls(3);
    say(&mut recording, 1, event(IB, port("mlx5_0", "1")), false);
    let broken = |what: What| {
        let case = expecting([(silence(), 0, 2), (what, 0, 2)]);
        let findings = found(&case, &recording).into_iter();
        findings
            .filter(|finding| finding.kind == FindingKind::Unexpected)
            .count()
    };
    assert_eq!(broken(asked(ib_port(1), 1, true)), 0);
    assert_eq!(broken(asked(ib_port(1), 0, false)), 1);
    assert_eq!(broken(asked(ib_port(2), 1, true)), 1);
}
