//! The thread that writes a run's events to its store, and the handle that passes events to it.
//!
//! Passing events never waits: rows go to the [`Queue`], and the thread writes them in batches, each completely
//! or not at all. If the store is unavailable the thread retries with increasing delays; after the end of the
//! run, a limited number of times. The handle performs the last step itself ([`Store::finish`]), so that a
//! thread which is blocked by a silent server delays nothing. What is told as stored was read back at the end, by a connection of
//! its own. Start at [`Reached::keep`].

use std::{
    collections::BTreeSet,
    mem,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use observe::Recording;
use reports::DrillName;
use terms::Arm;
use uuid::Uuid;

use crate::{
    keeper::{self, Keeper, Trouble},
    queue::Queue,
    row::Row,
    run::Run,
    url::StoreUrl,
};

/// Limits and delays of a store. The defaults are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest number of rows in one transaction.
    pub batch_rows_max: usize,
    /// The number of rows queued in memory; further ones are queued in the run folder.
    pub memory_rows_max: usize,
    /// The first delay before a retry.
    pub wait_first: Duration,
    /// The largest delay; each is twice the previous one.
    pub wait_max: Duration,
    /// The number of failed attempts after the end of the run.
    pub tries_after_end: u32,
    /// How long a store may not respond after the end of the run.
    pub silence_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            batch_rows_max: 500,
            memory_rows_max: 20_000,
            wait_first: Duration::from_millis(100),
            wait_max: Duration::from_secs(2),
            tries_after_end: 8,
            silence_max: Duration::from_secs(30),
        }
    }
}

/// How many rows are read back in a step, which shows that the store is not silent.
const ROWS_PER_STEP: u64 = 1_000;

/// A store that was available when the run started.
pub struct Reached {
    pub(super) url: StoreUrl,
    pub(super) run: Arc<Run>,
    pub(super) keeper: Box<dyn Keeper>,
}

impl Reached {
    /// Starts writing. Rows that cannot be written go to this folder; `rendered` receives messages about a store
    /// that becomes unavailable or available again.
    pub fn keep(
        self,
        folder: &Path,
        limits: Limits,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Store {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queue: Queue::new(folder, limits.memory_rows_max),
                is_ended: false,
                is_done: false,
                written: 0,
                digests: Vec::new(),
                runs: vec![self.run.id],
                read_back: None,
                uncounted: None,
                steps: 0,
                last_trouble: None,
            }),
            changed: Condvar::new(),
        });
        let writer = Writer {
            shared: Arc::clone(&shared),
            url: self.url.clone(),
            run: Arc::clone(&self.run),
            limits,
            warn: Box::new(warn),
        };
        thread::spawn(move || {
            // After a panic too, so that the remaining rows count as unstored.
            let _done = Done(Arc::clone(&writer.shared));
            let tries_left = writer.write(self.keeper);
            writer.read_back(tries_left);
        });
        Store {
            shared,
            url: self.url,
            run: self.run,
            limits,
            events: 0,
        }
    }
}

/// The store of a run in progress.
pub struct Store {
    shared: Arc<Shared>,
    url: StoreUrl,
    run: Arc<Run>,
    limits: Limits,
    events: u64,
}

/// The result of storing a run's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The store's address without secrets.
    pub store: String,
    /// The number of drills of which the store has events, over all repeats: read back from it.
    pub drills: u64,
    /// The number of events in the store: read back from it.
    pub stored: u64,
    /// Why the store could not be read back, if so: the two numbers are 0 then, whatever it has.
    pub uncounted: Option<String>,
    /// The number of events that are not.
    pub unstored: u64,
    /// The file with those.
    pub file: PathBuf,
    /// Why they are not in the store.
    pub cause: Option<String>,
    /// Why some of them are not in the file either, if so.
    pub broken: Option<String>,
}

impl Store {
    /// Starts another run, for a repeat.
    pub fn begin(&mut self, run: Run) {
        self.shared.lock().runs.push(run.id);
        self.run = Arc::new(run);
    }

    /// Queues the events of a finished drill. Never waits for the store.
    pub fn take(&mut self, drill: &DrillName, recordings: &[(Arm, Recording)]) {
        if recordings.is_empty() {
            return;
        }
        let rows = Row::all(&self.run, drill, recordings);
        self.events += rows.len() as u64;
        let mut state = self.shared.lock();
        state.queue.add(rows);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Ends the run: waits until all rows are written, or the store has been unavailable for too long.
    #[must_use]
    pub fn finish(self) -> Ending {
        let mut state = self.shared.lock();
        state.is_ended = true;
        self.shared.changed.notify_all();
        let mut steps = state.steps;
        let mut since = Instant::now();
        while !state.is_done {
            let left = self.limits.silence_max.saturating_sub(since.elapsed());
            if left.is_zero() {
                // What the thread may still write does not matter: a row that is written twice is stored once.
                state.is_done = true;
                let text = format!("it was silent for {:?}", self.limits.silence_max);
                state.last_trouble = Some(text);
                break;
            }
            state = self.shared.wait(state, left);
            if state.steps != steps {
                steps = state.steps;
                since = Instant::now();
            }
        }
        // What was written and cannot be counted is not told as stored.
        let read_back = state.read_back.take();
        let uncounted = match read_back {
            None if state.written > 0 => {
                let silent = || Some("it was silent".to_owned());
                let cause = state.uncounted.take();
                cause.or(state.last_trouble.clone()).or_else(silent)
            }
            _ => None,
        };
        let read_back = read_back.unwrap_or_default();
        let ReadBack {
            events: stored,
            drills,
            found,
            ..
        } = read_back;
        let written = state.written;
        let kept = match stored < written {
            true => state.queue.not_found(&found),
            false => 0,
        };
        state.queue.give_up();
        let nowhere = (written - stored).saturating_sub(kept);
        let unstored = self.events.saturating_sub(stored);
        let broken = state.queue.broken().map(str::to_owned);
        Ending {
            store: self.url.to_string(),
            drills,
            stored,
            uncounted,
            unstored,
            file: state.queue.file().to_owned(),
            cause: state.last_trouble.clone().filter(|_| unstored > 0),
            broken: broken.or_else(|| {
                let text = format!("{nowhere} that were written are not in the store as they were");
                (nowhere > 0).then_some(text)
            }),
        }
    }
}

/// What is in the store at the end.
#[derive(Debug, Default)]
struct ReadBack {
    /// How many events are there as they were written.
    events: u64,
    /// Of how many drills.
    drills: u64,
    /// Those events; empty if all are there.
    found: BTreeSet<Uuid>,
    /// Whether one is there, and is not as it was written.
    is_changed: bool,
}

/// State shared by thread and handle.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    queue: Queue,
    /// Whether no further rows will come.
    is_ended: bool,
    /// Whether the thread has stopped writing.
    is_done: bool,
    /// Number of rows that the store took.
    written: u64,
    /// The id and the digest of each of those.
    digests: Vec<(Uuid, Uuid)>,
    /// The runs whose rows are written.
    runs: Vec<Uuid>,
    /// What was read back; `None` until then.
    read_back: Option<ReadBack>,
    /// Why the last attempt to read it back failed.
    uncounted: Option<String>,
    /// Number of attempts, successful or not.
    steps: u64,
    last_trouble: Option<String>,
}

impl Shared {
    /// After a panic the queue is consistent, because it has no intermediate state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, at_most: Duration) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, at_most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Marks the thread as stopped when dropped.
struct Done(Arc<Shared>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.lock().is_done = true;
        self.0.changed.notify_all();
    }
}

/// The writing thread.
struct Writer {
    shared: Arc<Shared>,
    url: StoreUrl,
    run: Arc<Run>,
    limits: Limits,
    warn: Box<dyn Fn(&str) + Send>,
}

impl Writer {
    /// Writes until no row is left or the store has been unavailable for too long; returns how many attempts are left.
    fn write(&self, keeper: Box<dyn Keeper>) -> u32 {
        let mut keeper = Some(keeper);
        let mut wait = self.limits.wait_first;
        let mut tries_left = self.limits.tries_after_end;
        let (mut is_away, mut was_refused) = (false, false);
        // Number of rows to be written one by one, because one of them is rejected.
        let mut singly = 0_usize;
        while let Some(rows) = self.next(if singly > 0 {
            1
        } else {
            self.limits.batch_rows_max
        }) {
            let tried = match keeper.as_mut() {
                Some(open) => open.write(&rows),
                None => keeper::again(&self.url, self.run.id)
                    .and_then(|open| keeper.insert(open).write(&rows)),
            };
            let digests: Vec<(Uuid, Uuid)> = match &tried {
                Ok(()) => rows.iter().map(|row| (row.id, row.digest())).collect(),
                Err(_) => Vec::new(),
            };
            let mut state = self.shared.lock();
            if state.is_done {
                // The handle has stopped waiting and taken the remaining rows.
                return 0;
            }
            state.steps += 1;
            let mut says = None;
            let mut pause = None;
            match tried {
                Ok(()) => {
                    state.queue.drop_first(rows.len());
                    state.written += rows.len() as u64;
                    state.digests.extend(digests);
                    singly = singly.saturating_sub(rows.len());
                    wait = self.limits.wait_first;
                    if mem::take(&mut is_away) {
                        says = Some("is there again".to_owned());
                    }
                }
                Err(Trouble::Refused(_)) if rows.len() > 1 => singly = rows.len(),
                Err(Trouble::Refused(cause)) => {
                    state.queue.refuse_first();
                    singly = singly.saturating_sub(1);
                    if !mem::replace(&mut was_refused, true) {
                        let drill = &rows[0].drill;
                        says = Some(format!("refuses an event of {drill}: {cause}"));
                    }
                    state.last_trouble = Some(cause);
                }
                Err(Trouble::Away(cause)) => {
                    keeper = None;
                    if state.is_ended {
                        tries_left = tries_left.saturating_sub(1);
                    }
                    if !mem::replace(&mut is_away, true) {
                        says = Some(format!("went away, and its events wait: {cause}"));
                    }
                    state.last_trouble = Some(cause);
                    pause = Some(wait);
                    wait = (wait * 2).min(self.limits.wait_max);
                }
            }
            drop(state);
            self.shared.changed.notify_all();
            if let Some(says) = says {
                (self.warn)(&format!("the store `{}` {says}", self.url));
            }
            if tries_left == 0 {
                break;
            }
            if let Some(pause) = pause {
                self.pause(pause);
            }
        }
        tries_left
    }

    /// Counts what is in the store. A connection of its own is opened for that: the one that wrote may lead to a file that has no
    /// name any more. After the last attempt to write one is made to count.
    fn read_back(&self, tries_left: u32) {
        let (runs, mut written) = {
            let mut state = self.shared.lock();
            (state.runs.clone(), mem::take(&mut state.digests))
        };
        if written.is_empty() {
            return;
        }
        written.sort_unstable();
        let mut wait = self.limits.wait_first;
        for _ in 0..tries_left.max(1) {
            let counted = self.counted(&runs, &written);
            let mut state = self.shared.lock();
            if state.is_done {
                return;
            }
            state.steps += 1;
            match counted {
                Ok(read_back) => {
                    let cause = match read_back.is_changed {
                        true => "it took them, and what is read back is not what was written",
                        false => "it took them, and has them no more",
                    };
                    if read_back.events < written.len() as u64 {
                        state.last_trouble = Some(cause.to_owned());
                    }
                    state.read_back = Some(read_back);
                    return;
                }
                Err(Trouble::Away(cause) | Trouble::Refused(cause)) => {
                    state.last_trouble = Some(format!("what it has cannot be counted: {cause}"));
                    state.uncounted = Some(cause);
                }
            }
            drop(state);
            self.shared.changed.notify_all();
            self.pause(wait);
            wait = (wait * 2).min(self.limits.wait_max);
        }
    }

    /// Compares what is in the store with what was written: ids with digests, sorted.
    fn counted(&self, runs: &[Uuid], written: &[(Uuid, Uuid)]) -> Result<ReadBack, Trouble> {
        let mut keeper = keeper::again(&self.url, self.run.id)?;
        let mut read_back = ReadBack::default();
        let mut is_kept = vec![false; written.len()];
        for run in runs {
            let mut drills = BTreeSet::new();
            let mut rows = 0_u64;
            keeper.read_back(*run, &mut |kept| {
                rows += 1;
                if rows.is_multiple_of(ROWS_PER_STEP) {
                    self.shared.lock().steps += 1;
                    self.shared.changed.notify_all();
                }
                let Ok(at) = written.binary_search_by_key(&kept.id, |(id, _)| *id) else {
                    return;
                };
                if written[at].1 != kept.digest {
                    read_back.is_changed = true;
                } else if !mem::replace(&mut is_kept[at], true) {
                    read_back.events += 1;
                    drills.insert(kept.drill);
                }
            })?;
            read_back.drills += drills.len() as u64;
        }
        if read_back.events < written.len() as u64 {
            let kept = written.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
            read_back.found = kept.map(|((id, _), _)| *id).collect();
        }
        Ok(read_back)
    }

    /// The next rows to write; `None` if none are left and none will come.
    fn next(&self, rows_max: usize) -> Option<Vec<Arc<Row>>> {
        let mut state = self.shared.lock();
        loop {
            if state.is_done {
                return None;
            }
            let rows = state.queue.first(rows_max);
            if !rows.is_empty() {
                return Some(rows);
            }
            if state.is_ended {
                return None;
            }
            let waited = self.shared.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for this long, regardless of new rows.
    fn pause(&self, wait: Duration) {
        let began = Instant::now();
        let mut state = self.shared.lock();
        loop {
            let left = wait.saturating_sub(began.elapsed());
            if left.is_zero() || state.is_done {
                return;
            }
            state = self.shared.wait(state, left);
        }
    }
}
