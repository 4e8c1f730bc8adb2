//! The agent: the whole monitor except its I/O, which it requests through [`Hands`] and
//! [`crate::Todo`].
//!
//! [`Agent::start`] starts it from texts, or returns a refusal; [`Agent::poll`] reads and changes
//! nothing; [`Agent::take`] keeps the readings and queues events; [`Agent::next`] returns what the
//! caller must do, and receives the result. An event counts as reported only when the connector has
//! accepted it, and is then saved before the next call. To simulate a kill, drop the agent and keep
//! the state file; to simulate a restart, start a new agent.

mod counting;
mod delivery;
mod explain;
mod noting;
mod standing;
mod starting;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

pub use explain::Unmonitored;

use terms::Check;

use self::delivery::{Batch, Delivery, Settled};
use self::starting::Stage;
use crate::absence::Measure;
use crate::counters;
use crate::counters::tally::Saturated;
use crate::counters::watch::Ruler;
use crate::discovery::{Discovery, Learnt};
use crate::flags::Settings;
use crate::hands::{Clocks, Hands, ReadError};
use crate::judge;
use crate::log_record::{Level, LogRecord};
use crate::memory::{Effect, Memory};
use crate::message;
use crate::metrics::Metrics;
use crate::optional;
use crate::policy::{Policy, Right};
use crate::prepared_event::PreparedEvent;
use crate::refusal::Refusal;
use crate::sample::Samples;
use crate::schedule::{Due, Schedule};
use crate::snapshot::{Anchor, Seen, SeenScope, Snapshot, Unread};
use crate::state_file;
use crate::todo::{Outcome, SaveStep, Start, Todo};

/// What one poll read; judged by [`Agent::take`].
#[derive(Debug, Clone)]
pub struct Polled(Result<(Snapshot, Learnt), ReadError>);

/// The monitor without its I/O.
#[derive(Debug, Clone)]
pub struct Agent {
    settings: Settings,
    /// The checks of `--checks` that run.
    checks: Vec<Check>,
    schedule: Schedule,
    until_next_poll: Duration,
    discovery: Discovery,
    memory: Memory,
    samples: Samples,
    /// The last known content of the state file.
    saved: Memory,
    /// The content that the save in progress writes.
    saving: Option<Memory>,
    save_is_due: bool,
    save_was_tried: bool,
    stage: Stage,
    delivery: Delivery<Effect>,
    logged: BTreeSet<String>,
    metrics: Metrics,
    /// The checks that ran in the last poll.
    was_due: Due,
    saturated: Saturated,
    policy: Rc<dyn Policy>,
    /// The changes that the next poll finds count as reported.
    takes_as_reported: bool,
}

impl Agent {
    /// Starts from texts.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] if the configuration or the metadata is invalid.
    pub fn start(start: Start<'_>) -> Result<(Agent, Vec<LogRecord>), Refusal> {
        Agent::start_with(start, Rc::new(Right))
    }

    /// The longest time between two polls, publishing apart: the shorter of the two intervals.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.schedule.interval()
    }

    /// The time from the last poll, when it read its clocks, to the next one.
    #[must_use]
    pub fn until_next_poll(&self) -> Duration {
        self.until_next_poll
    }

    /// The folder whose listing begins a poll.
    #[must_use]
    pub fn anchor(&self) -> &str {
        &self.discovery.config.sys_class_infiniband
    }

    /// The command line the agent was started with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads the node; changes nothing.
    #[must_use]
    pub fn poll(&self, hands: &dyn Hands) -> Polled {
        let mut polled = self.discovery.look(hands, &self.memory, &self.schedule);
        if let Ok((snapshot, _)) = &mut polled
            && snapshot.due.state
            && snapshot.anchor == Anchor::Listed
        {
            optional::poll::look(&self.discovery, hands, snapshot);
        }
        Polled(polled)
    }

    /// Judges what a poll read: keeps readings and queues batches. What is left of an earlier
    /// poll's batches is dropped; a fault in them is found again if it still holds.
    pub fn take(&mut self, polled: Polled) {
        self.save_was_tried = false;
        self.until_next_poll = self.schedule.interval();
        let in_doubt = self.delivery.begin(Vec::new());
        self.memory.doubt(in_doubt);
        let (mut snapshot, learnt) = match polled.0 {
            Ok(polled) => polled,
            Err(error) => {
                let record =
                    LogRecord::new(Level::Error, "the clock cannot be read: nothing is judged");
                self.log_once("clock", record.with("error", error));
                return;
            }
        };
        self.was_due = snapshot.due;
        self.log_troubles(&mut snapshot);
        self.log_transients(&snapshot);
        self.count_devices(&snapshot);
        self.discovery.keep(&snapshot, learnt);
        if !self.is_ready(&snapshot) {
            return;
        }
        self.schedule.ran(snapshot.due, snapshot.clocks.boot_ns);
        self.until_next_poll = self.schedule.until_next(snapshot.clocks.boot_ns);
        let measure = Measure {
            config: &self.discovery.config,
            enabled: &self.discovery.enabled,
            disappearance_polls: self.settings.disappearance_polls,
            patience_ns: nanoseconds(self.settings.escalate_after),
            now_ns: snapshot.clocks.boot_ns,
            policy: &*self.policy,
        };
        let patience_ns = measure.patience_ns;
        let mut prepared_events = Vec::new();
        if snapshot.due.state {
            prepared_events =
                judge::judge(&mut self.memory, &mut self.samples, &snapshot, &measure);
        }
        if snapshot.due.state && snapshot.anchor == Anchor::Listed {
            prepared_events.extend(optional::poll::judge(
                &mut self.memory,
                &snapshot,
                &*self.policy,
            ));
        }
        if snapshot.due.counters && snapshot.anchor == Anchor::Listed {
            prepared_events.extend(self.judge_counters(&snapshot, patience_ns));
        }
        if std::mem::take(&mut self.takes_as_reported) {
            let effects = prepared_events.drain(..).map(|prepared| prepared.effect);
            self.memory.apply(effects.collect());
        }
        if !self.policy.judges_beside_unreadable() && self.memory.has_unreadable(&self.samples) {
            prepared_events.clear();
        }
        self.count_judged(&prepared_events, snapshot.due);
        judge::add_pending_clears(&self.memory, &mut prepared_events);
        let is_in = |seen: &Seen| matches!(seen.scope, SeenScope::In(..));
        if snapshot.anchor == Anchor::Listed
            && self.memory.slots.is_empty()
            && !snapshot.devices.iter().any(is_in)
        {
            let record = LogRecord::new(Level::Error, "no device is monitored");
            let path = self.anchor().to_owned();
            self.log_once("no device", record.with("path", path));
        }
        if !prepared_events.is_empty() {
            let batches = self.batches(prepared_events, snapshot.clocks);
            self.delivery.begin(batches);
            self.save_is_due = self.policy.saves_before_publishing();
        }
    }

    /// Judges counters, if any are watched now or were watched before.
    fn judge_counters(&mut self, snapshot: &Snapshot, patience_ns: u64) -> Vec<PreparedEvent> {
        if snapshot.counts.is_none() && self.memory.counters.is_empty() {
            return Vec::new();
        }
        if let Some(seen) = &snapshot.counts {
            for (request, value) in seen.reads.requests.iter().zip(&seen.values) {
                let path = request.path();
                if *value == Err(Unread::Missing) && !self.logged.contains(path) {
                    let record = LogRecord::new(
                        Level::Info,
                        "enabled counter is not here: it will not be monitored until it is",
                    );
                    self.log_once(path, record.with("path", path));
                }
            }
        }
        let ruler = Ruler {
            watched: &self.discovery.shapes.watched,
            checks: &self.checks,
            patience_ns,
            policy: &*self.policy,
        };
        let judged =
            counters::judge::judge(&mut self.memory, snapshot, &ruler, &mut self.saturated);
        for record in judged.records {
            self.delivery.record(record);
        }
        judged.prepared_events
    }

    /// One batch per check: the checks of `--checks` in their order, then checks that only have
    /// clears.
    fn batches(&self, prepared_events: Vec<PreparedEvent>, clocks: Clocks) -> Vec<Batch<Effect>> {
        let mut order: Vec<Check> = self.settings.checks.clone();
        order.extend(
            Check::ALL
                .into_iter()
                .filter(|check| !self.settings.checks.contains(check)),
        );
        let mut batches: Vec<Batch<Effect>> = order.into_iter().map(Batch::new).collect();
        for prepared in prepared_events {
            let Some(batch) = batches
                .iter_mut()
                .find(|batch| batch.check == prepared.check)
            else {
                continue;
            };
            // Timestamps one nanosecond apart: sorting by time keeps the order.
            let stamp_ns = clocks.wall_ns.saturating_add(batch.effects.len() as u64);
            let event = message::event(&self.settings, &prepared, stamp_ns);
            batch.events.events.push(event);
            batch.effects.push(prepared.effect);
        }
        batches.retain(|batch| !batch.effects.is_empty());
        batches
    }

    /// What the caller must do now; returns the same until it is answered.
    #[expect(
        clippy::should_implement_trait,
        reason = "not an iterator: what comes next depends on the answers"
    )]
    pub fn next(&mut self) -> Todo {
        if let Some(todo) = self.delivery.next_record_or_save() {
            return todo;
        }
        if self.save_is_due {
            return self.save();
        }
        if let Some(todo) = self.delivery.next_attempt() {
            return todo;
        }
        if !self.save_was_tried && self.wants_save() {
            return self.save();
        }
        Todo::Done
    }

    fn wants_save(&self) -> bool {
        if self.delivery.save_failed() {
            return true;
        }
        if self.memory == self.saved {
            return false;
        }
        // After a failed publish, do not save what a restart finds out by itself: the file changes
        // only when the connector has answered.
        !self.delivery.gave_up || self.memory.lasting() != self.saved.lasting()
    }

    fn save(&mut self) -> Todo {
        self.save_is_due = false;
        self.save_was_tried = true;
        let mut memory = self.memory.clone();
        if self.policy.saves_before_publishing() {
            memory.apply(self.delivery.pending());
        }
        let file = self.settings.paths.state_file.clone();
        let folder = match file.rsplit_once('/') {
            Some(("", _)) | None => "/".to_owned(),
            Some((folder, _)) => folder.to_owned(),
        };
        let temporary = format!("{file}.tmp");
        let steps = vec![
            SaveStep::CreateFolder(folder.clone()),
            SaveStep::Create(temporary.clone()),
            SaveStep::Write(temporary.clone(), state_file::write(&memory).into()),
            SaveStep::Fsync(temporary.clone()),
            SaveStep::Rename(temporary, file),
            SaveStep::FsyncFolder(folder),
        ];
        self.saving = Some(memory);
        self.delivery.begin_save(steps.clone());
        Todo::Save(steps)
    }

    /// Answers [`Todo::Publish`].
    pub fn published(&mut self, outcome: &Outcome) {
        if let (Outcome::Accepted, Some((check, events))) = (outcome, self.delivery.under_way()) {
            self.metrics.accepted(check, events);
        }
        let attempt = self.delivery.attempt();
        let is_retryable = self.policy.is_retryable(outcome);
        let settled = self.delivery.published(outcome, is_retryable);
        if let Settled::GivenUp { .. } = settled {
            self.metrics.given_up(outcome);
            if !self.policy.delivers_the_rest() {
                self.delivery.drop_the_rest();
            }
        }
        match settled {
            Settled::NotYet => return,
            Settled::Accepted(_) if !self.policy.remembers(attempt) => return,
            Settled::Accepted(effects) => self.memory.apply(effects),
            Settled::GivenUp { effects, .. } if self.policy.remembers_unaccepted(outcome) => {
                self.memory.apply(effects);
            }
            Settled::GivenUp {
                effects,
                is_in_doubt: true,
            } if self.policy.keeps_doubt() => self.memory.doubt(effects),
            Settled::GivenUp { .. } => return,
        }
        self.save_is_due = self.memory != self.saved && self.policy.saves_each();
    }

    /// Answers [`Todo::Save`].
    pub fn saved(&mut self, result: Result<(), ReadError>) {
        let result = if self.policy.trusts_disk() {
            Ok(())
        } else {
            result
        };
        if let Some(saving) = self.saving.take()
            && result.is_ok()
        {
            self.saved = saving;
        }
        self.delivery.saved(result);
    }

    /// Shuts down: drops queued batches; at most one save is left for [`Agent::next`] to return.
    pub fn stop(&mut self) {
        let in_doubt = self.delivery.begin(Vec::new());
        self.memory.doubt(in_doubt);
        self.save_was_tried = false;
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
