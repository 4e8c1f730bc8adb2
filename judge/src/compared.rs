//! Counts what several monitors made of the same drills, so that they can stand side by side. Start at [`compared`].
//!
//! A fault counts if one of the monitors noticed it, or had to: so all are counted by the same faults, and one that
//! nobody noticed and nobody had to notice does not count.

use std::collections::{BTreeMap, BTreeSet};

use observe::{Mix, promises::Kind};
use reports::{
    AlarmCount, ComparedMonitor, Conceded, DrillName, Estimate, FaultCount, Spread, Weighted,
};

use crate::{Cleared, Ended, HeardFault, Notice, Noticed};

/// A monitor, and what it made of each drill.
#[derive(Clone, Debug, Default)]
pub struct HeardBy {
    /// Its name.
    pub name: String,
    /// How it reports, by the word of `speaks`.
    pub speaks: String,
    /// What it made of each drill, in the order of the drills.
    pub drills: Vec<Noticed>,
    /// Why it was not played, if so; then `drills` is empty.
    pub not_played: Option<String>,
    /// Drills that it cannot play, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// About which kinds it promises less than the documents ask.
    pub conceded: BTreeMap<String, Conceded>,
}

/// What distinguishes a fault from the others of its drill: node, place, kind and first tick.
type Key<'n> = (&'n str, &'n str, &'n Kind, u64);

/// The counts of each monitor, in the given order, and weighted, if a mix is given.
#[must_use]
pub fn compared(
    drills: &[DrillName],
    monitors: &[HeardBy],
    mix: Option<&Mix>,
) -> Vec<ComparedMonitor> {
    let counted: Vec<BTreeSet<Key<'_>>> = (0..drills.len())
        .map(|at| {
            let heard = monitors.iter().filter_map(|monitor| monitor.drills.get(at));
            let faults = heard.flat_map(|heard| &heard.faults);
            let counts = faults.filter(|fault| fault.notice != Notice::NotNeeded);
            counts.map(key).collect()
        })
        .collect();
    let monitors = monitors.iter().map(|monitor| {
        let mut sums = Sums::default();
        for ((drill, heard), counted) in drills.iter().zip(&monitor.drills).zip(&counted) {
            sums.add(drill, heard, counted);
        }
        let mut result = ComparedMonitor {
            name: monitor.name.clone(),
            speaks: monitor.speaks.clone(),
            not_played: monitor.not_played.clone(),
            left_out: monitor.left_out.clone(),
            conceded: monitor.conceded.clone(),
            weighted: None,
            faults: worded(sums.faults()),
            false_alarms: sums
                .alarms
                .iter()
                .map(|(kind, count)| {
                    let word = kind.as_ref().map(Kind::to_string);
                    (word.unwrap_or_default(), count.clone())
                })
                .collect(),
            broken: sums.broken.clone(),
        };
        if monitor.not_played.is_none() {
            result.weighted = mix.map(|mix| weighted(mix, &sums));
        }
        result
    });
    monitors.collect()
}

fn key(fault: &HeardFault) -> Key<'_> {
    (&fault.node, &fault.place, &fault.kind, fault.from)
}

fn worded<T>(by_kind: BTreeMap<Kind, T>) -> BTreeMap<String, T> {
    let words = by_kind.into_iter();
    words.map(|(kind, of)| (kind.to_string(), of)).collect()
}

/// The counts of one monitor.
#[derive(Default)]
struct Sums {
    kinds: BTreeMap<Kind, OfKind>,
    alarms: BTreeMap<Option<Kind>, AlarmCount>,
    broken: Vec<DrillName>,
}

/// The faults of a kind.
#[derive(Default)]
struct OfKind {
    count: FaultCount,
    noticed_after_ms: Vec<u64>,
    cleared_after_ms: Vec<u64>,
    /// What had happened before those that were never noticed.
    missed_after: BTreeMap<String, u64>,
    /// Those that a crash or a hang hid.
    hidden: BTreeMap<String, u64>,
}

/// What happened on a node: its name, what it was, and the poll.
type Occurrence<'a> = (&'a str, &'a Kind, u64);

impl Sums {
    fn add(&mut self, drill: &DrillName, heard: &Noticed, counted: &BTreeSet<Key<'_>>) {
        if heard.ended.is_some() {
            self.broken.push(drill.clone());
        }
        let faults: BTreeMap<Key<'_>, &HeardFault> = heard
            .faults
            .iter()
            .map(|fault| (key(fault), fault))
            .collect();
        for counts in counted {
            let fault = faults.get(counts).copied();
            if fault.is_some() || heard.ended.is_some() {
                let of_kind = self.kinds.entry(counts.2.clone()).or_default();
                of_kind.add(drill, fault, heard.ended);
            }
        }
        self.add_alarms(drill, heard);
    }

    fn add_alarms(&mut self, drill: &DrillName, heard: &Noticed) {
        self.alarms.entry(None).or_default().happened += 1;
        let mut happened: BTreeSet<Occurrence<'_>> = heard
            .happened
            .iter()
            .map(|(node, kind, tick)| (node.as_str(), kind, *tick))
            .collect();
        // Whether an alarm on each was fatal, and whether one stands; without anything that happened, of the drill.
        let mut alarmed: BTreeMap<Option<Occurrence<'_>>, (bool, bool)> = BTreeMap::new();
        for alarm in &heard.false_alarms {
            let on = alarm.on.as_ref();
            let on = on.map(|(kind, tick)| (alarm.node.as_str(), kind, *tick));
            happened.extend(on);
            let (is_fatal, stands) = alarmed.entry(on).or_default();
            *is_fatal |= alarm.is_fatal;
            *stands |= alarm.stands;
        }
        for (_, kind, _) in happened {
            self.alarms.entry(Some(kind.clone())).or_default().happened += 1;
        }
        for (on, (is_fatal, stands)) in alarmed {
            let kind = on.map(|(_, kind, _)| kind.clone());
            let count = self.alarms.entry(kind).or_default();
            count.alarmed += 1;
            count.fatal += u64::from(is_fatal);
            count.standing += u64::from(stands);
            count.first.get_or_insert_with(|| drill.clone());
        }
    }

    /// The counts by kind, with times.
    fn faults(&self) -> BTreeMap<Kind, FaultCount> {
        let kinds = self.kinds.iter();
        kinds
            .map(|(kind, of_kind)| (kind.clone(), of_kind.counted()))
            .collect()
    }
}

impl OfKind {
    fn add(&mut self, drill: &DrillName, fault: Option<&HeardFault>, ended: Option<Ended>) {
        self.count.faults += 1;
        let notice = fault.map_or(Notice::NotNeeded, |fault| fault.notice);
        match (notice, ended) {
            (Notice::InTime, _) => self.count.in_time += 1,
            (Notice::Late, _) => self.count.late += 1,
            (Notice::NotNeeded, None) => self.count.too_short += 1,
            (Notice::NotNeeded, Some(ended)) => {
                self.count.never += 1;
                let word = match ended {
                    Ended::Crashed(_) => "crash",
                    Ended::Hung(_) => "hang",
                };
                *self.hidden.entry(word.to_owned()).or_default() += 1;
            }
            (Notice::Never, _) => {
                self.count.never += 1;
                let after = fault.and_then(|fault| fault.after.as_ref());
                if let Some(after) = after {
                    *self.missed_after.entry(after.to_string()).or_default() += 1;
                }
            }
        }
        let is_missed = notice == Notice::Never || notice == Notice::NotNeeded && ended.is_some();
        if is_missed {
            self.count.first_missed.get_or_insert_with(|| drill.clone());
        }
        let Some(fault) = fault else { return };
        self.noticed_after_ms.extend(fault.noticed_after_ms);
        self.cleared_after_ms.extend(fault.cleared_after_ms);
        match fault.cleared {
            Some(Cleared::InTime) => self.count.cleared_in_time += 1,
            Some(Cleared::Late) => self.count.cleared_late += 1,
            Some(Cleared::Never) => self.count.cleared_never += 1,
            None => {}
        }
    }

    fn counted(&self) -> FaultCount {
        let mut blind_after = self.hidden.clone();
        // One that notices no fault of a kind is not blind after something: it does not look.
        if self.count.in_time + self.count.late > 0 {
            blind_after.extend(self.missed_after.clone());
        }
        FaultCount {
            noticed_after_ms: Spread::of(self.noticed_after_ms.clone()),
            cleared_after_ms: Spread::of(self.cleared_after_ms.clone()),
            blind_after,
            ..self.count.clone()
        }
    }
}

/// The counts of a monitor by how often kinds happen.
fn weighted(mix: &Mix, sums: &Sums) -> Weighted {
    #[expect(clippy::cast_precision_loss, reason = "counts of drills are small")]
    let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    let mut false_drains = Vec::new();
    let mut missed = Vec::new();
    let happened = sums
        .alarms
        .iter()
        .filter_map(|(kind, count)| Some((kind.as_ref()?, count)));
    for (kind, count) in happened {
        if let Some(rate) = mix.rate(kind) {
            let part = rate * share(count.fatal, count.happened);
            false_drains.push((kind.to_string(), part));
        }
    }
    for (kind, of_kind) in &sums.kinds {
        if let Some(rate) = mix.rate(kind) {
            let count = &of_kind.count;
            let needed = count.in_time + count.late + count.never;
            let part = rate * share(count.late + count.never, needed);
            missed.push((kind.to_string(), part));
        }
    }
    let drilled = |kind: &Kind| match kind {
        Kind::Counter(name) if name == "*" => {
            let is_counter = |kind: &Kind| matches!(kind, Kind::Counter(_));
            sums.kinds.keys().any(is_counter)
        }
        kind => sums.kinds.contains_key(kind) || sums.alarms.contains_key(&Some(kind.clone())),
    };
    let not_drilled = mix.per_1000_nodes_and_month.keys();
    Weighted {
        false_drains: Estimate::of(&false_drains),
        missed_faults: Estimate::of(&missed),
        not_drilled: not_drilled
            .filter(|kind| !drilled(kind))
            .map(Kind::to_string)
            .collect(),
    }
}

#[cfg(test)]
mod tests;
