//! The port view: what the kernel shows of a port, from its link through its driver, with overrides
//! applied.
//!
//! Start at [`Node::show`].

use platforms::{LinkCondition, LinkEvent, PciAddress, PortNumber, Rate, SlotRef};
use simfs::SimTime;

use crate::{
    Side,
    both_ends::BothEnds,
    history::{Carriage, CarriageChange, Edge, KernelLine},
    link::{Link, Stage},
    node::Node,
    opa::{Logical, Physical},
};

/// What `speed` reads without a carrier: `SPEED_UNKNOWN` (`include/uapi/linux/ethtool.h`).
const SPEED_UNKNOWN: i64 = -1;

impl Link {
    /// The condition of the link, by which a driver's table of port views is indexed.
    pub(crate) fn condition(&self) -> LinkCondition {
        if self.stage == Stage::Recovering {
            return LinkCondition::Recovery;
        }
        let is_hfi1 = self.ends.as_ref().is_some_and(BothEnds::is_hfi1);
        match (self.logical(Side::Here), self.physical(Side::Here)) {
            (Logical::Active, _) => LinkCondition::Active,
            (Logical::Armed, _) => LinkCondition::Armed,
            (Logical::Init, _) => LinkCondition::Init,
            (_, Physical::Training) => LinkCondition::Training,
            (_, Physical::Test) => LinkCondition::PhyTest,
            // Only Omni-Path distinguishes Offline from Polling; `phys_state` shows it as Sleep.
            (_, Physical::Offline) if is_hfi1 => LinkCondition::Sleep,
            (_, Physical::Disabled) if is_hfi1 => LinkCondition::Disabled,
            _ if self.here.is_disabled() => LinkCondition::Disabled,
            _ => LinkCondition::Polling,
        }
    }
}

impl Node {
    /// Writes a port's view into the machine, and records changes of its health.
    ///
    /// Unchanged values are not written, so that unchanged parts of the machine stay shared.
    pub(crate) fn show(&mut self, slot: &SlotRef, now: SimTime) {
        let (pci, number) = (slot.pci, slot.port);
        // A kernel that does not run shows and counts nothing.
        if self.reboot.is_none() {
            self.show_port(pci, number);
            self.show_netdev(pci, number);
        }
        let healthy = self.is_healthy(pci, number);
        let jack = self.jack_mut(pci, number);
        if jack.healthy != healthy {
            jack.healthy = healthy;
            jack.edges.push(Edge { at: now, healthy });
        }
        let carriage = self.carriage(pci, number);
        let jack = self.jack_mut(pci, number);
        if jack.carriage != carriage {
            jack.carriage = carriage;
            jack.carriages.push(CarriageChange { at: now, carriage });
        }
    }

    /// What the port carries, regardless of overrides.
    fn carriage(&mut self, pci: PciAddress, number: PortNumber) -> Carriage {
        if !self.has_rdma(pci) {
            Carriage::Gone
        } else if self.jack_mut(pci, number).link.stage == Stage::Active {
            Carriage::Data
        } else {
            Carriage::Nothing
        }
    }

    fn show_port(&mut self, pci: PciAddress, number: PortNumber) {
        let jack = self.jack_mut(pci, number);
        let view = jack.driver.view(jack.link.condition());
        let rate = if view.rate {
            jack.rate
        } else {
            Rate::WITHOUT_SPEED
        };
        let wanted = (
            jack.driver.layer,
            jack.mask.state.unwrap_or(view.state),
            jack.mask.phys_state.unwrap_or(view.phys_state),
            jack.mask.rate.unwrap_or(rate),
        );
        let shown = self
            .port(pci, number)
            .map(|port| (port.layer, port.state, port.phys_state, port.rate));
        if shown.is_some_and(|shown| shown != wanted)
            && let Some(port) = self.port_mut(pci, number)
        {
            (port.layer, port.state, port.phys_state, port.rate) = wanted;
        }
    }

    fn show_netdev(&mut self, pci: PciAddress, number: PortNumber) {
        let Some(netdev) = self.netdev(pci, number) else {
            return;
        };
        let (admin_up, had_carrier) = (netdev.admin_up, netdev.carrier);
        let jack = self.jack_mut(pci, number);
        let view = jack.driver.view(jack.link.condition());
        let carrier = view.carrier && admin_up;
        let speed = i64::from(jack.mask.rate.unwrap_or(jack.rate).gbps()) * 1000;
        let speed = Some(if carrier { speed } else { SPEED_UNKNOWN });
        let operstate = match &jack.mask.operstate {
            Some(text) => text.clone(),
            None if admin_up => view.operstate.clone(),
            None => "down".to_owned(),
        };
        let netdev = self
            .netdev(pci, number)
            .expect("the interface was there a few lines above");
        if (netdev.carrier, netdev.speed_mbps, &netdev.operstate) == (carrier, speed, &operstate) {
            return;
        }
        let netdev = self
            .netdev_mut(pci, number)
            .expect("the interface was there a line above");
        (netdev.carrier, netdev.speed_mbps, netdev.operstate) = (carrier, speed, operstate);
        if carrier != had_carrier {
            let count = if carrier {
                &mut netdev.carrier_up_count
            } else {
                &mut netdev.carrier_down_count
            };
            *count = count.saturating_add(1);
            self.jack_mut(pci, number)
                .moved
                .insert(CARRIER_CHANGES.into());
        }
    }

    /// Whether the port is visible and `ACTIVE` with `LinkUp`.
    fn is_healthy(&self, pci: PciAddress, number: PortNumber) -> bool {
        self.seen_port(pci, number)
            .is_some_and(|port| port.query_error.is_none() && port.is_up())
    }

    /// Applies an event to a port: its counters change as the driver's data state, and the kernel
    /// log gets the driver's lines if a driver runs.
    pub(crate) fn happen(
        &mut self,
        pci: PciAddress,
        number: PortNumber,
        event: LinkEvent,
        now: SimTime,
    ) {
        if self.reboot.is_some() {
            return;
        }
        self.count(pci, number, event);
        if !self.is_on_bus(pci) {
            return;
        }
        let jack = self.jack_mut(pci, number);
        let Some(lines) = jack.driver.log.get(&event).cloned() else {
            return;
        };
        let netdev = self
            .netdev(pci, number)
            .map_or_else(String::new, |netdev| netdev.name.clone());
        let (device, fw_ver) = self.rdma(pci).map_or_else(Default::default, |rdma| {
            (rdma.name.to_string(), rdma.fw_ver.clone())
        });
        for line in lines {
            let text = line
                .replace("{pci}", &pci.to_string())
                .replace("{netdev}", &netdev)
                .replace("{device}", &device)
                .replace("{port}", &number.to_string())
                .replace("{fw_ver}", &fw_ver);
            self.log.push(KernelLine { at: now, text });
        }
    }
}

/// The file that counts changes of the carrier, in both directions (`net/core/net-sysfs.c`).
pub(crate) const CARRIER_CHANGES: &str = "carrier_changes";
