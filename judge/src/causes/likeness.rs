//! How an event that came differs from one that was expected.

use std::{cmp::Reverse, collections::BTreeMap};

use observe::{Observation, Subject};
use platforms::NodeName;
use reports::CauseRole;
use scenarios::{About, EventPattern};
use simfs::SimTime;
use terms::EventField;

use crate::demands::Demand;
use crate::fits::{JudgeContext, counter_check, state_check};
use crate::reported_event::ReportedEvent;

impl JudgeContext<'_> {
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
}

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

/// The port or device that these entities name, such as `NICPort=1 NIC=mlx5_0`, whatever their order is and what else is
/// among them.
pub(super) fn in_order(entities: &str) -> Option<Subject> {
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

/// The number of characters with which two names begin, or end, whichever is more.
pub(super) fn alike(one: &str, other: &str) -> usize {
    let front = one.chars().zip(other.chars());
    let back = one.chars().rev().zip(other.chars().rev());
    let front = front.take_while(|(one, other)| one == other).count();
    let back = back.take_while(|(one, other)| one == other).count();
    front.max(back)
}
