//! The thread that writes a run's events to its store, and the hand that gives them to it.
//!
//! Giving never waits: rows go to the [`Queue`], and the thread writes them in batches, each whole or not at
//! all. When the store is away it tries again after a while, longer each time; when the run has ended, a bounded
//! number of times. Whoever gives the rows does the last step itself ([`Store::finish`]): a thread that
//! is held by a silent server holds up nothing. Start at [`Reached::keep`].

use std::{
    mem,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use observe::Recording;
use reports::{ArmName, DrillName};

use crate::{
    keeper::{self, Keeper, StoreError, Trouble},
    queue::Queue,
    row::Row,
    run::Run,
    url::StoreUrl,
};

/// How patient a run is with its store. The defaults are chosen.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The rows of one transaction.
    pub batch_rows_max: usize,
    /// The rows that wait in memory; further ones wait in the run folder.
    pub memory_rows_max: usize,
    /// How long the first wait for an absent store is.
    pub wait_first: Duration,
    /// Each wait is twice the one before, up to this.
    pub wait_max: Duration,
    /// How many tries may fail when the run has ended.
    pub tries_after_end: u32,
    /// How long a store may be silent when the run has ended.
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

impl StoreUrl {
    /// Opens the store: the tables that are needed are there, and the run is written into it.
    ///
    /// # Errors
    /// [`StoreError`], if it cannot be reached or written, or has other tables of those names.
    pub fn reach(&self, run: Run) -> Result<Reached, StoreError> {
        let keeper = keeper::begin(self, &run)?;
        Ok(Reached {
            url: self.clone(),
            run: Arc::new(run),
            keeper,
        })
    }
}

/// A store that was there when the run began.
pub struct Reached {
    url: StoreUrl,
    run: Arc<Run>,
    keeper: Box<dyn Keeper>,
}

impl Reached {
    /// Begins to write. What cannot be written comes to lie in this folder; `warn` hears of a store that
    /// goes away and comes back.
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
            // Also where it panics: then what is left is unstored.
            let _done = Done(Arc::clone(&writer.shared));
            writer.write(self.keeper);
        });
        Store {
            shared,
            url: self.url,
            run: self.run,
            limits,
            drills: 0,
            events: 0,
        }
    }
}

/// The store of a run that is going on.
pub struct Store {
    shared: Arc<Shared>,
    url: StoreUrl,
    run: Arc<Run>,
    limits: Limits,
    drills: u64,
    events: u64,
}

/// What became of a run's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The store, as it may be shown.
    pub store: String,
    /// The drills that were played, those of every repeat.
    pub drills: u64,
    /// The events that are in the store.
    pub stored: u64,
    /// The events that are not.
    pub unstored: u64,
    /// Where those lie.
    pub file: PathBuf,
    /// Why they are not in the store.
    pub cause: Option<String>,
    /// Why they do not all lie there, if they do not.
    pub broken: Option<String>,
}

impl Store {
    /// What follows is another run: a repeat.
    pub fn begin(&mut self, run: Run) {
        self.run = Arc::new(run);
    }

    /// Takes in a drill that has ended. Never waits for the store.
    pub fn take(&mut self, drill: &DrillName, recordings: &[(ArmName, Recording)]) {
        if recordings.is_empty() {
            return;
        }
        let rows = Row::all(&self.run, drill, recordings);
        self.drills += 1;
        self.events += rows.len() as u64;
        let mut state = self.shared.lock();
        state.queue.add(rows);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// The run has ended: waits until all is written, or the store has been away too long.
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
                // What the thread may still do counts no more: a row that is written twice is one.
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
        state.queue.give_up();
        let unstored = self.events.saturating_sub(state.written);
        Ending {
            store: self.url.to_string(),
            drills: self.drills,
            stored: state.written,
            unstored,
            file: state.queue.file().to_owned(),
            cause: state.last_trouble.clone().filter(|_| unstored > 0),
            broken: state.queue.broken().map(str::to_owned),
        }
    }
}

/// What the two share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    queue: Queue,
    /// No further rows come.
    is_ended: bool,
    /// Nobody writes any more.
    is_done: bool,
    /// Rows that are in the store.
    written: u64,
    /// Tries, whatever came of them.
    steps: u64,
    last_trouble: Option<String>,
}

impl Shared {
    /// A panic leaves the queue whole: it has no state in between.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, at_most: Duration) -> MutexGuard<'s, State> {
        let waited = self.changed.wait_timeout(state, at_most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Says that nobody writes any more.
struct Done(Arc<Shared>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.lock().is_done = true;
        self.0.changed.notify_all();
    }
}

/// The thread.
struct Writer {
    shared: Arc<Shared>,
    url: StoreUrl,
    run: Arc<Run>,
    limits: Limits,
    warn: Box<dyn Fn(&str) + Send>,
}

impl Writer {
    fn write(&self, keeper: Box<dyn Keeper>) {
        let mut keeper = Some(keeper);
        let mut wait = self.limits.wait_first;
        let mut tries_left = self.limits.tries_after_end;
        let (mut is_away, mut was_refused) = (false, false);
        // Rows that are to be written one by one, as one among them is refused.
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
            let mut state = self.shared.lock();
            if state.is_done {
                // Whoever waited has given up and taken what was left.
                return;
            }
            state.steps += 1;
            let mut says = None;
            let mut pause = None;
            match tried {
                Ok(()) => {
                    state.queue.drop_first(rows.len());
                    state.written += rows.len() as u64;
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
                return;
            }
            if let Some(pause) = pause {
                self.pause(pause);
            }
        }
    }

    /// The next rows to write; `None` when there are none left and none will come.
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

    /// Waits, whatever happens meanwhile.
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
