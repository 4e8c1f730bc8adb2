//! What one mistake of a monitor leads to, told as one cause: what follows from an event that came otherwise than it
//! should, in the same drill, and the same mistake on both link layers. Start at [`Roots`].

use std::collections::{BTreeMap, BTreeSet};

use terms::{EventField, LinkLayer, Severity};

use crate::{
    Cause, CauseKind, DrillName, DrillReport, Excuse, Finding,
    cause::{CauseAction, CauseRole, CauseSubject},
};

/// The facts that are dropped from a cause that is the same on both layers: action and layer.
const ON_BOTH_LAYERS: u8 = 2;

/// How the causes of a run are told.
#[derive(Debug, Default)]
pub(crate) struct Roots<'r> {
    /// Causes without action and layer that occur on both layers, after one action.
    on_both: BTreeSet<(Option<&'r Excuse>, Cause)>,
    /// Causes that occur only where another one does that is the same but for severity and subject: that one.
    with: BTreeMap<(Option<&'r Excuse>, Cause), Cause>,
}

impl<'r> Roots<'r> {
    /// Those of these drills.
    pub(crate) fn of(drills: &'r [DrillReport]) -> Self {
        type Seen = (BTreeSet<LinkLayer>, BTreeSet<Option<CauseAction>>, bool);
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
            layers.len() == LinkLayer::ALL.len() && actions.len() == 1 && !without
        });
        let mut roots = Self {
            on_both: both.map(|(key, _)| key).collect(),
            ..Self::default()
        };
        roots.with = roots.always_with_another(drills);
        roots
    }

    /// Which causes occur only in drills with another one of the same kind, role and action about ports or devices: one
    /// mistake is told of a port and its device, as a fault and as its end.
    fn always_with_another(
        &self,
        drills: &'r [DrillReport],
    ) -> BTreeMap<(Option<&'r Excuse>, Cause), Cause> {
        let mut of: BTreeMap<(Option<&Excuse>, Cause), BTreeSet<&DrillName>> = BTreeMap::new();
        for drill in drills {
            for finding in &drill.findings {
                let key = (finding.excuse.as_ref(), self.own(drill, finding));
                of.entry(key).or_default().insert(&drill.drill);
            }
        }
        let is_like = |one: Cause, other: Cause| {
            let plain = |cause: Cause| Cause {
                severity: None,
                subject: None,
                ..cause
            };
            let is_small = |cause: Cause| {
                matches!(
                    cause.subject,
                    Some(CauseSubject::Port | CauseSubject::Device)
                )
            };
            let may_be = matches!(
                one.kind,
                CauseKind::Missed | CauseKind::Differs | CauseKind::Unexpected | CauseKind::Silence
            );
            may_be && plain(one) == plain(other) && is_small(one) && is_small(other)
        };
        let mut with = BTreeMap::new();
        for ((excuse, cause), within) in &of {
            // The one with the most drills; of equals the first.
            let others = of.iter().filter(|((of, other), drills)| {
                let is_more = drills.len() > within.len() || other < cause;
                of == excuse && is_more && is_like(*cause, *other) && within.is_subset(drills)
            });
            let most =
                others.max_by_key(|((_, other), drills)| (drills.len(), std::cmp::Reverse(*other)));
            if let Some(((_, other), _)) = most {
                with.insert((*excuse, *cause), *other);
            }
        }
        with
    }

    /// The cause with which a finding is told.
    pub(crate) fn root(&self, drill: &DrillReport, finding: &'r Finding) -> Cause {
        let own = self.own(drill, finding);
        let with = self.with.get(&(finding.excuse.as_ref(), own));
        with.copied().unwrap_or(own)
    }

    /// The same before what is always with another cause is told there.
    fn own(&self, drill: &DrillReport, finding: &'r Finding) -> Cause {
        let cause = root_in(drill, finding);
        let both = cause.coarser(ON_BOTH_LAYERS);
        match self.on_both.contains(&(finding.excuse.as_ref(), both)) {
            true => both,
            false => cause,
        }
    }
}

/// The cause of a finding, or that of an earlier one in the same drill from which it follows.
fn root_in(drill: &DrillReport, finding: &Finding) -> Cause {
    let at = drill
        .findings
        .iter()
        .position(|one| std::ptr::eq(one, finding));
    let earlier = &drill.findings[..at.unwrap_or(0)];
    let first = earlier.iter().find(|one| {
        one.excuse == finding.excuse
            && one.arm == finding.arm
            && one.node == finding.node
            && follows(finding.cause, one.cause)
    });
    if let Some(first) = first {
        // What this follows from may follow from another one.
        return root_in(drill, first);
    }
    let cause = finding.cause;
    if cause.field == Some(EventField::Entities) {
        // A monitor that names a device otherwise does so in every event.
        return Cause {
            field: cause.field,
            ..Cause::of(cause.kind)
        };
    }
    // A monitor that watches what nobody must watch says all of it, whatever happens.
    let is_unwatched =
        cause.kind == CauseKind::Unexpected && cause.role == Some(CauseRole::Unmonitored);
    Cause {
        severity: cause.severity.filter(|_| !is_unwatched),
        // What is said again is so because of what was said before, whatever happened since.
        action: (cause.action).filter(|_| cause.kind != CauseKind::Repeats && !is_unwatched),
        ..cause
    }
}

/// Whether a finding can follow from an earlier one. After an event that came otherwise than it should, the monitor has
/// reported something else of its subject than the scenario supposes; and a cluster makes something else of it.
fn follows(cause: Cause, from: Cause) -> bool {
    use CauseKind as Kind;
    let parts = matches!(
        from.kind,
        Kind::Missed | Kind::Differs | Kind::NotDelivered | Kind::Repeats
    );
    match cause.kind {
        Kind::Missed
        | Kind::Differs
        | Kind::Early
        | Kind::Late
        | Kind::NotDelivered
        | Kind::Unexpected
        | Kind::Silence
        | Kind::Repeats
        | Kind::NotCleared => {
            // An alarm that nobody expects is one mistake with its end.
            let stays = cause.kind == Kind::NotCleared
                && matches!(from.kind, Kind::Unexpected | Kind::Silence)
                && cause.severity == from.severity
                && cause.subject == from.subject;
            let ends = matches!(cause.kind, Kind::Unexpected | Kind::Silence | Kind::Repeats)
                && cause.severity == Some(Severity::Healthy)
                && matches!(from.kind, Kind::Unexpected | Kind::Silence)
                && from.severity != Some(Severity::Healthy);
            let is_breach =
                from.kind == Kind::Contract && from.field == cause.field && cause.field.is_some();
            // An event of a check that does not run is of no layer.
            let is_of_no_check = from.kind == Kind::Contract
                && from.field == Some(EventField::CheckName)
                && cause.layer.is_none()
                && matches!(
                    cause.kind,
                    Kind::Unexpected | Kind::Silence | Kind::Repeats | Kind::NotCleared
                );
            // Whom an event means whose entities are wrong nobody knows.
            let is_of_nobody = cause.subject == Some(CauseSubject::Other)
                && from.field == Some(EventField::Entities);
            is_breach
                || is_of_no_check
                || is_of_nobody
                || (parts && !came_anyway(cause, from) || stays || ends) && is_of_it(cause, from)
        }
        Kind::ConditionLeft
        | Kind::CordonLeft
        | Kind::Condition
        | Kind::Cordon
        | Kind::Release
        | Kind::Rule
        | Kind::Verdict => {
            let came_late = matches!(from.kind, Kind::Early | Kind::Late | Kind::Unexpected);
            parts || came_late || from.kind == Kind::NotCleared
        }
        _ => false,
    }
}

/// Whether an event did not come at all that has nothing to do with how an earlier one was written: that one came.
fn came_anyway(cause: Cause, from: Cause) -> bool {
    let is_written = matches!(
        from.field,
        Some(EventField::ErrorCode | EventField::Message | EventField::Timestamp)
    );
    cause.kind == CauseKind::Missed && from.kind == CauseKind::Differs && is_written
}

/// Whether the subject of a cause can be that of another one, or a port of it; or its device, where the port was left out.
fn is_of_it(cause: Cause, of: Cause) -> bool {
    let is_same = cause.subject == of.subject;
    let pair = (cause.subject, of.subject);
    let is_port_of_it = pair == (Some(CauseSubject::Port), Some(CauseSubject::Device));
    let is_device_of_it = pair == (Some(CauseSubject::Device), Some(CauseSubject::Port))
        && (of.field == Some(EventField::Entities)
            || (cause.kind, of.kind) == (CauseKind::Missed, CauseKind::Missed));
    // An event that names a device which does not exist is about what is missing.
    let is_named_otherwise =
        cause.role == Some(CauseRole::Absent) && of.field == Some(EventField::Entities);
    (cause.role == of.role || is_named_otherwise)
        && cause.layer == of.layer
        && (is_same || is_port_of_it || is_device_of_it)
}

#[cfg(test)]
mod tests {
    use crate::{FindingKind, check::found};
    use terms::Arm;

    use super::*;

    fn cause(kind: CauseKind, severity: Severity, layer: LinkLayer) -> Cause {
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
            arm: Some(Arm::Process),
            ..Finding::plain(FindingKind::Missing, None, "poll 3")
        };
        found("port/s", world, causes.iter().map(finding).collect())
    }

    fn roots(drills: &[DrillReport]) -> BTreeSet<String> {
        let roots = Roots::of(drills);
        let all = drills.iter().flat_map(|drill| {
            let findings = drill.findings.iter();
            findings.map(|finding| roots.root(drill, finding).to_string())
        });
        all.collect()
    }

    const INFINIBAND: LinkLayer = LinkLayer::InfiniBand;
    const ETHERNET: LinkLayer = LinkLayer::Ethernet;

    #[test]
    fn a_fault_that_stays_because_its_clear_did_not_come_has_one_root_on_both_layers() {
        let on = |layer| {
            [
                cause(CauseKind::Missed, Severity::Healthy, layer),
                cause(CauseKind::NotCleared, Severity::Fatal, layer),
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
    fn what_is_found_of_another_subject_or_before_is_a_cause_of_its_own() {
        let missed = cause(CauseKind::Missed, Severity::Fatal, INFINIBAND);
        let elsewhere = cause(CauseKind::Differs, Severity::Fatal, ETHERNET);
        let too_early = cause(CauseKind::Early, Severity::Fatal, INFINIBAND);
        assert_eq!(
            roots(&[drill("a", &[too_early, missed, elsewhere])]).len(),
            3
        );
        assert_eq!(roots(&[drill("a", &[missed, too_early])]).len(), 1);
    }

    #[test]
    fn what_stays_of_a_device_that_does_not_exist_follows_from_its_wrong_name() {
        let role = |role, cause: Cause| Cause {
            role: Some(role),
            ..cause
        };
        let missed = cause(CauseKind::Differs, Severity::Healthy, INFINIBAND);
        let missed = role(CauseRole::Monitored, missed);
        let renamed = Cause {
            field: Some(EventField::Entities),
            ..missed
        };
        let stays = cause(CauseKind::NotCleared, Severity::Fatal, INFINIBAND);
        let stays = role(CauseRole::Absent, stays);
        assert_eq!(roots(&[drill("a", &[renamed, stays])]).len(), 1);
        assert_eq!(roots(&[drill("a", &[missed, stays])]).len(), 2);
    }

    /// Of a monitor that names the port before its device no event is understood.
    #[test]
    fn what_is_said_with_wrong_entities_has_one_root() {
        let entities = Some(EventField::Entities);
        let breach = Cause {
            field: entities,
            ..Cause::of(CauseKind::Contract)
        };
        let differs = |severity, layer| Cause {
            field: entities,
            ..cause(CauseKind::Differs, severity, layer)
        };
        let of_nobody = |kind, severity| Cause {
            subject: Some(CauseSubject::Other),
            ..cause(kind, severity, INFINIBAND)
        };
        let (fatal, healthy) = (Severity::Fatal, Severity::Healthy);
        let all = [
            breach,
            differs(healthy, INFINIBAND),
            differs(fatal, ETHERNET),
            of_nobody(CauseKind::Unexpected, healthy),
            of_nobody(CauseKind::NotCleared, fatal),
            Cause::of(CauseKind::ConditionLeft),
        ];
        let root = "contract.entities".to_owned();
        assert_eq!(roots(&[drill("a", &all)]), BTreeSet::from([root]));
    }

    /// A monitor with another name for a check says what it says by a check of which nothing is known.
    #[test]
    fn what_is_said_by_another_check_name_has_one_root() {
        let breach = Cause {
            field: Some(EventField::CheckName),
            ..Cause::of(CauseKind::Contract)
        };
        let of_no_layer = |kind, severity| Cause {
            layer: None,
            action: Some(CauseAction::Port),
            ..cause(kind, severity, INFINIBAND)
        };
        let (fatal, healthy) = (Severity::Fatal, Severity::Healthy);
        let unexpected = of_no_layer(CauseKind::Unexpected, healthy);
        let repeats = of_no_layer(CauseKind::Repeats, fatal);
        let root = "contract.check-name".to_owned();
        let drills = [drill("a", &[breach, unexpected, repeats])];
        assert_eq!(roots(&drills), BTreeSet::from([root]));
        // By a check that runs it is another mistake.
        let by_a_check = cause(CauseKind::Unexpected, healthy, INFINIBAND);
        assert_eq!(roots(&[drill("a", &[breach, by_a_check])]).len(), 2);
    }

    #[test]
    fn a_port_that_nobody_must_watch_is_one_cause_whatever_happened_before() {
        let of = |severity, action| Cause {
            role: Some(CauseRole::Unmonitored),
            action,
            ..cause(CauseKind::Unexpected, severity, ETHERNET)
        };
        let (fatal, healthy) = (Severity::Fatal, Severity::Healthy);
        let drills = [
            drill("a", &[of(healthy, None)]),
            drill(
                "b",
                &[
                    of(fatal, Some(CauseAction::Port)),
                    of(healthy, Some(CauseAction::Connector)),
                ],
            ),
        ];
        assert_eq!(
            roots(&drills),
            BTreeSet::from(["unexpected.port.unmonitored.ethernet".to_owned()])
        );
    }

    #[test]
    fn a_clear_that_is_missing_does_not_follow_from_a_wrong_error_code() {
        let wrong = |field| Cause {
            field: Some(field),
            ..cause(CauseKind::Differs, Severity::Fatal, INFINIBAND)
        };
        let clear = cause(CauseKind::Missed, Severity::Healthy, INFINIBAND);
        let with = |field| roots(&[drill("a", &[wrong(field), clear])]).len();
        assert_eq!(with(EventField::ErrorCode), 2);
        assert_eq!(with(EventField::Severity), 1);
    }

    #[test]
    fn what_stays_of_an_alarm_that_nobody_expects_is_one_mistake_with_it() {
        let alarm = cause(CauseKind::Unexpected, Severity::Fatal, INFINIBAND);
        let stays = cause(CauseKind::NotCleared, Severity::Fatal, INFINIBAND);
        assert_eq!(roots(&[drill("a", &[alarm, stays])]).len(), 1);
        let other = cause(CauseKind::NotCleared, Severity::NonFatal, INFINIBAND);
        assert_eq!(roots(&[drill("a", &[alarm, other])]).len(), 2);
    }

    /// A device that is called gone is called healthy later, and so are its ports.
    #[test]
    fn the_end_of_an_alarm_that_nobody_expects_is_one_mistake_with_it() {
        let alarm = |subject, severity, kind| Cause {
            subject: Some(subject),
            ..cause(kind, severity, INFINIBAND)
        };
        let (fatal, healthy) = (Severity::Fatal, Severity::Healthy);
        let (port, device) = (CauseSubject::Port, CauseSubject::Device);
        let all = [
            alarm(device, fatal, CauseKind::Silence),
            alarm(device, healthy, CauseKind::Silence),
            alarm(port, healthy, CauseKind::Repeats),
        ];
        assert_eq!(roots(&[drill("a", &all)]).len(), 1);
        assert_eq!(roots(&[drill("a", &all[1..])]).len(), 2);
    }

    #[test]
    fn what_follows_from_what_follows_has_one_root() {
        let breach = Cause {
            field: Some(EventField::ErrorCode),
            ..Cause::of(CauseKind::Contract)
        };
        let differs = Cause {
            field: Some(EventField::ErrorCode),
            ..cause(CauseKind::Differs, Severity::Fatal, INFINIBAND)
        };
        let stays = cause(CauseKind::NotCleared, Severity::Fatal, INFINIBAND);
        let all = [breach, differs, stays];
        assert_eq!(
            roots(&[drill("a", &all)]),
            BTreeSet::from(["contract.error-code".to_owned()])
        );
    }

    /// A monitor that is silent about unreadable files misses the fault of the port, that of the device, and their ends.
    #[test]
    fn one_mistake_about_a_port_and_its_device_is_one_cause() {
        let of = |subject, severity, layer| Cause {
            subject: Some(subject),
            action: Some(CauseAction::File),
            ..cause(CauseKind::Missed, severity, layer)
        };
        let (port, device) = (CauseSubject::Port, CauseSubject::Device);
        let (fatal, healthy) = (Severity::Fatal, Severity::Healthy);
        let on = |layer| {
            let port = |severity| of(port, severity, layer);
            [
                port(fatal),
                of(device, fatal, layer),
                port(healthy),
                of(device, healthy, layer),
            ]
        };
        let drills = [drill("a", &on(INFINIBAND)), drill("b", &on(ETHERNET))];
        assert_eq!(
            roots(&drills),
            BTreeSet::from(["missed.fatal.port".to_owned()])
        );
        // The end alone is missed in another drill: that is another mistake.
        let alone = [of(device, healthy, INFINIBAND)];
        let drills = [drill("a", &on(INFINIBAND)), drill("c", &alone)];
        assert_eq!(roots(&drills).len(), 2);
    }

    #[test]
    fn repeats_are_one_cause_whatever_happened_before() {
        let repeats = |action| Cause {
            action,
            ..cause(CauseKind::Repeats, Severity::Healthy, INFINIBAND)
        };
        let both = [repeats(None), repeats(Some(CauseAction::Healing))];
        assert_eq!(roots(&[drill("a", &both)]).len(), 1);
    }

    #[test]
    fn layers_stay_apart_if_the_actions_differ() {
        let of = |layer, action| Cause {
            action: Some(action),
            ..cause(CauseKind::Missed, Severity::Fatal, layer)
        };
        let drills = [
            drill("a", &[of(INFINIBAND, CauseAction::Port)]),
            drill("b", &[of(ETHERNET, CauseAction::Device)]),
        ];
        assert_eq!(roots(&drills).len(), 2);
    }
}
