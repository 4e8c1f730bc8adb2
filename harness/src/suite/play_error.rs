//! Why drills that are played for somebody else than a judge ended early. Start at [`PlayError`].

use reports::DrillName;
use scenarios::Unfit;

use super::NoProcessArm;

/// Why drills were not all played to their end.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PlayError {
    /// There is no player.
    #[error(transparent)]
    NoProcessArm(#[from] NoProcessArm),
    /// nicdrill panicked while it played: a bug.
    #[error("{}{panic}", before(drill.as_deref()))]
    Panicked {
        /// The name of the drill; `None` if the panic was not in one drill alone.
        drill: Option<String>,
        /// What the panic said.
        panic: String,
    },
    /// A drill cannot be played in its world.
    #[error("{drill}: {unfit}")]
    Unfit {
        /// The drill.
        drill: DrillName,
        /// Why.
        unfit: Box<Unfit>,
    },
    /// The scenario or platform of a drill is gone.
    #[error("{0} is gone")]
    Gone(DrillName),
    /// The stage of a drill could not be set, or not be kept.
    #[error("{drill}: {cause}")]
    Stage {
        /// The drill.
        drill: DrillName,
        /// The cause, as the recording has it.
        cause: String,
    },
    /// Somebody asked for an early end.
    #[error("it was interrupted")]
    Interrupted,
}

fn before(drill: Option<&str>) -> String {
    drill.map_or_else(String::new, |drill| format!("{drill}: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(drill: Option<&str>, expected: &str) {
        let error = PlayError::Panicked {
            drill: drill.map(str::to_owned),
            panic: "no such port".to_owned(),
        };
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_panic_is_told_with_the_drill_that_it_was_in() {
        check(Some("port/cut"), "port/cut: no such port");
        check(None, "no such port");
    }
}
