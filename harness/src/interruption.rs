//! Whether somebody has asked for an early end: by Ctrl-C, SIGTERM, or the end of the terminal.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use reports::ExitCode;
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    flag,
    iterator::{Handle, Signals, SignalsInfo, exfiltrator::WithOrigin},
};

/// The stack size of a thread that only waits, in bytes.
const STACK: usize = 64 * 1024;

/// The signals that ask for an early end, with the exit code of what they end: 128 and their number, as shells have it.
const INTERRUPTIONS: [(i32, ExitCode); 3] = [
    (SIGHUP, ExitCode::HungUp),
    (SIGINT, ExitCode::Interrupted),
    (SIGTERM, ExitCode::Terminated),
];

/// Tells the exit code of each signal that asks for an early end from now on, until `tell` returns false. The signals end the
/// program no more, also after the handle is closed.
///
/// # Errors
/// If the kernel refuses a handler or a thread.
pub fn on_interruption(
    mut tell: impl FnMut(ExitCode) -> bool + Send + 'static,
) -> io::Result<Handle> {
    let mut signals = Signals::new(signals())?;
    let handle = signals.handle();
    let hear = move || {
        let mut codes = signals.forever().filter_map(exit_code_of);
        while codes.next().is_some_and(&mut tell) {}
    };
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.stack_size(STACK).spawn(hear)?;
    Ok(handle)
}

fn signals() -> [i32; 3] {
    INTERRUPTIONS.map(|(signal, _)| signal)
}

fn exit_code_of(signal: i32) -> Option<ExitCode> {
    let found = INTERRUPTIONS.into_iter().find(|(of, _)| *of == signal);
    found.map(|(_, code)| code)
}

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
        for (place, (signal, _)) in INTERRUPTIONS.into_iter().enumerate() {
            flag::register_conditional_default(signal, Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&heard.0), place + 1)?;
        }
        Ok(heard)
    }

    /// Hears the signals that come from outside of this pid namespace from now on, however many come. A monitor cannot end
    /// the run that judges it.
    ///
    /// # Errors
    /// If the kernel refuses a handler or a thread.
    pub(crate) fn hear_from_outside(&self) -> io::Result<()> {
        let mut signals = SignalsInfo::<WithOrigin>::new(signals())?;
        let heard = self.clone();
        let hear = move || {
            for origin in signals.forever() {
                // A sender that this namespace does not have, or the terminal, has no number (`pid_namespaces(7)`).
                let is_inside = origin.process.is_some_and(|sender| sender.pid > 0);
                if !is_inside {
                    heard.ask_by(origin.signal);
                }
            }
        };
        let thread = thread::Builder::new().name("signals".to_owned());
        thread.stack_size(STACK).spawn(hear)?;
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
