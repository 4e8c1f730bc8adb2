//! Judges by what a site needs, whatever the monitor promises: true faults against alarms, interval by interval.
//!
//! Each fault of a kind that is needed is noticed and taken back in time, at the stated granularity; what never alarms
//! does not; and nothing alarms without a fault. Expectations of the story, the wire and texts are not judged. What
//! cannot be known, because the fault or the drill ends first, is not judged either. Start at [`judge_needs`].

mod alarms;
mod faults;

use director::Truth;
use observe::{Descriptor, Needs, Recording, promises::Kind};
use platforms::NodeName;
use reports::{Cause, CauseKind, CauseLayer, CauseSubject, Finding, FindingKind};
use scenarios::Story;

use crate::{
    Judgement, Judging, clock::Clock, episodes::Episodes, fits::JudgeContext, intervals::intervals,
    kinds::Whom, normal, readings::Readings, reasons,
};
use alarms::{Alarm, Alarms};
use faults::{Fault, Faults};

/// The table of the configuration file that lists counters.
const COUNTER_TABLE: &str = "[counterDetection";

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
    } else {
        judging.missed_moments();
    }
    let readings = Readings::of(context, recording.healing_from);
    let episodes = Episodes::of(story);
    let all = intervals(&context, &readings, recording);
    for node in &story.monitors {
        let of_node = all.iter().filter(|interval| interval.node == *node);
        let faults = Faults::of(
            of_node.cloned(),
            needs,
            &episodes,
            &context,
            (node, recording),
        );
        let mut by_needs = ByNeeds {
            alarms: Alarms::of(&context, recording, node),
            clock: Clock::of(&context, recording, node),
            last: (recording.ticks.len() as u64).saturating_sub(1),
            judging: &mut judging,
            needs,
            node,
            faults: &faults,
            episodes: &episodes,
        };
        if broken.is_some() {
            by_needs.leave_out_all();
        } else {
            by_needs.judge();
        }
    }
    judging.judgement()
}

/// The faults and alarms of one node.
struct ByNeeds<'n, 'a> {
    judging: &'n mut Judging<'a>,
    needs: &'n Needs,
    node: &'n NodeName,
    faults: &'n Faults,
    episodes: &'n Episodes,
    alarms: Alarms,
    clock: Clock,
    last: u64,
}

impl ByNeeds<'_, '_> {
    fn judge(&mut self) {
        let faults = self.faults;
        for fault in faults.iter() {
            match self.needs.need(&fault.kind) {
                Some(_) if fault.is_at_rest => self.judging.judged.leave_out(reasons::AT_REST),
                Some(_) if self.is_configured(fault) => {
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

    /// Whether the story's configuration decides if a monitor watches for a fault.
    fn is_configured(&self, fault: &Fault) -> bool {
        let config = &self.judging.story.config;
        matches!(fault.kind, Kind::Counter(_)) && config.contains(COUNTER_TABLE)
    }

    /// Counts everything as not judged, because the drill broke off.
    fn leave_out_all(&mut self) {
        for fault in self.faults.iter() {
            let Some(need) = self.needs.need(&fault.kind) else {
                continue;
            };
            for _ in need.noticed.iter().chain(&need.taken_back) {
                self.judging.judged.leave_out(reasons::BROKE_OFF);
            }
        }
        for _ in 0..self.faults.must_be_quiet() {
            self.judging.judged.leave_out(reasons::BROKE_OFF);
        }
    }

    /// A fault is noticed while it stands.
    fn noticed(&mut self, fault: &Fault) {
        let Some(within) = self.needs.need(&fault.kind).and_then(|need| need.noticed) else {
            return;
        };
        if fault.is_quiet_for_good() {
            return;
        }
        let due = self.due(fault.heard_from(), within.0);
        let by = due.min(self.last);
        let is_noticed = self
            .alarms
            .about(fault, self.needs)
            .any(|alarm| alarm.stands_between(fault.from, by));
        if is_noticed {
            self.judging.judged.judge();
        } else if fault.to <= due {
            // On its way up a port is in states that last for a moment.
            if !self.faults.is_continued(fault, |_| true) {
                self.judging.judged.leave_out(reasons::TOO_SHORT);
            }
        } else if due > self.last {
            self.judging.judged.leave_out(reasons::NO_TIME_TO_NOTICE);
        } else {
            self.judging.judged.judge();
            let expected = format!(
                "an alarm about `{}` of {} by poll {due}: needed {within} of poll {}",
                fault.kind,
                fault.name,
                fault.heard_from()
            );
            let (kind, cause) = (FindingKind::Missing, self.cause(CauseKind::Missed, fault));
            self.found(kind, cause, due, expected, fault);
        }
    }

    /// A fault is taken back once it is over.
    fn taken_back(&mut self, fault: &Fault) {
        let Some(within) = self
            .needs
            .need(&fault.kind)
            .and_then(|need| need.taken_back)
        else {
            return;
        };
        let is_needed = |before: &Fault| {
            let need = self.needs.need(&before.kind);
            need.is_some_and(|need| need.taken_back.is_some())
        };
        if self.faults.is_continued(fault, is_needed) {
            // What the fault was before is taken back with it.
            return;
        }
        let over = self.faults.over(fault);
        if over == u64::MAX {
            self.judging.judged.leave_out(reasons::NEVER_OVER);
            return;
        }
        let due = self.due(over, within.0);
        let granularity = self.needs.granularity(&fault.kind);
        if self.faults.goes_on(fault, (over, due), granularity) {
            // It is taken back with the fault that stands on.
            self.judging.judged.leave_out(reasons::ANOTHER_FAULT);
            return;
        }
        let at = due.min(self.last);
        let stands = self
            .alarms
            .about(fault, self.needs)
            .any(|alarm| alarm.from <= at && alarm.to > at && alarm.may_last_as(&fault.kind));
        if !stands {
            self.judging.judged.judge();
        } else if due > self.last {
            self.judging.judged.leave_out(reasons::NO_TIME_TO_CLEAR);
        } else {
            self.judging.judged.judge();
            let expected = format!(
                "no alarm about {} from poll {due} on: `{}` is over since poll {}, and must be taken back {within}",
                fault.name, fault.kind, over
            );
            let cause = self.cause(CauseKind::NotCleared, fault);
            self.found(FindingKind::Outstanding, cause, due, expected, fault);
        }
    }

    /// What must be quiet is, and nothing alarms without a fault.
    fn never_alarms(&mut self) {
        for _ in 0..self.faults.must_be_quiet() {
            self.judging.judged.judge();
        }
        let faults = self.faults;
        let begun: Vec<Alarm> = self.alarms.begun().cloned().collect();
        for alarm in begun {
            let explains = |fault: &&Fault| alarm.may_mean(fault) && self.is_in_time(fault, &alarm);
            let explaining: Vec<&Fault> = faults.iter().filter(explains).collect();
            if explaining.iter().any(|fault| fault.may_alarm(alarm.from)) {
                continue;
            }
            let expected = match explaining.first() {
                Some(fault) => fault.must_be_quiet(),
                None => self.without_fault(&alarm),
            };
            let Some(expected) = expected else { continue };
            let cause = Cause {
                subject: Some(alarm.subject()),
                ..Cause::of(CauseKind::Silence)
            };
            let (kind, tick) = (FindingKind::Unexpected, Some(alarm.from));
            let mut finding = self.judging.finding(kind, cause, Some(self.node), tick);
            finding.expected.push(expected);
            finding.came.push(alarm.line());
            finding.reads = self
                .judging
                .reads(Some(self.node), alarm.from, &alarm.names());
            self.judging.findings.push(finding);
        }
    }

    /// What is expected instead of an alarm that no fault explains; `None` if an episode may.
    fn without_fault(&self, alarm: &Alarm) -> Option<String> {
        if alarm.is_beyond_scope() {
            return None;
        }
        let episode = alarm.functions().find_map(|pci| {
            let (kind, from) = self.episodes.last_step(self.node, pci, alarm.from)?;
            Some((kind?, from))
        });
        match episode {
            None => Some("no alarm without a fault".to_owned()),
            Some((kind, from)) => {
                let quiet = self.needs.quiet(&kind.into())?;
                let until = faults::end_of(quiet, from, self.judging.story);
                (alarm.from < until).then(|| faults::stays_quiet(&kind.into(), quiet, from))
            }
        }
    }

    /// Whether an alarm may be about a fault by its time: it stands, or has to be noticed still.
    fn is_in_time(&self, fault: &Fault, alarm: &Alarm) -> bool {
        let need = self.needs.need(&fault.kind);
        let due = match need.and_then(|need| need.noticed) {
            Some(within) => self.due(fault.heard_from(), within.0),
            None => u64::MAX,
        };
        fault.begins <= alarm.from && alarm.from <= fault.to.max(due)
    }

    fn due(&self, from: u64, span: observe::Span) -> u64 {
        let ticks = faults::ticks(span, self.judging.story);
        self.clock.after(from, ticks)
    }

    fn cause(&self, kind: CauseKind, fault: &Fault) -> Cause {
        Cause {
            subject: Some(match fault.whom {
                Whom::Port(..) => CauseSubject::Port,
                Whom::Card(_) => CauseSubject::Card,
                _ => CauseSubject::Device,
            }),
            layer: fault.layer.map(|layer| match layer {
                platforms::LinkLayer::InfiniBand => CauseLayer::InfiniBand,
                platforms::LinkLayer::Ethernet => CauseLayer::Ethernet,
            }),
            ..Cause::of(kind)
        }
    }

    fn found(
        &mut self,
        kind: FindingKind,
        cause: Cause,
        tick: u64,
        expected: String,
        fault: &Fault,
    ) {
        let mut finding: Finding = self
            .judging
            .finding(kind, cause, Some(self.node), Some(tick));
        finding.expected.push(expected);
        finding.came = self.alarms.lines(fault, tick);
        finding.reads = self.judging.reads(Some(self.node), tick, &fault.paths);
        self.judging.findings.push(finding);
    }
}
