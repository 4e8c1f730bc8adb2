//! The judge: whether a monitor reported what it had to, in time, and nothing else.
//!
//! It reads the true state (the director's [`Truth`]), what the monitor emitted (a [`Recording`]), the story's lines and the
//! monitor's promises (the *rows* of its descriptor: one for each kind of fault). It plays nothing, and what it finds is data
//! for a report, never a panic. *The documents* are the specification of the reference monitor and docs/decisions.md.
//!
//! How a pulled cable becomes a verdict:
//!
//! 1. The director records the state of each port in each tick (`director/src/truth.rs`, `views.rs`); its log has what no state
//!    shows: reads that fail, counters, speeds, episodes such as a reboot. `readings.rs` says what a poll of the monitor could
//!    read of a port, and `episodes.rs` what had happened to it.
//! 2. The lines of the story become demands for single events, port by port (`demands.rs`): what the documents ask. `kinds.rs`
//!    says of which kind of fault each is.
//! 3. `owed/` turns them into what *this* monitor owes, by its rows: another severity, later, under another name, or nothing;
//!    `owed/true_faults.rs` adds what it owes beyond the story's lines, from the intervals in which a port was not healthy
//!    (`intervals.rs`).
//! 4. `events.rs` assigns the events that were accepted to what is owed (`fits.rs`: whether one matches; `assign.rs`: an assignment that
//!    satisfies all is found if there is one; `order.rs`). What is missing is told by `events/missing.rs`, and about every other event
//!    `strays.rs` is asked. A monitor that reports devices, its node, or what is, is judged by intervals instead: `alarms/due.rs` makes
//!    them of the same rows, `alarms/heard.rs` of what was stated.
//! 5. Where no row decides, laws do (`laws.rs`, `laws/`); a fault that was reported is taken back (`outstanding.rs`, `left.rs`), and the
//!    wire contract is kept (`contract.rs`). Lines that are about no event are in `facts/`, one file each, and `lines.rs` counts all lines.
//! 6. What is wrong is a finding with a cause (`causes.rs`). A drill without a finding is green; `harness` says so.
//!
//! [`judge_needs`] judges by what a site needs instead, whatever the monitor promises: other rows, and no story's lines, for the same
//! intervals and statements (`needs/`). `altered.rs` makes each line false and judges again; `compare.rs`, `trace.rs` and `lanes.rs` show a
//! recording. Start at [`judge`].

use std::collections::BTreeSet;

use platforms::NodeName;
use reports::{Cause, CauseKind, Finding, FindingKind, Judged};
use scenarios::Story;
use terms::{EventField, Severity};

mod added;
mod alarms;
mod altered;
mod assign;
mod before;
mod broken;
mod causes;
mod clock;
mod compare;
mod compared;
mod consequences;
mod contract;
mod counters;
mod demands;
mod episodes;
mod events;
mod facts;
mod fits;
mod forgotten;
mod intervals;
mod kinds;
mod lanes;
mod laws;
mod left;
mod lines;
mod moments;
mod needs;
mod normal;
mod order;
mod outstanding;
mod owed;
mod pages;
mod readings;
mod reasons;
mod reported_event;
mod scope;
mod shown_reads;
mod stood;
mod strays;
mod trace;

pub use altered::{Altered, Bite, altered};
pub use compare::{Difference, compare};
pub use compared::{HeardBy, compared};
pub use consequences::{ClusterState, Consequences, Fault, TickMade, cabling};
pub use counters::documents_counters;
pub use episodes::kinds_of;
pub use facts::{WorkloadVerdict, verdict_on};
pub use kinds::{Asked, asked};
pub use lanes::{JudgedIn, lanes};
pub use moments::told_by;
pub use needs::{Cleared, Ended, FalseAlarm, HeardFault, Notice, Noticed, judge_needs, noticed};
pub use normal::asked_for;
pub use stood::{Stood, StoodOf, stood};
pub use trace::{GoldenDifference, golden_difference, trace};

use director::Truth;
use fits::JudgeContext;
use lines::{is_about_events, line_of, nodes, place};
use observe::{Descriptor, Recording, UNNAMED, promises::Stamps};

/// The largest number of failures that are reported for one drill, to limit the size of the report.
/// Chosen.
const FINDINGS_MAX: usize = 100;

/// The result of judging a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The failures, in order of time.
    pub findings: Vec<Finding>,
    /// How many expectations were judged, each once for every node that it is meant for, and why the
    /// others were not.
    pub judged: Judged,
}

/// Judges one recording of a story. The arm of its failures is left open for the caller to fill in.
#[must_use]
pub fn judge(
    story: &Story,
    truth: &Truth,
    recording: &Recording,
    descriptor: &Descriptor,
) -> Judgement {
    let scoped = scope::scoped(story, truth, descriptor.promises.scope.as_ref());
    let context = JudgeContext {
        story,
        truth: &scoped,
        descriptor,
    };
    let named = normal::normal(recording, descriptor, story);
    let recording = &*named;
    let mut judging = Judging::of(context, recording);
    if let Some(broken) = &recording.broken
        && !judging.expects_breaking(broken)
    {
        judging.broken(broken);
        judging.leave_out_all(reasons::BROKE_OFF);
    } else if let Some(reason) = judging.unmade_read() {
        judging.leave_out_all(&reason);
    } else {
        judging.missed_moments();
        if judging.has_alarms() {
            judging.alarms();
        } else {
            judging.events();
        }
    }
    judging.contract();
    judging.judgement()
}

/// Keeps this many findings, in their order: the first of each cause before further ones of any. More
/// are kept only if there are more causes.
fn limit(findings: &mut Vec<Finding>, at_most: usize) {
    let mut causes = BTreeSet::new();
    let is_first: Vec<bool> = findings
        .iter()
        .map(|finding| causes.insert(finding.cause))
        .collect();
    let mut further = at_most.saturating_sub(causes.len());
    let mut is_first = is_first.into_iter();
    findings.retain(|_| {
        let kept = is_first.next().unwrap_or_default();
        let room = !kept && further > 0;
        further -= usize::from(room);
        kept || room
    });
}

struct Judging<'a> {
    story: &'a Story,
    context: JudgeContext<'a>,
    recording: &'a Recording,
    findings: Vec<Finding>,
    judged: Judged,
}

impl<'a> Judging<'a> {
    /// Nothing is judged yet.
    fn of(context: JudgeContext<'a>, recording: &'a Recording) -> Self {
        Self {
            story: context.story,
            context,
            recording,
            findings: Vec::new(),
            judged: Judged::default(),
        }
    }

    /// What was judged, with its findings in order of time.
    fn judgement(mut self) -> Judgement {
        self.unnamed_words();
        self.lifted_drains();
        self.crashing_runs();
        self.findings.sort_by_key(|finding| finding.tick);
        limit(&mut self.findings, FINDINGS_MAX);
        Judgement {
            findings: self.findings,
            judged: self.judged,
        }
    }

    /// Counts the words, codes and values that mean nothing, each once: a fault may be among them.
    fn unnamed_words(&mut self) {
        let Some(part) = self.recording.protocol.facts().part else {
            return;
        };
        let ticks = self.recording.ticks.iter();
        let monitors = ticks.flat_map(|tick| tick.monitors.values());
        let said = monitors
            .flat_map(|monitor| &monitor.calls)
            .flat_map(|call| &call.observations);
        let words: BTreeSet<&str> = said
            .flat_map(|event| &event.fields)
            .filter(|(name, _)| name == UNNAMED)
            .map(|(_, word)| word.as_str())
            .collect();
        for word in words {
            self.judged.leave_out_part(format!(
                "`{}` does not say what `{word}` means",
                part.meanings
            ));
        }
    }

    /// A failure with the data that follow from its time. The action before it is added to its cause.
    fn finding(
        &self,
        kind: FindingKind,
        cause: Cause,
        node: Option<&NodeName>,
        tick: Option<u64>,
    ) -> Finding {
        let several = self.story.nodes.len() > 1;
        let healing_from = self.recording.healing_from;
        let action = tick.and_then(|tick| self.context.action(tick, healing_from));
        // The contract holds at any time, whatever the scenario does.
        let action = action.filter(|_| cause.kind != CauseKind::Contract);
        Finding {
            cause: Cause {
                action: cause.action.or(action),
                ..cause
            },
            node: node.filter(|_| several).map(ToString::to_string),
            tick,
            before: tick.map_or_else(Vec::new, |tick| {
                before::lines(self.story, self.recording, node, tick)
            }),
            ..Finding::of(kind)
        }
    }

    /// Tells what breaks the contract, before all else in its tick.
    fn contract(&mut self) {
        let mut broken: Vec<Finding> = Vec::new();
        for breach in contract::breaches(self.story, &self.context, self.recording) {
            if self.is_of_a_wrong_severity(&breach) {
                continue;
            }
            let cause = causes::cause_of_breach(breach.field);
            // One that every event repeats is told once.
            let mut told = broken.iter_mut();
            if let Some(told) = told.find(|finding| finding.cause == cause) {
                told.times += 1;
                continue;
            }
            let (node, tick) = (Some(&breach.node), Some(breach.tick));
            let mut finding = self.finding(FindingKind::Contract, cause, node, tick);
            finding
                .expected
                .push("events that keep the contract of the wire".to_owned());
            finding.came.push(breach.what);
            finding
                .came
                .extend(breach.observation.map(ToString::to_string));
            broken.push(finding);
        }
        self.findings.splice(0..0, broken);
    }

    /// Whether a breach follows from an event's severity, which differs from that of the event that is expected: the action
    /// that does not fit it is that of the expected one. The finding about the severity says so.
    fn is_of_a_wrong_severity(&mut self, breach: &contract::Breach<'_>) -> bool {
        let (EventField::Action, Some(event)) = (breach.field, breach.observation) else {
            return false;
        };
        let line = format!("poll {}: {event}", breach.tick);
        let mut fields = event.fields.iter();
        let action = fields.find(|(name, _)| name == "recommendedAction");
        // The documents' action, by the severity that is expected.
        let severity = match action.map(|(_, action)| action.as_str()) {
            Some("REPLACE_VM") => Some(Severity::Fatal),
            Some("NONE") | None => Some(Severity::NonFatal),
            Some(_) => return false,
        };
        let several = self.story.nodes.len() > 1;
        let node = Some(breach.node.to_string()).filter(|_| several);
        let mut findings = self.findings.iter_mut();
        let about_it = findings.find(|finding| {
            (finding.cause.kind, finding.cause.field)
                == (CauseKind::Differs, Some(EventField::Severity))
                && finding.cause.severity == severity
                && finding.node == node
                && finding.came.iter().any(|came| came.starts_with(&line))
        });
        let Some(about_it) = about_it else {
            return false;
        };
        let field = match event.severity {
            Severity::Healthy => "isHealthy",
            _ => "isFatal",
        };
        let told =
            format!("its recommendedAction is that of the expected event, its {field} is not");
        if !about_it.came.contains(&told) {
            about_it.came.push(told);
        }
        true
    }

    /// Reports consequences that are wrong in every drill.
    ///
    /// `stays` says of which checks on which nodes faults may stand, by promise.
    fn consequences(&mut self, made: &Consequences, stays: &dyn Fn(&NodeName, &str) -> bool) {
        let wire = self.context.descriptor.promises.wire.as_ref();
        let left = left::left(self.story, self.recording, made, wire, stays);
        let left = left
            .into_iter()
            .map(|left| (FindingKind::LeftStanding, left));
        let rises = wire.is_some_and(|wire| wire.stamps == Some(Stamps::Rising));
        let undecided = left::undecided(made);
        let undecided = undecided
            .into_iter()
            .filter(|_| rises)
            .map(|left| (FindingKind::Contract, left));
        for (kind, left) in left.chain(undecided) {
            let mut finding = self.finding(
                kind,
                Cause::of(left.cause),
                Some(&left.node),
                Some(left.tick),
            );
            // What a fault that was not cleared leaves has the cause of that fault.
            let fault = self.findings.iter().find(|earlier| {
                earlier.kind == FindingKind::Outstanding && earlier.node == finding.node
            });
            if let (FindingKind::LeftStanding, Some(fault)) = (kind, fault) {
                finding.cause = fault.cause;
            }
            finding.expected.push(left.expected);
            finding.came = left.came;
            self.findings.push(finding);
        }
    }
}

#[cfg(test)]
mod tests;
