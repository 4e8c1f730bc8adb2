//! Turns of the drills of one job: one drill works, and a drill that only waits lets another start.
//!
//! A drill in which a read or a call hangs waits for a real timeout and has nothing to do.
//! Meanwhile the job's next drill starts. A drill whose wait is over continues at once, because its
//! monitor must not be kept waiting; for a while, two drills of the job are at work.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The turns of one job; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Turn(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Number of drills at work.
    at_work: Mutex<usize>,
    changed: Condvar,
}

impl Turn {
    /// Waits until no drill of the job is at work, and marks the caller as at work.
    pub fn enter(&self) {
        let mut at_work = self.at_work();
        while *at_work > 0 {
            at_work = self
                .0
                .changed
                .wait(at_work)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *at_work += 1;
    }

    /// Marks the caller as finished.
    pub fn leave(&self) {
        let mut at_work = self.at_work();
        *at_work = at_work.saturating_sub(1);
        drop(at_work);
        self.0.changed.notify_one();
    }

    /// Runs `wait`, in which the drill only waits, while another drill of the job may work.
    pub(crate) fn aside<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.leave();
        let done = wait();
        *self.at_work() += 1;
        done
    }

    fn at_work(&self) -> MutexGuard<'_, usize> {
        self.0
            .at_work
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn another_drill_begins_while_one_waits_and_neither_waits_for_the_other() {
        let turn = Turn::default();
        let (began, other_began) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        turn.enter();
        let other = turn.clone();
        let thread = thread::spawn(move || {
            other.enter();
            began.send(()).unwrap();
            may_go_on.recv().unwrap();
            other.leave();
        });
        turn.aside(|| other_began.recv().unwrap());
        assert_eq!(*turn.at_work(), 2);
        go_on.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(*turn.at_work(), 1);
        turn.leave();
        turn.enter();
        assert_eq!(*turn.at_work(), 1);
    }
}
