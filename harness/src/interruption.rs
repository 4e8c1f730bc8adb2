//! Whether somebody has asked for an early end: by Ctrl-C, SIGTERM, or the end of the terminal.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use reports::ExitCode;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
};

/// The signals that ask for an early end, with the exit code of what they end: 128 and their number, as shells have it.
pub const INTERRUPTIONS: [(i32, ExitCode); 3] = [
    (SIGHUP, ExitCode::HungUp),
    (SIGINT, ExitCode::Interrupted),
    (SIGTERM, ExitCode::Terminated),
];

/// Whether an early end was asked for, and by which signal. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interruption(Arc<AtomicUsize>);

impl Interruption {
    /// Hears the signals of this process from now on. The second one ends it at once.
    ///
    /// # Errors
    /// If the kernel refuses a handler.
    pub fn of_this_process() -> io::Result<Self> {
        let heard = Self::default();
        let again = Arc::new(AtomicBool::new(false));
        for (signal, _) in INTERRUPTIONS {
            flag::register_conditional_default(signal, Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
        }
        heard.hear()?;
        Ok(heard)
    }

    /// Hears the signals of this process from now on, however many come.
    ///
    /// # Errors
    /// If the kernel refuses a handler.
    pub(crate) fn hear(&self) -> io::Result<()> {
        for (place, (signal, _)) in INTERRUPTIONS.into_iter().enumerate() {
            flag::register_usize(signal, Arc::clone(&self.0), place + 1)?;
        }
        Ok(())
    }

    /// Whether an early end was asked for.
    #[must_use]
    pub fn is_asked_for(&self) -> bool {
        self.exit_code().is_some()
    }

    /// The exit code of what is ended early; `None` if nothing is.
    #[must_use]
    pub fn exit_code(&self) -> Option<ExitCode> {
        let place = self.0.load(Ordering::Relaxed).checked_sub(1)?;
        Some(INTERRUPTIONS[place].1)
    }

    /// Asks for an early end, as Ctrl-C does.
    pub fn ask(&self) {
        self.ask_by(SIGINT);
    }

    /// Asks for an early end, as this signal does; other signals than those do nothing.
    pub(crate) fn ask_by(&self, signal: i32) {
        let place = INTERRUPTIONS.iter().position(|(of, _)| *of == signal);
        if let Some(place) = place {
            self.0.store(place + 1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_the_signals() {
        for (signal, code) in INTERRUPTIONS {
            assert_eq!(128 + signal, i32::from(code.code()));
        }
        let interruption = Interruption::default();
        assert_eq!(interruption.exit_code(), None);
        interruption.clone().ask();
        assert_eq!(interruption.exit_code(), Some(ExitCode::Interrupted));
    }
}
