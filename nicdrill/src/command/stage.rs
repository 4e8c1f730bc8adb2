//! Setting the stage of the process arm, before anything is written and any thread started.

use std::sync::{Arc, atomic::AtomicBool};

use harness::process::{self, Entered, Stage};

/// Where this process stands.
pub(crate) enum Standing {
    /// The drills are played by another process, which has ended with this code.
    Outside(u8),
    /// They are played here.
    Here(Here),
}

/// What there is to play on.
pub(crate) struct Here {
    /// The stage, or why there is none.
    pub(crate) stage: Result<Stage, String>,
}

/// Sets the stage if some drill is to be played as a process.
pub(crate) fn set(wanted: bool) -> Standing {
    if !wanted {
        return Standing::Here(Here {
            stage: Err("no drill asks for it".to_owned()),
        });
    }
    match process::enter() {
        Ok(Entered::Outside(code)) => Standing::Outside(code),
        Ok(Entered::Inside(stage)) => Standing::Here(Here { stage: Ok(stage) }),
        Err(reason) => Standing::Here(Here {
            stage: Err(first_line(&reason.to_string())),
        }),
    }
}

impl Here {
    /// Becomes true when the run is to end early.
    pub(crate) fn interrupted(&self) -> Arc<AtomicBool> {
        self.stage
            .as_ref()
            .map_or_else(|_| Arc::default(), |stage| Arc::clone(stage.interrupted()))
    }
}

/// A reason stands in one line of a report; what helps stands in the documentation.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
