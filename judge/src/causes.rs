//! The facts of a finding's cause: the subject with its role and layer, the severity, the field that
//! differs, and the last action of the scenario before the finding. Start at [`JudgeContext::action`].

mod likeness;

pub(crate) use likeness::{Alike, Likeness, OtherEntities};

use platforms::{Card, LinkLayer, NicRole, NodeName, PciAddress};
use reports::{Cause, CauseAction, CauseKind, CauseRole, CauseSubject};
use scenarios::{About, EventPattern};
use terms::EventField;

use director::{FunctionView, Target};
use observe::{Observation, Subject};

use crate::facts::Fact;
use crate::fits::{JudgeContext, layer_of_check};

impl JudgeContext<'_> {
    /// What the last action before the end of a tick acts on; `None` if there was none.
    pub(crate) fn action(&self, tick: u64, healing_from: Option<u64>) -> Option<CauseAction> {
        if healing_from.is_some_and(|from| from <= tick) {
            return Some(CauseAction::Healing);
        }
        let mut acts = self.truth.log.acts.iter();
        let last = acts.rfind(|act| act.tick <= tick);
        last.map(|act| acts_on(&act.on))
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
            severity: Some(event.severity),
            subject: Some(subject),
            role,
            layer,
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
            severity: Some(pattern.tone),
            subject: Some(subject),
            role,
            layer: by_check.or_else(|| self.only_layer(node, tick, &pattern.about)),
            ..Cause::of(kind)
        }
    }

    /// The cause of a finding about an expectation that is not about one event.
    pub(crate) fn cause_of_fact(&self, node: &NodeName, tick: u64, fact: &dyn Fact) -> Cause {
        match fact.about() {
            Some(about) => self.cause_about(fact.kind().cause, node, tick, &about),
            None => Cause::of(fact.kind().cause),
        }
    }

    /// The cause of a finding about a subject.
    pub(crate) fn cause_about(
        &self,
        kind: CauseKind,
        node: &NodeName,
        tick: u64,
        about: &About,
    ) -> Cause {
        let (subject, role) = self.subject_of_about(node, tick, about);
        Cause {
            subject: Some(subject),
            role,
            layer: self.only_layer(node, tick, about),
            ..Cause::of(kind)
        }
    }

    /// Whether a device, or a card, of a node ever had this name.
    pub(crate) fn is_a_name(&self, node: &NodeName, name: &str) -> bool {
        self.past(node, u64::MAX - 1).any(|views| {
            let mut all = views.0.iter();
            all.any(|(pci, view)| view.name.as_str() == name || pci.card().is_called(name))
        })
    }

    /// Whether an event names a card, a device or a port that its node never had. A name with a slash is a port's.
    pub(crate) fn is_of_nobody(&self, node: &NodeName, event: &Observation) -> bool {
        match &event.subject {
            Subject::Node | Subject::Other(_) => false,
            Subject::Port { device, port } => !self.had(node, device, Some(port)),
            Subject::Card(name) | Subject::Device(name) => match name.split_once('/') {
                Some((device, port)) => !self.had(node, device, Some(port)),
                None => !self.had(node, name, None),
            },
        }
    }

    /// Whether a node ever had a device or card of this name, or of this network interface or place on the bus, and this
    /// port of it.
    fn had(&self, node: &NodeName, name: &str, port: Option<&str>) -> bool {
        let at_rest = self.story.platform_of(node);
        let at_rest = at_rest.map_or_else(Vec::new, |platform| platform.ports());
        let is_meant = |pci: PciAddress, view: &FunctionView| {
            let is_its = view.name.as_str() == name || view.netdev.as_deref() == Some(name);
            is_its || pci.to_string() == name || pci.card().is_called(name)
        };
        self.past(node, u64::MAX - 1).any(|views| {
            let mut named = views.0.iter().filter(|(pci, view)| is_meant(**pci, view));
            named.any(|(pci, view)| {
                let of_it = at_rest.iter().filter(|of| of.pci == *pci);
                let ports = view.ports.keys().copied();
                let mut ports = ports.chain(of_it.map(|of| of.port));
                port.is_none_or(|port| ports.any(|of| of.to_string() == port))
            })
        })
    }

    /// The subject of an event as text, with the reason why no monitor must report it; `None` if a monitor must.
    pub(crate) fn not_monitored(
        &self,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> Option<String> {
        let (name, subject) = match &event.subject {
            Subject::Device(name) => (name, name.clone()),
            Subject::Port { device, port } => (device, format!("{device}/{port}")),
            Subject::Card(name) => {
                let is_of_nobody = self.is_of_nobody(node, event);
                return is_of_nobody.then(|| format!("{name} (does not exist)"));
            }
            Subject::Node | Subject::Other(_) => return None,
        };
        let of_name =
            |(_, view): &(&PciAddress, &FunctionView)| view.name.as_str() == name.as_str();
        let found = self
            .past(node, tick)
            .find_map(|views| views.0.iter().find(of_name));
        let view = found.map(|(_, view)| view);
        let at_rest = || {
            let ports = self.story.platform_of(node)?.ports().into_iter();
            let mut of_it = ports.filter(|port| found.is_some_and(|(pci, _)| port.pci == *pci));
            let meant = event.subject.port().map(str::to_owned);
            of_it.find(|port| {
                meant
                    .as_ref()
                    .is_none_or(|meant| *meant == port.port.to_string())
            })
        };
        let why = match (self.role_of(node, found), view.map(|view| view.role)) {
            (CauseRole::Monitored | CauseRole::Unmonitored, _)
                if self.is_of_nobody(node, event) =>
            {
                "the device has no such port"
            }
            (CauseRole::Monitored, _) => {
                let is_of_port = event.subject.port().is_some();
                let port = at_rest().filter(|port| is_of_port && !port.cabled)?;
                let was_up = |views: &director::NodeView| views.healthy(port.pci, port.port);
                if self.past(node, tick).any(was_up) {
                    return None;
                }
                "no cable, dark by design"
            }
            (_, Some(NicRole::Management)) => "management, not monitored",
            (CauseRole::Unmonitored, _)
                if at_rest().is_some_and(|port| port.is_of_vendor && !port.is_vf) =>
            {
                "out of the scope that is promised"
            }
            (CauseRole::Unmonitored, _) => "virtual or of another vendor, not monitored",
            (CauseRole::Absent, _) => "does not exist",
        };
        Some(format!("{subject} ({why})"))
    }

    fn subject_of_event(
        &self,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> (CauseSubject, Option<CauseRole>) {
        match &event.subject {
            Subject::Node => (CauseSubject::Check, None),
            Subject::Device(name) => {
                let role = self.role_of_name(node, tick, name);
                (CauseSubject::Device, Some(role))
            }
            // A device may lack a port of this number.
            Subject::Port { .. } if self.is_of_nobody(node, event) => {
                (CauseSubject::Port, Some(CauseRole::Absent))
            }
            Subject::Port { device, .. } => {
                let role = self.role_of_name(node, tick, device);
                (CauseSubject::Port, Some(role))
            }
            Subject::Card(card) => (
                CauseSubject::Card,
                Some(self.role_of_card(node, tick, &|of| of.is_called(card))),
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
                let role = self.role_of_card(node, tick, &|of| of == pci.card());
                return (CauseSubject::Card, Some(role));
            }
            About::Check => return (CauseSubject::Check, None),
        };
        let found = self.subject(about, node, tick);
        let found = found.as_ref().map(|(pci, view)| (pci, *view));
        (subject, Some(self.role_of(node, found)))
    }

    /// The role of the device that had a name last, until a tick.
    fn role_of_name(&self, node: &NodeName, tick: u64, name: &str) -> CauseRole {
        let mut views = self.past(node, tick);
        let found = views.find_map(|views| {
            let mut functions = views.0.iter();
            functions.find(|(_, view)| view.name.as_str() == name)
        });
        self.role_of(node, found)
    }

    fn role_of(&self, node: &NodeName, found: Option<(&PciAddress, &FunctionView)>) -> CauseRole {
        match found {
            Some((_, view)) if view.monitored => CauseRole::Monitored,
            Some((pci, view)) if self.is_monitored_by_name(node, *pci, view) => {
                CauseRole::Monitored
            }
            Some(_) => CauseRole::Unmonitored,
            None => CauseRole::Absent,
        }
    }

    /// Whether the name alone makes a card of another vendor one that the documents monitor (`lsd 5.3`;
    /// docs/decisions.md, 11). A monitor that promises vendors goes by these.
    fn is_monitored_by_name(&self, node: &NodeName, pci: PciAddress, view: &FunctionView) -> bool {
        let number = view.name.as_str().strip_prefix("mlx5_");
        let is_named = number.is_some_and(|number| number.parse::<u32>().is_ok());
        let scope = self.descriptor.promises.scope.as_ref();
        if !is_named
            || view.role == NicRole::Management
            || scope.is_some_and(|it| it.vendors.is_some())
        {
            return false;
        }
        self.story.platform_of(node).is_some_and(|platform| {
            let ports = platform.ports();
            let mut of_it = ports.iter().filter(|port| port.pci == pci);
            of_it.any(|port| !port.is_of_vendor && !port.is_vf)
        })
    }

    /// A card is monitored if one of its functions is.
    fn role_of_card(&self, node: &NodeName, tick: u64, is_it: &dyn Fn(Card) -> bool) -> CauseRole {
        let views = self.past(node, tick).next();
        let functions = views.into_iter().flat_map(|views| &views.0);
        let of_card = functions.filter(|(pci, _)| is_it(pci.card()));
        let roles = of_card.map(|found| self.role_of(node, Some(found)));
        roles.min().unwrap_or(CauseRole::Absent)
    }

    fn only_layer(&self, node: &NodeName, tick: u64, about: &About) -> Option<LinkLayer> {
        let layers = self.layers(about, node, tick);
        let only = layers.first().filter(|_| layers.len() == 1);
        only.copied()
    }
}

/// The cause of a violation of the contract.
pub(crate) fn cause_of_breach(field: EventField) -> Cause {
    Cause {
        field: Some(field),
        ..Cause::of(CauseKind::Contract)
    }
}

fn acts_on(target: &Target) -> CauseAction {
    match target {
        Target::Port(_) | Target::Ports(_) => CauseAction::Port,
        Target::Counter(_) => CauseAction::Counter,
        Target::CharDevice(_) | Target::Device(_) => CauseAction::Device,
        Target::Switch(_) | Target::Fabric => CauseAction::Fabric,
        Target::Node(_) => CauseAction::Node,
        Target::Files(_) => CauseAction::File,
        Target::Connector(_) => CauseAction::Connector,
        Target::Monitor(_) => CauseAction::Monitor,
        Target::StateFile(_) => CauseAction::StateFile,
        Target::Workload(_) => CauseAction::Workload,
    }
}
