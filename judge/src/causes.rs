//! The facts of a finding's cause: the subject with its role and layer, the severity, the field that
//! differs, and the last action of the scenario before the finding. Start at [`JudgeContext::action`].

use std::{cmp::Reverse, collections::BTreeMap};

use platforms::{Card, LinkLayer, NicRole, NodeName, PciAddress};
use reports::{Cause, CauseAction, CauseKind, CauseRole, CauseSubject};
use scenarios::{About, EventPattern};
use terms::EventField;

use director::{FunctionView, Target};
use observe::{Observation, Subject};

use simfs::SimTime;

use crate::demands::Demand;
use crate::facts::Fact;
use crate::fits::{JudgeContext, counter_check, layer_of_check, state_check};
use crate::reported_event::ReportedEvent;

/// How an event differs from a pattern about the same subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// It does not.
    Same,
    /// In this field.
    Differs(EventField),
    /// In more than one.
    Another,
}

/// The entities of an event that is a pattern's in all else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherEntities {
    /// They name the pattern's device, without the port or with another one, a port where the device is meant, or both in
    /// another order or beside others.
    OfTheDevice,
    /// They name a device that never existed.
    OfNoDevice(Alike),
}

/// How near an event about a device that never existed is to a pattern; the nearest is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alike {
    /// Both are about a port, or both about a device.
    of_one_kind: bool,
    /// The number of characters with which the names of the devices both begin, or both end.
    characters: usize,
    /// Of equals the shortest name: `3` is nearer to `mlx5_3` than `13`.
    length: Reverse<usize>,
}

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

    /// How an event about the subject of a pattern differs from it. Timestamp and message may differ beside
    /// another field; an event that differs in two further fields is another one.
    pub(crate) fn likeness(
        &self,
        pattern: &EventPattern,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> Likeness {
        let unstamped = EventPattern {
            stamped_from: None,
            stamped_to: None,
            ..pattern.clone()
        };
        let without_text = EventPattern {
            message: BTreeMap::new(),
            ..unstamped.clone()
        };
        let with = |change: &dyn Fn(&mut Observation)| {
            let mut changed = event.clone();
            change(&mut changed);
            self.fits(&without_text, node, tick, &changed)
        };
        let of_counter = pattern.counter.iter().cloned().collect();
        let codes = pattern.error_codes.clone().unwrap_or(of_counter);
        let severity = pattern.tone;
        if self.fits(pattern, node, tick, event) {
            Likeness::Same
        } else if self.fits(&unstamped, node, tick, event) {
            Likeness::Differs(EventField::Timestamp)
        } else if with(&|_| ()) {
            Likeness::Differs(EventField::Message)
        } else if with(&|event| event.severity = severity) {
            Likeness::Differs(EventField::Severity)
        } else if with(&|event| event.codes.clone_from(&codes)) {
            Likeness::Differs(EventField::ErrorCode)
        } else if with(&|event| event.check = None) {
            Likeness::Differs(EventField::CheckName)
        } else {
            Likeness::Another
        }
    }

    /// How an event differs from a demand in a field, where their lines may read the same.
    pub(crate) fn difference(
        &self,
        demand: &Demand<'_>,
        reported: &ReportedEvent<'_>,
        field: EventField,
    ) -> Option<String> {
        let (pattern, event) = (&demand.pattern, reported.event);
        let codes = |codes: &[String]| match codes {
            [] => "none".to_owned(),
            codes => codes.join(", "),
        };
        let (wanted, has) = match field {
            EventField::ErrorCode => {
                let of_counter: Vec<String> = pattern.counter.iter().cloned().collect();
                let wanted = pattern.error_codes.as_ref().unwrap_or(&of_counter);
                (codes(wanted), codes(&event.codes))
            }
            EventField::CheckName => {
                let layers = self.layers(&pattern.about, reported.node, reported.tick);
                let check_of = match pattern.counter {
                    Some(_) => counter_check,
                    None => state_check,
                };
                let of_layers: Vec<&str> = layers.into_iter().map(check_of).collect();
                let wanted = pattern.check.clone().unwrap_or(of_layers.join(" or "));
                (wanted, event.check.clone().unwrap_or_default())
            }
            EventField::Timestamp => {
                let bound = |at: Option<SimTime>, which: &str| Some(format!("{} or {which}", at?));
                let bounds = [
                    bound(pattern.stamped_from, "later"),
                    bound(pattern.stamped_to, "earlier"),
                ];
                let bounds: Vec<String> = bounds.into_iter().flatten().collect();
                let at = event
                    .stamped_ns
                    .map(|ns| ns.checked_sub(platforms::WORLD_START_WALL_NS));
                let has = match at {
                    None => "none".to_owned(),
                    Some(None) => "before the drill".to_owned(),
                    Some(Some(ns)) => SimTime::from_ns(ns).to_string(),
                };
                (bounds.join(", "), has)
            }
            _ => return None,
        };
        let field = field.word();
        Some(format!(
            "its {field} differs: expected {wanted}, came {has}"
        ))
    }

    /// Which other entities an event has that is the pattern's in all else.
    pub(crate) fn other_entities(
        &self,
        pattern: &EventPattern,
        node: &NodeName,
        tick: u64,
        event: &Observation,
    ) -> Option<OtherEntities> {
        if let Subject::Other(entities) = &event.subject {
            let meant = Observation {
                subject: in_order(entities)?,
                ..event.clone()
            };
            let fits = self.fits(pattern, node, tick, &meant);
            return fits.then_some(OtherEntities::OfTheDevice);
        }
        let (Subject::Device(named) | Subject::Port { device: named, .. }) = &event.subject else {
            return None;
        };
        let meant = match &pattern.about {
            About::Port(slot) => Some(slot.port),
            About::NamedPort(_, port) => Some(*port),
            About::Device(..) | About::NamedDevice(_) => None,
            About::Card(..) | About::Check => return None,
        };
        let (device, other) = match self.role_of_name(node, tick, named) {
            CauseRole::Absent => {
                let (_, view) = self.subject(&pattern.about, node, tick)?;
                let device = view.name.as_str();
                let of_one_kind = matches!(event.subject, Subject::Port { .. }) == meant.is_some();
                let alike = Alike {
                    of_one_kind,
                    characters: alike(device, named),
                    length: Reverse(named.len()),
                };
                (device, OtherEntities::OfNoDevice(alike))
            }
            _ => (named.as_str(), OtherEntities::OfTheDevice),
        };
        let device = device.to_owned();
        let meant = Observation {
            subject: match meant {
                None => Subject::Device(device),
                Some(port) => Subject::Port {
                    device,
                    port: port.to_string(),
                },
            },
            ..event.clone()
        };
        (*event != meant && self.fits(pattern, node, tick, &meant)).then_some(other)
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

/// The port or device that these entities name, such as `NICPort=1 NIC=mlx5_0`, whatever their order is and what else is
/// among them.
fn in_order(entities: &str) -> Option<Subject> {
    let value = |kind: &str| {
        let mut words = entities.split(' ');
        let value = words.find_map(|word| word.strip_prefix(kind)?.strip_prefix('='));
        value.map(str::to_owned)
    };
    let device = value("NIC")?;
    Some(match value("NICPort") {
        Some(port) => Subject::Port { device, port },
        None => Subject::Device(device),
    })
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

/// The number of characters with which two names begin, or end, whichever is more.
fn alike(one: &str, other: &str) -> usize {
    let front = one.chars().zip(other.chars());
    let back = one.chars().rev().zip(other.chars().rev());
    let front = front.take_while(|(one, other)| one == other).count();
    let back = back.take_while(|(one, other)| one == other).count();
    front.max(back)
}
