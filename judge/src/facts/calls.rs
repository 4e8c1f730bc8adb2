//! So many calls are received.

use reports::CauseKind;
use scenarios::What;

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, check};
use crate::altered::change::{Alteration, AlteredSubject};

/// This many.
pub(super) struct Calls(pub(super) u64);

impl Fact for Calls {
    fn kind(&self) -> FactKind {
        FactKind {
            needs_connector: true,
            needs_events: true,
            ..FactKind::of("calls", CauseKind::Calls)
        }
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Connector
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let all = scene.instances();
        let calls: u64 = all.map(|(_, instance)| instance.calls.len() as u64).sum();
        check(
            calls == self.0,
            || reports::counted(self.0, "call"),
            || vec![reports::counted(calls, "call")],
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let count = self.0 + 1;
        vec![("another count", subject.line(What::Calls { count }))]
    }
}
