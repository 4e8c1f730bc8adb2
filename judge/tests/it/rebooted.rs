//! What is reported again after a reboot is judged by `restates` of the row `reboot`.

#![expect(
    clippy::disallowed_types,
    reason = "a drill is played once for the many promises that judge it"
)]

use std::sync::{Arc, LazyLock};

use judge::judge;
use observe::{
    Descriptor, Recording,
    promises::{Kind, Named},
};
use reports::{
    CauseSubject, Finding,
    FindingKind::{Missing, Unexpected},
};
use rstest::rstest;
use terms::Severity;

use crate::keys::{Otherwise, REBOOTED, lines_about_ports, of_lines, recorded};
use crate::promises::{Case, promising};
use crate::wire::calls;

/// As `reboot/still-broken-after-reboot`.
const BROKEN: &str = "
scenario: a port is as dark after the reboot as before
why: an example
platforms: all
let: { victim: { role: compute, layer: infiniband, card_ports: 1, nth: 1 } }
timeline:
  - at: 0s
    expect: [ { this_poll: baseline } ]
  - at: 5s
    do: [ { disable: victim } ]
    expect: [ { this_poll: [ { fatal: victim } ] } ]
  - at: 10s
    do: [ { reboot: { takes: 60s } } ]
  - at: 70s
    expect: [ { this_poll: [ { reboot_baseline: null, except: victim }, { fatal: victim }, { fatal: card of victim } ] } ]
  - at: 80s
    do: [ { mend: victim } ]
    expect: [ { healthy: victim, within: 2 polls }, { healthy: card of victim, within: 2 polls } ]
until: 90s
";

pub(crate) static BROKEN_CASE: LazyLock<Case> = LazyLock::new(|| Case::played(BROKEN));

const NOTHING: &str = "rows: { reboot: { restates: nothing } }";

/// The drill, of a monitor that does not say again that the port is dark.
fn restating_nothing() -> Recording {
    let mut recording = BROKEN_CASE.recording.clone();
    let mut after = Recording {
        ticks: recording.ticks.split_off(60),
        ..Recording::default()
    };
    for mut call in calls(&mut after) {
        let is_of_port = |entities: usize| entities == 2;
        call.events
            .retain(|event| event.is_healthy || !is_of_port(event.entities_impacted.len()));
    }
    for tick in &mut after.ticks {
        for monitor in Arc::make_mut(&mut tick.monitors).values_mut() {
            let calls = &mut Arc::make_mut(monitor).calls;
            calls.retain(|call| !call.observations.is_empty());
        }
    }
    recording.ticks.append(&mut after.ticks);
    recording
}

fn found(recording: &Recording, promises: &str) -> Vec<Finding> {
    let (story, truth) = (&BROKEN_CASE.story, &BROKEN_CASE.truth);
    judge(story, truth, recording, &promising(promises)).findings
}

#[test]
fn what_stood_before_a_reboot_is_said_again_by_promise() {
    assert_eq!(found(&BROKEN_CASE.recording, "{}"), []);
    let missed = found(&restating_nothing(), "{}");
    assert!(missed.iter().any(|it| it.kind == Missing), "{missed:#?}");
}

/// The card is compared with its peers in the first poll after the reboot, as in any first poll.
#[test]
fn what_stood_before_a_reboot_is_not_said_again_by_promise() {
    assert_eq!(found(&restating_nothing(), NOTHING), []);
    let told = found(&BROKEN_CASE.recording, NOTHING);
    let [finding] = &told[..] else {
        panic!("{told:#?}");
    };
    let cause = finding.cause;
    assert_eq!(
        (finding.kind, finding.tick, cause.subject, cause.severity),
        (
            Unexpected,
            Some(70),
            Some(CauseSubject::Port),
            Some(Severity::Fatal)
        )
    );
    assert!(
        finding.expected[0].ends_with("by the row of `reboot`"),
        "{finding:#?}"
    );
}

/// While the host is down nothing is listed, which no poll reads: that the monitor has no row for devices that are gone, or
/// for first polls, excuses nothing.
#[rstest]
#[case::gone_device(&[Named::GoneDevice])]
#[case::first_poll(&[Named::FirstPoll])]
#[case::both(&[Named::GoneDevice, Named::FirstPoll])]
fn what_is_said_again_after_a_reboot_needs_no_other_row_to_be_wrong(#[case] without: &[Named]) {
    let mut descriptor = promising(NOTHING);
    for kind in without {
        descriptor.promises.rows.remove(&Kind::from(*kind));
    }
    let (story, truth) = (&BROKEN_CASE.story, &BROKEN_CASE.truth);
    let said = judge(story, truth, &BROKEN_CASE.recording, &descriptor).findings;
    let kinds: Vec<_> = said.iter().map(|it| (it.kind, it.tick)).collect();
    assert_eq!(kinds, [(Unexpected, Some(70))], "{said:#?}");
    assert_eq!(
        judge(story, truth, &restating_nothing(), &descriptor).findings,
        []
    );
}

const LINES: &str = "rows: { down: { verdict: fatal }, disabled: { verdict: fatal }, polling: { verdict: fatal }, training: { verdict: fatal }, reboot: { restates: RESTATES } }";

/// The same of one that writes lines about ports and has rows for few kinds.
#[rstest]
#[case::nothing("nothing", true)]
#[case::all("all", false)]
fn a_line_that_is_written_again_after_a_reboot_is_wrong_where_nothing_is(
    #[case] restates: &str,
    #[case] is_wrong: bool,
) {
    let recording = lines_about_ports(&BROKEN_CASE, Otherwise::SilentIn(0, 0));
    let descriptor = of_lines(&LINES.replace("RESTATES", restates));
    let (story, truth) = (&BROKEN_CASE.story, &BROKEN_CASE.truth);
    let found = judge(story, truth, &recording, &descriptor).findings;
    assert_eq!(found.len(), usize::from(is_wrong), "{found:#?}");
    let wanted = "nothing that stood before the reboot, by the row of `reboot`";
    let mut told = found.iter();
    assert!(told.all(|it| it.expected == [wanted]), "{found:#?}");
}

/// docs/monitor.md, `restates`: the row of reboots decides alone about a fault that is new.
#[test]
fn a_new_fault_after_a_reboot_is_owed_without_a_row_of_first_polls() {
    let mut descriptor = promising("{}");
    let first_poll = Kind::from(Named::FirstPoll);
    descriptor.promises.rows.remove(&first_poll);
    let (story, truth) = (&REBOOTED.story, &REBOOTED.truth);
    let of = |recording: &Recording, descriptor: &Descriptor| {
        let found = judge(story, truth, recording, descriptor).findings;
        found.iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    let forgets = recorded(&REBOOTED, Otherwise::SilentIn(51, 51));
    assert_eq!(of(&REBOOTED.recording, &descriptor), []);
    assert!(of(&forgets, &descriptor).contains(&Missing));
    // Without the row of reboots nothing is judged.
    descriptor.promises.rows.remove(&Kind::from(Named::Reboot));
    assert!(!of(&forgets, &descriptor).contains(&Missing));
}
