//! Lanes that die while a link is up, and the width policy that takes a link down for it.
//!
//! The lanes are counted where they are received; the other end sends over as many. All are back when the
//! link comes up again. The rate in sysfs is that of the link's coming up (hfi1 `verbs.c`, `query_port`), so
//! it does not change. Start at [`Fabric::lanes`].

use platforms::SlotRef;

use crate::{
    ActionError, Fabric, Side,
    opa::{Lanes, LinkDownReason, LinkWidths, state_line},
};

impl Fabric {
    /// Over how many lanes an end of a link sends and receives; `None` for a link that is not up, an unknown
    /// port, and a virtual function's.
    #[must_use]
    pub fn lanes(&self, slot: &SlotRef, side: Side) -> Option<Lanes> {
        let jack = self.node(&slot.node).ok()?.jack(slot).ok()?;
        let ends = jack
            .link
            .ends
            .as_ref()
            .filter(|_| jack.link.stage.is_up())?;
        let full = jack.mask.rate.unwrap_or(jack.rate).width;
        let received = |side| ends.of(side).received.unwrap_or(full).min(full);
        Some(Lanes {
            sends: received(side.other()),
            receives: received(side),
            full,
        })
    }

    /// An end receives over this many lanes from now on; the width policy of either end may take the link
    /// down. A link that is not up has no lanes to lose.
    pub(crate) fn lose_lanes(
        &mut self,
        slot: &SlotRef,
        side: Side,
        left: u8,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        let Some(lanes) = self.lanes(slot, side) else {
            return Ok(());
        };
        if left == 0 || left >= lanes.receives {
            return Err(ActionError::NoFewerLanes(slot.clone(), lanes.receives));
        }
        if let Some(ends) = &mut self.link(slot).ends {
            ends.of_mut(side).received = Some(left);
        }
        self.log(slot, state_line::DOWNGRADE);
        self.apply_width_policy(slot, side)?;
        self.apply_width_policy(slot, side.other())
    }

    /// Sets the widths that an end allows; a link that is too narrow already goes down.
    pub(crate) fn width_policy(
        &mut self,
        slot: &SlotRef,
        side: Side,
        allowed: LinkWidths,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        if let Some(ends) = &mut self.link(slot).ends {
            ends.of_mut(side).widths = allowed;
        }
        self.apply_width_policy(slot, side)
    }

    fn apply_width_policy(&mut self, slot: &SlotRef, side: Side) -> Result<(), ActionError> {
        let Some(lanes) = self.lanes(slot, side) else {
            return Ok(());
        };
        let ends = self.link(slot).ends.as_ref();
        let allowed = ends.map_or(LinkWidths::EVERY, |ends| ends.of(side).widths);
        if allowed.allow(lanes) {
            return Ok(());
        }
        if side == Side::Here {
            for line in state_line::too_narrow(lanes, allowed) {
                self.log(slot, &line);
            }
        }
        self.take_down(slot, side, LinkDownReason::WIDTH_POLICY, true)
    }
}
