//! Sets the stage of the process arm, before anything is written and any thread started.

use harness::{
    Interruption,
    process::{self, Entered, Stage},
    suite::{NoProcessArm, PlayError},
};
use reports::ExitCode;

use super::Stop;
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
    pub(crate) stage: Result<Stage, NoProcessArm>,
    /// Whether the command is to end early.
    pub(crate) interruption: Interruption,
}

/// Starts the process that plays the drills before anything is read, because it reads everything itself: the exit code
/// with which it ended. `None` in that process; and if there is no stage, of which [`set`] then tells.
pub(crate) fn begin(hands_password: bool) -> Option<u8> {
    if process::is_inner() {
        return None;
    }
    match process::enter(hands_password) {
        Ok(Entered::Outside(code)) => Some(code),
        Ok(Entered::Inside(_)) | Err(_) => None,
    }
}

/// Sets the stage if a drill needs the process arm.
pub(crate) fn set(wanted: bool) -> Standing {
    set_for(wanted, false)
}

/// Sets the stage like [`set`]; the process that plays the drills gets the password of a store.
pub(crate) fn set_with_password(wanted: bool) -> Standing {
    set_for(wanted, true)
}

fn set_for(wanted: bool, hands_password: bool) -> Standing {
    if !wanted && !process::is_inner() {
        return Standing::Here(Here::without_stage(NoProcessArm::NotNeeded));
    }
    match process::enter(hands_password) {
        Ok(Entered::Outside(code)) => Standing::Outside(code),
        Ok(Entered::Inside(stage)) => Standing::Here(Here {
            interruption: stage.interruption().clone(),
            stage: Ok(stage),
        }),
        Err(reason) => {
            if let Some(hint) = reason.hint() {
                log(&format!("hint: for drills as processes {hint}"));
            }
            Standing::Here(Here::without_stage(reason.into()))
        }
    }
}

impl Here {
    fn without_stage(reason: NoProcessArm) -> Self {
        // Without a handler a signal ends the program at once.
        let interruption = Interruption::of_this_process().unwrap_or_default();
        Self {
            stage: Err(reason),
            interruption,
        }
    }

    /// What ends a command that could not go on: an interruption if there was one, otherwise the stage.
    pub(crate) fn stopped(&self, error: &PlayError) -> Stop {
        Stop::with(self.exit_code(ExitCode::StageNotSet), error.to_string())
    }

    /// The exit code of a command that was interrupted; `otherwise` if it was not.
    pub(crate) fn exit_code(&self, otherwise: ExitCode) -> ExitCode {
        self.interruption.exit_code().unwrap_or(otherwise)
    }
}
