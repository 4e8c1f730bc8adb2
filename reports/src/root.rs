//! What one mistake of a monitor leads to, told as one cause: what follows from an event that came otherwise than it
//! should, in the same drill, and the same mistake on both link layers. Start at [`Roots`].

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Cause, CauseKind, DrillReport, Excuse, Finding,
    cause::{CauseAction, CauseLayer, CauseSeverity},
};

/// The facts that are dropped from a cause that is the same on both layers: action and layer.
const ON_BOTH_LAYERS: u8 = 2;

/// How the causes of a run are told.
#[derive(Debug, Default)]
pub(crate) struct Roots<'r> {
    /// Causes without action and layer that occur on both layers, after one action.
    on_both: BTreeSet<(Option<&'r Excuse>, Cause)>,
}

impl<'r> Roots<'r> {
    /// Those of these drills.
    pub(crate) fn of(drills: &'r [DrillReport]) -> Self {
        type Seen = (BTreeSet<CauseLayer>, BTreeSet<Option<CauseAction>>, bool);
        let mut seen: BTreeMap<(Option<&Excuse>, Cause), Seen> = BTreeMap::new();
        for drill in drills {
            for finding in &drill.findings {
                let cause = root_in(drill, finding);
                let key = (finding.excuse.as_ref(), cause.coarser(ON_BOTH_LAYERS));
                let (layers, actions, without) = seen.entry(key).or_default();
                layers.extend(cause.layer);
                actions.insert(cause.action);
                *without |= cause.layer.is_none();
            }
        }
        let both = seen.into_iter().filter(|(_, (layers, actions, without))| {
            layers.len() == CauseLayer::ALL.len() && actions.len() == 1 && !without
        });
        Self {
            on_both: both.map(|(key, _)| key).collect(),
        }
    }

    /// The cause with which a finding is told.
    pub(crate) fn root(&self, drill: &DrillReport, finding: &'r Finding) -> Cause {
        let cause = root_in(drill, finding);
        let both = cause.coarser(ON_BOTH_LAYERS);
        match self.on_both.contains(&(finding.excuse.as_ref(), both)) {
            true => both,
            false => cause,
        }
    }
}

/// The cause of a finding, or that of the event in the same drill from which it follows.
fn root_in(drill: &DrillReport, finding: &Finding) -> Cause {
    let cause = finding.cause;
    let first = drill.findings.iter().find(|one| {
        one.excuse == finding.excuse && one.arm == finding.arm && follows(cause, one.cause)
    });
    first.map_or(cause, |one| one.cause)
}

/// Whether a finding can follow from another one: a fault that is not cleared from a healthy event that did not come
/// right, and what a cluster makes of events from any.
fn follows(cause: Cause, from: Cause) -> bool {
    use CauseKind as Kind;
    let is_event = matches!(
        from.kind,
        Kind::Missed
            | Kind::Differs
            | Kind::Early
            | Kind::Late
            | Kind::NotDelivered
            | Kind::TooRarely
            | Kind::Unexpected
            | Kind::Silence
    );
    match cause.kind {
        Kind::NotCleared => {
            let is_clear = from.severity == Some(CauseSeverity::Healthy);
            let same = from.subject == cause.subject && from.layer == cause.layer;
            is_event && is_clear && same
        }
        Kind::ConditionLeft
        | Kind::CordonLeft
        | Kind::Condition
        | Kind::Cordon
        | Kind::Release
        | Kind::Rule
        | Kind::Verdict => is_event || from.kind == Kind::NotCleared,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::{ArmName, DrillName, FindingKind, Judged, Wall, cause::CauseSubject};

    use super::*;

    fn cause(kind: CauseKind, severity: CauseSeverity, layer: CauseLayer) -> Cause {
        Cause {
            severity: Some(severity),
            subject: Some(CauseSubject::Port),
            layer: Some(layer),
            ..Cause::of(kind)
        }
    }

    fn drill(world: &str, causes: &[Cause]) -> DrillReport {
        let finding = |cause: &Cause| Finding {
            cause: *cause,
            arm: Some(ArmName::Process),
            ..Finding::plain(FindingKind::Missing, None, "poll 3")
        };
        DrillReport {
            drill: DrillName {
                scenario: "port/s".to_owned(),
                world: world.to_owned(),
            },
            outcome: DrillReport::outcome_of(&[], &[]),
            arms: Vec::new(),
            findings: causes.iter().map(finding).collect(),
            verdicts: Vec::new(),
            judged: Judged::default(),
            file: String::new(),
            repeat: String::new(),
            show: String::new(),
            wall: Wall::default(),
        }
    }

    fn roots(drills: &[DrillReport]) -> BTreeSet<String> {
        let roots = Roots::of(drills);
        let all = drills.iter().flat_map(|drill| {
            let findings = drill.findings.iter();
            findings.map(|finding| roots.root(drill, finding).to_string())
        });
        all.collect()
    }

    const INFINIBAND: CauseLayer = CauseLayer::InfiniBand;
    const ETHERNET: CauseLayer = CauseLayer::Ethernet;

    #[test]
    fn a_fault_that_stays_because_its_clear_did_not_come_has_one_root_on_both_layers() {
        let on = |layer| {
            [
                cause(CauseKind::Missed, CauseSeverity::Healthy, layer),
                cause(CauseKind::NotCleared, CauseSeverity::Fatal, layer),
                Cause::of(CauseKind::CordonLeft),
            ]
        };
        let drills = [drill("a", &on(INFINIBAND)), drill("b", &on(ETHERNET))];
        assert_eq!(
            roots(&drills),
            BTreeSet::from(["missed.healthy.port".to_owned()])
        );
        let one = roots(&drills[..1]);
        assert_eq!(
            one,
            BTreeSet::from(["missed.healthy.port.infiniband".to_owned()])
        );
    }

    #[test]
    fn a_fault_that_stays_although_no_clear_is_missing_is_a_cause_of_its_own() {
        let missed = cause(CauseKind::Missed, CauseSeverity::Fatal, INFINIBAND);
        let left = cause(CauseKind::NotCleared, CauseSeverity::Fatal, INFINIBAND);
        assert_eq!(roots(&[drill("a", &[missed, left])]).len(), 2);
    }

    #[test]
    fn layers_stay_apart_if_the_actions_differ() {
        let of = |layer, action| Cause {
            action: Some(action),
            ..cause(CauseKind::Missed, CauseSeverity::Fatal, layer)
        };
        let drills = [
            drill("a", &[of(INFINIBAND, CauseAction::Port)]),
            drill("b", &[of(ETHERNET, CauseAction::Device)]),
        ];
        assert_eq!(roots(&drills).len(), 2);
    }
}
