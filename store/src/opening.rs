//! Opening a store at the start of a run: nobody waits for it without end.
//!
//! A thread opens the store. A server that accepts a connection and then says nothing, and a file on a file system that hangs, keep
//! that thread for as long as they like; it ends with the program. Start at [`StoreUrl::reach`].

use std::{
    panic,
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    keeper::{self, StoreError},
    run::Run,
    url::StoreUrl,
    writer::Reached,
};

/// The pause between two looks whether an early end was asked for.
const LOOK: Duration = Duration::from_millis(20);

/// How long a store may take to open, unless something else is asked for. Chosen: as long as a server may be silent at the end.
const AT_MOST: Duration = Duration::from_secs(30);

/// How long a run waits for its store at its start.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// How long the store may take, from the first connection until it has taken an event for trial.
    pub at_most: Duration,
    /// Whether an early end was asked for.
    pub is_ended: &'a dyn Fn() -> bool,
}

/// 30 s, without an early end.
impl Default for Opening<'_> {
    fn default() -> Self {
        Self {
            at_most: AT_MOST,
            is_ended: &|| false,
        }
    }
}

impl StoreUrl {
    /// Opens the store: creates the required tables, and writes the run.
    ///
    /// # Errors
    /// [`StoreError`], if it cannot be reached or written, does not answer in time, or has other tables of those names.
    pub fn reach(&self, run: Run, opening: Opening<'_>) -> Result<Reached, StoreError> {
        let (url, run) = (self.clone(), Arc::new(run));
        let (store, of_run) = (self.to_string(), Arc::clone(&run));
        let at_most = opening.at_most;
        let begun = opening.wait(move || keeper::begin(&url, &of_run, at_most));
        let keeper = begun.map_err(|given_up| match given_up {
            GivenUp::Ended => StoreError::Ended { store },
            GivenUp::Silent => StoreError::Silent { store, at_most },
        })??;
        Ok(Reached {
            url: self.clone(),
            run,
            keeper,
        })
    }
}

/// Why nobody waits any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GivenUp {
    /// The time is over.
    Silent,
    /// An early end was asked for.
    Ended,
}

impl Opening<'_> {
    /// Waits for work that a thread does.
    ///
    /// # Errors
    /// [`GivenUp`]. The thread goes on then.
    fn wait<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, GivenUp> {
        let began = Instant::now();
        let (done, came) = channel();
        let worker = thread::spawn(move || {
            // Nobody may wait any more.
            let _ = done.send(work());
        });
        loop {
            let left = self.at_most.saturating_sub(began.elapsed());
            match came.recv_timeout(left.min(LOOK)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    let panicked = worker.join().expect_err("it ended without a result");
                    panic::resume_unwind(panicked);
                }
                Err(RecvTimeoutError::Timeout) if (self.is_ended)() => return Err(GivenUp::Ended),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(GivenUp::Silent),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for work that never ends.
    #[track_caller]
    fn check(opening: Opening<'_>, expected: GivenUp) {
        let (keep, never) = channel::<()>();
        let waited = opening.wait(move || never.recv());
        assert_eq!(waited, Err(expected));
        drop(keep);
    }

    #[test]
    fn what_never_comes_is_waited_for_until_the_time_is_over() {
        let at_most = Duration::from_millis(50);
        let opening = Opening {
            at_most,
            ..Opening::default()
        };
        check(opening, GivenUp::Silent);
    }

    #[test]
    fn an_early_end_is_waited_for_no_longer() {
        let opening = Opening {
            is_ended: &|| true,
            ..Opening::default()
        };
        check(opening, GivenUp::Ended);
    }

    #[test]
    fn what_comes_in_time_is_taken() {
        assert_eq!(Opening::default().wait(|| 7), Ok(7));
    }
}
