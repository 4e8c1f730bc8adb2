//! The agent: the whole monitor but its hands.
//!
//! It starts from texts or refuses; [`Agent::poll`] looks and changes nothing; [`Agent::take`] keeps
//! the readings and queues what ought to be said; [`Agent::next`] says what the hands must do, and is
//! told how it went. What was said is remembered only when it was accepted, and saved before the
//! next call. A kill drops the agent and keeps the disk; a restart is a new start.

mod counting;
mod delivery;
mod explain;
mod noting;
mod standing;
mod starting;
mod todo;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

pub use explain::Classified;
pub use standing::Standing;
pub use todo::{IoKind, Outcome, Refusal, SaveStep, Start, Todo};

use self::delivery::{Batch, Delivery, Settled};
use self::starting::Stage;
use crate::absence::Measure;
use crate::counters;
use crate::counters::tally::Saturated;
use crate::counters::watch::Ruler;
use crate::eyes::{Eyes, Learnt};
use crate::figures::Figures;
use crate::flags::Settings;
use crate::hands::{Clocks, Hands, ReadError};
use crate::judge;
use crate::memory::{Effect, Memory};
use crate::message;
use crate::note::{Level, Note};
use crate::optional;
use crate::policy::{Policy, Right};
use crate::sample::Samples;
use crate::saying::Saying;
use crate::schedule::{Due, Schedule};
use crate::sight::{Anchor, Seen, SeenScope, Sight, Unread};
use crate::state_file;
use proto::Check;

/// What one poll read; judged by [`Agent::take`].
#[derive(Debug, Clone)]
pub struct Polled(Result<(Sight, Learnt), ReadError>);

/// The monitor without its hands.
#[derive(Debug, Clone)]
pub struct Agent {
    settings: Settings,
    /// Those of `--checks` that run.
    checks: Vec<Check>,
    schedule: Schedule,
    eyes: Eyes,
    memory: Memory,
    samples: Samples,
    /// What the file holds, as far as is known.
    saved: Memory,
    /// What the save that is under way writes.
    saving: Option<Memory>,
    save_is_due: bool,
    save_was_tried: bool,
    stage: Stage,
    delivery: Delivery<Effect>,
    noted: BTreeSet<String>,
    figures: Figures,
    /// The checks that the last poll was for.
    was_due: Due,
    saturated: Saturated,
    policy: Rc<dyn Policy>,
    /// What the next poll finds counts as reported.
    takes_as_reported: bool,
}

impl Agent {
    /// Starts from texts, or refuses.
    ///
    /// # Errors
    /// A [`Refusal`]: configuration or metadata that cannot be.
    pub fn start(start: Start<'_>) -> Result<(Agent, Vec<Note>), Refusal> {
        Agent::start_with(start, Rc::new(Right))
    }

    /// The pause between two polls.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.schedule.interval()
    }

    /// The folder whose listing begins a poll.
    #[must_use]
    pub fn anchor(&self) -> &str {
        &self.eyes.config.sys_class_infiniband
    }

    /// The command line the agent was started with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Looks; changes nothing.
    #[must_use]
    pub fn poll(&self, hands: &dyn Hands) -> Polled {
        let mut polled = self.eyes.look(hands, &self.memory, &self.schedule);
        if let Ok((sight, _)) = &mut polled
            && sight.due.state
            && sight.anchor == Anchor::Listed
        {
            optional::poll::look(&self.eyes, hands, sight);
        }
        Polled(polled)
    }

    /// Judges what a poll read: readings are kept, batches queued. What an earlier poll left
    /// unfinished is dropped, and found again if it still holds.
    pub fn take(&mut self, polled: Polled) {
        self.save_was_tried = false;
        let in_doubt = self.delivery.begin(Vec::new());
        self.memory.doubt(in_doubt);
        let (mut sight, learnt) = match polled.0 {
            Ok(polled) => polled,
            Err(error) => {
                let note = Note::new(Level::Error, "the clock cannot be read: nothing is judged");
                self.note_once("clock", note.with("error", error));
                return;
            }
        };
        self.was_due = sight.due;
        self.note_troubles(&mut sight);
        self.note_transients(&sight);
        self.count_devices(&sight);
        self.eyes.keep(&sight, learnt);
        if !self.is_ready(&sight) {
            return;
        }
        self.schedule.ran(sight.due, sight.clocks.boot_ns);
        let measure = Measure {
            config: &self.eyes.config,
            enabled: &self.eyes.enabled,
            disappearance_polls: self.settings.disappearance_polls,
            patience_ns: nanoseconds(self.settings.escalate_after),
            now_ns: sight.clocks.boot_ns,
            policy: &*self.policy,
        };
        let patience_ns = measure.patience_ns;
        let mut sayings = Vec::new();
        if sight.due.state {
            sayings = judge::judge(&mut self.memory, &mut self.samples, &sight, &measure);
        }
        if sight.due.state && sight.anchor == Anchor::Listed {
            sayings.extend(optional::poll::judge(
                &mut self.memory,
                &sight,
                &*self.policy,
            ));
        }
        if sight.due.counters && sight.anchor == Anchor::Listed {
            sayings.extend(self.judge_counters(&sight, patience_ns));
        }
        if std::mem::take(&mut self.takes_as_reported) {
            let effects = sayings.drain(..).map(|saying| saying.effect);
            self.memory.apply(effects.collect());
        }
        if !self.policy.judges_beside_unreadable() && self.memory.has_unreadable(&self.samples) {
            sayings.clear();
        }
        self.count_judged(&sayings, sight.due);
        judge::add_debts(&self.memory, &mut sayings);
        let is_in = |seen: &Seen| matches!(seen.scope, SeenScope::In(..));
        if sight.anchor == Anchor::Listed
            && self.memory.slots.is_empty()
            && !sight.devices.iter().any(is_in)
        {
            let note = Note::new(Level::Error, "no device is monitored");
            let path = self.anchor().to_owned();
            self.note_once("no device", note.with("path", path));
        }
        if !sayings.is_empty() {
            let batches = self.batches(sayings, sight.clocks);
            self.delivery.begin(batches);
            self.save_is_due = self.policy.saves_before_publishing();
        }
    }

    /// Judges counters, where any are watched or were.
    fn judge_counters(&mut self, sight: &Sight, patience_ns: u64) -> Vec<Saying> {
        if sight.counts.is_none() && self.memory.counters.is_empty() {
            return Vec::new();
        }
        if let Some(seen) = &sight.counts {
            for (request, value) in seen.requests.iter().zip(&seen.values) {
                let path = request.path();
                if *value == Err(Unread::Missing) && !self.noted.contains(path) {
                    let note = Note::new(
                        Level::Info,
                        "enabled counter is not here: it will not be monitored until it is",
                    );
                    self.note_once(path, note.with("path", path));
                }
            }
        }
        let ruler = Ruler {
            watched: &self.eyes.shapes.watched,
            checks: &self.checks,
            patience_ns,
            policy: &*self.policy,
        };
        let judged = counters::judge::judge(&mut self.memory, sight, &ruler, &mut self.saturated);
        for note in judged.notes {
            self.delivery.note(note);
        }
        judged.sayings
    }

    /// One batch per check: those of `--checks` in their order, then those that only clear.
    fn batches(&self, sayings: Vec<Saying>, clocks: Clocks) -> Vec<Batch<Effect>> {
        let mut order: Vec<Check> = self.settings.checks.clone();
        order.extend(
            Check::ALL
                .into_iter()
                .filter(|check| !self.settings.checks.contains(check)),
        );
        let mut batches: Vec<Batch<Effect>> = order.into_iter().map(Batch::new).collect();
        for saying in sayings {
            let Some(batch) = batches.iter_mut().find(|batch| batch.check == saying.check) else {
                continue;
            };
            // A nanosecond apart, so that sorting by time keeps the order.
            let stamp_ns = clocks.wall_ns.saturating_add(batch.effects.len() as u64);
            let event = message::event(&self.settings, &saying, stamp_ns);
            batch.events.events.push(event);
            batch.effects.push(saying.effect);
        }
        batches.retain(|batch| !batch.effects.is_empty());
        batches
    }

    /// What must be done now; the same again until it is answered.
    #[expect(
        clippy::should_implement_trait,
        reason = "not an iterator: what comes next depends on the answers"
    )]
    pub fn next(&mut self) -> Todo {
        if let Some(todo) = self.delivery.next_note_or_save() {
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
        // After a failed publish, what a restart finds out by itself is not worth a write: the file
        // changes when the connector has spoken.
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
            self.figures.accepted(check, events);
        }
        let attempt = self.delivery.attempt();
        let is_retryable = self.policy.is_retryable(outcome);
        let settled = self.delivery.published(outcome, is_retryable);
        if let Settled::GivenUp { .. } = settled {
            self.figures.given_up(outcome);
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

    /// Ends in good order: drops what is queued, and leaves at most a save to be done by
    /// [`Agent::next`].
    pub fn stop(&mut self) {
        let in_doubt = self.delivery.begin(Vec::new());
        self.memory.doubt(in_doubt);
        self.save_was_tried = false;
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
