//! The hardware behind a function: why it is not visible, its hidden parts, and its ports.
//!
//! The node's machine has the visible parts; the hidden ones are parked here until they become
//! visible again. `presence.rs` moves them. Start at [`Device`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use platforms::{
    Driver, Function, NetDev, NicRole, PciAddress, PhysState, Port, PortNumber, PortState, Rate,
    Rdma, Restart, Shared,
};
use simfs::SimTime;

use crate::{
    agenda::Key,
    history::{Carriage, CarriageChange, Edge, LinkStep, PortEvent},
    link::{Hold, Link, Stage},
    overrun_check::OverrunCheck,
};

/// Whether the driver runs the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attachment {
    /// It does.
    Attached,
    /// It is probing the function until the step of this key.
    Detached(Key),
    /// It is suspended after a PCI error until the step of this key: the RDMA device is gone, the
    /// net device stays.
    Suspended(Key),
}

/// The parts that are not visible at present.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parked {
    /// The function, while it is off the bus.
    pub(crate) function: Option<Shared<Function>>,
    /// Its RDMA device, while it is not registered.
    pub(crate) rdma: Option<Rdma>,
    /// Its network interfaces, while they are not registered.
    pub(crate) netdevs: Vec<NetDev>,
    /// What caused them to disappear, which decides what they keep.
    pub(crate) restart: Option<Restart>,
}

/// The hardware behind one function.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    /// Its role in the platform; `None` if the platform does not describe it.
    pub(crate) role: Option<NicRole>,
    /// The physical function, for a virtual one.
    pub(crate) parent: Option<PciAddress>,
    /// Whether it is off the bus until restored.
    pub(crate) removed: bool,
    /// Set while it is off the bus until the step of this key.
    pub(crate) resetting: Option<Key>,
    /// Whether the driver runs the function.
    pub(crate) attachment: Attachment,
    /// How often it was replaced by new hardware.
    pub(crate) replaced: u32,
    /// The parts that are not visible at present.
    pub(crate) parked: Parked,
    /// Its ports; boxed because the nodes of a map have room for eleven.
    pub(crate) jacks: BTreeMap<PortNumber, Box<Jack>>,
}

impl Device {
    /// The hardware of a function at rest with its driver attached; `cabled` states which ports
    /// have a cable (for a virtual function: its physical function's).
    pub(crate) fn of(
        function: &Function,
        role: Option<NicRole>,
        driver: &Arc<Driver>,
        rate: Rate,
        cabled: impl Fn(PortNumber) -> bool,
    ) -> Self {
        let ports = function.rdma.iter().flat_map(|rdma| &rdma.ports);
        let jacks = ports.map(|(number, port)| {
            let is_virtual = function.physfn.is_some();
            let cabled = is_virtual || cabled(*number);
            let mut link = Link::new(driver, port.layer, cabled, is_virtual);
            if port.is_up() {
                link.stage = Stage::Active;
                if let Some(ends) = &mut link.ends {
                    ends.come_up();
                    ends.found = Some(true);
                }
            }
            link.here.set(Hold::Unassigned, is_virtual && !port.is_up());
            let jack = Jack::new(link, Arc::clone(driver), rate, port.is_up());
            (*number, Box::new(jack))
        });
        Self {
            role,
            parent: function.physfn,
            removed: false,
            resetting: None,
            attachment: Attachment::Attached,
            replaced: 0,
            parked: Parked::default(),
            jacks: jacks.collect(),
        }
    }

    /// Whether its driver keeps something over a restart. The first port's driver decides.
    pub(crate) fn keeps(&self, restart: Restart, what: impl Fn(&platforms::Keeps) -> bool) -> bool {
        let jack = self.jacks.values().next();
        jack.and_then(|jack| jack.driver.keeps.get(&restart))
            .is_some_and(what)
    }
}

/// A port as hardware: its link, its overrides, and its history.
#[derive(Clone, Debug)]
pub(crate) struct Jack {
    /// Its link.
    pub(crate) link: Link,
    /// The driver that shows it.
    pub(crate) driver: Arc<Driver>,
    /// The rate of its link when it is up.
    pub(crate) rate: Rate,
    /// The port, while it is not listed by its device.
    pub(crate) unlisted: Option<Shared<Port>>,
    /// Values shown in place of the link's.
    pub(crate) mask: Mask,
    /// The flap in progress.
    pub(crate) flap: Option<Flap>,
    /// The counters that grow by themselves.
    pub(crate) growing: BTreeMap<Arc<str>, Growth>,
    /// The data that moves over it.
    pub(crate) traffic: Option<PortTraffic>,
    /// Bytes sent and received by its user that are not yet a whole word.
    pub(crate) rest: [u64; 2],
    /// Values of counters that are hidden because they cannot be read as numbers.
    pub(crate) overridden: BTreeMap<Arc<str>, u64>,
    /// The counters that changed since the start or the last reset.
    pub(crate) moved: BTreeSet<Arc<str>>,
    /// What its driver's next check for receive buffer overruns will find.
    pub(crate) overruns: OverrunCheck,
    /// Whether it was healthy at the last check.
    pub(crate) healthy: bool,
    /// The changes of its health.
    pub(crate) edges: Vec<Edge>,
    /// The history of both ends' states.
    pub(crate) walk: Vec<LinkStep>,
    /// The events that the kernel delivered to its users.
    pub(crate) events: Vec<PortEvent>,
    /// What it carried at the last check.
    pub(crate) carriage: Carriage,
    /// The changes of what it carried.
    pub(crate) carriages: Vec<CarriageChange>,
}

impl Jack {
    /// A port without faults.
    pub(crate) fn new(link: Link, driver: Arc<Driver>, rate: Rate, healthy: bool) -> Self {
        let carriage = if link.stage == Stage::Active {
            Carriage::Data
        } else {
            Carriage::Nothing
        };
        Self {
            walk: vec![link.shown(SimTime::ZERO)],
            events: Vec::new(),
            carriage,
            carriages: Vec::new(),
            link,
            driver,
            rate,
            unlisted: None,
            mask: Mask::default(),
            flap: None,
            growing: BTreeMap::new(),
            traffic: None,
            rest: [0; 2],
            overridden: BTreeMap::new(),
            moved: BTreeSet::new(),
            overruns: OverrunCheck::default(),
            healthy,
            edges: Vec::new(),
        }
    }

    /// Records both ends' states, if they changed.
    pub(crate) fn note(&mut self, now: SimTime) {
        let shown = self.link.shown(now);
        let same =
            |last: &LinkStep| (last.logical, last.physical) == (shown.logical, shown.physical);
        if !self.walk.last().is_some_and(same) {
            self.walk.push(shown);
        }
    }
}

/// Values that are shown independently of the link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mask {
    pub(crate) state: Option<PortState>,
    pub(crate) phys_state: Option<PhysState>,
    pub(crate) rate: Option<Rate>,
    pub(crate) operstate: Option<String>,
}

/// A flap in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flap {
    /// Cycles that have not begun.
    pub(crate) left: u32,
    /// Time from leaving `ACTIVE` to `ACTIVE` again.
    pub(crate) down: SimTime,
    /// Time from `ACTIVE` to the next down.
    pub(crate) up: SimTime,
    /// Its next step.
    pub(crate) next: Key,
}

/// A counter that grows by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Increase per second.
    pub(crate) per_second: u64,
    /// Start of the growth.
    pub(crate) since: SimTime,
    /// The part that has been added to the counter.
    pub(crate) counted: u64,
}

/// Data that moves over a port in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortTraffic {
    /// Words of 4 bytes, the unit of `port_xmit_data`.
    pub(crate) words: Growth,
    /// Bytes.
    pub(crate) bytes: Growth,
    /// Packets.
    pub(crate) packets: Growth,
}

impl PortTraffic {
    /// Traffic of this many bytes per second in each direction, in packets of this size, from `now`
    /// on.
    pub(crate) fn new(bytes_per_second: u64, packet_bytes: u32, now: SimTime) -> Self {
        let growth = |per_second| Growth {
            per_second,
            since: now,
            counted: 0,
        };
        Self {
            words: growth(bytes_per_second / 4),
            bytes: growth(bytes_per_second),
            packets: growth(bytes_per_second / u64::from(packet_bytes.max(1))),
        }
    }
}

impl Growth {
    /// The amount to be added at `now`; marks it as added.
    pub(crate) fn due(&mut self, now: SimTime) -> u64 {
        let elapsed = u128::from(now.since(self.since).as_ns());
        let total = elapsed * u128::from(self.per_second) / 1_000_000_000;
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let due = total.saturating_sub(self.counted);
        self.counted = total;
        due
    }
}
