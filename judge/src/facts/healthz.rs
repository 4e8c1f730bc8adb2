//! The status of `/healthz`.

use reports::CauseKind;
use scenarios::What;

use super::fact::{Fact, FactKind, Outcome, Scene, check};
use crate::{
    altered::change::{Alteration, AlteredSubject},
    reasons,
};

/// This HTTP status.
pub(super) struct Healthz(pub(super) u16);

impl Fact for Healthz {
    fn kind(&self) -> FactKind {
        FactKind::of("healthz", CauseKind::Healthz)
    }

    fn not_judged(&self, scene: &Scene<'_>) -> Option<&'static str> {
        let page = &scene.context.descriptor.healthz;
        page.is_none().then_some(reasons::HEALTHZ)
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        let answered = scene.answers().and_then(|answered| answered.healthz);
        let came = answered.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        check(
            answered == Some(self.0),
            || format!("{} from `/healthz`", self.0),
            || vec![came],
        )
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let status = self.0 + 1;
        vec![("another status", subject.line(What::Healthz { status }))]
    }
}
