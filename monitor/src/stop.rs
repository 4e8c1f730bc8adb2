//! The request to stop: SIGTERM or SIGINT.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

/// Cheap to clone; all clones see the same request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    is_asked: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl Stop {
    /// Handles the signals on a small thread of its own.
    pub(crate) fn on_signals() -> io::Result<Stop> {
        const STACK_BYTES: usize = 64 * 1024;
        let stop = Stop::default();
        let rendered = stop.clone();
        let mut signals = Signals::new([SIGTERM, SIGINT])?;
        std::thread::Builder::new()
            .name("signals".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                for _ in &mut signals {
                    rendered.ask();
                }
            })?;
        Ok(stop)
    }

    pub(crate) fn ask(&self) {
        self.is_asked.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst)
    }

    /// Waits until a stop is requested.
    pub(crate) async fn asked(&self) {
        while !self.is_asked() {
            self.notify.notified().await;
        }
    }
}
