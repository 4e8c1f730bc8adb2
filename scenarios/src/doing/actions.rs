//! What a verb about one port or one device becomes.

use fabric::opa::LinkDownReason;
use fabric::{Action, FunctionRef};
use platforms::{CharDevice, SlotRef};

use crate::deed::{CharDeviceKind, DeviceVerb, PortVerb};

pub(super) fn port_action(verb: &PortVerb, slot: SlotRef) -> Action {
    match verb {
        PortVerb::Cut => Action::Cut(slot),
        PortVerb::Mend => Action::Mend(slot),
        PortVerb::Disable => Action::Disable(slot),
        PortVerb::Set(state, phys_state) => Action::Set {
            slot,
            state: *state,
            phys_state: *phys_state,
        },
        PortVerb::TrainSlowly(takes) => Action::TrainSlowly {
            slot,
            takes: *takes,
        },
        PortVerb::Stick(at) => Action::Stick { slot, at: *at },
        PortVerb::Speed(rate) => Action::Speed { slot, rate: *rate },
        PortVerb::Interface { up } => Action::Interface { slot, up: *up },
        PortVerb::Operstate(text) => Action::Operstate {
            slot,
            text: text.clone(),
        },
        PortVerb::RemovePort => Action::RemovePort(slot),
        PortVerb::RestorePort => Action::RestorePort(slot),
        PortVerb::ChangeLayer(layer) => Action::ChangeLayer {
            slot,
            layer: *layer,
        },
        PortVerb::Counter(name, change) => Action::Counter {
            slot,
            name: name.clone(),
            change: change.clone(),
        },
        PortVerb::Traffic {
            bytes_per_second,
            packet_bytes,
        } => Action::Traffic {
            slot,
            bytes_per_second: *bytes_per_second,
            packet_bytes: *packet_bytes,
        },
        PortVerb::BothTakeDown { here, there } => Action::BothTakeDown {
            slot,
            here: *here,
            there: *there,
        },
        PortVerb::TakeDown { side, reason, says } => Action::TakeDown {
            slot,
            side: *side,
            reason: *reason,
            says: *says,
        },
        PortVerb::LetUp(side, reason) => Action::LetUp {
            slot,
            side: *side,
            reason: *reason,
        },
        PortVerb::PacketError(side, LinkDownReason::EXCESSIVE_BUFFER_OVERRUN) => {
            Action::BufferOverrun { slot, side: *side }
        }
        PortVerb::PacketError(side, reason) => Action::PacketError {
            slot,
            side: *side,
            reason: *reason,
        },
        PortVerb::ErrorAction(side, action) => Action::ErrorAction {
            slot,
            side: *side,
            action: *action,
        },
        PortVerb::Module { side, there } => Action::Module {
            slot,
            side: *side,
            there: *there,
        },
        PortVerb::NeighbourReboots(takes) => Action::NeighbourReboot {
            slot,
            takes: *takes,
        },
        PortVerb::CharDevice { kind, there } => Action::CharDevice {
            device: match kind {
                CharDeviceKind::Issm => CharDevice::Issm(slot.port),
                CharDeviceKind::Umad => CharDevice::Umad(slot.port),
                CharDeviceKind::Uverbs => CharDevice::Uverbs,
            },
            function: FunctionRef {
                node: slot.node,
                pci: slot.pci,
            },
            there: *there,
        },
    }
}

pub(super) fn device_action(verb: &DeviceVerb, function: FunctionRef) -> Action {
    match verb {
        DeviceVerb::Remove => Action::Remove(function),
        DeviceVerb::Restore => Action::Restore(function),
        DeviceVerb::Rename(to) => Action::Rename {
            function,
            to: to.clone(),
        },
        DeviceVerb::Replace => Action::Replace(function),
        DeviceVerb::FirmwareReset(takes) => Action::FirmwareReset {
            function,
            takes: *takes,
        },
        DeviceVerb::PciError(takes) => Action::PciError {
            function,
            takes: *takes,
        },
        DeviceVerb::LeaveNamespace => Action::LeaveNamespace(function),
        DeviceVerb::ReturnToNamespace => Action::ReturnToNamespace(function),
        DeviceVerb::CreateVfs(count) => Action::CreateVfs {
            function,
            count: *count,
        },
        DeviceVerb::AssignVf => Action::AssignVf(function),
        DeviceVerb::ReleaseVf => Action::ReleaseVf(function),
        DeviceVerb::DestroyVfs => Action::DestroyVfs(function),
    }
}
