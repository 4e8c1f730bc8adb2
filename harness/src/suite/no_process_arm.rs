//! Why drills cannot be played as processes. Start at [`NoProcessArm`].

use std::{io, sync::Arc};

use crate::process::NoStage;

/// Why drills cannot be played as processes.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoProcessArm {
    /// The run has none.
    #[error("it was not asked for")]
    NotAskedFor,
    /// The command plays no drill as a process.
    #[error("no drill asks for it")]
    NotNeeded,
    /// There is no stage. The text is one line, because it is told in one line of a report: [`NoStage::hint`] has the rest.
    #[error("{}", first_line(.0))]
    NoStage(Arc<NoStage>),
    /// The kernel refuses a worker its folder, the affinity of its thread or a reactor.
    #[error("{0}")]
    Refused(Arc<io::Error>),
}

impl From<NoStage> for NoProcessArm {
    fn from(reason: NoStage) -> Self {
        Self::NoStage(Arc::new(reason))
    }
}

impl From<io::Error> for NoProcessArm {
    fn from(cause: io::Error) -> Self {
        Self::Refused(Arc::new(cause))
    }
}

fn first_line(reason: &NoStage) -> String {
    let text = reason.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_one_line_without_the_hint_of_the_stage() {
        let no_stage = NoStage::Fuse(io::ErrorKind::NotFound.into());
        assert!(no_stage.to_string().contains("\nhint: "), "{no_stage}");
        let reason = NoProcessArm::from(no_stage).to_string();
        assert_eq!(reason, "`/dev/fuse` cannot be opened: entity not found");
    }
}
