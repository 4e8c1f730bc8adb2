//! State shared by the server's threads, and the processing of requests through moments, rules and holds.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use rustix::process::{getegid, geteuid};
use simfs::{Act, Answer, Call, Errno, Fs, MomentId, Reply, Stale};

use crate::{
    HoldId, MomentAnswer, Observer, Options,
    handle::Handles,
    hold::{Held, Holds},
    request::{Ask, Job, Next, Pending, Stage, Why},
};

/// How long a change waits for the kernel's invalidations. They take microseconds unless a held request
/// keeps a folder locked; the invalidation then follows the request's end.
const NOTIFY_LIMIT: Duration = Duration::from_secs(2);

/// State shared by the threads. No lock is held while the kernel is notified or answered; if two are
/// needed, the file system's is taken first.
pub(crate) struct Shared {
    pub(crate) fs: Arc<Mutex<Fs>>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) options: Options,
    /// The user and the group that own everything: those of this process.
    pub(crate) owner: (u32, u32),
    pub(crate) jobs: mpsc::Sender<Job>,
    handles: Mutex<Handles>,
    /// Threads that resolve a path again because names changed at a moment just before they opened or read
    /// it again. That moment, and those that came with it, are not repeated.
    walkers: Mutex<BTreeMap<u32, Walker>>,
    holds: Mutex<Holds>,
    held_any: Condvar,
    closing: AtomicBool,
    /// How many operations were taken in.
    taken_in: AtomicU64,
}

/// What makes a thread resolve a path again.
pub(crate) enum Walker {
    /// The kernel, after `ESTALE`, before it does anything else for this thread.
    Kernel,
    /// The process, optionally, because what it had open at this path was removed.
    Process(String),
}

impl Shared {
    pub(crate) fn new(
        fs: Arc<Mutex<Fs>>,
        observer: Arc<dyn Observer>,
        options: Options,
        jobs: mpsc::Sender<Job>,
    ) -> Self {
        Self {
            fs,
            observer,
            options,
            owner: (geteuid().as_raw(), getegid().as_raw()),
            jobs,
            handles: Mutex::default(),
            walkers: Mutex::default(),
            holds: Mutex::default(),
            held_any: Condvar::new(),
            closing: AtomicBool::new(false),
            taken_in: AtomicU64::new(0),
        }
    }

    /// A panic of an observer must not break the mount, so lock poisoning is ignored: every change under
    /// these locks is complete when a panic can happen.
    pub(crate) fn fs(&self) -> MutexGuard<'_, Fs> {
        self.fs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn walkers(&self) -> MutexGuard<'_, BTreeMap<u32, Walker>> {
        self.walkers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request is held, then for `interval`; returns whether to continue.
    pub(crate) fn wait_for_holds(&self, interval: Duration) -> bool {
        let mut holds = self.holds();
        while holds.is_empty() && !self.is_closing() {
            holds = self
                .held_any
                .wait(holds)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let (holds, _) = self
            .held_any
            .wait_timeout_while(holds, interval, |_| !self.is_closing())
            .unwrap_or_else(PoisonError::into_inner);
        drop(holds);
        !self.is_closing()
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Stops holding requests, and releases the held ones.
    pub(crate) fn close(self: &Arc<Self>) {
        let held = {
            let mut holds = self.holds();
            self.closing.store(true, Ordering::SeqCst);
            self.held_any.notify_all();
            holds.take_all()
        };
        held.into_iter().for_each(|held| self.let_go(held));
    }

    /// Changes the file system and waits until the kernel has invalidated outdated entries.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Fs) -> T) -> T {
        let (value, stale) = {
            let mut fs = self.fs();
            (change(&mut fs), fs.take_stale())
        };
        if !stale.is_empty() {
            let (done, seen) = mpsc::channel();
            if self
                .jobs
                .send(Job::Notify {
                    stale,
                    done: Some(done),
                })
                .is_ok()
            {
                // After the limit the kernel is notified when the request that locks the folder ends.
                let _ = seen.recv_timeout(NOTIFY_LIMIT);
            }
        }
        value
    }

    /// Accepts a request.
    pub(crate) fn take_in(self: &Arc<Self>, pending: Pending) {
        self.taken_in.fetch_add(1, Ordering::Relaxed);
        let locked = pending.locked_folders();
        if !locked.is_empty() {
            self.holds().lock(&locked);
        }
        self.drive(pending);
    }

    /// How many operations were taken in so far.
    pub(crate) fn taken_in(&self) -> u64 {
        self.taken_in.load(Ordering::Relaxed)
    }

    /// Releases a held request; returns whether it was held.
    pub(crate) fn release(self: &Arc<Self>, id: HoldId) -> bool {
        let held = self.holds().take(id);
        let was = held.is_some();
        if let Some(held) = held {
            self.let_go(held);
        }
        was
    }

    /// Ends a held request with an error; returns whether it was held.
    pub(crate) fn answer(self: &Arc<Self>, id: HoldId, errno: Errno) -> bool {
        let held = self.holds().take(id);
        let was = held.is_some();
        if let Some(held) = held {
            self.finish(held.pending, Err(errno));
        }
        was
    }

    fn let_go(self: &Arc<Self>, held: Held) {
        let Held {
            why, mut pending, ..
        } = held;
        match why {
            Why::Gate => {
                // The node that now has the anchor's name is listed, as for a reader that resolves the
                // path.
                if let Some(anchor) = self.fs().anchor() {
                    pending.call = Call::List(anchor);
                }
                pending.stage = Stage::Begin;
            }
            Why::Hang { .. } => pending.stage = Stage::Resume,
            Why::Moment(_) => {}
        }
        self.drive(pending);
    }

    /// Processes a request as far as possible.
    fn drive(self: &Arc<Self>, mut pending: Pending) {
        loop {
            let (next, stale) = {
                let mut fs = self.fs();
                let next = self.step(&mut fs, &mut pending);
                (next, fs.take_stale())
            };
            if !stale.is_empty() {
                let job = Job::Then {
                    stale,
                    pending: Box::new(pending),
                    next,
                };
                // Without that thread the mount is being removed, and a dropped reply is answered with
                // EIO.
                let _ = self.jobs.send(job);
                return;
            }
            match next {
                Next::Again => {}
                Next::Hold(why) => return self.hold(why, pending),
                Next::Finish(result) => return self.finish(pending, result),
            }
        }
    }

    /// Executes the next step on another thread.
    pub(crate) fn follow(self: &Arc<Self>, pending: Pending, next: Next) {
        match next {
            Next::Again => self.drive(pending),
            Next::Hold(why) => self.hold(why, pending),
            Next::Finish(result) => self.finish(pending, result),
        }
    }

    fn hold(self: &Arc<Self>, why: Why, pending: Pending) {
        let pid = pending.pid;
        let path = pending
            .act
            .as_ref()
            .map(|act| act.path().to_owned())
            .unwrap_or_default();
        let mut holds = self.holds();
        if self.is_closing() {
            drop(holds);
            return self.let_go(Held {
                why,
                pending,
                reported_stuck: false,
            });
        }
        let first = holds.is_empty();
        let id = holds.add(why, pending);
        drop(holds);
        if first {
            self.held_any.notify_all();
        }
        match why {
            Why::Gate => self.observer.gate(id, pid),
            Why::Hang { rule, .. } => self.observer.hung(id, pid, rule, &path),
            Why::Moment(moment) => self.observer.held(id, pid, moment),
        }
    }

    /// Answers a request. Invalidations that were deferred because of it are sent now, and the kernel
    /// handles them once it has the answer.
    fn finish(self: &Arc<Self>, pending: Pending, result: Result<Reply, Errno>) {
        let locked = pending.locked_folders();
        if !locked.is_empty() {
            let stale: Vec<Stale> = self.holds().unlock(&locked);
            if !stale.is_empty() {
                // Without that thread the mount is being removed.
                let _ = self.jobs.send(Job::Notify { stale, done: None });
            }
        }
        self.reply(pending, result);
    }

    /// Processes a request until it must wait, is done, or has changed the tree.
    fn step(&self, fs: &mut Fs, pending: &mut Pending) -> Next {
        loop {
            match std::mem::replace(&mut pending.stage, Stage::Perform) {
                Stage::Gate => return Next::Hold(Why::Gate),
                Stage::Begin => match self.begin(fs, pending) {
                    Ok(come) => pending.stage = Stage::Before(come),
                    Err(errno) => return Next::Finish(Err(errno)),
                },
                Stage::Before(mut come) => {
                    if let Some(moment) = come.pop_front() {
                        pending.stage = Stage::Before(come);
                        pending.moved.get_or_insert(fs.tree().structure());
                        if let Some(next) = self.meet(fs, moment, pending.pid) {
                            return next;
                        }
                    } else {
                        let moved = pending.moved.take();
                        if pending.opens()
                            && moved.is_some_and(|before| before != fs.tree().structure())
                        {
                            self.walkers().insert(pending.pid, Walker::Kernel);
                            return Next::Finish(Err(Errno::ESTALE));
                        }
                        if moved.is_some() {
                            let before = pending.act.take();
                            match began(fs, pending) {
                                Ok(act) => pending.act = Some(act),
                                Err(errno) => {
                                    if let (true, Some(act)) = (pending.is_repeated(), before) {
                                        let walker = Walker::Process(act.path().to_owned());
                                        self.walkers().insert(pending.pid, walker);
                                    }
                                    return Next::Finish(Err(errno));
                                }
                            }
                        }
                        if matches!(pending.ask, Ask::OpenFile(_)) {
                            return Next::Finish(Ok(Reply::Done));
                        }
                    }
                }
                Stage::Resume => return Next::Finish(fs.resume(&pending.call)),
                Stage::Perform => {
                    let act = pending
                        .act
                        .as_ref()
                        .expect("a call is performed once it has begun");
                    match fs.perform(&pending.call, act) {
                        Answer::Hangs { rule, killable } => {
                            return Next::Hold(Why::Hang { rule, killable });
                        }
                        Answer::Done(mut result) => {
                            let come = fs.after(act);
                            if !come.is_empty() {
                                keep_names(&mut result);
                            }
                            pending.stage = Stage::After(come.into(), result);
                        }
                    }
                }
                Stage::After(mut come, result) => match come.pop_front() {
                    None => return Next::Finish(result),
                    Some(moment) => {
                        pending.stage = Stage::After(come, result);
                        if let Some(next) = self.meet(fs, moment, pending.pid) {
                            return next;
                        }
                    }
                },
            }
        }
    }

    fn begin(&self, fs: &mut Fs, pending: &mut Pending) -> Result<VecDeque<MomentId>, Errno> {
        let act = began(fs, pending)?;
        let walker = if pending.opens() {
            self.walkers().remove(&pending.pid)
        } else {
            None
        };
        let met_before = match walker {
            None => false,
            Some(Walker::Kernel) => true,
            Some(Walker::Process(path)) => path == act.path(),
        };
        let act = pending.act.insert(act);
        Ok(if met_before {
            VecDeque::new()
        } else {
            fs.before(act).into()
        })
    }

    fn meet(&self, fs: &mut Fs, moment: MomentId, pid: u32) -> Option<Next> {
        match self.observer.moment(fs, moment, pid) {
            MomentAnswer::Go => Some(Next::Again),
            MomentAnswer::Hold => Some(Next::Hold(Why::Moment(moment))),
            MomentAnswer::Fail(errno) => Some(Next::Finish(Err(errno))),
        }
    }
}

/// Keeps the names of a listing that was done before a moment, whatever the story then does to them.
fn keep_names(result: &mut Result<Reply, Errno>) {
    if let Ok(Reply::Names(entries)) = result {
        entries.iter_mut().for_each(|entry| entry.sure = true);
    }
}

fn began(fs: &mut Fs, pending: &Pending) -> Result<Act, Errno> {
    fs.begin(&pending.call)
        .map_err(|errno| pending.refusal(errno))
}

impl Pending {
    /// Converts the error of an impossible call. The kernel knows a removed node by a cached name that may
    /// belong to another node by now: `ESTALE` makes it resolve the whole path again (`do_filp_open`,
    /// `fs/namei.c`), so that the process sees the present node, or `ENOENT`.
    /// On a descriptor, it is the file that was removed.
    fn refusal(&self, errno: Errno) -> Errno {
        match self.ask {
            Ask::OpenFolder(_) | Ask::OpenFile(_) if errno == Errno::ENOENT => Errno::ESTALE,
            Ask::Read { .. } if errno == Errno::ENOENT => Errno::ENODEV,
            _ => errno,
        }
    }
}
