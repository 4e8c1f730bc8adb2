//! The effect of a Set(PortInfo) on an end of a link.
//!
//! `opa` decides whether a change is allowed. Start at [`Fabric::set_port_info`].

use platforms::SlotRef;

use crate::{
    ActionError, Fabric, Side,
    link::{Hold, Stage},
    opa::{Change, LinkDownReason, Logical, Physical, Reply, SetPortInfo, change, state_line},
};

impl Fabric {
    /// Asks an end for other states, and to clear its reasons, now.
    ///
    /// # Errors
    ///
    /// If there is no such end, it does not answer, or it rejects the request; then nothing has
    /// changed.
    pub fn set_port_info(
        &mut self,
        slot: &SlotRef,
        side: Side,
        request: &SetPortInfo,
    ) -> Result<Reply, ActionError> {
        self.find_link(slot)?;
        if self.end(slot, side).is_none_or(|end| end.record.is_none()) {
            return Err(ActionError::NoAnswer(slot.clone()));
        }
        let link = self.link(slot);
        let (logical, physical) = (link.logical(side), link.physical(side));
        let asked = (
            request.logical.map_or(0, Logical::code),
            request.physical.map_or(0, Physical::code),
        );
        let verdict = change((logical.code(), physical.code()), asked);
        if verdict == Change::Refused {
            let (from, to) = match (request.physical, request.logical) {
                (Some(to), _) => (physical.to_string(), to.to_string()),
                (None, to) => (
                    logical.to_string(),
                    to.map_or(String::new(), |to| to.to_string()),
                ),
            };
            if side == Side::Here {
                self.log(slot, &state_line::refused(&from, &to));
            }
            let slot = slot.clone();
            return Err(ActionError::Refused { slot, from, to });
        }
        if let Some(ends) = &mut link.ends {
            let record = &mut ends.of_mut(side).record;
            record.clear(request.clear_local, request.clear_neighbour);
        }
        let mut reply = Reply::Answered;
        if verdict == Change::Allowed {
            match request.physical.filter(|asked| *asked != physical) {
                Some(Physical::Disabled) => {
                    link.end(side).set(Hold::Testing, false);
                    self.take_down(slot, side, LinkDownReason::SMA_DISABLED, true)?;
                    // The request reached a host through that very port.
                    if side == Side::Here {
                        reply = Reply::Silent;
                    }
                }
                Some(Physical::Polling) if physical == Physical::LinkUp => {
                    self.take_down(slot, side, LinkDownReason::FM_BOUNCE, true)?;
                }
                // A request cannot bring up a port that was disabled by its switch's own management.
                Some(Physical::Polling) if link.end(side).is_disabled() => {
                    self.release(slot, side, LinkDownReason::SMA_DISABLED)?;
                }
                Some(Physical::Test) => {
                    link.end(side).set(Hold::Testing, true);
                    self.settle(slot);
                }
                _ => self.walk_up(slot, side, request.logical),
            }
        }
        self.advance(self.now);
        Ok(reply)
    }

    /// Sets reasons of an end to 0, as a request that asks for nothing else.
    pub(crate) fn clear_reasons(
        &mut self,
        slot: &SlotRef,
        side: Side,
        local: bool,
        neighbour: bool,
    ) -> Result<(), ActionError> {
        self.find_link(slot)?;
        if self.end(slot, side).is_none_or(|end| end.record.is_none()) {
            return Err(ActionError::NoAnswer(slot.clone()));
        }
        if let Some(ends) = &mut self.link(slot).ends {
            ends.of_mut(side).record.clear(local, neighbour);
        }
        Ok(())
    }

    /// Applies a requested logical state: only `Armed`, and only from `Init`. A port becomes active
    /// only beside an armed neighbour, and the link's stage is that of both ends.
    fn walk_up(&mut self, slot: &SlotRef, side: Side, asked: Option<Logical>) {
        let link = self.link(slot);
        let neighbour = link.logical(side.other());
        let Some(ends) = &mut link.ends else { return };
        let asked = asked.filter(|asked| *asked != Logical::Active || neighbour >= Logical::Armed);
        if let Some(asked) = asked {
            ends.of_mut(side).ahead = asked;
        }
        let both = link.logical(side).min(neighbour);
        for stage in [Stage::Armed, Stage::Active] {
            if both >= stage.logical() && self.link(slot).stage < stage {
                self.enter(slot, stage);
            }
        }
        self.settle(slot);
    }
}
