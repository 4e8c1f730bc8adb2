//! What a monitor made of each fault agrees with what the judge finds by the same needs.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many needs that judge it"
)]

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use judge::{Cleared, Ended, Notice, Noticed, judge_needs, noticed};
use observe::{Broken, Descriptor, Needs, Recording, promises::Named};
use proptest::{collection::btree_set, prelude::*};
use reports::FindingKind;

use crate::promises::Case;

/// A port is disabled from poll 10 to 30, while a file of another one cannot be read.
const DISABLED: &str = "
scenario: a file cannot be read, and a port is disabled
why: an example
platforms: all
let: { victim: { role: compute, nth: 1 }, other: { role: compute, nth: 2 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { read: other/rate, fail: EIO } ]
  - at: 10s
    do: [ { disable: victim } ]
    expect: [ { fatal: victim } ]
  - at: 30s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 3 polls } ]
until: 50s
";

static DISABLED_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(DISABLED));

fn needs(text: &str) -> Needs {
    let text = format!("needs_version: 1\n{text}\n");
    files::yaml::read("needs.yaml", &text).unwrap_or_else(|error| panic!("{error}"))
}

const NEEDS: &str = "kinds: { disabled: { noticed: within 2s, taken_back: within 5s } }";

fn heard(recording: &Recording, text: &str) -> Noticed {
    let Case { story, truth, .. } = &*DISABLED_CASE;
    noticed(
        story,
        truth,
        recording,
        &Descriptor::of_program("m"),
        &needs(text),
    )
}

/// The recording without what was reported in these ticks.
fn without(ticks: &BTreeSet<usize>) -> Recording {
    let mut recording = DISABLED_CASE.recording.clone();
    for at in ticks {
        let Some(tick) = recording.ticks.get_mut(*at) else {
            continue;
        };
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            Arc::make_mut(monitor).calls.clear();
        }
    }
    recording
}

#[test]
fn a_fault_that_is_reported_at_once_is_noticed_and_taken_back_with_its_times() {
    let heard = heard(&DISABLED_CASE.recording, NEEDS);
    let [fault] = &heard.faults[..] else {
        panic!("{heard:#?}");
    };
    assert_eq!(fault.from, 10);
    assert_eq!(
        (fault.notice, fault.noticed_after_ms),
        (Notice::InTime, Some(0))
    );
    assert_eq!(fault.cleared, Some(Cleared::InTime));
    assert_eq!(fault.after, Some(Named::Unreadable.into()));
    assert_eq!((heard.false_alarms, heard.ended), (Vec::new(), None));
}

#[test]
fn a_report_that_is_lost_leaves_the_fault_unnoticed() {
    let heard = heard(&without(&(10..30).collect()), NEEDS);
    assert_eq!(heard.faults[0].notice, Notice::Never);
    assert_eq!(heard.faults[0].cleared, None);
}

#[test]
fn an_all_clear_that_is_lost_leaves_the_alarm() {
    let heard = heard(&without(&(30..60).collect()), NEEDS);
    assert_eq!(heard.faults[0].notice, Notice::InTime);
    assert_eq!(heard.faults[0].cleared, Some(Cleared::Never));
}

#[test]
fn an_alarm_on_what_must_be_quiet_is_put_down_to_it() {
    let heard = heard(
        &DISABLED_CASE.recording,
        "never_alarms: { disabled: always }",
    );
    assert_eq!(heard.faults, []);
    let [alarm] = &heard.false_alarms[..] else {
        panic!("{heard:#?}");
    };
    assert_eq!(alarm.on, Some((Named::Disabled.into(), 10)));
    assert!(alarm.is_fatal);
}

#[test]
fn a_monitor_that_hung_ended() {
    let mut hung = without(&(12..60).collect());
    hung.broken = Some(Broken::Hung {
        tick: 12,
        waiting_for: "a poll".to_owned(),
    });
    assert_eq!(heard(&hung, NEEDS).ended, Some(Ended::Hung(12)));
}

proptest! {
    /// Whatever is lost, and whatever is needed.
    #[test]
    fn what_the_judge_calls_missing_is_never_noticed_in_time(
        lost in btree_set(0usize..60, 0..60),
        within in 0u32..40,
        taken_back in 0u32..40,
        granularity in prop_oneof![Just("port"), Just("device"), Just("node")],
    ) {
        let recording = without(&lost);
        let text = format!(
            "granularity: {granularity}\n\
             kinds: {{ disabled: {{ noticed: within {within}s, taken_back: within {taken_back}s }} }}"
        );
        let Case { story, truth, .. } = &*DISABLED_CASE;
        let descriptor = Descriptor::of_program("m");
        let judgement = judge_needs(story, truth, &recording, &descriptor, &needs(&text));
        let count = |kind| judgement.findings.iter().filter(|finding| finding.kind == kind).count();
        let heard = heard(&recording, &text);
        let missed = heard.faults.iter().filter(|it| matches!(it.notice, Notice::Late | Notice::Never));
        prop_assert_eq!(missed.count(), count(FindingKind::Missing));
        for fault in &heard.faults {
            let is_noticed = matches!(fault.notice, Notice::InTime | Notice::Late);
            prop_assert_eq!(fault.noticed_after_ms.is_some(), is_noticed);
            prop_assert!(is_noticed || fault.cleared.is_none());
        }
        let kept = heard.faults.iter().filter(|it| matches!(it.cleared, Some(Cleared::Late | Cleared::Never)));
        prop_assert!(kept.count() <= count(FindingKind::Outstanding));
        prop_assert_eq!(heard.false_alarms.len(), count(FindingKind::Unexpected));
    }
}
