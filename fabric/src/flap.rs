//! A flap: the far end of a link stops signalling and signals again, in cycles.
//!
//! The dark part of a cycle leaves as much time as the link needs to train. Start at
//! [`Fabric::flap`].

use platforms::SlotRef;
use simfs::SimTime;

use crate::{
    ActionError, Fabric,
    agenda::{Rank, Step},
    device::Flap,
    link::Hold,
    timing::Pace,
};

impl Fabric {
    /// Starts a flap of these ports.
    pub(crate) fn flap(
        &mut self,
        slots: &[SlotRef],
        times: u32,
        down: SimTime,
        up: SimTime,
        stagger: SimTime,
    ) -> Result<(), ActionError> {
        if times == 0 || down == SimTime::ZERO || up == SimTime::ZERO {
            return Err(ActionError::EmptyFlap { times, down, up });
        }
        for slot in slots {
            self.find(slot)?;
        }
        let mut start = self.now;
        for slot in slots {
            self.stop_flap(slot);
            let next = self
                .agenda
                .schedule(start, Rank::Fault, Step::GoDark(slot.clone()));
            let flap = Flap {
                left: times,
                down,
                up,
                next,
            };
            self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).flap = Some(flap);
            self.settle(slot);
            start += stagger;
        }
        Ok(())
    }

    /// Ends the flap of a port, if there is one.
    pub(crate) fn stop_flap(&mut self, slot: &SlotRef) {
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        jack.link.there.set(Hold::Flap, false);
        if let Some(flap) = jack.flap.take() {
            self.agenda.cancel(flap.next);
        }
    }

    /// Begins the next cycle of a flap: the far end stops signalling, leaving enough time to train.
    pub(crate) fn go_dark(&mut self, slot: &SlotRef) {
        let (now, timing) = (self.now, self.timing);
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        let Some(mut flap) = jack.flap else { return };
        let natural = jack.link.natural_pace(&timing);
        let (dark, pace) = natural.within(flap.down);
        jack.link.there.set(Hold::Flap, true);
        jack.link.pace = Some(pace);
        flap.left -= 1;
        flap.next = self
            .agenda
            .schedule(now + dark, Rank::Fault, Step::Signal(slot.clone()));
        self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).flap = Some(flap);
        self.settle(slot);
    }

    /// Ends the dark part of a cycle, and schedules the next cycle if there is one.
    pub(crate) fn signal(&mut self, slot: &SlotRef) {
        let now = self.now;
        let jack = self.node_mut(&slot.node).jack_mut(slot.pci, slot.port);
        let Some(mut flap) = jack.flap.take() else {
            return;
        };
        jack.link.there.set(Hold::Flap, false);
        let walk = jack.link.pace.map_or(SimTime::ZERO, Pace::total);
        if flap.left > 0 {
            flap.next = self.agenda.schedule(
                now + walk + flap.up,
                Rank::Fault,
                Step::GoDark(slot.clone()),
            );
            self.node_mut(&slot.node).jack_mut(slot.pci, slot.port).flap = Some(flap);
        }
        self.settle(slot);
    }
}
