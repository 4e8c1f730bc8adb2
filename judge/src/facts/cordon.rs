//! A node is cordoned at the end of polls, or is released.

use cluster::ConsequenceKind;
use platforms::NodeName;
use reports::CauseKind;
use scenarios::{Stands, What, Window};

use super::fact::{Fact, FactKind, FactLane, Outcome, Scene, check};
use super::stands::{at, opposite, standing, within};
use crate::{
    altered::change::{Alteration, AlteredSubject},
    consequences::{ClusterState, Consequences, TickMade},
};

/// It is cordoned, or is not.
pub(super) struct Cordoned(pub(super) Stands);

/// It is released, or is not.
pub(super) struct Released(pub(super) bool);

impl Fact for Cordoned {
    fn kind(&self) -> FactKind {
        FactKind {
            needs_connector: true,
            ..FactKind::of("cordoned", CauseKind::Cordon)
        }
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Cluster
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        cordoned(self.0, scene.node, scene.expectation.window, scene.made)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        let other = What::Cordoned(opposite(self.0));
        vec![("the opposite", subject.line(other))]
    }
}

impl Fact for Released {
    fn kind(&self) -> FactKind {
        FactKind {
            needs_connector: true,
            ..FactKind::of("released", CauseKind::Release)
        }
    }

    fn lane(&self) -> FactLane<'_> {
        FactLane::Cluster
    }

    fn outcome(&self, scene: &Scene<'_>) -> Outcome {
        uncordoned(self.0, scene.node, scene.expectation.window, scene.made)
    }

    fn falsified(&self, subject: &AlteredSubject<'_>) -> Vec<Alteration> {
        vec![("the opposite", subject.line(What::Uncordoned(!self.0)))]
    }
}

/// Checks an expectation of a cordon.
pub(super) fn cordoned(
    is: Stands,
    node: &NodeName,
    window: Window,
    made: &Consequences,
) -> Outcome {
    let faults = |_: u64, made: &ClusterState| -> Vec<String> {
        let faults = made.cordoned.get(node.as_str()).into_iter().flatten();
        faults.map(|fault| format!("cordoned: {fault}")).collect()
    };
    let wanted = || {
        let word = if is.is { "cordoned" } else { "schedulable" };
        format!("`{node}` is {word}")
    };
    standing(is, window, made, wanted, faults)
}

/// Checks an expectation of a release.
pub(super) fn uncordoned(
    is: bool,
    node: &NodeName,
    window: Window,
    made: &Consequences,
) -> Outcome {
    let of_cordons = |tick: u64, tick_made: &TickMade| -> Vec<(bool, String)> {
        let consequence =
            tick_made
                .consequences
                .iter()
                .filter_map(|consequence| match &consequence.what {
                    ConsequenceKind::Uncordoned { node: of } if of == node.as_str() => {
                        Some((true, &consequence.what))
                    }
                    ConsequenceKind::Cordoned { node: of, .. } if of == node.as_str() => {
                        Some((false, &consequence.what))
                    }
                    _ => None,
                });
        let at = at(tick, tick_made);
        consequence
            .map(|(released, what)| (released, format!("{at}: {what}")))
            .collect()
    };
    let in_window = made.between(window.from, window.to);
    let mut actions = in_window.flat_map(|(tick, made)| of_cordons(tick, made));
    check(
        actions.any(|(released, _)| released) == is,
        || {
            let word = if is { "released" } else { "not released" };
            format!("`{node}` is {word} {}", within(window))
        },
        || {
            let all = made.between(0, u64::MAX);
            let actions = all.flat_map(|(tick, made)| of_cordons(tick, made));
            actions.map(|(_, line)| line).collect()
        },
    )
}
