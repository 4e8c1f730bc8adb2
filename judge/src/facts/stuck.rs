//! The monitor is stuck in the kernel.

use observe::Broken;
use reports::CauseKind;

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::altered::change::{Alteration, AlteredSubject, Change};

/// So that nothing ends it.
pub(super) struct StuckInKernel;

impl Fact for StuckInKernel {
    fn kind(&self) -> FactKind {
        FactKind::of("stuck in the kernel", CauseKind::NotStuck)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let stuck = matches!(scene.recording.broken, Some(Broken::StuckInKernel { .. }));
        check(
            stuck,
            || "a monitor that is stuck in the kernel".to_owned(),
            || vec!["it could be ended".to_owned()],
        )
    }

    fn falsified(&self, _: &AlteredSubject<'_>) -> Vec<Alteration> {
        vec![("dropped", Change::Less(None))]
    }
}
