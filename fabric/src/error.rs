//! Errors of actions.

use std::borrow::Cow;

use platforms::{CharDevice, DeviceName, LinkLayer, NodeName, PciAddress, SlotRef};

use crate::{FunctionRef, opa::LinkDownReason};

/// Why an action is impossible. When one is returned, nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The world has no such node.
    #[error("there is no node `{0}` in this world\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSuchNode(NodeName, String),
    /// There never was a function at this address.
    #[error("node `{}` has no network function at `{}`\nhint: {hint}", .0.node, .0.pci, hint = self.hint().unwrap_or_default())]
    NoSuchFunction(FunctionRef),
    /// The function has no port of that number.
    #[error("`{0}` does not exist\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSuchPort(SlotRef, String),
    /// The function is not on the bus, or its driver is not attached.
    #[error("`{}` on node `{}` has no RDMA device now: {}\nhint: {hint}", .0.pci, .0.node, .1, hint = self.hint().unwrap_or_default())]
    Absent(FunctionRef, &'static str),
    /// The function is off the bus already.
    #[error("`{}` on node `{}` is off the bus already", .0.pci, .0.node)]
    AlreadyRemoved(FunctionRef),
    /// The function is not off the bus.
    #[error("`{}` on node `{}` cannot be restored: it is on the bus\nhint: {hint}", .0.pci, .0.node, hint = self.hint().unwrap_or_default())]
    NotRemoved(FunctionRef),
    /// The physical function of a virtual one is off the bus.
    #[error("virtual function `{}` on node `{}` cannot be back before its physical function `{}`\nhint: {hint}", .0.pci, .0.node, .1, hint = self.hint().unwrap_or_default())]
    ParentAbsent(FunctionRef, PciAddress),
    /// The port is listed already.
    #[error("`{0}` cannot be listed again: it is listed\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    PortListed(SlotRef),
    /// The port is not listed.
    #[error("`{0}` is not listed now\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    PortNotListed(SlotRef),
    /// A function without ports cannot be copied.
    #[error("`{}` on node `{}` has no ports, so it cannot be copied", .0.pci, .0.node)]
    NoPorts(FunctionRef),
    /// The port has that link layer already.
    #[error("`{0}` speaks {1} already")]
    LayerAlready(SlotRef, LinkLayer),
    /// A virtual function's port has the layer of its physical function.
    #[error("`{0}` cannot change its layer: it is a virtual function's\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    LayerOfVf(SlotRef, PciAddress),
    /// No driver of the function's kernel module supports that layer.
    #[error("`{0}` cannot speak {1}: its platform has no driver for that")]
    NoDriver(SlotRef, LinkLayer),
    /// A virtual function's port has no link of its own.
    #[error("`{0}` has no link of its own: it is a virtual function's\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    LinkOfVf(SlotRef, PciAddress),
    /// `none` is not a reason to take a link down.
    #[error("the link of `{0}` needs a reason to go down\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoReason(SlotRef),
    /// Both ends can only go down at once for reasons that do not hold.
    #[error("`{1}` does not take both ends of `{0}` down at once\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoPassingReason(SlotRef, LinkDownReason),
    /// The reason does not hold the end down.
    #[error("no end of `{0}` that was named is down for `{1}`")]
    NotHeld(SlotRef, LinkDownReason),
    /// The reason is not an error that a port can detect.
    #[error("invalid packet error `{0}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NotAnError(LinkDownReason),
    /// The end receives over no more lanes than those that shall be left, or none shall be left.
    #[error("an end of the link of `{0}` cannot go on with that many lanes\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoFewerLanes(SlotRef, u8),
    /// No thermal limit of the port takes its link down.
    #[error("no thermal limit takes the link of `{0}` down\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoThermalLimit(SlotRef),
    /// The module is already in or out, as requested.
    #[error("the module of `{0}` is {1} already")]
    ModuleAlready(SlotRef, &'static str),
    /// The end is off the bus or without power.
    #[error("no answer from that end of `{0}`: it is off")]
    NoAnswer(SlotRef),
    /// The end rejects a Set(PortInfo).
    #[error("`{slot}` refuses to go from {from} to {to}")]
    Refused {
        /// The port.
        slot: SlotRef,
        /// The present state of the end.
        from: String,
        /// The requested state.
        to: String,
    },
    /// The port has no network interface.
    #[error("`{0}` has no network interface")]
    NoInterface(SlotRef),
    /// Two devices would have the same name.
    #[error("node `{node}`: the name `{name}` would belong to `{one}` and to `{other}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NameTaken {
        /// The node.
        node: NodeName,
        /// The name.
        name: DeviceName,
        /// One function that would have it.
        one: PciAddress,
        /// The other function.
        other: PciAddress,
    },
    /// The address is in use.
    #[error("node `{}` has a function at `{}` already\nhint: {hint}", .0.node, .0.pci, hint = self.hint().unwrap_or_default())]
    AddressTaken(FunctionRef),
    /// The node is rebooting.
    #[error("node `{0}` is down: it is rebooting already")]
    NodeDown(NodeName),
    /// The driver is already in the requested state.
    #[error("the RDMA driver of node `{0}` is {1} already")]
    DriverAlready(NodeName, &'static str),
    /// The devices are already in the requested namespace.
    #[error("`{}` on node `{}` is {} already", .0.pci, .0.node, .1)]
    NamespaceAlready(FunctionRef, &'static str),
    /// A virtual function cannot have virtual functions.
    #[error("`{}` on node `{}` is a virtual function and has none of its own\nhint: {hint}", .0.pci, .0.node, hint = self.hint().unwrap_or_default())]
    VfOfVf(FunctionRef, PciAddress),
    /// A physical function cannot be assigned or released.
    #[error("`{}` on node `{}` is not a virtual function\nhint: {hint}", .0.pci, .0.node, hint = self.hint().unwrap_or_default())]
    NotVirtual(FunctionRef),
    /// The virtual function is already in the requested state.
    #[error("virtual function `{}` on node `{}` is {} already", .0.pci, .0.node, .1)]
    AssignedAlready(FunctionRef, &'static str),
    /// The action requires that the function has no virtual functions.
    #[error("`{}` on node `{}` has {} virtual functions already\nhint: {hint}", .0.pci, .0.node, .1, hint = self.hint().unwrap_or_default())]
    HasVfs(FunctionRef, usize),
    /// The function has no virtual functions.
    #[error("`{}` on node `{}` has no virtual functions", .0.pci, .0.node)]
    NoVfs(FunctionRef),
    /// More virtual functions than the card or the bus has room for.
    #[error("`{}` on node `{}` cannot have {asked} virtual functions\nhint: {hint}", .function.node, .function.pci, hint = self.hint().unwrap_or_default())]
    TooManyVfs {
        /// The physical function.
        function: FunctionRef,
        /// The requested number.
        asked: u16,
        /// The limit.
        limit: String,
    },
    /// The port has no such counter.
    #[error("`{slot}` has no counter `{name}`\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoSuchCounter {
        /// The port.
        slot: SlotRef,
        /// The requested name.
        name: String,
        /// The counters of the port.
        known: String,
    },
    /// A port of this layer has no such character device, or the port is not listed.
    #[error("`{}` on node `{}` has no {} to remove\nhint: {hint}", .0.pci, .0.node, .1, hint = self.hint().unwrap_or_default())]
    NoCharDevice(FunctionRef, CharDevice),
    /// The character device is already present or absent, as requested.
    #[error("{} of `{}` on node `{}` is {} already", .1, .0.pci, .0.node, .2)]
    CharDeviceAlready(FunctionRef, CharDevice, &'static str),
    /// The carrier counters always hold numbers.
    #[error("`{name}` of `{slot}` is always a number\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    AlwaysNumber {
        /// The port.
        slot: SlotRef,
        /// The counter.
        name: String,
    },
    /// A flap needs at least one cycle, with both times above zero.
    #[error("a flap of {times} turns, {down} down and {up} up, is impossible\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    EmptyFlap {
        /// Number of cycles.
        times: u32,
        /// Time from leaving `ACTIVE` to `ACTIVE` again.
        down: simfs::SimTime,
        /// Time from `ACTIVE` to the next down.
        up: simfs::SimTime,
    },
}

impl ActionError {
    /// A hint for the user; `None` if the text needs none.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoSuchNode(_, f1) => format!("its nodes are {f1}").into(),
            Self::NoSuchFunction(..) => {
                "a function that was never there appears by a hot-add".into()
            }
            Self::NoSuchPort(_, f1) => format!("the function has {f1}").into(),
            Self::Absent(..) => "restore it first".into(),
            Self::NotRemoved(..) => {
                "restore ends a remove, a reset or a PCI error ends by itself".into()
            }
            Self::ParentAbsent(..) => "restore the physical function first".into(),
            Self::PortListed(..) => {
                "this verb ends the removal of a port from a device that stays".into()
            }
            Self::PortNotListed(..) => "restore the port first".into(),
            Self::LayerOfVf(_, f1) => format!("its physical function is `{f1}`").into(),
            Self::LinkOfVf(_, f1) => format!("its physical function is `{f1}`").into(),
            Self::NoReason(..) => "cut it".into(),
            Self::NoPassingReason(..) => {
                "give reasons that pass, such as 35 or 39; one that holds is an end's own".into()
            }
            Self::NoFewerLanes(_, 1) => "it has one lane; cut the link".into(),
            Self::NoFewerLanes(_, have) => format!("it has {have}: leave 1 to {}", have - 1).into(),
            Self::NoThermalLimit(..) => "only a port of the driver `hfi1` has one".into(),
            Self::NotAnError(..) => "packet errors are the reasons 1 to 32".into(),
            Self::NameTaken { .. } => "name both, as in a swap".into(),
            Self::AddressTaken(..) => "choose a free address".into(),
            Self::VfOfVf(_, f1) => format!("ask its physical function `{}`", f1).into(),
            Self::NotVirtual(..) => "only virtual functions are assigned and released".into(),
            Self::HasVfs(..) => {
                "destroy them first, as the kernel demands too (`sriov_numvfs_store`)".into()
            }
            Self::TooManyVfs { limit, .. } => limit.to_string().into(),
            Self::NoSuchCounter { known, .. } => format!("it has {known}").into(),
            Self::NoCharDevice(..) => {
                "`issm` is an InfiniBand port's; `umad` and `uverbs` every RDMA device has".into()
            }
            Self::AlwaysNumber { .. } => "files can be made unreadable by a read rule".into(),
            Self::EmptyFlap { .. } => "give at least one turn, and both times above 0".into(),
            _ => return None,
        })
    }
}
