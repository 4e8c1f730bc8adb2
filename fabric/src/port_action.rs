//! Actions on a port and its link: one variant for each verb, with its dispatch.
//!
//! The longer implementations are elsewhere: reasons in `reasons.rs`, counters in `counters.rs`, link states
//! in `act.rs`. Start at [`PortAction`].

use platforms::{CounterValue, LinkLayer, PhysState, PortState, Rate, SlotRef};
use simfs::SimTime;

use crate::{
    Action, ActionError, Fabric, Side, StickAt,
    opa::{ErrorInfo, FirmwareReport, LinkDownReason, LinkInitReason, LinkWidths, PortErrorAction},
};

/// An action on a port and its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortAction {
    /// Pulls the cable of a port.
    Cut,
    /// Removes every fault of a port's link; it trains and comes up in its driver's way. A port that never had
    /// a cable gets one.
    Mend,
    /// Disables a port administratively: `DOWN`, `Disabled`.
    Disable,
    /// Shows these values independently of the link, until mended.
    Set {
        /// Logical state; unchanged if `None`.
        state: Option<PortState>,
        /// Physical state; unchanged if `None`.
        phys_state: Option<PhysState>,
    },
    /// Retrains slowly: `ACTIVE` again only after `takes`. A dark link does so when it has a signal again.
    TrainSlowly {
        /// Time from leaving `ACTIVE` to `ACTIVE` again.
        takes: SimTime,
    },
    /// Stays at one stage of the way up until mended.
    Stick {
        /// The stage.
        at: StickAt,
    },
    /// Shows another rate (a degraded link stays `ACTIVE`).
    Speed {
        /// The rate shown.
        rate: Rate,
    },
    /// `ip link set <netdev> down` (or up): IPoIB keeps its port, RoCE loses it.
    Interface {
        /// Whether it is set up.
        up: bool,
    },
    /// Shows another operstate until mended.
    Operstate {
        /// The operstate, such as `lowerlayerdown`.
        text: String,
    },
    /// An end takes its link down for a reason. For a reason that does not hold, the link trains again: the
    /// fabric manager bounces it (39), its speed or width is outside the policy (40, 41), it reboots (35). For
    /// a reason that holds, it stays down until [`PortAction::Release`] or [`PortAction::Mend`]: the switch's
    /// own management or the subnet management agent disables it (60, 61), the chassis does (52), power, speed
    /// or width can never be met (56, 57, 58), there is no partner (49, 51, 54).
    TakeDown {
        /// The end.
        side: Side,
        /// The reason.
        reason: LinkDownReason,
        /// Whether its message reaches the other end.
        says: bool,
    },
    /// Both ends take the link down at the same instant, each for a reason that does not hold (such as 35 or
    /// 39, not 60), each with a flag whether its message reaches the other end.
    BothTakeDown {
        /// The node's own end.
        here: (LinkDownReason, bool),
        /// Its partner.
        there: (LinkDownReason, bool),
    },
    /// A message from the other end arrives that the link is about to go down, for this reason or for none.
    /// The other end records nothing.
    Hear {
        /// The end that receives it.
        side: Side,
        /// The reason in the message.
        message: LinkDownReason,
    },
    /// Releases a reason that holds an end down.
    Release {
        /// The end.
        side: Side,
        /// The reason.
        reason: LinkDownReason,
    },
    /// A manager sets reasons of an end to 0 in a Set(PortInfo) that asks for nothing else; each is cleared alone.
    ClearReasons {
        /// The end.
        side: Side,
        /// Whether its LinkDownReason is cleared.
        local: bool,
        /// Whether its NeighborLinkDownReason is cleared.
        neighbour: bool,
    },
    /// An end detects an error in what it receives (reasons 1 to 32); the link bounces if the end's
    /// PortErrorAction includes the error.
    PacketError {
        /// The end.
        side: Side,
        /// The error.
        reason: LinkDownReason,
    },
    /// The error registers of the node's own port hold this error; the link bounces as with any other error.
    ErrorRegisters {
        /// The content of the registers.
        info: ErrorInfo,
    },
    /// The link goes down without a reason at either end and trains again, and the firmware of the node's own
    /// port reports this of it; an hfi1's driver writes it to the kernel log.
    FirmwareReport {
        /// The report; not [`FirmwareReport::Neighbour`], for which there is [`PortAction::Hear`].
        report: FirmwareReport,
    },
    /// An end receives over fewer lanes from now on, and its partner sends over fewer; the link stays up unless
    /// the width policy of an end forbids it.
    LoseLanes {
        /// The end that receives.
        side: Side,
        /// How many lanes are left, from 1; fewer than there are.
        left: u8,
    },
    /// Sets the widths in which a downgrade of an end's link may end; at the start all.
    WidthPolicy {
        /// The end.
        side: Side,
        /// The widths.
        allowed: LinkWidths,
    },
    /// The device of the node's own port reaches its critical temperature, which only an hfi1 has. The link is
    /// down until the driver is loaded again or the port is mended, and sysfs goes on showing the states of
    /// before.
    Overheat,
    /// An end's receive buffer overruns: `excessive_buffer_overrun_errors` grows if it is the node's own port,
    /// and the link bounces as with any other error. An hfi1's driver finds it in its check every ten seconds.
    BufferOverrun {
        /// The end.
        side: Side,
    },
    /// Sets the errors that take an end's link down; at the start all do.
    ErrorAction {
        /// The end.
        side: Side,
        /// The errors.
        action: PortErrorAction,
    },
    /// The fabric manager keeps an end in Init from now on, for this reason, or stops doing so.
    Quarantine {
        /// The end.
        side: Side,
        /// The reason; `None` stops it.
        reason: Option<LinkInitReason>,
    },
    /// The module of an end is removed or inserted.
    Module {
        /// The end.
        side: Side,
        /// Whether it is inserted from now on.
        there: bool,
    },
    /// The host at the other end reboots in an orderly way.
    NeighbourReboot {
        /// Time from going down until its port signals again.
        takes: SimTime,
    },
    /// A port is no longer listed in `ports/`; its device stays.
    RemovePort,
    /// The port is listed again.
    RestorePort,
    /// The port comes up under the other link layer.
    ChangeLayer {
        /// The new layer.
        layer: LinkLayer,
    },
    /// Changes a counter.
    Counter {
        /// Name of a file in `counters/`, `hw_counters/`, the net device's `statistics/` or `carrier_changes`.
        name: String,
        /// The change.
        change: CounterChange,
    },
    /// Data moves over a port in both directions while its link is up.
    Traffic {
        /// Bytes per second in each direction; 0 ends it.
        bytes_per_second: u64,
        /// Bytes per packet, at least 1.
        packet_bytes: u32,
    },
    /// A character device of the port disappears or returns; the device and its ports stay.
    CharDevice {
        /// Which character device.
        kind: CharDeviceKind,
        /// Whether it is present from now on.
        there: bool,
    },
}

/// A change of a counter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterChange {
    /// Adds this much, at most up to the field's maximum.
    Add(u64),
    /// Grows by this much per second from now on; 0 stops it.
    RatePerSecond(u64),
    /// Shows exactly this value.
    Set(CounterValue),
    /// Restarts at zero, as after an operator's reset.
    Reset,
    /// Is set to the field's maximum.
    Saturate,
}

/// A character device of a port, or of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CharDeviceKind {
    /// The port's `issm`.
    Issm,
    /// The port's `umad`.
    Umad,
    /// The device's `uverbs`.
    Uverbs,
}

impl PortAction {
    /// The action on this port.
    #[must_use]
    pub fn on(self, slot: SlotRef) -> Action {
        Action::Port(slot, self)
    }
}

impl Fabric {
    pub(crate) fn act_on_port(
        &mut self,
        slot: &SlotRef,
        action: &PortAction,
    ) -> Result<(), ActionError> {
        match action {
            PortAction::Cut => self.cut(slot),
            PortAction::Mend => self.mend(slot),
            PortAction::Disable => self.disable(slot),
            PortAction::Set { state, phys_state } => self.mask(slot, |mask| {
                mask.state = state.or(mask.state);
                mask.phys_state = phys_state.or(mask.phys_state);
            }),
            PortAction::TrainSlowly { takes } => self.train_slowly(slot, *takes),
            PortAction::Stick { at } => self.stick(slot, *at),
            PortAction::Speed { rate } => self.mask(slot, |mask| mask.rate = Some(*rate)),
            PortAction::Interface { up } => self.interface(slot, *up),
            PortAction::Operstate { text } => {
                self.find_interface(slot)?;
                self.mask(slot, |mask| mask.operstate = Some(text.clone()))
            }
            PortAction::TakeDown { side, reason, says } => {
                self.take_down(slot, *side, *reason, *says)
            }
            PortAction::BothTakeDown { here, there } => self.both_take_down(slot, [*here, *there]),
            PortAction::Hear { side, message } => self.hear(slot, *side, *message),
            PortAction::Release { side, reason } => self.release(slot, *side, *reason),
            PortAction::ClearReasons {
                side,
                local,
                neighbour,
            } => self.clear_reasons(slot, *side, *local, *neighbour),
            PortAction::PacketError { side, reason } => self.packet_error(slot, *side, *reason),
            PortAction::ErrorRegisters { info } => self.error_registers(slot, *info),
            PortAction::FirmwareReport { report } => self.firmware_reports(slot, *report),
            PortAction::LoseLanes { side, left } => self.lose_lanes(slot, *side, *left),
            PortAction::WidthPolicy { side, allowed } => self.width_policy(slot, *side, *allowed),
            PortAction::Overheat => self.overheat(slot),
            PortAction::BufferOverrun { side } => self.overrun(slot, *side),
            PortAction::ErrorAction { side, action } => self.error_action(slot, *side, *action),
            PortAction::Quarantine { side, reason } => self.quarantine(slot, *side, *reason),
            PortAction::Module { side, there } => self.module(slot, *side, *there),
            PortAction::NeighbourReboot { takes } => self.neighbour_reboots(slot, *takes),
            PortAction::RemovePort => self.remove_port(slot),
            PortAction::RestorePort => self.restore_port(slot),
            PortAction::ChangeLayer { layer } => self.change_layer(slot, *layer),
            PortAction::Counter { name, change } => self.counter(slot, name, change),
            PortAction::Traffic {
                bytes_per_second,
                packet_bytes,
            } => self.traffic(slot, *bytes_per_second, *packet_bytes),
            PortAction::CharDevice { kind, there } => self.char_device(slot, *kind, *there),
        }
    }
}
