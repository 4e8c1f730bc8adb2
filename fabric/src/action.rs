//! The actions on a world: one variant for each verb about ports, links, devices, virtual functions,
//! counters and the host.
//!
//! An action names hardware by slot (PCI function and port), independently of the name that the kernel
//! gives it. [`Action`] is generic over its targets, so that a parsed scenario can use the same type
//! before its targets are resolved. Actions on files, the connector or the monitor are not here,
//! because they do not affect a link.

use std::collections::BTreeMap;

use platforms::{DeviceName, MetadataFile, NodeName, PciAddress, Routes, SlotRef};
use simfs::SimTime;

use crate::{FunctionRef, PortAction, RebootPlan};

/// An action on a world.
///
/// The type parameters are the ways to name a port, several ports, a function and a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action<P = SlotRef, S = Vec<SlotRef>, F = FunctionRef, N = NodeName> {
    /// On a port and its link.
    Port(P, PortAction),
    /// On several ports together.
    Ports(S, PortsAction),
    /// On a PCI function and its devices.
    Device(F, DeviceAction),
    /// On a node.
    Node(N, NodeAction),
    /// Stops or starts the subnet manager; `ACTIVE` ports stay `ACTIVE`, others wait in `INIT`.
    SubnetManager {
        /// Whether it runs from now on.
        running: bool,
        /// Whether stopping it also takes every InfiniBand port to `INIT` (a standby re-initialises).
        reinitialise: bool,
        /// Whether it still has its logs of links that went down, and knows which hosts there were, when it
        /// starts.
        keeps_logs: bool,
    },
    /// A standby takes over from the subnet manager, whether that still runs or not. It has another local
    /// identifier, no logs, knows no host yet, and sweeps at once; `ACTIVE` ports stay `ACTIVE`.
    StandbyTakesOver,
    /// Changes when the subnet manager sweeps, from now on; it sweeps at once, as when it starts. A manager that
    /// takes over keeps to it.
    Sweeps {
        /// The interval of its own sweeps, at least a millisecond; less counts as one.
        every: SimTime,
        /// Whether it also sweeps when a port's trap tells of a change; at the start it does.
        on_traps: bool,
    },
}

/// An action on several ports together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortsAction {
    /// They leave `ACTIVE` and return to it, several times.
    Flap {
        /// How many times each goes down.
        times: u32,
        /// Time from leaving `ACTIVE` to `ACTIVE` again.
        down: SimTime,
        /// Time from `ACTIVE` to the next down.
        up: SimTime,
        /// The nth port starts n times this later.
        stagger: SimTime,
    },
    /// The switch of these ports loses power, or has it again.
    SwitchPower {
        /// Whether it has power from now on.
        on: bool,
    },
}

/// An action on a PCI function and its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceAction {
    /// The function falls off the bus.
    Remove,
    /// The function returns: its PCI function first, then net and RDMA device, then its ports train.
    Restore,
    /// The RDMA device gets another name at once.
    Rename {
        /// The new name; a device that already has it takes the old one (a swap).
        to: DeviceName,
    },
    /// New hardware in the same slot, with new GUIDs and firmware. If the function is on the bus, the
    /// new one is probed at once; otherwise when it is restored. The card's other functions are not
    /// replaced.
    Replace,
    /// All functions of the card disappear together and return.
    FirmwareReset {
        /// Time from disappearing to returning.
        takes: SimTime,
    },
    /// A PCI error: the driver detaches and recovers after `takes`.
    PciError {
        /// Time from detaching to recovery.
        takes: SimTime,
    },
    /// The RDMA and net devices move to another namespace: their class entries disappear, the PCI
    /// function stays.
    LeaveNamespace,
    /// The devices return to the host's namespace.
    ReturnToNamespace,
    /// A new card of the same model as this function's appears.
    HotAdd {
        /// Its address.
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
    /// Assigns a virtual function to a guest or container: its port comes up.
    AssignVf,
    /// Takes a virtual function back: its port goes down.
    ReleaseVf,
    /// Remove all virtual functions of a physical one.
    DestroyVfs,
}

/// An action on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeAction {
    /// Detaches the RDMA driver from every function of the node: the class folder disappears.
    DriverUnload,
    /// Attaches it again.
    DriverLoad {
        /// New names, by function.
        names: BTreeMap<PciAddress, DeviceName>,
    },
    /// The node goes down, and is up again after the plan's time. Its links are down from the start,
    /// and at the end as far up as they can be. Faults of links, functions off the bus, files and
    /// routes persist; the state of the running kernel (an unloaded driver, other namespaces, virtual
    /// functions, a pending reset) does not.
    Reboot {
        /// How it reboots, and what changes meanwhile.
        plan: RebootPlan,
    },
    /// Steps the wall clock; the boot clock does not change.
    ClockStep {
        /// The step, in nanoseconds.
        by_ns: i64,
    },
    /// Replaces the metadata collector's file.
    Metadata {
        /// The new file.
        file: MetadataFile,
    },
    /// Replaces the route table.
    Routes {
        /// The new table.
        routes: Routes,
    },
}

impl PortsAction {
    /// The action on these ports.
    #[must_use]
    pub fn on(self, slots: Vec<SlotRef>) -> Action {
        Action::Ports(slots, self)
    }
}

impl DeviceAction {
    /// The action on this function.
    #[must_use]
    pub fn on(self, function: FunctionRef) -> Action {
        Action::Device(function, self)
    }
}

impl NodeAction {
    /// The action on this node.
    #[must_use]
    pub fn on(self, node: NodeName) -> Action {
        Action::Node(node, self)
    }
}
