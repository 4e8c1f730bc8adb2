//! Judges by what a site needs, whatever the monitor promises: true faults against alarms, interval by interval.
//!
//! Each fault of a kind that is needed is noticed and taken back in time, at the stated granularity; what never alarms
//! does not; and nothing alarms without a fault. Expectations of the story, the wire and texts are not judged. What
//! cannot be known, because the fault or the drill ends first, is not judged either. Start at [`judge_needs`].

mod drill;
mod faults;
mod noticed;
mod verdicts;

pub use noticed::{Cleared, Ended, FalseAlarm, HeardFault, Notice, Noticed, noticed};

use director::Truth;
use observe::{Descriptor, Needs, Recording};
use reports::{Cause, CauseKind, Finding, FindingKind};
use scenarios::Story;

use crate::{
    Judgement, Judging,
    alarms::{
        heard,
        subject::{cause_subject, stated_subject},
    },
    fits::JudgeContext,
    normal, reasons,
};
use drill::Drill;
use faults::Fault;
use verdicts::{Closed, Opened, Over, Unwanted, Verdicts};

/// Judges one recording of a story by needs. The arm of its failures is left open for the caller to fill in.
#[must_use]
pub fn judge_needs(
    story: &Story,
    truth: &Truth,
    recording: &Recording,
    descriptor: &Descriptor,
    needs: &Needs,
) -> Judgement {
    let context = JudgeContext {
        story,
        truth,
        descriptor,
    };
    let named = normal::normal(recording, descriptor, story);
    let recording = &*named;
    let mut judging = Judging::of(context, recording);
    let broken = recording.broken.as_ref();
    let broken = broken.filter(|broken| !judging.expects_breaking(broken));
    if let Some(broken) = broken {
        judging.broken(broken);
    } else if let Some(reason) = judging.unmade_read() {
        // What did not happen is no fault that must be noticed.
        judging.judged.leave_out_part(reason);
    } else {
        judging.missed_moments();
    }
    let drill = Drill::of(context, recording, needs);
    let judged = drill.judged();
    for node in &story.monitors {
        let bearers = drill.bearers(node);
        let faults = drill.faults(node, &judged, &bearers);
        let verdicts = drill.verdicts(node, &faults, &bearers);
        let mut by_needs = ByNeeds {
            judging: &mut judging,
            verdicts: &verdicts,
        };
        if broken.is_some() {
            by_needs.leave_out_all();
        } else {
            by_needs.judge();
        }
    }
    judging.judgement()
}

/// The faults and alarms of one node, and what is found by them.
struct ByNeeds<'n, 'a> {
    judging: &'n mut Judging<'a>,
    verdicts: &'n Verdicts<'n>,
}

impl ByNeeds<'_, '_> {
    fn judge(&mut self) {
        let verdicts = self.verdicts;
        let (needs, faults) = (verdicts.needs, verdicts.faults);
        for fault in faults.iter() {
            match needs.need(&fault.kind) {
                Some(_) if fault.is_at_rest => self.judging.judged.leave_out(reasons::AT_REST),
                Some(_) if verdicts.is_configured(fault) => {
                    self.judging.judged.leave_out(reasons::CONFIGURED);
                }
                None if fault.quiet.is_some() || faults.is_continued(fault, |_| true) => {}
                None => self.judging.judged.leave_out(reasons::no_need(&fault.kind)),
                Some(_) => {
                    self.noticed(fault);
                    self.taken_back(fault);
                }
            }
        }
        self.never_alarms();
    }

    /// Counts everything as not judged, because the drill broke off.
    fn leave_out_all(&mut self) {
        let Verdicts { needs, faults, .. } = self.verdicts;
        for fault in faults.iter() {
            let Some(need) = needs.need(&fault.kind) else {
                continue;
            };
            for _ in need.noticed.iter().chain(&need.taken_back) {
                self.judging.judged.leave_out(reasons::BROKE_OFF);
            }
        }
        for _ in 0..faults.must_be_quiet() {
            self.judging.judged.leave_out(reasons::BROKE_OFF);
        }
    }

    /// A fault is noticed while it stands.
    fn noticed(&mut self, fault: &Fault) {
        let Some((within, due, heard)) = self.verdicts.heard(fault) else {
            return;
        };
        match heard {
            Opened::InTime(_) => self.judging.judged.judge(),
            // On its way up a port is in states that last for a moment.
            Opened::Passing => {}
            Opened::TooShort => self.judging.judged.leave_out(reasons::TOO_SHORT),
            Opened::NoTime => self.judging.judged.leave_out(reasons::NO_TIME_TO_NOTICE),
            Opened::Late(_) | Opened::Never => {
                self.judging.judged.judge();
                let expected = format!(
                    "an alarm about `{}` of {} by poll {due}: needed {within} of poll {}",
                    fault.kind,
                    fault.name,
                    fault.heard_from()
                );
                let (kind, cause) = (FindingKind::Missing, self.cause(CauseKind::Missed, fault));
                self.found(kind, cause, (fault.heard_from(), due), expected, fault);
            }
        }
    }

    /// A fault is taken back once it is over.
    fn taken_back(&mut self, fault: &Fault) {
        let Some(Over { within, over, back }) = self.verdicts.taken_back(fault) else {
            return;
        };
        match back {
            Closed::InTime(_) => self.judging.judged.judge(),
            Closed::NeverOver => self.judging.judged.leave_out(reasons::NEVER_OVER),
            Closed::AnotherFault => self.judging.judged.leave_out(reasons::ANOTHER_FAULT),
            Closed::NoTime => self.judging.judged.leave_out(reasons::NO_TIME_TO_CLEAR),
            Closed::Late(due, _) => {
                self.judging.judged.judge();
                let expected = format!(
                    "no alarm about {} from poll {due} on: `{}` is over since poll {over}, and must be taken back {within}",
                    fault.name, fault.kind
                );
                let cause = self.cause(CauseKind::NotCleared, fault);
                self.found(
                    FindingKind::Outstanding,
                    cause,
                    (over, due),
                    expected,
                    fault,
                );
            }
        }
    }

    /// What must be quiet is, and nothing alarms without a fault.
    fn never_alarms(&mut self) {
        let verdicts = self.verdicts;
        for _ in 0..verdicts.faults.must_be_quiet() {
            self.judging.judged.judge();
        }
        for Unwanted {
            alarm, expected, ..
        } in verdicts.unwanted()
        {
            let cause = Cause {
                subject: Some(stated_subject(&alarm.subject)),
                ..Cause::of(CauseKind::Silence)
            };
            let (kind, tick) = (FindingKind::Unexpected, Some(alarm.from));
            let mut finding = self.judging.finding(kind, cause, Some(verdicts.node), tick);
            finding.expected.push(expected);
            finding.came.push(heard::line_with_check(alarm));
            let nic = alarm.subject.nic().map(|name| format!("/{name}/"));
            let paths: Vec<String> = nic.into_iter().collect();
            finding.reads = self.judging.reads(Some(verdicts.node), alarm.from, &paths);
            self.judging.findings.push(finding);
        }
    }

    fn cause(&self, kind: CauseKind, fault: &Fault) -> Cause {
        Cause {
            subject: Some(cause_subject(Some(&fault.whom))),
            layer: fault.layer,
            ..Cause::of(kind)
        }
    }

    fn found(
        &mut self,
        kind: FindingKind,
        cause: Cause,
        (from, tick): (u64, u64),
        expected: String,
        fault: &Fault,
    ) {
        let mut finding: Finding =
            self.judging
                .finding(kind, cause, Some(self.verdicts.node), Some(tick));
        finding.expected.push(expected);
        let failed = self.judging.failed_pages(self.verdicts.node, from, tick);
        finding.came.extend(failed);
        finding.came.extend(self.verdicts.lines(fault, tick));
        finding.reads = self
            .judging
            .reads(Some(self.verdicts.node), tick, &fault.paths);
        self.judging.findings.push(finding);
    }
}
