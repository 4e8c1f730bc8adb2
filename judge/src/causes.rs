//! The facts of a finding's cause: the subject with its role and layer, the severity, the field that
//! differs, and the last action of the scenario before the finding. Start at [`JudgeContext::action`].

use platforms::{LinkLayer, NodeName};
use reports::{
    Cause, CauseAction, CauseField, CauseKind, CauseLayer, CauseRole, CauseSeverity, CauseSubject,
};
use scenarios::{About, EventPattern, StepAction, Tone, What};

use director::FunctionView;
use fabric::{Action, PortAction, PortsAction};
use observe::{BreachField, Observation, Severity, Subject};

use crate::fits::{JudgeContext, layer_of_check};

impl JudgeContext<'_> {
    /// What the last action before the end of a tick acts on; `None` if there was none.
    pub(crate) fn action(&self, tick: u64, healing_from: Option<u64>) -> Option<CauseAction> {
        if healing_from.is_some_and(|from| from <= tick) {
            return Some(CauseAction::Healing);
        }
        let done = |step: &&scenarios::Step| {
            !step.actions.is_empty() && step.at.div_ceil(self.story.tick) <= tick
        };
        let steps = self.story.steps.iter();
        let last = steps.filter(done).next_back().or(self.story.given.last());
        last.and_then(|step| step.actions.last()).map(acts_on)
    }

    /// The cause of a finding about an event that came.
    pub(crate) fn cause_of_event(
        &self,
        kind: CauseKind,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> Cause {
        let (subject, role) = self.subject_of_event(node, tick, event);
        let layer = event.check.as_deref().and_then(layer_of_check);
        Cause {
            severity: Some(match event.severity {
                Severity::Healthy => CauseSeverity::Healthy,
                Severity::NonFatal => CauseSeverity::NonFatal,
                Severity::Fatal => CauseSeverity::Fatal,
                Severity::Unknown => CauseSeverity::Unknown,
            }),
            subject: Some(subject),
            role,
            layer: layer.map(named),
            ..Cause::of(kind)
        }
    }

    /// The cause of a finding about an expected event.
    pub(crate) fn cause_of_pattern(
        &self,
        kind: CauseKind,
        node: &NodeName,
        tick: u64,
        pattern: &EventPattern,
    ) -> Cause {
        let (subject, role) = self.subject_of_about(node, tick, &pattern.about);
        let by_check = pattern.check.as_deref().and_then(layer_of_check);
        Cause {
            severity: Some(match pattern.tone {
                Tone::Fatal => CauseSeverity::Fatal,
                Tone::NonFatal => CauseSeverity::NonFatal,
                Tone::Healthy => CauseSeverity::Healthy,
            }),
            subject: Some(subject),
            role,
            layer: by_check
                .map(named)
                .or_else(|| self.only_layer(node, tick, &pattern.about)),
            ..Cause::of(kind)
        }
    }

    /// The cause of a finding about an expectation that is not about one event.
    pub(crate) fn cause_of_fact(&self, node: &NodeName, tick: u64, what: &What) -> Cause {
        let about = match what {
            What::Nothing { about, .. } => about.first().cloned(),
            What::FollowEdges { slot, .. } | What::Link { slot, .. } => {
                Some(About::Port(slot.clone()))
            }
            What::Condition(is) => is.about.clone(),
            What::Rule(is) => is.about.clone(),
            _ => None,
        };
        let cause = Cause::of(kind_of(what));
        let Some(about) = about else { return cause };
        let (subject, role) = self.subject_of_about(node, tick, &about);
        Cause {
            subject: Some(subject),
            role,
            layer: self.only_layer(node, tick, &about),
            ..cause
        }
    }

    /// The first field in which an event about the subject of a pattern differs from it; `None` if it
    /// does not.
    pub(crate) fn differing_field(
        &self,
        pattern: &EventPattern,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> Option<CauseField> {
        let without = |leave: fn(&mut EventPattern)| {
            let mut pattern = pattern.clone();
            leave(&mut pattern);
            pattern
        };
        let fits = |pattern: &EventPattern| self.fits(pattern, node, tick, event);
        if fits(pattern) {
            return None;
        }
        let of_severity = {
            let mut same = event.clone();
            same.severity = match pattern.tone {
                Tone::Fatal => Severity::Fatal,
                Tone::NonFatal => Severity::NonFatal,
                Tone::Healthy => Severity::Healthy,
            };
            same.severity != event.severity && self.fits(pattern, node, tick, &same)
        };
        let of_check = {
            let mut same = event.clone();
            same.check = None;
            let texts = without(|pattern| pattern.message.clear());
            self.fits(&texts, node, tick, &same)
        };
        let no_stamp = without(|pattern| (pattern.stamped_from, pattern.stamped_to) = (None, None));
        let no_text = without(|pattern| pattern.message.clear());
        Some(if fits(&no_stamp) {
            CauseField::Timestamp
        } else if fits(&no_text) {
            CauseField::Message
        } else if of_severity {
            CauseField::Severity
        } else if of_check {
            CauseField::CheckName
        } else {
            CauseField::ErrorCode
        })
    }

    fn subject_of_event(
        &self,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> (CauseSubject, Option<CauseRole>) {
        let named = |name: &str| {
            let mut views = self.past(node, tick);
            role_of(views.find_map(|views| {
                let mut functions = views.0.values();
                functions.find(|view| view.name.as_str() == name)
            }))
        };
        match &event.subject {
            Subject::Node => (CauseSubject::Check, None),
            Subject::Device(name) => (CauseSubject::Device, Some(named(name))),
            Subject::Port { device, .. } => (CauseSubject::Port, Some(named(device))),
            Subject::Card(card) => (
                CauseSubject::Card,
                Some(self.role_of_card(node, tick, card)),
            ),
            Subject::Other(_) => (CauseSubject::Other, None),
        }
    }

    fn subject_of_about(
        &self,
        node: &NodeName,
        tick: u64,
        about: &About,
    ) -> (CauseSubject, Option<CauseRole>) {
        let subject = match about {
            About::Port(_) | About::NamedPort(..) => CauseSubject::Port,
            About::Device(..) | About::NamedDevice(_) => CauseSubject::Device,
            About::Card(_, pci) => {
                let role = self.role_of_card(node, tick, &pci.card());
                return (CauseSubject::Card, Some(role));
            }
            About::Check => return (CauseSubject::Check, None),
        };
        let view = self.subject(about, node, tick).map(|(_, view)| view);
        (subject, Some(role_of(view)))
    }

    /// A card is monitored if one of its functions is.
    fn role_of_card(&self, node: &NodeName, tick: u64, card: &str) -> CauseRole {
        let views = self.past(node, tick).next();
        let functions = views.into_iter().flat_map(|views| &views.0);
        let of_card = functions.filter(|(pci, _)| pci.card() == card);
        let roles = of_card.map(|(_, view)| role_of(Some(view)));
        roles.min().unwrap_or(CauseRole::Absent)
    }

    fn only_layer(&self, node: &NodeName, tick: u64, about: &About) -> Option<CauseLayer> {
        let layers = self.layers(about, node, tick);
        let only = layers.first().filter(|_| layers.len() == 1);
        only.copied().map(named)
    }
}

/// The cause of a violation of the contract.
pub(crate) fn cause_of_breach(field: BreachField) -> Cause {
    Cause {
        field: Some(match field {
            BreachField::Version => CauseField::Version,
            BreachField::Agent => CauseField::Agent,
            BreachField::ComponentClass => CauseField::ComponentClass,
            BreachField::NodeName => CauseField::NodeName,
            BreachField::CheckName => CauseField::CheckName,
            BreachField::Severity => CauseField::Severity,
            BreachField::Strategy => CauseField::Strategy,
            BreachField::Action => CauseField::Action,
            BreachField::ErrorCode => CauseField::ErrorCode,
            BreachField::Entities => CauseField::Entities,
            BreachField::Message => CauseField::Message,
            BreachField::Timestamp => CauseField::Timestamp,
            BreachField::Extra => CauseField::Extra,
            BreachField::Batch => CauseField::Batch,
        }),
        ..Cause::of(CauseKind::Contract)
    }
}

fn kind_of(what: &What) -> CauseKind {
    match what {
        What::Say { .. } | What::Baseline { .. } => CauseKind::Missed,
        What::FollowEdges { .. } => CauseKind::Edges,
        What::Nothing { .. } => CauseKind::Silence,
        What::Exit { .. } => CauseKind::Exit,
        What::Log { .. } | What::NoLog { .. } => CauseKind::Log,
        What::Polls(_) => CauseKind::Polls,
        What::Calls { .. } => CauseKind::Calls,
        What::StateFile(_) => CauseKind::StateFile,
        What::Reads { .. } => CauseKind::Reads,
        What::Metric { .. } => CauseKind::Metric,
        What::Healthz { .. } => CauseKind::Healthz,
        What::Link { .. } => CauseKind::Link,
        What::Lnet(_) => CauseKind::Lnet,
        What::Workload(_) => CauseKind::Workload,
        What::Verdict { .. } => CauseKind::Verdict,
        What::Condition(_) => CauseKind::Condition,
        What::Cordoned(_) => CauseKind::Cordon,
        What::Uncordoned(_) => CauseKind::Release,
        What::Rule(_) | What::RulesSilent => CauseKind::Rule,
        What::StuckInKernel => CauseKind::NotStuck,
    }
}

fn acts_on(action: &StepAction) -> CauseAction {
    match action {
        StepAction::World(Action::Port(_, action)) => match action {
            PortAction::Counter { .. } | PortAction::Traffic { .. } => CauseAction::Counter,
            PortAction::CharDevice { .. } => CauseAction::Device,
            _ => CauseAction::Port,
        },
        StepAction::World(Action::Ports(_, action)) => match action {
            PortsAction::Flap { .. } => CauseAction::Port,
            PortsAction::SwitchPower { .. } => CauseAction::Fabric,
        },
        StepAction::World(Action::Device(..)) => CauseAction::Device,
        StepAction::World(Action::Node(..)) | StepAction::Reboot { .. } => CauseAction::Node,
        StepAction::World(Action::SubnetManager { .. }) => CauseAction::Fabric,
        StepAction::Rule(_) | StepAction::Unrule(_) => CauseAction::File,
        StepAction::Connector(..) => CauseAction::Connector,
        StepAction::Monitor(..) => CauseAction::Monitor,
        StepAction::StateFile(..) => CauseAction::StateFile,
        StepAction::Load(_) => CauseAction::Workload,
    }
}

fn role_of(view: Option<&FunctionView>) -> CauseRole {
    match view {
        Some(view) if view.monitored => CauseRole::Monitored,
        Some(_) => CauseRole::Unmonitored,
        None => CauseRole::Absent,
    }
}

fn named(layer: LinkLayer) -> CauseLayer {
    match layer {
        LinkLayer::InfiniBand => CauseLayer::InfiniBand,
        LinkLayer::Ethernet => CauseLayer::Ethernet,
    }
}
