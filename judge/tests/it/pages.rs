//! A monitor that is asked for a page and does not give it owes what it could have said in it.

use std::{collections::BTreeSet, ops::Range, sync::Arc};

use judge::{judge, judge_needs};
use observe::{
    Descriptor, MonitorTick, Needs, Observation, Protocol, Recording, Scrape, ScrapeOutcome,
};
use reports::{Finding, FindingKind};
use rstest::rstest;

use crate::level::{by_state, found, kinds, pages, template};
use crate::promises::{CUT_CASE, Case};

const WHY: &str = "the page has the status 500";

/// What is recorded of an exporter that tells the state of every port, with the status 500 in these ticks.
fn exported(case: &Case, failing: &Range<u64>) -> Recording {
    let mut recording = pages(case, |_, port, _| Some(by_state(port)));
    recording.protocol = Protocol::Scrape;
    for (at, tick) in (0..).zip(&mut recording.ticks) {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            fail(Arc::make_mut(monitor), failing.contains(&at));
        }
    }
    recording
}

fn fail(monitor: &mut MonitorTick, fails: bool) {
    let status = if fails { 500 } else { 200 };
    let text = Arc::default();
    monitor.scrapes = vec![Scrape {
        at_ns: 0,
        took_ns: 0,
        outcome: ScrapeOutcome::Answered { status, text },
    }];
    for call in monitor.calls.iter_mut().filter(|_| fails) {
        WHY.clone_into(&mut call.answer);
        call.observations = vec![Observation {
            text: WHY.to_owned(),
            ..Observation::default()
        }];
    }
}

fn exporter() -> Descriptor {
    Descriptor {
        speaks: Protocol::Scrape,
        ..template("")
    }
}

#[track_caller]
fn names_the_page(findings: &[Finding]) {
    let names = |finding: &Finding| finding.came.iter().any(|came| came.contains(WHY));
    assert!(findings.iter().all(names), "{findings:#?}");
}

/// The cable is out from poll 10 to 20.
#[rstest]
#[case::it_always_comes(0..0, &[])]
#[case::not_at_rest(2..9, &[])]
#[case::once_at_the_fault(10..11, &[])]
#[case::while_the_fault_stands(10..20, &[FindingKind::Missing])]
#[case::from_the_fault_on(10..u64::MAX, &[FindingKind::Missing])]
#[case::from_the_end_of_the_fault_on(20..u64::MAX, &[FindingKind::Outstanding])]
fn a_page_that_does_not_come_excuses_nobody(
    #[case] failing: Range<u64>,
    #[case] findings: &[FindingKind],
) {
    let case = &*CUT_CASE;
    let found = found(case, &exported(case, &failing), &exporter());
    let expected: BTreeSet<FindingKind> = findings.iter().copied().collect();
    // What stays may also be worse than what stands then.
    assert!(kinds(&found).is_superset(&expected), "{found:#?}");
    assert_eq!(found.is_empty(), expected.is_empty(), "{found:#?}");
    names_the_page(&found);
}

/// What is owed while no page comes is judged, so that nothing is left out for another reason.
#[test]
fn what_is_owed_without_a_page_is_counted_as_judged() {
    let Case { story, truth, .. } = &*CUT_CASE;
    let of = |failing| {
        let recording = exported(&CUT_CASE, &failing);
        judge(story, truth, &recording, &exporter()).judged.judged
    };
    assert_eq!(of(10..u64::MAX), of(0..0));
    assert!(of(0..0) > 0);
}

#[test]
fn needs_are_not_met_without_a_page() {
    let Case { story, truth, .. } = &*CUT_CASE;
    let needs = "needs_version: 1\nkinds: { polling: { noticed: within 5s } }\n";
    let needs: Needs =
        files::yaml::read("needs.yaml", needs).unwrap_or_else(|error| panic!("{error}"));
    let of = |failing| {
        let recording = exported(&CUT_CASE, &failing);
        judge_needs(story, truth, &recording, &exporter(), &needs).findings
    };
    assert_eq!(of(0..0), []);
    let found = of(10..u64::MAX);
    assert_eq!(kinds(&found), BTreeSet::from([FindingKind::Missing]));
    names_the_page(&found);
}
