//! The agent: the whole monitor but its hands.
//!
//! It starts from texts or refuses; [`Agent::poll`] looks and changes nothing; [`Agent::take`] keeps
//! the readings and queues what ought to be said; [`Agent::next`] says what the hands must do, and is
//! told how it went. What was said is remembered only when it was accepted, and saved before the
//! next call. A kill drops the agent and keeps the disk; a restart is a new start.

mod counting;
mod delivery;
mod explain;
mod todo;

use std::collections::BTreeSet;
use std::time::Duration;

pub use explain::Classified;
pub use todo::{IoKind, Outcome, Refusal, SaveStep, Start, Todo};

use self::delivery::{Batch, Delivery, Settled};
use crate::absence::Measure;
use crate::chars;
use crate::config::Config;
use crate::counters;
use crate::counters::tally::Saturated;
use crate::counters::watch::Ruler;
use crate::eyes::{self, Eyes, Learnt, Route, Shapes};
use crate::figures::Figures;
use crate::flags::Settings;
use crate::hands::{Answer, Clocks, Hands, ReadError};
use crate::judge::{self, Saying};
use crate::memory::{Effect, Memory, Presence, Subject};
use crate::message;
use crate::metadata::Metadata;
use crate::name::{Check, LinkLayer};
use crate::note::{Level, Note};
use crate::reading::{Severity, severity};
use crate::schedule::{Due, Schedule};
use crate::sight::{Anchor, Blind, Cause, Seen, SeenPorts, SeenScope, Sight, Unread};
use crate::state_file;
use crate::zoo::Hooks;

/// Polls for which the boot id, or devices on the very first poll, are waited for.
const WAITED_POLLS: u32 = 3;

/// What one poll read; judged by [`Agent::take`].
#[derive(Debug, Clone)]
pub struct Polled(Result<(Sight, Learnt), ReadError>);

/// What is still waited for before anything is judged.
#[derive(Debug, Clone)]
enum Stage {
    /// The boot id; the old state, if any, and the polls so far.
    BootId(Option<Box<Memory>>, u32),
    /// Devices that cannot be read on the very first poll without state; the polls so far.
    FirstPoll(u32),
    Running,
}

/// One fault that stands at the connector.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// The check that reported it.
    pub check: Check,
    /// `NIC` and, for a port, `NICPort` values, joined by `/`; a counter's name after them.
    pub entity: String,
    /// Is it fatal?
    pub fatal: bool,
}

/// The monitor without its hands.
#[derive(Debug, Clone)]
pub struct Agent {
    settings: Settings,
    /// Those of `--checks` that run.
    checks: Vec<Check>,
    schedule: Schedule,
    eyes: Eyes,
    memory: Memory,
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
    /// Of the file that was written last.
    kept: state_file::Kept,
    hooks: Hooks,
}

impl Agent {
    /// Starts from texts, or refuses.
    ///
    /// # Errors
    /// A [`Refusal`]: configuration or metadata that cannot be.
    pub fn start(start: Start<'_>) -> Result<(Agent, Vec<Note>), Refusal> {
        Agent::start_with(start, Hooks::default())
    }

    /// Starts a deliberately wrong monitor.
    ///
    /// # Errors
    /// As [`Agent::start`].
    #[cfg(feature = "zoo")]
    pub fn start_species(
        start: Start<'_>,
        species: crate::zoo::Species,
    ) -> Result<(Agent, Vec<Note>), Refusal> {
        Agent::start_with(start, Hooks::of(species))
    }

    fn start_with(start: Start<'_>, hooks: Hooks) -> Result<(Agent, Vec<Note>), Refusal> {
        let settings = start.settings;
        let mut notes = Vec::new();
        let config = Config::read(&settings.paths.config, start.config, &mut notes);
        let config = hooks.config(config)?;
        let metadata = match Metadata::read(&settings.paths.metadata, start.metadata) {
            Ok(metadata) => Some(metadata),
            Err(cause) if config.is_pinning() || !hooks.needs_metadata() => {
                let note = Note::new(Level::Warn, "no GPU metadata: pinned devices need none");
                notes.push(note.with("cause", cause));
                None
            }
            Err(cause) => {
                return Err(Refusal::new(format!(
                    "NIC monitor cannot start without GPU metadata at {}: {cause} (hint: ensure \
                     the metadata-collector DaemonSet is running and has written nic_topology)",
                    settings.paths.metadata
                )));
            }
        };
        let old = state_file::read(&settings.paths.state_file, start.state, &mut notes);
        let old = hooks.old_state(old, start.state.is_ok());
        let checks = running(&settings, &config, &mut notes)?;
        let mut enabled: Vec<LinkLayer> = checks.iter().filter_map(|c| c.layer()).collect();
        enabled.sort_unstable();
        let shapes = Shapes::new(config.counters.watched.clone(), &checks);
        let mut eyes = Eyes::new(
            config,
            metadata,
            Route::read(start.route),
            enabled,
            shapes,
            checks.contains(&Check::InfiniBandCharDevice),
            &settings.paths,
        );
        eyes.hooks = hooks;
        let figures = Figures::new(&settings.node_name, &checks);
        let mut agent = Agent {
            delivery: Delivery::new(settings.publish, &settings.node_name),
            schedule: Schedule::new(
                settings.state_polling_interval,
                settings.counter_polling_interval,
            ),
            checks,
            settings,
            eyes,
            memory: Memory::default(),
            saved: Memory::default(),
            saving: None,
            save_is_due: false,
            save_was_tried: false,
            stage: Stage::Running,
            noted: BTreeSet::new(),
            figures,
            was_due: Due::default(),
            saturated: Saturated::default(),
            kept: state_file::Kept::default(),
            hooks,
        };
        let answer = start.boot_id.map(|bytes| Answer::Bytes(bytes.to_vec()));
        match eyes::boot_id(answer) {
            Ok(boot_id) => agent.begin(old, boot_id),
            Err(_) => {
                agent.eyes.wants_boot_id = true;
                agent.stage = Stage::BootId(old.map(Box::new), 0);
            }
        }
        Ok((agent, notes))
    }

    /// Settles in which boot the agent lives, and so what the old state is worth.
    fn begin(&mut self, old: Option<Memory>, boot_id: String) {
        self.eyes.wants_boot_id = false;
        self.stage = Stage::Running;
        let scope = self.eyes.config.scope.clone();
        self.memory = match old {
            Some(mut memory) if self.hooks.is_same_boot(&memory.boot_id, &boot_id) => {
                self.saved = memory.clone();
                self.hooks.after_load(&mut memory);
                memory
            }
            Some(memory) => {
                self.saved = memory.clone();
                memory.after_reboot(boot_id)
            }
            None => {
                self.stage = Stage::FirstPoll(0);
                Memory {
                    boot_id,
                    blind: true,
                    ..Memory::default()
                }
            }
        };
        self.memory.scope = scope;
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

    /// Every fault that was accepted and whose end was not, in order.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        let mut standing = Vec::new();
        for slot in self.memory.slots.values() {
            standing.extend(slot.gone.keys().map(|layer| Standing {
                check: layer.state_check(),
                entity: slot.name.to_string(),
                fatal: true,
            }));
            for (number, port) in &slot.ports {
                standing.extend(port.standing().map(|severity| Standing {
                    check: port.layer.state_check(),
                    entity: format!("{}/{number}", slot.name),
                    fatal: severity == Severity::Fatal,
                }));
            }
        }
        for ((layer, card), kept) in &self.memory.cards {
            standing.extend(kept.fault.iter().map(|_| Standing {
                check: layer.state_check(),
                entity: card.to_string(),
                fatal: true,
            }));
        }
        standing.extend(self.memory.debts.iter().map(|debt| Standing {
            check: debt.check,
            entity: match &debt.subject {
                Subject::Device(name) => name.to_string(),
                Subject::Port(name, number) => format!("{name}/{number}"),
                Subject::Card(card) => card.to_string(),
                Subject::Counter(name, number, id) => format!("{name}/{number}/{id}"),
                Subject::Char(kind, name, _) => format!("{name}/{kind}"),
            },
            fatal: true,
        }));
        for device in self.memory.counters.devices.values() {
            standing.extend(device.faults().filter_map(|(layer, subject)| {
                let Subject::Counter(name, number, id) = subject else {
                    return None;
                };
                Some(Standing {
                    check: layer.degradation_check(),
                    entity: format!("{name}/{number}/{id}"),
                    fatal: id.row().is_fatal,
                })
            }));
        }
        standing.extend(
            self.memory
                .chars
                .faults()
                .filter_map(|subject| match subject {
                    Subject::Char(kind, name, port) => Some(Standing {
                        check: Check::InfiniBandCharDevice,
                        entity: match port {
                            Some(number) => format!("{name}/{number}/{kind}"),
                            None => format!("{name}/{kind}"),
                        },
                        fatal: true,
                    }),
                    _ => None,
                }),
        );
        standing.sort();
        standing
    }

    /// The names of the devices that are monitored now, in order.
    #[must_use]
    pub fn monitored(&self) -> Vec<String> {
        let slots = self.memory.slots.values();
        let mut names: Vec<String> = slots
            .filter(|slot| matches!(slot.presence.0, Presence::Present { .. }))
            .map(|slot| slot.name.to_string())
            .collect();
        names.sort();
        names
    }

    /// Looks; changes nothing.
    #[must_use]
    pub fn poll(&self, hands: &dyn Hands) -> Polled {
        Polled(self.eyes.look(hands, &self.memory, &self.schedule))
    }

    /// Judges what a poll read: readings are kept, batches queued. What an earlier poll left
    /// unfinished is dropped, and found again if it still holds.
    pub fn take(&mut self, polled: Polled) {
        self.hooks.poll();
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
            hooks: self.hooks,
        };
        let patience_ns = measure.patience_ns;
        let mut sayings = Vec::new();
        if sight.due.state {
            sayings = judge::judge(&mut self.memory, &sight, &measure);
        }
        if sight.due.state && sight.anchor == Anchor::Listed {
            sayings.extend(chars::judge::judge(&mut self.memory, &sight, self.hooks));
        }
        if sight.due.counters && sight.anchor == Anchor::Listed {
            sayings.extend(self.judge_counters(&sight, patience_ns));
        }
        let hooks = self.hooks;
        hooks.sayings(hooks.polls(), &mut self.memory, &mut sayings);
        self.count_judged(&sayings, sight.due);
        judge::add_debts(&self.memory, &mut sayings);
        hooks.order(&mut sayings);
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
            self.save_is_due = self.hooks.saves_first();
        }
    }

    /// Judges counters, where any are watched or were.
    fn judge_counters(&mut self, sight: &Sight, patience_ns: u64) -> Vec<Saying> {
        if sight.counts.is_none() && self.memory.counters.is_empty() {
            return Vec::new();
        }
        if let Some(seen) = &sight.counts {
            for (request, value) in seen.plan.requests.iter().zip(&seen.values) {
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
            hooks: self.hooks,
        };
        let judged = counters::judge::judge(&mut self.memory, sight, &ruler, &mut self.saturated);
        for note in judged.notes {
            self.delivery.note(note);
        }
        judged.sayings
    }

    /// Is everything known that judging needs?
    fn is_ready(&mut self, sight: &Sight) -> bool {
        if let Stage::BootId(old, polls) = &mut self.stage {
            match &sight.boot_id {
                Some(Ok(boot_id)) => {
                    let old = old.take().map(|old| *old);
                    self.begin(old, boot_id.clone());
                }
                Some(Err(cause)) if *polls >= WAITED_POLLS => {
                    let old = old.take().map(|old| *old);
                    let note = Note::new(
                        Level::Warn,
                        "boot id cannot be read: going on as after a reboot",
                    );
                    self.delivery.note(
                        note.with("path", &self.settings.paths.boot_id)
                            .with("cause", cause),
                    );
                    self.begin(old, String::new());
                }
                Some(Err(_)) => {
                    *polls += 1;
                    return false;
                }
                None => return false,
            }
        }
        if let Stage::FirstPoll(polls) = &mut self.stage {
            if sight.anchor != Anchor::Listed {
                return false;
            }
            let waits = self.hooks.waits_at_first();
            if waits && has_unreadable(sight) && *polls < WAITED_POLLS {
                *polls += 1;
                self.figures.deferred();
                return false;
            }
            self.stage = Stage::Running;
        }
        true
    }

    /// Tells each path that cannot be read once, and counts every time.
    fn note_troubles(&mut self, sight: &mut Sight) {
        if sight.anchor == Anchor::Missing {
            let path = self.anchor().to_owned();
            let note = Note::new(Level::Warn, "class folder is missing: the poll failed");
            self.note_once("anchor", note.with("path", path));
        }
        for (path, cause) in sight.troubles.drain(..) {
            self.figures.unreadable(&cause.to_string());
            let note = Note::new(Level::Warn, "cannot be read: the last known state stands");
            let note = note.with("path", &path).with("cause", cause);
            self.note_once(&path, note);
        }
        for note in std::mem::take(&mut sight.notes) {
            let key = note.to_string();
            self.note_once(&key, note);
        }
    }

    /// Tells the developer of each unhealthy pair that is no event on Ethernet, once.
    fn note_transients(&mut self, sight: &Sight) {
        for seen in &sight.devices {
            let SeenScope::In(_, SeenPorts::Listed(ports)) = &seen.scope else {
                continue;
            };
            for port in ports {
                let (Some(layer), Ok(reading)) = (port.layer, &port.reading) else {
                    continue;
                };
                if reading.is_healthy() || severity(layer, reading).is_some() {
                    continue;
                }
                let key = format!(
                    "transient {}/{} {}/{}",
                    seen.name, port.number, reading.state, reading.phys
                );
                let note = Note::new(Level::Debug, "transient state: not reported")
                    .with("device", &seen.name)
                    .with("port", port.number)
                    .with("state", &reading.state)
                    .with("phys_state", &reading.phys);
                self.note_once(&key, note);
            }
        }
    }

    fn note_once(&mut self, key: &str, note: Note) {
        if !self.noted.contains(key) {
            self.noted.insert(key.to_owned());
            self.delivery.note(note);
        }
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
            let mut event = message::event(&self.settings, &saying, stamp_ns);
            self.hooks
                .event(&self.memory, clocks.boot_ns, &saying, &mut event);
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
        let memory = self.hooks.saved(&self.memory, self.delivery.pending());
        let file = self.settings.paths.state_file.clone();
        let folder = match file.rsplit_once('/') {
            Some(("", _)) | None => "/".to_owned(),
            Some((folder, _)) => folder.to_owned(),
        };
        let temporary = format!("{file}.tmp");
        let steps = vec![
            SaveStep::CreateFolder(folder.clone()),
            SaveStep::Create(temporary.clone()),
            SaveStep::Write(
                temporary.clone(),
                state_file::write(&memory, &mut self.kept),
            ),
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
        let outcome = &self.hooks.outcome(outcome.clone());
        if let (Outcome::Accepted, Some((check, events))) = (outcome, self.delivery.under_way()) {
            self.figures.accepted(check, events);
        }
        let attempt = self.delivery.attempt();
        let settled = self.delivery.published(outcome);
        if let Settled::GivenUp { .. } = settled {
            self.figures.given_up(outcome);
            if !self.hooks.delivers_the_rest() {
                self.delivery.drop_the_rest();
            }
        }
        match settled {
            Settled::NotYet => return,
            Settled::Accepted(_) if !self.hooks.remembers(attempt) => return,
            Settled::Accepted(effects) => self.memory.apply(effects),
            Settled::GivenUp { effects, .. } if self.hooks.commits_unheard(outcome) => {
                self.memory.apply(effects);
            }
            Settled::GivenUp {
                effects,
                is_in_doubt: true,
            } if self.hooks.keeps_doubt() => self.memory.doubt(effects),
            Settled::GivenUp { .. } => return,
        }
        self.save_is_due = self.memory != self.saved && self.hooks.saves_each();
    }

    /// Answers [`Todo::Save`].
    pub fn saved(&mut self, result: Result<(), ReadError>) {
        let result = self.hooks.save_result(result);
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

/// The checks of `--checks` that the configuration lets run.
fn running(
    settings: &Settings,
    config: &Config,
    notes: &mut Vec<Note>,
) -> Result<Vec<Check>, Refusal> {
    let mut checks = settings.checks.clone();
    if !config.counters.enabled {
        checks.retain(|check| {
            let is_counting = check.counted_layer().is_some();
            if is_counting {
                let text = "skipping requested check: counterDetection.enabled is false";
                notes.push(Note::new(Level::Warn, text).with("check", check));
            }
            !is_counting
        });
    }
    if checks.is_empty() {
        return Err(Refusal::new(
            "no checks enabled: counterDetection.enabled is false, and --checks names counter \
             checks only (hint: name a state check, or enable counterDetection)",
        ));
    }
    Ok(checks)
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn has_unreadable(sight: &Sight) -> bool {
    sight.devices.iter().any(|seen| match &seen.scope {
        SeenScope::Out(_) => false,
        SeenScope::Unknown(blind) | SeenScope::In(_, SeenPorts::Blind(blind)) => {
            matches!(blind, Blind::Unreadable(_))
        }
        SeenScope::In(_, SeenPorts::Listed(ports)) => ports.iter().any(|port| {
            port.out.is_none()
                && matches!(
                    port.reading,
                    Err(Blind::Unreadable(Cause::Failed(_) | Cause::Garbled))
                )
        }),
    })
}
