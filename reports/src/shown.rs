//! What a run tells, with its foreign texts as they are shown: each goes through [`one_line`] or [`quoted`] once, before anybody
//! hears of it. So every output, JSON too, has the same texts, of bounded length.

use std::collections::BTreeMap;

use crate::{
    ArmStatus, DrillReport, Excuse, Finding, FindingKind, Judged, Lanes, LeftOut, ProbeOutcome,
    Read, StoryLine, one_line, quoted,
};

impl DrillReport {
    /// The same with its texts as they are shown.
    #[must_use]
    pub fn shown(mut self) -> Self {
        for arm in &mut self.arms {
            if let ArmStatus::Skipped { reason } = &mut arm.status {
                *reason = quoted(reason);
            }
        }
        self.findings.iter_mut().for_each(show);
        for verdict in &mut self.verdicts {
            verdict.workload = one_line(&verdict.workload);
        }
        let Judged {
            not_judged,
            left_out,
            parts,
            ..
        } = &mut self.judged;
        *not_judged = reasons(not_judged);
        *parts = reasons(parts);
        for LeftOut { line, reason, .. } in left_out {
            show_line(line);
            *reason = one_line(reason);
        }
        self
    }
}

fn show(finding: &mut Finding) {
    // What nicdrill says of itself may have its hint in a line of its own; all else is a line, whatever a monitor says in it.
    let is_own = matches!(finding.kind, FindingKind::Stage | FindingKind::Fault);
    let in_lines = if is_own { quoted } else { one_line };
    let Finding {
        excuse,
        node,
        line,
        before,
        expected,
        came,
        reads,
        ..
    } = finding;
    if let Some(Excuse::Known { reason }) = excuse {
        *reason = one_line(reason);
    }
    if let Some(node) = node {
        *node = one_line(node);
    }
    line.iter_mut().for_each(show_line);
    for text in before.iter_mut().chain(expected).chain(came) {
        *text = in_lines(text);
    }
    for Read { text, .. } in reads {
        *text = one_line(text);
    }
}

fn show_line(line: &mut StoryLine) {
    line.place = one_line(&line.place);
    line.text = quoted(&line.text);
}

/// The counts by reason; of reasons that are shown in the same way, the sum.
fn reasons(counts: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut shown = BTreeMap::new();
    for (reason, count) in counts {
        *shown.entry(one_line(reason)).or_default() += *count;
    }
    shown
}

impl ProbeOutcome {
    /// The same with its texts as they are shown.
    #[must_use]
    pub fn shown(mut self) -> Self {
        match &mut self {
            Self::Ready { advice: None } => {}
            Self::Ready { advice: Some(text) }
            | Self::Failed { reason: text, .. }
            | Self::Skipped { reason: text } => *text = quoted(text),
        }
        self
    }
}

impl Lanes {
    /// The same with its texts as they are shown.
    #[must_use]
    pub fn shown(mut self) -> Self {
        for lane in &mut self.lanes {
            lane.name = one_line(&lane.name);
            for stretch in &mut lane.stretches {
                stretch.text = quoted(&stretch.text);
            }
            for mark in &mut lane.marks {
                mark.text = quoted(&mark.text);
            }
        }
        self
    }
}
