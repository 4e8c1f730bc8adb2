//! The law that a faster healing is never taken back later than a slower one. Start at [`Judging::healing`].

use std::collections::{BTreeMap, BTreeSet};

use observe::statement::{Statement, statements};
use platforms::NodeName;
use reports::{Cause, CauseKind, CauseSubject, FindingKind};
use terms::Severity;

use crate::{
    Judging,
    episodes::Episodes,
    intervals::{Interval, intervals},
    kinds::Whom,
    owed::Rows,
    readings::Readings,
};

/// A port's fault that was reported, healed, and was taken back.
struct Healed<'f> {
    fault: &'f Interval,
    report: Statement,
    /// The tick in which it was taken back.
    back: u64,
}

impl Judging<'_> {
    /// Reports the faults of ports that healed before another one of the same kind, and were taken back after it.
    /// Where the kind has a row, its `clears` says when it is taken back.
    pub(crate) fn healing(&mut self) {
        let (context, recording) = (self.context, self.recording);
        let rows = Rows::of(&context);
        if rows.are_all() {
            return;
        }
        let readings = Readings::of(context, recording.healing_from);
        let episodes = Episodes::of(&context);
        let all = intervals(&context, &readings, recording);
        for node in &self.story.monitors {
            let of_node: Vec<&Interval> = all.iter().filter(|fault| fault.node == *node).collect();
            let mut times: BTreeMap<&Whom, u32> = BTreeMap::new();
            for fault in &of_node {
                *times.entry(&fault.whom).or_default() += 1;
            }
            // A port with several faults may be taken back later, for it may fail again.
            let once = of_node.iter().filter(|fault| {
                times.get(&fault.whom) == Some(&1) && rows.unpromised(&fault.kind).is_some()
            });
            let said = statements(recording, node.as_str());
            let names = |fault: &Interval| self.names_of(node, fault);
            let healed: Vec<Healed<'_>> = once
                .filter_map(|fault| healed(fault, &names(fault), &said))
                .collect();
            let mut told = BTreeSet::new();
            for slower in &healed {
                for faster in &healed {
                    let is_alike = (&faster.fault.kind, faster.fault.layer)
                        == (&slower.fault.kind, slower.fault.layer);
                    let is_overtaken =
                        faster.fault.to < slower.fault.to && slower.back < faster.back;
                    let from = faster.fault.from.min(slower.fault.from);
                    // What was not delivered, or forgotten, comes in the order of what happened to the monitor.
                    let is_calm = || {
                        episodes
                            .latest_of_monitor(node, from, faster.back)
                            .is_none()
                            && !(from..=faster.back).any(|tick| readings.is_any_ruled(node, tick))
                    };
                    if is_alike && is_overtaken && is_calm() && told.insert(&faster.fault.whom) {
                        self.overtaken(node, faster, slower);
                    }
                }
            }
        }
    }

    fn overtaken(&mut self, node: &NodeName, faster: &Healed<'_>, slower: &Healed<'_>) {
        let cause = Cause {
            severity: Some(Severity::Healthy),
            subject: Some(CauseSubject::Port),
            ..Cause::of(CauseKind::Late)
        };
        let due = slower.back;
        let mut finding = self.finding(FindingKind::Missing, cause, Some(node), Some(due));
        finding.expected.push(format!(
            "{} is taken back by poll {due}: it healed in poll {}, and {}, which healed in poll {}, was taken back \
             then",
            faster.report.subject, faster.fault.to, slower.report.subject, slower.fault.to
        ));
        finding.came.push(format!(
            "{} is taken back in poll {}",
            faster.report.subject, faster.back
        ));
        self.findings.push(finding);
    }

    /// The names that the device of a fault's port had.
    fn names_of(&self, node: &NodeName, fault: &Interval) -> BTreeSet<String> {
        let Whom::Port(pci, _) = &fault.whom else {
            return BTreeSet::new();
        };
        let views = self.context.past(node, u64::MAX);
        let names = views.filter_map(|views| Some(views.0.get(pci)?.name.to_string()));
        names.collect()
    }
}

/// The report of a fault by the names of its device; `None` if there is none, or it is not taken back after the
/// healing.
fn healed<'f>(
    fault: &'f Interval,
    names: &BTreeSet<String>,
    said: &[Statement],
) -> Option<Healed<'f>> {
    let Whom::Port(_, port) = &fault.whom else {
        return None;
    };
    let mut about = said.iter().filter(|it| {
        let names_port = it.subject.port().and_then(|of| of.parse().ok()) == Some(port.0);
        names_port && it.subject.nic().is_some_and(|nic| names.contains(nic))
    });
    let report = about.rfind(|it| {
        it.severity != Severity::Healthy && (fault.from..=fault.to).contains(&it.from)
    })?;
    let back = report.to.filter(|back| *back >= fault.to)?;
    Some(Healed {
        fault,
        report: report.clone(),
        back,
    })
}
