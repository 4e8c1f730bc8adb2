//! The memory of counters: devices by their PCI function, their ports, and the net devices of the
//! ports.
//!
//! [`Count`] is the memory of one counter; `watch` matches it with a snapshot. Start with
//! [`CounterMemory`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use terms::LinkLayer;

use super::count::Count;
use super::table::CounterId;
use crate::name::{DeviceName, PortNumber, SlotKey};
use crate::pending_clear::{Reboot, Subject};

/// The counters of one port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PortCounts {
    #[serde(rename = "link_layer")]
    pub(crate) layer: LinkLayer,
    /// The net device from which the interface counters were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) interface: Option<String>,
    pub(crate) counts: BTreeMap<CounterId, Count>,
}

impl PortCounts {
    pub(crate) fn new(layer: LinkLayer) -> PortCounts {
        PortCounts {
            layer,
            interface: None,
            counts: BTreeMap::new(),
        }
    }
}

/// The counters of one device.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeviceCounts {
    pub(crate) name: DeviceName,
    pub(crate) ports: BTreeMap<PortNumber, PortCounts>,
}

impl DeviceCounts {
    pub(crate) fn new(name: DeviceName) -> DeviceCounts {
        DeviceCounts {
            name,
            ports: BTreeMap::new(),
        }
    }

    /// Its reported faults, as layer and subject.
    pub(crate) fn faults(&self) -> impl Iterator<Item = (LinkLayer, Subject)> + '_ {
        self.ports.iter().flat_map(move |(number, port)| {
            let standing = port
                .counts
                .iter()
                .filter(|(_, c)| c.said_since_ns.is_some());
            standing.map(move |(id, _)| {
                let subject = Subject::Counter(self.name.clone(), *number, *id);
                (port.layer, subject)
            })
        })
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CounterMemory {
    pub(crate) devices: BTreeMap<SlotKey, DeviceCounts>,
    /// The first reading of each in this boot gives a healthy event.
    pub(crate) is_reborn: bool,
    /// A reboot after which the faults of absent devices are not settled yet.
    pub(crate) reboot: Option<Reboot>,
}

impl CounterMemory {
    pub(crate) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// One counter, if it is remembered.
    pub(crate) fn count_mut(
        &mut self,
        key: &SlotKey,
        number: PortNumber,
        id: CounterId,
    ) -> Option<&mut Count> {
        let device = self.devices.get_mut(key)?;
        device.ports.get_mut(&number)?.counts.get_mut(&id)
    }

    /// The last known layer of a port, for a poll in which it cannot be read.
    pub(crate) fn layer_of(&self, key: &SlotKey, number: PortNumber) -> Option<LinkLayer> {
        Some(self.devices.get(key)?.ports.get(&number)?.layer)
    }

    /// Measures growth from the next value on.
    pub(crate) fn forget_values(&mut self) {
        let ports = self.devices.values_mut();
        let ports = ports.flat_map(|device| device.ports.values_mut());
        for count in ports.flat_map(|port| port.counts.values_mut()) {
            count.seed = None;
        }
    }

    /// After a reboot only reported faults are kept.
    pub(crate) fn after_reboot(&mut self) {
        let known = self.devices.len();
        for device in self.devices.values_mut() {
            for port in device.ports.values_mut() {
                port.interface = None;
                port.counts.retain(|_, count| count.said_since_ns.is_some());
                port.counts.values_mut().for_each(Count::after_reboot);
            }
            device.ports.retain(|_, port| !port.counts.is_empty());
        }
        self.devices.retain(|_, device| !device.ports.is_empty());
        self.is_reborn = true;
        self.reboot = (!self.devices.is_empty()).then_some(Reboot {
            known,
            since_ns: None,
        });
    }
}
