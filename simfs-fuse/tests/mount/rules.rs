//! Rules on reads and listings.

use rstest::rstest;
use simfs::{Errno, Fs, Op, OpSet, Rule, RuleId, SimTime, Verdict, When};

use crate::support::{Setting, fuse_or_skip, in_memory, list, read, two_devices};

fn rule(ops: impl Into<OpSet>, pattern: &str, when: When, verdict: Verdict) -> Rule {
    Rule {
        id: RuleId(1),
        ops: ops.into(),
        pattern: pattern.into(),
        when,
        verdict,
    }
}

type Reads = Vec<Result<String, i32>>;
type Lists = Vec<Result<Vec<String>, i32>>;

/// Reads a state four times and lists the class three times, in both arms, which must agree;
/// returns the results.
fn check(rule: Rule) -> Option<(Reads, Lists)> {
    let mut memory: Fs = two_devices();
    memory.arm(rule);
    let stage = fuse_or_skip(memory.clone(), Setting::default())?;
    let (state, class) = (stage.path("class/a/state"), stage.path("class"));
    let reads: Vec<_> = (0..4).map(|_| read(&state)).collect();
    let lists: Vec<_> = (0..3).map(|_| list(&class)).collect();
    let in_memory_reads: Vec<_> = (0..4)
        .map(|_| {
            in_memory(memory.read("class/a/state")).map(|bytes| String::from_utf8(bytes).unwrap())
        })
        .collect();
    let in_memory_lists: Vec<_> = (0..3).map(|_| in_memory(memory.list("class"))).collect();
    assert_eq!(reads, in_memory_reads);
    assert_eq!(lists, in_memory_lists);
    let trace: Vec<String> = memory
        .take_trace()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(stage.trace(), trace);
    Some((reads, lists))
}

const UP: &str = "4: ACTIVE\n";

#[rstest]
#[case(When::Nth(3), [false, false, true, false])]
#[case(When::FirstN(2), [true, true, false, false])]
#[case(When::FromNth(2), [false, true, true, true])]
#[case(When::EveryNth(2), [false, true, false, true])]
#[case(When::Between(SimTime::from_secs(1), SimTime::from_secs(2)), [false; 4])]
fn eio_comes_at_exactly_the_reads_that_are_meant(#[case] when: When, #[case] failing: [bool; 4]) {
    let Some((reads, _)) = check(rule(
        Op::Read,
        "class/*/state",
        when,
        Verdict::Fail(Errno::EIO),
    )) else {
        return;
    };
    let expected = failing.map(|fails| if fails { Err(5) } else { Ok(UP.to_owned()) });
    assert_eq!(reads, expected);
}

#[rstest]
#[case(Verdict::Content(b"garbage".to_vec()), "garbage")]
#[case(Verdict::Content(Vec::new()), "")]
#[case(Verdict::Truncate(3), "4: ")]
#[case(Verdict::Torn { first: b"1: DOWN\n".to_vec(), at: 3 }, "1: ACTIVE\n")]
fn a_read_gives_what_the_rule_makes_of_it(#[case] verdict: Verdict, #[case] expected: &str) {
    let Some((reads, _)) = check(rule(Op::Read, "devices/a/state", When::Always, verdict)) else {
        return;
    };
    assert_eq!(reads, vec![Ok(expected.to_owned()); 4]);
}

#[rstest]
#[case(Verdict::Fail(Errno::EIO), Err(5))]
#[case(Verdict::Fail(Errno::ENOENT), Err(2))]
#[case(Verdict::Fail(Errno::EACCES), Err(13))]
#[case(Verdict::Truncate(1), Ok(vec!["a".to_owned()]))]
fn a_listing_is_what_the_rule_makes_of_it(
    #[case] verdict: Verdict,
    #[case] expected: Result<Vec<String>, i32>,
) {
    let Some((_, lists)) = check(rule(Op::List, "class", When::Nth(2), verdict)) else {
        return;
    };
    let whole = Ok(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(lists, [whole.clone(), expected, whole]);
}

#[rstest]
#[case(None, &["a", "b"])]
#[case(Some(1), &["a"])]
#[case(Some(0), &[])]
fn names_vanish_during_a_listing(#[case] after_names: Option<usize>, #[case] first: &[&str]) {
    let paths = vec!["class/a".into(), "class/b".into()];
    let Some((_, lists)) = check(rule(
        Op::List,
        "class",
        When::Nth(1),
        Verdict::Vanish { paths, after_names },
    )) else {
        return;
    };
    assert_eq!(
        lists,
        [
            Ok(first.iter().map(|name| (*name).to_owned()).collect()),
            Ok(vec![]),
            Ok(vec![])
        ]
    );
}

#[test]
fn a_rule_on_a_link_works_though_the_kernel_remembers_links() {
    let mut memory = two_devices();
    let Some(stage) = fuse_or_skip(memory.clone(), Setting::default()) else {
        return;
    };
    let state = stage.path("class/a/state");
    assert_eq!(read(&state).unwrap(), UP);
    let when = When::Between(SimTime::from_secs(1), SimTime::from_secs(2));
    let broken = rule(Op::ReadLink, "class/a", when, Verdict::Fail(Errno::EIO));
    memory.arm(broken.clone());
    stage.server.with_fs(|fs| fs.arm(broken));
    for (secs, fails) in [(0, false), (1, true), (2, false)] {
        stage.server.edit(SimTime::from_secs(secs), &[]);
        memory.set_now(SimTime::from_secs(secs));
        assert_eq!(read(&state).is_err(), fails, "at {secs} s");
        assert_eq!(
            in_memory(memory.read("class/a/state")).is_err(),
            fails,
            "at {secs} s in memory"
        );
        assert_eq!(memory.read_link("class/a").is_err(), fails);
    }
}

#[test]
fn the_first_rule_that_acts_decides_and_all_of_them_count() {
    let mut fs = two_devices();
    fs.arm(rule(
        Op::Read,
        "**/state",
        When::Nth(1),
        Verdict::Fail(Errno::EIO),
    ));
    let second = Rule {
        id: RuleId(2),
        ..rule(
            Op::Read,
            "class/a/*",
            When::FirstN(2),
            Verdict::Fail(Errno::ENODEV),
        )
    };
    fs.arm(second);
    let Some(stage) = fuse_or_skip(fs, Setting::default()) else {
        return;
    };
    let state = stage.path("devices/a/state");
    let outcomes: Vec<_> = (0..3).map(|_| read(&state)).collect();
    assert_eq!(outcomes, [Err(5), Err(19), Ok(UP.to_owned())]);
    assert_eq!(
        stage
            .server
            .with_fs(|fs| (fs.rule_count(RuleId(1)), fs.rule_count(RuleId(2)))),
        (Some(3), Some(3))
    );
}
