//! The alarms of a node's monitor, with what each may be about. Start at [`Alarms`].

use std::collections::BTreeSet;

use observe::{
    Needs, Recording, Subject,
    interval::{Interval, said},
    promises::{Granularity, Kind},
};
use platforms::{NodeName, PciAddress};
use reports::CauseSubject;
use terms::{Card, Check, CheckKind, Severity};

use super::faults::Fault;
use crate::{fits::JudgeContext, kinds::Whom};

/// How many alarms a finding shows. Chosen.
const LINES_MAX: usize = 6;

/// The alarms of a node's monitor, in the order of their beginnings.
pub(super) struct Alarms {
    alarms: Vec<Alarm>,
}

/// An alarm: any unhealthy statement, as long as it stands.
#[derive(Clone, Debug)]
pub(super) struct Alarm {
    said: Interval,
    /// The tick in which it was accepted.
    pub(super) from: u64,
    /// The tick in which it was taken back; the largest number if it was not.
    pub(super) to: u64,
    target: Target,
    /// Whether it goes on from another severity.
    goes_on: bool,
    /// Whether what it is about is not to be monitored.
    is_beyond_scope: bool,
}

/// What an alarm is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// The node.
    Node,
    /// A device, or a port of it, by the functions that bore its name.
    Function(BTreeSet<PciAddress>, Option<String>),
    /// A card.
    Card(Card),
    /// Something that the node never had.
    Unknown,
}

impl Alarms {
    /// The alarms that were accepted from the monitor of a node.
    pub(super) fn of(context: &JudgeContext<'_>, recording: &Recording, node: &NodeName) -> Self {
        let all = said(recording, node.as_str());
        let unhealthy = |it: &&Interval| it.severity != Severity::Healthy;
        let continues = |it: &Interval| {
            all.iter().filter(unhealthy).any(|before| {
                before.to == Some(it.from)
                    && (&before.subject, &before.check, &before.codes)
                        == (&it.subject, &it.check, &it.codes)
            })
        };
        let alarms = all.iter().filter(unhealthy).map(|it| {
            let target = target_of(&it.subject, context, node, it.from);
            Alarm {
                from: it.from,
                to: it.to.unwrap_or(u64::MAX),
                goes_on: continues(it),
                is_beyond_scope: is_beyond_scope(&target, context, node, it.from),
                target,
                said: it.clone(),
            }
        });
        Self {
            alarms: alarms.collect(),
        }
    }

    /// Those about a fault, at the granularity that is needed of its kind.
    pub(super) fn about<'m>(
        &'m self,
        fault: &'m Fault,
        needs: &Needs,
    ) -> impl Iterator<Item = &'m Alarm> {
        let granularity = needs.granularity(&fault.kind);
        let mut alarms = self.alarms.iter();
        std::iter::from_fn(move || alarms.find(|alarm| alarm.is_about(fault, granularity)))
    }

    /// Those that began, and did not only become more or less severe.
    pub(super) fn begun(&self) -> impl Iterator<Item = &Alarm> {
        self.alarms.iter().filter(|alarm| !alarm.goes_on)
    }

    /// The alarms that may be about a fault, the nearest to a tick first.
    pub(super) fn lines(&self, fault: &Fault, tick: u64) -> Vec<String> {
        let may = |alarm: &&Alarm| alarm.may_mean(fault);
        let mut near: Vec<&Alarm> = self.alarms.iter().filter(may).collect();
        near.sort_by_key(|alarm| alarm.from.abs_diff(tick));
        near.into_iter().take(LINES_MAX).map(Alarm::line).collect()
    }
}

impl Alarm {
    /// Whether it stands in any of these ticks, the last one included.
    pub(super) fn stands_between(&self, from: u64, to: u64) -> bool {
        self.from <= to && self.to > from
    }

    /// Whether it names a fault at a granularity, or more exactly.
    fn is_about(&self, fault: &Fault, granularity: Granularity) -> bool {
        let of_function = |pcis: &BTreeSet<PciAddress>| match fault.pci() {
            Some(pci) => pcis.contains(&pci),
            None => fault
                .card()
                .is_some_and(|card| pcis.iter().any(|pci| pci.card() == card)),
        };
        match (granularity, &self.target) {
            (Granularity::Node, _) => true,
            (_, Target::Node | Target::Unknown) => false,
            (Granularity::Device, Target::Function(pcis, _)) => of_function(pcis),
            (Granularity::Device, Target::Card(card)) => Some(*card) == fault.card(),
            (Granularity::Port, Target::Function(pcis, port)) => match &fault.whom {
                Whom::Port(_, number) => {
                    of_function(pcis) && port.as_ref() == Some(&number.to_string())
                }
                _ => of_function(pcis),
            },
            (Granularity::Port, Target::Card(card)) => {
                fault.pci().is_none() && Some(*card) == fault.card()
            }
        }
    }

    /// Whether it has to be over when a fault of a kind is: what counters counted stays counted.
    pub(super) fn may_last_as(&self, kind: &Kind) -> bool {
        let check = self.said.check.as_deref().and_then(Check::parse);
        let is_of_counter = !self.said.codes.is_empty()
            || check.is_some_and(|check| check.kind() == CheckKind::Degradation);
        !is_of_counter || matches!(kind, Kind::Counter(_))
    }

    /// Whether a fault may be its reason.
    pub(super) fn may_mean(&self, fault: &Fault) -> bool {
        let card = fault.card();
        match &self.target {
            Target::Node => true,
            Target::Function(pcis, _) => {
                card.is_some_and(|card| pcis.iter().any(|pci| pci.card() == card))
            }
            Target::Card(of) => Some(*of) == card,
            Target::Unknown => false,
        }
    }

    /// Whether what it is about is not to be monitored, so that its faults are not known here.
    pub(super) fn is_beyond_scope(&self) -> bool {
        self.is_beyond_scope
    }

    /// The functions that it is about; `None` for the node.
    pub(super) fn functions(&self) -> impl Iterator<Item = Option<PciAddress>> {
        let pcis = match &self.target {
            Target::Function(pcis, _) if !pcis.is_empty() => {
                pcis.iter().copied().map(Some).collect()
            }
            _ => vec![None],
        };
        pcis.into_iter()
    }

    /// Whether it is fatal when it begins.
    pub(super) fn is_fatal(&self) -> bool {
        self.said.severity == Severity::Fatal
    }

    /// Its subject as a fact of a cause.
    pub(super) fn subject(&self) -> CauseSubject {
        match &self.said.subject {
            Subject::Node => CauseSubject::Check,
            Subject::Device(_) => CauseSubject::Device,
            Subject::Port { .. } => CauseSubject::Port,
            Subject::Card(_) => CauseSubject::Card,
            Subject::Other(_) => CauseSubject::Other,
        }
    }

    /// What paths of the files of its subject contain.
    pub(super) fn names(&self) -> Vec<String> {
        let nic = self.said.subject.nic();
        nic.map(|name| format!("/{name}/")).into_iter().collect()
    }

    /// It as one line of text.
    pub(super) fn line(&self) -> String {
        let to = match self.said.to {
            Some(to) => format!("poll {to}"),
            None => "the end".to_owned(),
        };
        let subject = match &self.said.subject {
            Subject::Node => "the node".to_owned(),
            subject => subject.to_string(),
        };
        let (from, severity) = (self.from, self.said.severity);
        let check = self.said.check.as_deref().unwrap_or_default();
        let line = format!("from poll {from} to {to}: {severity} {subject} {check}");
        line.trim_end().to_owned()
    }
}

fn target_of(subject: &Subject, context: &JudgeContext<'_>, node: &NodeName, at: u64) -> Target {
    let bearers = |name: &str| -> BTreeSet<PciAddress> {
        let views = context.past(node, at);
        let all = views.flat_map(|views| {
            let bears = views
                .0
                .iter()
                .filter(|(_, view)| view.name.as_str() == name);
            bears.map(|(pci, _)| *pci).collect::<Vec<_>>()
        });
        all.collect()
    };
    match subject {
        Subject::Node => Target::Node,
        Subject::Card(name) => Card::parse(name).map_or(Target::Unknown, Target::Card),
        Subject::Device(name) if name.contains(':') => {
            Card::parse(name).map_or(Target::Unknown, Target::Card)
        }
        Subject::Device(name) | Subject::Port { device: name, .. } => {
            let pcis = bearers(name);
            if pcis.is_empty() {
                Target::Unknown
            } else {
                Target::Function(pcis, subject.port().map(str::to_owned))
            }
        }
        Subject::Other(_) => Target::Node,
    }
}

fn is_beyond_scope(target: &Target, context: &JudgeContext<'_>, node: &NodeName, at: u64) -> bool {
    let Some(views) = context.past(node, at).next() else {
        return false;
    };
    let is_meant = |pci: &PciAddress| match target {
        Target::Function(pcis, _) => pcis.contains(pci),
        Target::Card(card) => pci.card() == *card,
        Target::Node | Target::Unknown => false,
    };
    let mut of_it = views.0.iter().filter(|(pci, _)| is_meant(pci)).peekable();
    of_it.peek().is_some() && of_it.all(|(_, view)| !view.monitored)
}
