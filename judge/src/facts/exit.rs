//! The monitor exits.

use observe::{Exit, Pace};
use reports::CauseKind;
use scenarios::What;

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::{
    altered::change::{Alteration, AlteredSubject},
    reasons,
    trace::ended,
};

/// With this code.
pub(super) struct ExitsWith(pub(super) i32);

impl Fact for ExitsWith {
    fn kind(&self) -> FactKind {
        FactKind::of("exit", CauseKind::Exit)
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        let is_run = scene.context.descriptor.pace() == Pace::Runs;
        is_run.then_some(reasons::BETWEEN_RUNS)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let exits: Vec<(u64, Exit)> = scene
            .instances()
            .flat_map(|(tick, instance)| instance.exits.iter().map(move |exit| (tick, *exit)))
            .collect();
        let found = exits.iter().any(|(_, exit)| *exit == Exit::Code(self.0));
        let rendered = |(tick, exit): &(u64, Exit)| format!("poll {tick}: {}", ended(*exit));
        check(
            found,
            || format!("exit code {}", self.0),
            || exits.iter().map(rendered).collect(),
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let other = What::Exit { code: self.0 + 1 };
        vec![("another code", subject.line(other))]
    }
}
