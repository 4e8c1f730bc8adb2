//! What counts, for whom, and how a mix weights it.

use observe::promises::Named;

use super::*;
use crate::FalseAlarm;

fn drill() -> DrillName {
    "port/example@dgx-h100".parse().expect("a drill's name")
}

fn fault(from: u64, notice: Notice, after: Option<Named>) -> HeardFault {
    let is_noticed = matches!(notice, Notice::InTime | Notice::Late);
    HeardFault {
        node: "n".to_owned(),
        kind: Named::Polling.into(),
        place: "0000:19:00.0/1".to_owned(),
        from,
        to: from + 10,
        notice,
        noticed_after_ms: is_noticed.then_some(from * 1000),
        cleared: None,
        cleared_after_ms: None,
        after: after.map(Kind::from),
    }
}

fn heard(faults: &[HeardFault], ended: Option<Ended>) -> HeardBy {
    HeardBy {
        name: "m".to_owned(),
        drills: vec![Noticed {
            faults: faults.to_vec(),
            ended,
            ..Noticed::default()
        }],
        ..HeardBy::default()
    }
}

fn polling(monitors: &[HeardBy]) -> Vec<FaultCount> {
    let compared = compared(&[drill()], monitors, None);
    let count = |it: ComparedMonitor| it.faults.get("polling").cloned().unwrap_or_default();
    compared.into_iter().map(count).collect()
}

#[test]
fn a_short_fault_counts_if_another_monitor_noticed_it() {
    let short = heard(&[fault(3, Notice::NotNeeded, None)], None);
    assert_eq!(polling(&[short.clone(), short.clone()])[0].faults, 0);
    let quick = heard(&[fault(3, Notice::InTime, None)], None);
    let counts = polling(&[short, quick]);
    assert_eq!((counts[0].faults, counts[0].too_short), (1, 1));
    assert_eq!((counts[1].faults, counts[1].in_time), (1, 1));
}

#[test]
fn one_that_notices_a_kind_and_then_does_not_went_blind() {
    let missed = fault(9, Notice::Never, Some(Named::Unreadable));
    let seen = fault(3, Notice::InTime, None);
    let blind = &polling(&[heard(&[seen, missed.clone()], None)])[0];
    assert_eq!(blind.blind_after, [("unreadable".to_owned(), 1)].into());
    // One that never looks is not blind.
    let idle = &polling(&[heard(&[missed], None)])[0];
    assert_eq!((idle.never, idle.blind_after.len()), (1, 0));
}

#[test]
fn what_comes_after_a_crash_is_missed_by_it() {
    let crashed = heard(&[], Some(Ended::Crashed(5)));
    let other = heard(&[fault(9, Notice::InTime, None)], None);
    let counts = polling(&[crashed, other]);
    assert_eq!((counts[0].faults, counts[0].never), (1, 1));
    assert_eq!(counts[0].blind_after, [("crash".to_owned(), 1)].into());
}

#[test]
fn estimates_are_sums_of_rates_and_shares() {
    let alarm = |tick, is_fatal| FalseAlarm {
        node: "n".to_owned(),
        tick,
        is_fatal,
        stands: !is_fatal,
        on: Some((Named::Reboot.into(), tick)),
        line: String::new(),
    };
    let happened = |tick| ("n".to_owned(), Kind::from(Named::Reboot), tick);
    let mut monitor = heard(
        &[
            fault(3, Notice::InTime, None),
            fault(5, Notice::Late, None),
            fault(7, Notice::Never, None),
            fault(9, Notice::InTime, None),
        ],
        None,
    );
    monitor.drills[0].happened = [happened(1), happened(2), happened(4), happened(6)].into();
    monitor.drills[0].false_alarms = vec![alarm(2, true), alarm(2, true), alarm(4, false)];
    let rates = [
        (Named::Polling.into(), 8.0),
        (Named::Reboot.into(), 100.0),
        (Named::SmGone.into(), 1.0),
    ];
    let mix = Mix {
        mix_version: 1,
        title: None,
        per_1000_nodes_and_month: rates.into(),
    };
    let compared = compared(&[drill()], &[monitor], Some(&mix));
    let weighted = compared[0].weighted.as_ref().expect("a mix was given");
    let parts = |it: &Estimate| (it.value, it.least, it.most, it.depends_on.clone());
    let by = |kind: &str| Some(kind.to_owned());
    assert_eq!(
        parts(&weighted.missed_faults),
        (4.0, 2.0, 8.0, by("polling"))
    );
    assert_eq!(
        parts(&weighted.false_drains),
        (25.0, 12.5, 50.0, by("reboot"))
    );
    assert_eq!(weighted.not_drilled, ["sm_gone"]);
    let on_reboot = &compared[0].false_alarms["reboot"];
    assert_eq!(
        (on_reboot.alarmed, on_reboot.fatal, on_reboot.standing),
        (2, 1, 1)
    );
}
