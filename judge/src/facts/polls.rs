//! So many polls happen.

use reports::CauseKind;
use scenarios::What;

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::altered::change::{Alteration, AlteredSubject};

/// This many.
pub(super) struct Polls(pub(super) u64);

impl Fact for Polls {
    fn kind(&self) -> FactKind {
        FactKind::of("polls", CauseKind::Polls)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let all = scene.instances();
        let polls: u64 = all.map(|(_, instance)| u64::from(instance.polls)).sum();
        check(
            polls == self.0,
            || reports::counted(self.0, "poll"),
            || vec![reports::counted(polls, "poll")],
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        vec![("another count", subject.line(What::Polls(self.0 + 1)))]
    }
}
