//! The hardware behind a function: what keeps it from being seen, what is put aside meanwhile, and
//! its ports.
//!
//! What can be seen of it is in the node's machine; what cannot is parked here, and goes back when
//! it can be seen again. Moving it is `node.rs`'s. Start at [`Device`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use platforms::{
    Driver, Function, NetDev, PciAddress, PhysState, Port, PortNumber, PortState, Rate, Rdma,
    Restart, Role, Shared,
};
use simfs::SimTime;

use crate::{
    agenda::Key,
    history::{Carriage, CarriageChange, Edge, LinkStep, PortEvent},
    link::{Hold, Link, Stage},
};

/// Whether the driver runs the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attachment {
    /// It does.
    Attached,
    /// It is still probing it, until the step of this key.
    Detached(Key),
    /// It has suspended it after a PCI error: the RDMA device is gone, the net device stays.
    Suspended(Key),
}

/// What cannot be seen at the moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parked {
    /// The function, while it is off the bus.
    pub(crate) function: Option<Shared<Function>>,
    /// Its RDMA device, while it is not registered.
    pub(crate) rdma: Option<Rdma>,
    /// Its network interfaces, while they are not registered.
    pub(crate) netdevs: Vec<NetDev>,
    /// What made them go, and so decides what they keep.
    pub(crate) restart: Option<Restart>,
}

/// The hardware behind one function.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    /// Its role as the platform declares it; `None` if the platform does not know it.
    pub(crate) role: Option<Role>,
    /// The physical function, if this is a virtual one.
    pub(crate) parent: Option<PciAddress>,
    /// Off the bus until restored.
    pub(crate) removed: bool,
    /// Off the bus until the step of this key.
    pub(crate) resetting: Option<Key>,
    /// Whether the driver runs it.
    pub(crate) attachment: Attachment,
    /// How often it was replaced by new hardware.
    pub(crate) replaced: u32,
    /// What cannot be seen at the moment.
    pub(crate) parked: Parked,
    /// Its ports; boxed, for a map of one keeps room for eleven.
    pub(crate) jacks: BTreeMap<PortNumber, Box<Jack>>,
}

impl Device {
    /// The hardware of a function as it is, its driver attached; `cabled` says which of its ports
    /// have a cable (for a virtual function: its physical one's).
    pub(crate) fn of(
        function: &Function,
        role: Option<Role>,
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
                    ends.found = true;
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

    /// What its driver keeps over a restart: is this kept? The first port's driver speaks for all.
    pub(crate) fn keeps(&self, restart: Restart, what: impl Fn(&platforms::Keeps) -> bool) -> bool {
        let jack = self.jacks.values().next();
        jack.and_then(|jack| jack.driver.keeps.get(&restart))
            .is_some_and(what)
    }
}

/// A port as hardware: its link, what a story makes it show, and its past.
#[derive(Clone, Debug)]
pub(crate) struct Jack {
    /// Its link.
    pub(crate) link: Link,
    /// The driver that shows it.
    pub(crate) driver: Arc<Driver>,
    /// The rate of its link when it is up.
    pub(crate) rate: Rate,
    /// The port, while its device does not list it.
    pub(crate) unlisted: Option<Shared<Port>>,
    /// What is shown in place of the link's face.
    pub(crate) mask: Mask,
    /// The flap it is in.
    pub(crate) flap: Option<Flap>,
    /// The counters that grow by themselves.
    pub(crate) growing: BTreeMap<Arc<str>, Growth>,
    /// The data that moves over it.
    pub(crate) traffic: Option<Traffic>,
    /// The counts behind counters that cannot be read as numbers.
    pub(crate) overridden: BTreeMap<Arc<str>, u64>,
    /// The counters that moved since the start or the last reset.
    pub(crate) moved: BTreeSet<Arc<str>>,
    /// Whether it was healthy when last looked at.
    pub(crate) healthy: bool,
    /// When that changed.
    pub(crate) edges: Vec<Edge>,
    /// What both ends of its link showed.
    pub(crate) walk: Vec<LinkStep>,
    /// What the kernel told its users.
    pub(crate) events: Vec<PortEvent>,
    /// What it carried when last looked at.
    pub(crate) carriage: Carriage,
    /// When that changed.
    pub(crate) carriages: Vec<CarriageChange>,
}

impl Jack {
    /// A port without trouble.
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
            overridden: BTreeMap::new(),
            moved: BTreeSet::new(),
            healthy,
            edges: Vec::new(),
        }
    }

    /// Notes what both ends of its link show, if that changed.
    pub(crate) fn note(&mut self, now: SimTime) {
        let shown = self.link.shown(now);
        let same =
            |last: &LinkStep| (last.logical, last.physical) == (shown.logical, shown.physical);
        if !self.walk.last().is_some_and(same) {
            self.walk.push(shown);
        }
    }
}

/// Values shown whatever the link does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mask {
    pub(crate) state: Option<PortState>,
    pub(crate) phys_state: Option<PhysState>,
    pub(crate) rate: Option<Rate>,
    pub(crate) operstate: Option<String>,
}

/// A flap that goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flap {
    /// Turns that are still to begin.
    pub(crate) left: u32,
    /// From leaving `ACTIVE` to `ACTIVE` again.
    pub(crate) down: SimTime,
    /// From `ACTIVE` to the next leaving.
    pub(crate) up: SimTime,
    /// Its next step.
    pub(crate) next: Key,
}

/// A counter that grows by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// By how much a second.
    pub(crate) per_second: u64,
    /// Since when.
    pub(crate) since: SimTime,
    /// How much of it has been counted.
    pub(crate) counted: u64,
}

/// Data that moves over a port in both directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    /// In words of 4 bytes, as `port_xmit_data` counts.
    pub(crate) words: Growth,
    /// In packets.
    pub(crate) packets: Growth,
}

impl Traffic {
    /// So many bytes a second each way, in packets of this size, from now on.
    pub(crate) fn new(bytes_per_second: u64, packet_bytes: u32, now: SimTime) -> Self {
        let growth = |per_second| Growth {
            per_second,
            since: now,
            counted: 0,
        };
        Self {
            words: growth(bytes_per_second / 4),
            packets: growth(bytes_per_second / u64::from(packet_bytes.max(1))),
        }
    }
}

impl Growth {
    /// What has to be counted at `now`, which then has been.
    pub(crate) fn due(&mut self, now: SimTime) -> u64 {
        let elapsed = u128::from(now.since(self.since).as_ns());
        let total = elapsed * u128::from(self.per_second) / 1_000_000_000;
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let due = total.saturating_sub(self.counted);
        self.counted = total;
        due
    }
}
