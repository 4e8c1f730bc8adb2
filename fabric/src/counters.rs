//! Counters: how they grow, saturate at their maximum, and restart.
//!
//! A counter name is unique over all files of a port: `counters/`, `hw_counters/`, its net device's
//! `statistics/`, and the net device's carrier counts. Start at [`Fabric::counter`].

use std::sync::Arc;

use platforms::{CounterValue, LinkEvent, NetDev, PciAddress, PortNumber, Restart, SlotRef};
use simfs::SimTime;

use crate::{
    ActionError, CounterChange, Fabric,
    device::{Growth, Jack, PortTraffic},
    link::Stage,
    node::Node,
    overruns::OVERRUNS,
    port_view::CARRIER_CHANGES,
};

/// The unit of `port_xmit_data` in bytes (IBTA volume 1, 16.1.4).
const WORD_BYTES: u64 = 4;
/// The largest payload of a packet in bytes (IBTA volume 1, 9.6.1.6).
const PACKET_BYTES: u64 = 4096;
/// Number of times the carrier came up (`net/core/net-sysfs.c`).
const CARRIER_UP: &str = "carrier_up_count";
/// Number of times the carrier went down (`net/core/net-sysfs.c`).
const CARRIER_DOWN: &str = "carrier_down_count";

/// The files of a net device that count changes of its carrier: they lie beside its attributes and not in
/// `statistics/`, and no driver lists them (`net/core/net-sysfs.c`).
pub const CARRIER_COUNTERS: [&str; 3] = [CARRIER_CHANGES, CARRIER_UP, CARRIER_DOWN];

impl Fabric {
    /// Performs a counter change.
    pub(crate) fn counter(
        &mut self,
        slot: &SlotRef,
        name: &str,
        change: &CounterChange,
    ) -> Result<(), ActionError> {
        self.find(slot)?;
        let now = self.now;
        if !matches!(change, CounterChange::RatePerSecond(_)) {
            self.node(&slot.node)?.require_rdma(slot.pci)?;
        }
        let node = self.node_mut(&slot.node);
        node.change(slot, name, change, now)?;
        self.watch_growth(slot);
        self.watch_overruns(slot);
        Ok(())
    }

    /// Starts or stops data traffic over a port.
    pub(crate) fn traffic(
        &mut self,
        slot: &SlotRef,
        bytes_per_second: u64,
        packet_bytes: u32,
    ) -> Result<(), ActionError> {
        self.find(slot)?;
        let now = self.now;
        let traffic = PortTraffic::new(bytes_per_second, packet_bytes, now);
        let node = self.node_mut(&slot.node);
        node.jack_mut(slot.pci, slot.port).traffic = (bytes_per_second > 0).then_some(traffic);
        self.watch_growth(slot);
        Ok(())
    }

    /// Counts data that the user of a port moved over it, in bytes. A device that cannot be seen counts
    /// nothing; an unknown port is ignored.
    pub fn carry(&mut self, slot: &SlotRef, sent: u64, received: u64) {
        if self.find(slot).is_ok() {
            self.node_mut(&slot.node).carry(slot, sent, received);
        }
    }

    /// Records whether a port has counters that grow by themselves.
    fn watch_growth(&mut self, slot: &SlotRef) {
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        if jack.growing.is_empty() && jack.traffic.is_none() {
            self.growing.remove(slot);
        } else {
            self.growing.insert(slot.clone());
        }
    }
}

impl Node {
    /// Applies to a port's counters what the driver counts for an event.
    pub(crate) fn count(&mut self, pci: PciAddress, number: PortNumber, event: LinkEvent) {
        let moves = self.jack_mut(pci, number).driver.moves.get(&event).cloned();
        for (name, by) in moves.into_iter().flatten() {
            self.add(pci, number, &name, by);
        }
    }

    /// Changes a counter.
    pub(crate) fn change(
        &mut self,
        slot: &SlotRef,
        name: &str,
        change: &CounterChange,
        now: SimTime,
    ) -> Result<(), ActionError> {
        let (pci, number) = (slot.pci, slot.port);
        let known = self.counter_names(pci, number);
        if !known.iter().any(|known| &**known == name) {
            let (slot, name) = (slot.clone(), name.to_owned());
            return Err(ActionError::NoSuchCounter {
                slot,
                name,
                known: known.join(", "),
            });
        }
        let carrier = CARRIER_COUNTERS.contains(&name);
        match change {
            CounterChange::Add(by) => self.add(pci, number, name, *by),
            CounterChange::RatePerSecond(0) => {
                self.jack_mut(pci, number).growing.remove(name);
            }
            CounterChange::RatePerSecond(per_second) => {
                let growth = Growth {
                    per_second: *per_second,
                    since: now,
                    counted: 0,
                };
                self.jack_mut(pci, number)
                    .growing
                    .insert(name.into(), growth);
            }
            CounterChange::Set(CounterValue::Count(count)) => self.set(pci, number, name, *count),
            CounterChange::Set(_) if carrier => {
                let (slot, name) = (slot.clone(), name.to_owned());
                return Err(ActionError::AlwaysNumber { slot, name });
            }
            CounterChange::Set(shown_value) => {
                let count = self.count_of(pci, number, name);
                self.jack_mut(pci, number)
                    .overridden
                    .insert(name.into(), count);
                if let Some(value) = self.counter_mut(pci, number, name) {
                    *value = shown_value.clone();
                }
            }
            CounterChange::Reset => self.set(pci, number, name, 0),
            CounterChange::Saturate => {
                let max = self.max(pci, number, name);
                self.set(pci, number, name, max);
            }
        }
        Ok(())
    }

    /// Adds what grew by itself until `now`.
    pub(crate) fn grow(&mut self, slot: &SlotRef, now: SimTime) {
        let (pci, number) = (slot.pci, slot.port);
        let growing = &mut self.jack_mut(pci, number).growing;
        let due: Vec<(Arc<str>, u64)> = growing
            .iter_mut()
            .map(|(name, growth)| (Arc::clone(name), growth.due(now)))
            .collect();
        let carried = self.jack_mut(pci, number).carried(now);
        // A device that cannot be seen counts nothing.
        if self.has_rdma(pci) {
            for (name, by) in due.into_iter().chain(carried).filter(|(_, by)| *by > 0) {
                self.add(pci, number, &name, by);
            }
        }
    }

    /// Adds data that a user moved, to the counters of each direction: words of 4 bytes, bytes, and packets of the
    /// largest size.
    fn carry(&mut self, slot: &SlotRef, sent: u64, received: u64) {
        let (pci, number) = (slot.pci, slot.port);
        if !self.has_rdma(pci) {
            return;
        }
        let jack = self.jack_mut(pci, number);
        let words = jack.moved_words(sent, received);
        let packets = [sent, received].map(|bytes| bytes.div_ceil(PACKET_BYTES));
        let driver = Arc::clone(&jack.driver);
        let counts = [
            (&driver.traffic.words, words),
            (&driver.traffic.bytes, [sent, received]),
            (&driver.traffic.packets, packets),
        ];
        for (names, [out, back]) in counts {
            for name in names {
                let is_out = platforms::TrafficCounters::is_of_sender(name);
                let by = if is_out { out } else { back };
                if by > 0 {
                    self.add(pci, number, name, by);
                }
            }
        }
    }

    /// Resets every counter that moved to zero, like an operator.
    pub(crate) fn reset_moved(&mut self, slot: &SlotRef) {
        let moved = std::mem::take(&mut self.jack_mut(slot.pci, slot.port).moved);
        for name in moved {
            self.set(slot.pci, slot.port, &name, 0);
        }
        self.jack_mut(slot.pci, slot.port).moved.clear();
    }

    /// Makes every counter of a port readable again, and stops those that grow by themselves.
    pub(crate) fn end_overrides(&mut self, slot: &SlotRef) {
        let jack = self.jack_mut(slot.pci, slot.port);
        jack.growing.clear();
        jack.traffic = None;
        let overridden = std::mem::take(&mut self.jack_mut(slot.pci, slot.port).overridden);
        for (name, count) in overridden {
            if let Some(value) = self.counter_mut(slot.pci, slot.port, &name) {
                *value = CounterValue::Count(count);
            }
        }
    }

    /// Restarts a port's RDMA counters, except those that the driver keeps over this restart.
    pub(crate) fn restart_counters(
        &mut self,
        pci: PciAddress,
        number: PortNumber,
        restart: Restart,
    ) {
        let keeps = self.jack_mut(pci, number).driver.keeps.get(&restart);
        let (counters, hw_counters) =
            keeps.map_or((false, false), |keeps| (keeps.counters, keeps.hw_counters));
        self.begin_counters(pci, number, !counters, !hw_counters);
    }

    /// Restarts every counter of a port, as on new hardware.
    pub(crate) fn new_counters(&mut self, pci: PciAddress, number: PortNumber) {
        self.begin_counters(pci, number, true, true);
        self.restart_netdev(pci, number);
    }

    /// Restarts the counters in `counters/` and `hw_counters/`, including values hidden by an override.
    fn begin_counters(
        &mut self,
        pci: PciAddress,
        number: PortNumber,
        counters: bool,
        hw_counters: bool,
    ) {
        let Some(port) = self.port(pci, number) else {
            return;
        };
        let counters = port.counters.keys().filter(|_| counters);
        let names = counters.chain(port.hw_counters.keys().filter(|_| hw_counters));
        let names: Vec<Arc<str>> = names.cloned().collect();
        let driver = Arc::clone(&self.jack_mut(pci, number).driver);
        for name in names {
            let file = driver.counter(&name);
            self.begin(pci, number, &name, file.map_or(0, |file| file.initial));
        }
    }

    /// Resets a port's net device as newly registered: no carrier yet, counters at zero.
    pub(crate) fn restart_netdev(&mut self, pci: PciAddress, number: PortNumber) {
        let Some(netdev) = self.netdev_mut(pci, number) else {
            return;
        };
        netdev.carrier = false;
        (netdev.carrier_up_count, netdev.carrier_down_count) = (0, 0);
        let names: Vec<Arc<str>> = netdev.statistics.keys().cloned().collect();
        for name in names {
            self.begin(pci, number, &name, 0);
        }
    }

    /// Sets a counter to its initial value, including a value hidden by an override.
    fn begin(&mut self, pci: PciAddress, number: PortNumber, name: &str, initial: u64) {
        if let Some(count) = self.jack_mut(pci, number).overridden.get_mut(name) {
            *count = initial;
        } else if let Some(CounterValue::Count(count)) = self.counter_mut(pci, number, name) {
            *count = initial;
        }
    }

    fn counter_names(&self, pci: PciAddress, number: PortNumber) -> Vec<String> {
        let port = self.port(pci, number);
        let counters = port
            .into_iter()
            .flat_map(|port| port.counters.keys().chain(port.hw_counters.keys()));
        let netdev = self.netdev(pci, number);
        let statistics = netdev
            .into_iter()
            .flat_map(|netdev| netdev.statistics.keys());
        let carrier = netdev.into_iter().flat_map(|_| CARRIER_COUNTERS);
        let names = counters.chain(statistics).map(|name| name.to_string());
        names.chain(carrier.map(str::to_owned)).collect()
    }

    fn counter_mut(
        &mut self,
        pci: PciAddress,
        number: PortNumber,
        name: &str,
    ) -> Option<&mut CounterValue> {
        let in_port = self.port(pci, number).is_some_and(|port| {
            port.counters.contains_key(name) || port.hw_counters.contains_key(name)
        });
        if in_port {
            let port = self.port_mut(pci, number)?;
            return port
                .counters
                .get_mut(name)
                .or_else(|| port.hw_counters.get_mut(name));
        }
        self.netdev_mut(pci, number)?.statistics.get_mut(name)
    }

    fn max(&self, pci: PciAddress, number: PortNumber, name: &str) -> u64 {
        let jack = self
            .devices
            .get(&pci)
            .and_then(|device| device.jacks.get(&number));
        let file = jack.and_then(|jack| jack.driver.counter(name));
        file.map_or(u64::MAX, platforms::CounterFile::max)
    }

    fn count_of(&mut self, pci: PciAddress, number: PortNumber, name: &str) -> u64 {
        if let Some(count) = self.jack_mut(pci, number).overridden.get(name) {
            return *count;
        }
        match self.counter_mut(pci, number, name) {
            Some(CounterValue::Count(count)) => *count,
            _ => self
                .netdev(pci, number)
                .map_or(0, |netdev| carrier_count(netdev, name)),
        }
    }

    fn add(&mut self, pci: PciAddress, number: PortNumber, name: &str, by: u64) {
        let max = self.max(pci, number, name);
        let jack = self.jack_mut(pci, number);
        if let Some(count) = jack.overridden.get_mut(name) {
            *count = count.saturating_add(by).min(max);
            jack.moved.insert(name.into());
        } else {
            let count = self.count_of(pci, number, name).saturating_add(by).min(max);
            self.set(pci, number, name, count);
        }
        if name == OVERRUNS && by > 0 {
            self.jack_mut(pci, number).overruns.grew = true;
        }
    }

    fn set(&mut self, pci: PciAddress, number: PortNumber, name: &str, count: u64) {
        let before = self.count_of(pci, number, name);
        if name == OVERRUNS && count != before {
            self.jack_mut(pci, number).overruns.grew = count > before;
        }
        let jack = self.jack_mut(pci, number);
        jack.overridden.remove(name);
        jack.moved.insert(name.into());
        if let Some(value) = self.counter_mut(pci, number, name) {
            *value = CounterValue::Count(count);
        } else if let Some(netdev) = self.netdev_mut(pci, number) {
            set_carrier_count(netdev, name, count);
        }
    }
}

impl Jack {
    /// The whole words in these bytes and in the rest of earlier ones, in each direction.
    fn moved_words(&mut self, sent: u64, received: u64) -> [u64; 2] {
        let all = [sent + self.rest[0], received + self.rest[1]];
        self.rest = all.map(|bytes| bytes % WORD_BYTES);
        all.map(|bytes| bytes / WORD_BYTES)
    }

    /// What the data that moved over the link until `now` adds to which counters. No data moves over a
    /// link that is not up, and it is not made up for later.
    fn carried(&mut self, now: SimTime) -> Vec<(Arc<str>, u64)> {
        let Some(traffic) = &mut self.traffic else {
            return Vec::new();
        };
        let counts = &self.driver.traffic;
        let moved = [
            (&counts.words, traffic.words.due(now)),
            (&counts.bytes, traffic.bytes.due(now)),
            (&counts.packets, traffic.packets.due(now)),
        ];
        if self.link.stage != Stage::Active {
            return Vec::new();
        }
        let each = moved.into_iter().flat_map(|(names, by)| {
            let names = names.iter();
            names.map(move |name| (name.as_str().into(), by))
        });
        each.collect()
    }
}

fn carrier_count(netdev: &NetDev, name: &str) -> u64 {
    match name {
        CARRIER_UP => netdev.carrier_up_count,
        CARRIER_DOWN => netdev.carrier_down_count,
        CARRIER_CHANGES => netdev
            .carrier_up_count
            .saturating_add(netdev.carrier_down_count),
        _ => 0,
    }
}

/// Sets a carrier count. If a sum of both is odd, the up count gets the larger half, as for a carrier
/// that is present.
fn set_carrier_count(netdev: &mut NetDev, name: &str, count: u64) {
    match name {
        CARRIER_UP => netdev.carrier_up_count = count,
        CARRIER_DOWN => netdev.carrier_down_count = count,
        CARRIER_CHANGES => {
            netdev.carrier_up_count = count.div_ceil(2);
            netdev.carrier_down_count = count / 2;
        }
        _ => {}
    }
}
