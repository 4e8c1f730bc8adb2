//! The agenda: scheduled steps, in the order in which they will happen.
//!
//! Steps due at the same time are ordered by rank, then by the order of scheduling. Scheduling
//! returns a key that can cancel the step.

use std::collections::BTreeMap;

use platforms::{NodeName, PciAddress, SlotRef};
use simfs::SimTime;

use crate::link::Stage;

/// The order of steps that are due at the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// A physical fault, such as the next cycle of a flap.
    Fault,
    /// The link machine.
    Link,
    /// Devices that disappear and return, and checks of their drivers.
    Kernel,
    SubnetManager,
    /// A host that is up again, with its links as far up as they are by then.
    Boot,
}

/// A scheduled step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The far end of a flapping port stops signalling.
    GoDark(SlotRef),
    /// The far end signals again.
    Signal(SlotRef),
    /// A link reaches a stage.
    Reach(SlotRef, Stage),
    /// A function is back on the bus after a firmware reset.
    BackOnBus(NodeName, PciAddress),
    /// A function's driver has attached: its net and RDMA devices appear.
    Attached(NodeName, PciAddress),
    /// The ports of a rebooting node start to train.
    Boot(NodeName),
    /// The node is up again.
    Booted(NodeName),
    /// The host at the other end of a link has finished its reboot.
    NeighbourBack(SlotRef),
    /// A driver checks a port for receive buffer overruns.
    CheckOverruns(SlotRef),
    /// The subnet manager reads both ends of a link. [`Agenda::is_empty`] ignores it.
    Read(SlotRef),
}

/// The time and order of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    at: SimTime,
    rank: Rank,
    sequence: u64,
}

impl Key {
    /// The time.
    pub(crate) fn at(self) -> SimTime {
        self.at
    }
}

/// All scheduled steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    steps: BTreeMap<Key, Step>,
    scheduled: u64,
}

impl Agenda {
    /// Schedules a step; the key can cancel it.
    pub(crate) fn schedule(&mut self, at: SimTime, rank: Rank, step: Step) -> Key {
        self.scheduled += 1;
        let key = Key {
            at,
            rank,
            sequence: self.scheduled,
        };
        self.steps.insert(key, step);
        key
    }

    /// Cancels a step; does nothing if it has happened.
    pub(crate) fn cancel(&mut self, key: Key) {
        self.steps.remove(&key);
    }

    /// Removes and returns the first step due at `to` or before.
    pub(crate) fn due(&mut self, to: SimTime) -> Option<(Key, Step)> {
        let first = self.steps.first_entry()?;
        (first.key().at <= to).then(|| first.remove_entry())
    }

    /// Whether nothing is scheduled, apart from reads of the subnet manager.
    pub(crate) fn is_empty(&self) -> bool {
        let mut steps = self.steps.values();
        steps.all(|step| matches!(step, Step::Read(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(port: u8) -> SlotRef {
        SlotRef {
            node: NodeName::from("n"),
            pci: PciAddress {
                domain: 0,
                bus: 1,
                device: 0,
                function: 0,
            },
            port: platforms::PortNumber(port),
        }
    }

    #[test]
    fn at_equal_times_rank_decides_and_then_the_order_of_scheduling() {
        let mut agenda = Agenda::default();
        let at = SimTime::from_secs(1);
        agenda.schedule(at, Rank::SubnetManager, Step::Reach(slot(1), Stage::Armed));
        agenda.schedule(at, Rank::Link, Step::Reach(slot(2), Stage::Init));
        agenda.schedule(at, Rank::Link, Step::Reach(slot(1), Stage::Init));
        agenda.schedule(at, Rank::Fault, Step::GoDark(slot(3)));
        agenda.schedule(SimTime::ZERO, Rank::SubnetManager, Step::Signal(slot(4)));
        let off = agenda.schedule(SimTime::ZERO, Rank::Fault, Step::Signal(slot(5)));
        agenda.cancel(off);
        let order: Vec<Step> = std::iter::from_fn(|| agenda.due(at))
            .map(|(_, step)| step)
            .collect();
        assert_eq!(
            order,
            [
                Step::Signal(slot(4)),
                Step::GoDark(slot(3)),
                Step::Reach(slot(2), Stage::Init),
                Step::Reach(slot(1), Stage::Init),
                Step::Reach(slot(1), Stage::Armed),
            ]
        );
        assert!(agenda.is_empty());
    }

    #[test]
    fn nobody_waits_for_the_subnet_manager_alone() {
        let mut agenda = Agenda::default();
        agenda.schedule(SimTime::ZERO, Rank::SubnetManager, Step::Read(slot(1)));
        assert!(agenda.is_empty());
        let step = Step::Reach(slot(1), Stage::Armed);
        agenda.schedule(SimTime::ZERO, Rank::SubnetManager, step);
        assert!(!agenda.is_empty());
    }
}
