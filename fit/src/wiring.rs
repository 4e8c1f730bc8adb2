//! How a monitor runs: which checks, if nothing tells it which, how many listings make a poll, and whether it publishes in
//! the background. Start at [`wiring`].

use std::collections::BTreeSet;

use observe::{Descriptor, Drains, Pace, PollUnit, Reads, Recording};
use terms::{Check, CheckKind};

use crate::{drill::Drill, evidence::Evidence, heard::heard};

/// The largest number of listings of a poll that is looked for. Chosen: a check lists at most twice.
const LISTINGS_MAX: usize = 10;

/// The first tick that counts: the first polls of a process may read more.
const SETTLED: usize = 2;

/// What was found about the wiring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The descriptor with what was found.
    pub descriptor: Descriptor,
    /// The lines of the descriptor that differ, each with its evidence.
    pub lines: Vec<(String, Evidence)>,
}

/// The drills that tell how a monitor runs.
#[derive(Clone, Copy, Debug)]
pub struct WiringDrills<'d> {
    /// At rest, with the state checks.
    pub rest: &'d Drill<'d>,
    /// At rest, with every check.
    pub every_check: &'d Drill<'d>,
    /// A port is down, and counters only are to be checked.
    pub other_checks: &'d Drill<'d>,
    /// A fault, played with the descriptor's `drains`.
    pub fault: &'d Drill<'d>,
    /// The same, played with `drains: quiet`.
    pub fault_quiet: &'d Drill<'d>,
}

/// Finds how a monitor runs.
#[must_use]
pub fn wiring(descriptor: &Descriptor, drills: &WiringDrills<'_>) -> Wiring {
    let mut found = Wiring {
        descriptor: descriptor.clone(),
        lines: Vec::new(),
    };
    checks(drills, &mut found);
    let polls = descriptor.pace() == Pace::Gate;
    let is_plain = polls && descriptor.loops.is_empty() && !descriptor.concurrent;
    if is_plain {
        listings(drills.rest, drills.every_check, &mut found);
    }
    let quiet = drills.fault_quiet;
    if descriptor.drains == Drains::Gate
        && let (Some(late), Some(early)) = (first_fault(drills.fault), first_fault(quiet))
        && early < late
    {
        found.descriptor.drains = Drains::Quiet;
        let evidence = Evidence {
            drill: quiet.name(),
            poll: Some(early),
            came: format!("the fault was reported; without waiting for quiet, in poll {late}"),
        };
        found.lines.push(("drains: quiet".to_owned(), evidence));
    }
    found
}

/// The checks of a monitor that runs the state checks although it is to run others.
fn checks(drills: &WiringDrills<'_>, found: &mut Wiring) {
    let other = drills.other_checks;
    let said = |drill: &Drill<'_>| -> Vec<(u64, Check)> {
        let said = heard(drill).into_iter();
        said.filter_map(|it| Some((it.tick, Check::parse(it.event.check.as_deref()?)?)))
            .collect()
    };
    let is_state = |(_, check): &&(u64, Check)| check.kind() == CheckKind::State;
    let (rest, beside) = (said(drills.rest), said(other));
    let Some((poll, check)) = beside.iter().find(is_state) else {
        return;
    };
    let runs = |kind: CheckKind| match kind {
        CheckKind::State => true,
        CheckKind::Degradation => rest.iter().any(|(_, said)| said.kind() == kind),
        CheckKind::CharDevice => {
            let mut both = rest.iter().chain(&beside);
            both.any(|(_, said)| said.kind() == kind)
        }
    };
    // Those of both link layers, because a machine may have ports of one only.
    let running = Check::ALL.into_iter().filter(|it| runs(it.kind()));
    let names: BTreeSet<String> = running.map(|it| it.name().to_owned()).collect();
    let line = format!(
        "checks: [{}]",
        names.iter().cloned().collect::<Vec<_>>().join(", ")
    );
    let evidence = Evidence {
        drill: other.name(),
        poll: Some(*poll),
        came: format!("an event of {}, which it was not to run", check.name()),
    };
    found.descriptor.checks = names;
    found.lines.push((line, evidence));
}

fn listings(rest: &Drill<'_>, every_check: &Drill<'_>, found: &mut Wiring) {
    let (Some(state), Some(every)) = (period(rest.recording), period(every_check.recording)) else {
        return;
    };
    if state == 1 {
        return;
    }
    let checks = |drill: &Drill<'_>| drill.story.checks.names().len();
    let is_by_check = state == checks(rest) && every == checks(every_check);
    let (line, came) = if is_by_check {
        found.descriptor.poll_unit = PollUnit::Check;
        let came = format!("{state} listings for all reads, and {every} with every check");
        ("poll_unit: check".to_owned(), came)
    } else {
        let listings = u32::try_from(state).expect("a poll has few listings");
        let all = found.descriptor.listings_per_poll * listings;
        found.descriptor.listings_per_poll = all;
        let came = format!("{state} listings for all reads");
        (format!("listings_per_poll: {all}"), came)
    };
    let evidence = Evidence {
        drill: rest.name(),
        poll: None,
        came,
    };
    found.lines.push((line, evidence));
}

/// After how many listings the reads repeat at rest, if some of these listings are followed by fewer reads than others.
fn period(recording: &Recording) -> Option<usize> {
    let reads: Vec<&Reads> = recording
        .ticks
        .iter()
        .skip(SETTLED)
        .filter_map(|tick| tick.monitors.values().next())
        .map(|monitor| &monitor.reads)
        .collect();
    let repeats = |period: &usize| {
        reads
            .iter()
            .zip(reads.iter().skip(*period))
            .all(|(a, b)| a == b)
    };
    let limit = LISTINGS_MAX.min(reads.len() / 2);
    let period = (1..=limit).find(repeats)?;
    let states = |reads: &&Reads| reads.iter().filter(|line| line.contains("/state")).count();
    let counts: Vec<usize> = reads.iter().take(period).map(states).collect();
    let same = counts.windows(2).all(|pair| pair[0] == pair[1]);
    Some(if same && period > 1 && !are_shares(&reads[..period]) {
        1
    } else {
        period
    })
}

/// Whether each listing is followed by reads of other files.
fn are_shares(reads: &[&Reads]) -> bool {
    reads.windows(2).all(|pair| pair[0] != pair[1])
}

/// The poll in which the first fault was reported.
fn first_fault(drill: &Drill<'_>) -> Option<u64> {
    let mut heard = heard(drill).into_iter();
    heard.find_map(|it| it.verdict().map(|_| it.tick))
}
