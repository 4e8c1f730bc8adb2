//! What can be done to a world: one variant for each verb about ports, links, devices, virtual
//! functions, counters and the host.
//!
//! An action names hardware by slot (PCI function and port), so it finds it under whatever name
//! the kernel gives it. Who has not chosen the hardware yet names it in his own way: [`Action`] is
//! generic over its targets, and what is done to them is the same type. Actions about files, the
//! connector or the monitor are not here: they do not touch a link.

use std::collections::BTreeMap;

use platforms::{DeviceName, MetadataFile, NodeName, PciAddress, Routes, SlotRef};
use simfs::SimTime;

use crate::{FunctionRef, PortAction, RebootPlan};

/// One thing done to a world at one instant.
///
/// The parameters are how it names a port, several ports, a function and a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<P = SlotRef, S = Vec<SlotRef>, F = FunctionRef, N = NodeName> {
    /// To a port and its link.
    Port(P, PortAction),
    /// To several ports, together.
    Ports(S, PortsAction),
    /// To a PCI function and its devices.
    Device(F, DeviceAction),
    /// To a node.
    Node(N, NodeAction),
    /// Stop or start the subnet manager; ports that are `ACTIVE` stay so, others wait in `INIT`.
    SubnetManager {
        /// Whether it runs.
        running: bool,
        /// Whether its end also takes every InfiniBand port to `INIT` (a standby re-initialises).
        reinitialise: bool,
        /// Whether one that starts finds what it had written of links that went down.
        keeps_logs: bool,
    },
}

/// What is done to several ports together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortsAction {
    /// Leave `ACTIVE` and return to it, several times.
    Flap {
        /// How many times each goes down.
        times: u32,
        /// From leaving `ACTIVE` to `ACTIVE` again.
        down: SimTime,
        /// From `ACTIVE` to the next leaving.
        up: SimTime,
        /// The nth port starts n times this later.
        stagger: SimTime,
    },
    /// The switch that ports hang on loses power, or has it again.
    SwitchPower {
        /// Whether it has power from now on.
        on: bool,
    },
}

/// What is done to a PCI function and its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceAction {
    /// The function falls off the bus.
    Remove,
    /// The function is back: PCI first, then net and RDMA, then its ports train.
    Restore,
    /// The RDMA device gets another name, at once.
    Rename {
        /// The new name; a device that bears it takes the old one (a swap).
        to: DeviceName,
    },
    /// New hardware in the slot: new GUIDs and firmware, same place. Of a function that is on the
    /// bus, the new one is found at once; of one that is not, when it is restored. The other
    /// functions of a card stay the old ones.
    Replace,
    /// All functions of the card vanish together, and come back.
    FirmwareReset {
        /// From vanishing to being back.
        takes: SimTime,
    },
    /// A PCI error: the driver detaches and, after this long, recovers.
    PciError {
        /// From detaching to being back.
        takes: SimTime,
    },
    /// The RDMA and net devices move to another namespace: the class entries go, PCI stays.
    LeaveNamespace,
    /// They come back.
    ReturnToNamespace,
    /// A card of this function's make that was never there appears.
    HotAdd {
        /// Where it appears.
        at: PciAddress,
        /// Its name.
        name: DeviceName,
        /// Whether its ports have a cable.
        cabled: bool,
    },
    /// Create this many virtual functions of a physical one, all unassigned.
    CreateVfs {
        /// How many.
        count: u16,
    },
    /// Give a virtual function to a guest or container: its port comes up.
    AssignVf,
    /// Take it back: its port goes down.
    ReleaseVf,
    /// Remove all virtual functions of a physical one.
    DestroyVfs,
}

/// What is done to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeAction {
    /// Detach the RDMA driver from every function of the node: the class folder goes.
    DriverUnload,
    /// Attach it again.
    DriverLoad {
        /// Names that changed.
        names: BTreeMap<PciAddress, DeviceName>,
    },
    /// The node goes down, and is up again when its plan says so. Its links are down from the first
    /// moment and as far up as they can be at the end. Faults of links, functions off the bus, files
    /// and routes outlast it; what only the running kernel knew (an unloaded driver, other namespaces,
    /// virtual functions, a reset under way) does not.
    Reboot {
        /// How, and what changes on the way.
        plan: RebootPlan,
    },
    /// The wall clock jumps; boot time does not.
    ClockStep {
        /// By how much, nanoseconds.
        by_ns: i64,
    },
    /// The metadata collector's file becomes this.
    Metadata {
        /// The file.
        file: MetadataFile,
    },
    /// The route table becomes this.
    Routes {
        /// The table.
        routes: Routes,
    },
}

impl PortsAction {
    /// Done to these ports.
    #[must_use]
    pub fn on(self, slots: Vec<SlotRef>) -> Action {
        Action::Ports(slots, self)
    }
}

impl DeviceAction {
    /// Done to this function.
    #[must_use]
    pub fn on(self, function: FunctionRef) -> Action {
        Action::Device(function, self)
    }
}

impl NodeAction {
    /// Done to this node.
    #[must_use]
    pub fn on(self, node: NodeName) -> Action {
        Action::Node(node, self)
    }
}
