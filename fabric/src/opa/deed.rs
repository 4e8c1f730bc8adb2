//! What can be done to a network: faults of links, and what people and programs do to ports.
//!
//! It leaves out what comes of it (`doing.rs`). Start at [`Deed`].

use platforms::NodeName;

use super::{
    init::LinkInitReason,
    kernel::FirmwareReport,
    layout::EndRef,
    port_error::{ErrorInfo, PortErrorAction},
    reason::LinkDownReason,
    state::{Logical, Physical},
};

/// One thing done to a network at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// The cable is pulled.
    Pull(EndRef),
    /// It is put in again.
    Plug(EndRef),
    /// The module is taken out of a port, and the cable with it.
    ModuleOut(EndRef),
    /// A module is put in.
    ModuleIn(EndRef),
    /// A port takes its link down; for a reason that holds, it stays so until [`Deed::Relent`].
    Initiate {
        /// The port.
        end: EndRef,
        /// Why.
        reason: LinkDownReason,
        /// Whether the message can reach its neighbour.
        says: bool,
    },
    /// Both ports of a link take it down at the same time; both messages come too late to prevent
    /// it. The reasons do not hold.
    InitiateBoth {
        /// One port.
        end: EndRef,
        /// Why it does.
        reason: LinkDownReason,
        /// Whether its message reaches the other.
        says: bool,
        /// Why the other does.
        other: LinkDownReason,
        /// Whether the other's message reaches it.
        other_says: bool,
    },
    /// A reason no longer holds a port.
    Relent {
        /// The port.
        end: EndRef,
        /// Which reason.
        reason: LinkDownReason,
    },
    /// A message of the neighbour's arrives: the link is about to go, for this reason. The neighbour
    /// itself remembers nothing.
    Hear {
        /// The port that hears it.
        end: EndRef,
        /// What it says; none at all is possible.
        message: LinkDownReason,
    },
    /// The link goes without a word, and the firmware of a host's port has its own view of why.
    Report {
        /// The port.
        end: EndRef,
        /// What its firmware says.
        report: FirmwareReport,
    },
    /// The link breaks while it trains; nothing happens to one that does not.
    BreakTraining(EndRef),
    /// A port finds this error in what it receives.
    PacketError {
        /// The port.
        end: EndRef,
        /// The error.
        reason: LinkDownReason,
    },
    /// The error registers of an hfi1 port hold this.
    Errors {
        /// The port.
        end: EndRef,
        /// What they hold.
        info: ErrorInfo,
    },
    /// A port's receive buffer overruns.
    BufferOverrun(EndRef),
    /// A port is told which errors take its link down.
    ErrorAction {
        /// The port.
        end: EndRef,
        /// Which.
        action: PortErrorAction,
    },
    /// The fabric manager bounces a port.
    Bounce(EndRef),
    /// A port is disabled through its subnet management agent.
    Disable(EndRef),
    /// It is let up again.
    Enable(EndRef),
    /// A host's port is too hot and goes for good; it says that it was disabled.
    Overheat(EndRef),
    /// A host's driver is unloaded, or the host goes down for a reboot.
    Unload(NodeName),
    /// The driver is loaded, or the host is back.
    Load(NodeName),
    /// A node loses power or crashes.
    PowerOff(NodeName),
    /// A host's device fails; its kernel lives to tell.
    DeviceFatal(NodeName),
    /// Power, or the device, is back.
    PowerOn(NodeName),
    /// The fabric manager leaves a port in Init from now on.
    Quarantine {
        /// The port.
        end: EndRef,
        /// Why.
        reason: LinkInitReason,
    },
    /// It no longer does.
    Release(EndRef),
    /// The subnet manager stops.
    StopManager,
    /// It starts.
    StartManager {
        /// Whether it finds what it had written.
        keeps_logs: bool,
    },
    /// A Set(PortInfo).
    Set(SetPortInfo),
}

/// What a Set(PortInfo) asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPortInfo {
    /// The port.
    pub end: EndRef,
    /// The logical state; none asks for no change.
    pub logical: Option<Logical>,
    /// The physical state; none asks for no change.
    pub physical: Option<Physical>,
    /// Whether LinkDownReason is set to 0.
    pub clear_local: bool,
    /// Whether NeighborLinkDownReason is.
    pub clear_neighbour: bool,
}

/// Whether a Set(PortInfo) was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It was.
    Answered,
    /// The port went down under the request, which had come through it.
    Silent,
}

/// Why something cannot be done to a network, or why there is no such network. Nothing has changed
/// when one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeedError {
    /// There is no such node.
    #[error("the network has no node `{0}`")]
    NoSuchNode(NodeName),
    /// There is no such port.
    #[error("the network has no `{0}`\nhint: ports count from 1")]
    NoSuchEnd(EndRef),
    /// Two nodes have one name.
    #[error("`{0}` is both a host and a switch")]
    NodeTwice(NodeName),
    /// A port has two cables.
    #[error("`{0}` has more than one cable")]
    CabledTwice(EndRef),
    /// The port has no cable.
    #[error("`{0}` has no cable")]
    NotCabled(EndRef),
    /// The port's socket takes no module.
    #[error("`{0}` takes no module")]
    NoModule(EndRef),
    /// The node is without power, or without its driver.
    #[error("`{0}` is off")]
    Off(NodeName),
    /// The node is there.
    #[error("`{0}` is on already")]
    On(NodeName),
    /// A switch was asked for what only a host has.
    #[error("`{0}` is no host")]
    NotAHost(NodeName),
    /// The reason is no error that a port can find.
    #[error("`{0}` is no packet error\nhint: packet errors are the reasons 1 to 32")]
    NotAnError(LinkDownReason),
    /// There is no reason.
    #[error("a link does not go down for no reason\nhint: pull its cable")]
    NoReason,
    /// The port refuses the change.
    #[error("`{end}` refuses to go from {from} to {to}")]
    Refused {
        /// The port.
        end: EndRef,
        /// Its state.
        from: String,
        /// The state asked for.
        to: String,
    },
}
