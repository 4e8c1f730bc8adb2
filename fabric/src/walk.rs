//! Moves links through their stages (down, training, up). After every change [`Fabric::settle`]
//! moves a link to the stage that follows from the present conditions, and schedules its next
//! stage.
//!
//! `reasons.rs` records what both ends remember; `port_view.rs` computes what the kernel shows.

use platforms::{LinkEvent, NodeName, PciAddress, SlotRef};
use simfs::SimTime;

use crate::{
    Fabric, PortEvent, PortEventKind,
    agenda::{Rank, Step},
    link::{Hold, Stage},
};

impl Fabric {
    /// Adds or removes the PCI function, RDMA device and net devices of a function and of its virtual
    /// functions, as the present conditions require, and settles their ports.
    pub(crate) fn place(&mut self, name: &NodeName, pci: PciAddress) {
        for pci in self.node_mut(name).family(pci) {
            let node = self.node_mut(name);
            node.place(pci);
            for port in node.port_numbers(pci) {
                self.settle(&SlotRef {
                    node: name.clone(),
                    pci,
                    port,
                });
            }
        }
    }

    /// Moves a link to the stage that its conditions allow, schedules its next stage, updates its
    /// port view, and does the same for the virtual functions that depend on it.
    pub(crate) fn settle(&mut self, slot: &SlotRef) {
        let node = self.node_mut(&slot.node);
        let powered = node.is_powered(slot.pci, slot.port);
        let uplink = node.has_uplink(slot.pci, slot.port);
        let link = &mut node.jack_mut(slot.pci, slot.port).link;
        let was_powered = !link.here.has(Hold::Unpowered);
        if !powered {
            link.thaw();
        }
        link.here.set(Hold::Unpowered, !powered);
        link.there.set(Hold::Uplink, !uplink);
        let stage = link.held_back();
        self.enter(slot, stage);
        self.arrange(slot);
        self.follow(slot, was_powered, powered);
        let now = self.now;
        let node = self.node_mut(&slot.node);
        node.jack_mut(slot.pci, slot.port).note(now);
        node.show(slot, now);
        for child in node.family(slot.pci).into_iter().skip(1) {
            if self
                .node(&slot.node)
                .is_ok_and(|node| node.uplink_changed(child, slot.port))
            {
                self.settle(&SlotRef {
                    pci: child,
                    ..slot.clone()
                });
            }
        }
    }

    /// Schedules the link's next stage; a stage that is already scheduled keeps its time.
    fn arrange(&mut self, slot: &SlotRef) {
        let (now, timing, manager) = (self.now, self.timing, self.manager);
        let link = &mut self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link;
        let following = link.following(now, &timing, manager);
        if link.next.map(|(_, stage)| stage) == following.map(|(_, stage)| stage) {
            return;
        }
        let managed = link.is_managed();
        if let Some((key, _)) = link.next.take() {
            self.agenda.cancel(key);
        }
        if let Some((at, stage)) = following {
            let rank = if managed && stage > Stage::Init {
                Rank::SubnetManager
            } else {
                Rank::Link
            };
            let key = self
                .agenda
                .schedule(at, rank, Step::Reach(slot.clone(), stage));
            self.node_mut(&slot.node)
                .jack_mut(slot.pci, slot.port)
                .link
                .next = Some((key, stage));
        }
    }

    /// Moves a link to a stage; counts and records the change.
    pub(crate) fn enter(&mut self, slot: &SlotRef, stage: Stage) {
        let (now, quiet) = (self.now, self.timing.quiet);
        let node = self.node_mut(&slot.node);
        let has_rdma = node.has_rdma(slot.pci);
        let jack = node.jack_mut(slot.pci, slot.port);
        let link = &mut jack.link;
        // A frozen driver notices nothing.
        let reports = has_rdma && link.frozen.is_none();
        let before = link.stage;
        let stage = if stage == Stage::Down && before > stage && quiet > SimTime::ZERO {
            Stage::Quiet
        } else {
            stage
        };
        if before == stage {
            return;
        }
        link.stage = stage;
        if stage == Stage::Active {
            link.pace = None;
        }
        let lost = before.is_up() && !stage.is_up();
        let came_up = !before.is_up() && stage.is_up();
        let kind = if lost {
            Some(PortEventKind::PortErr)
        } else {
            (stage == Stage::Active && before < stage).then_some(PortEventKind::PortActive)
        };
        jack.events.extend(
            kind.filter(|_| reports)
                .map(|kind| PortEvent { at: now, kind }),
        );
        self.remember(slot, before);
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        jack.note(now);
        let link = &mut jack.link;
        let event = if stage == Stage::Recovering {
            Some(LinkEvent::Recovery)
        } else if stage == Stage::Active && before < stage {
            Some(LinkEvent::Up)
        } else {
            let lost = link.is_linked(before) && !link.is_linked(stage);
            (lost && link.frozen.is_none()).then_some(LinkEvent::Down)
        };
        if let Some((key, _)) = link.next.take() {
            self.agenda.cancel(key);
        }
        if let Some(event) = event {
            self.node_mut(&slot.node)
                .happen(slot.pci, slot.port, event, now);
        }
        if lost || came_up {
            self.trap(slot);
        }
    }

    /// Simulates a short loss of signal: the link goes down and trains again from the start.
    pub(crate) fn fall_dark(&mut self, slot: &SlotRef) {
        self.enter(slot, Stage::Down);
    }

    /// Takes a configured link back to Init, where it waits for the subnet manager.
    pub(crate) fn uninitialise(&mut self, slot: &SlotRef) {
        let link = &self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).link;
        if link.is_managed() && link.stage > Stage::Init {
            self.enter(slot, Stage::Init);
        }
    }
}
