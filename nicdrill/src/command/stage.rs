//! Sets the stage of the process arm, before anything is written and any thread started.

use std::sync::{Arc, atomic::AtomicBool};

use harness::process::{self, Entered, Stage};

use crate::terminal::log;

/// Which process this is.
pub(crate) enum Standing {
    /// The outer process: the drills were played by another one, which ended with this code.
    Outside(u8),
    /// The process that plays the drills.
    Here(Here),
}

/// The stage of this process.
pub(crate) struct Here {
    /// The stage, or why there is none.
    pub(crate) stage: Result<Stage, String>,
}

/// Sets the stage if a drill needs the process arm.
pub(crate) fn set(wanted: bool) -> Standing {
    if !wanted {
        return Standing::Here(Here {
            stage: Err("no drill asks for it".to_owned()),
        });
    }
    match process::enter() {
        Ok(Entered::Outside(code)) => Standing::Outside(code),
        Ok(Entered::Inside(stage)) => Standing::Here(Here { stage: Ok(stage) }),
        Err(reason) => {
            if let Some(hint) = reason.hint() {
                log(&format!("hint: for drills as processes {hint}"));
            }
            Standing::Here(Here {
                stage: Err(first_line(&reason.to_string())),
            })
        }
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

/// The first line of an error, for one line of a report.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
