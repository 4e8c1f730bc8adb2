//! Verbs about devices: functions on the bus, their drivers and virtual functions.

use fabric::{Action, DeviceAction, NodeAction};

use super::spec::{VerbSpec, device};
use crate::keys::{Literal, maybe, need, or};
use crate::kind::{Choices, number};
use crate::row::{Row, word};
use crate::values::{DEVICE_NAME, NAMES, PCI, SPAN, TRUTH};

/// Verbs about devices.
pub(crate) const DEVICES: &[&dyn Row<VerbSpec>] = &[
    &device(
        "remove",
        "The device falls off the bus.",
        "{ remove: device of victim }",
        (),
        |()| DeviceAction::Remove,
    ),
    &device(
        "restore",
        "The device returns: its PCI function first, then net and RDMA device, then its ports train.",
        "{ restore: device of victim }",
        (),
        |()| DeviceAction::Restore,
    ),
    &device(
        "rename",
        "The RDMA device gets another name at once; a device that already has that name takes the old one.",
        "{ rename: device of victim, to: mlx5_42 }",
        need("to", DEVICE_NAME, "The new name."),
        |to| DeviceAction::Rename { to },
    ),
    &device(
        "replace",
        "The device is replaced by new hardware in the same slot, with new GUIDs and firmware.",
        "{ replace: device of victim }",
        (),
        |()| DeviceAction::Replace,
    ),
    &word(
        "driver",
        Choices(
            "word after `driver`",
            &[
                ("unload", false, "detached: the class folder disappears"),
                ("load", true, "attached again"),
            ],
        ),
        "Loads or unloads the node's RDMA driver.",
        "{ driver: load, names: { first: mlx5_1, second: mlx5_0 } }",
        maybe("names", NAMES, "With `load`: new device names."),
        |line, load, names| match (load, names) {
            (true, names) => Ok(VerbSpec::DriverLoad(names.unwrap_or_default())),
            (false, None) => Ok(VerbSpec::World(Action::Node((), NodeAction::DriverUnload))),
            (false, Some(_)) => Err(line
                .source()
                .wrong(
                    line.fields.place_of("names"),
                    "`names` with `driver: unload`",
                )
                .hint("names change when the driver is loaded")),
        },
    ),
    &device(
        "firmware_reset",
        "All functions of the card disappear together and return.",
        "{ firmware_reset: device of victim, takes: 20s }",
        need("takes", SPAN, "Time from disappearing to returning."),
        |takes| DeviceAction::FirmwareReset { takes },
    ),
    &device(
        "pci_error",
        "A PCI error: the driver detaches and recovers after `takes`.",
        "{ pci_error: device of victim, takes: 5s }",
        need("takes", SPAN, "Time from detaching to recovery."),
        |takes| DeviceAction::PciError { takes },
    ),
    &device(
        "leave_namespace",
        "The RDMA and net devices move to another namespace; PCI stays.",
        "{ leave_namespace: device of victim }",
        (),
        |()| DeviceAction::LeaveNamespace,
    ),
    &device(
        "return_to_namespace",
        "The devices return to the host's namespace.",
        "{ return_to_namespace: device of victim }",
        (),
        |()| DeviceAction::ReturnToNamespace,
    ),
    &device(
        "hot_add",
        "A new card of the same model as this device appears.",
        "{ hot_add: device of model, pci: \"0000:f1:00.0\", name: mlx5_40, cabled: false }",
        (
            need("pci", PCI, "Its PCI address."),
            need("name", DEVICE_NAME, "Its device name."),
            or(
                "cabled",
                Literal::Truth(true),
                TRUTH,
                "Whether its ports have a cable.",
            ),
        ),
        |(at, name, cabled)| DeviceAction::HotAdd { at, name, cabled },
    ),
    &device(
        "create_vfs",
        "Creates virtual functions of these physical ones, all unassigned.",
        "{ create_vfs: device of victim, count: 4 }",
        need("count", number(1, 1024), "How many."),
        |count| DeviceAction::CreateVfs { count },
    ),
    &device(
        "assign_vf",
        "Assigns virtual functions to a guest or container: their ports come up.",
        "{ assign_vf: device of vf }",
        (),
        |()| DeviceAction::AssignVf,
    ),
    &device(
        "release_vf",
        "Takes virtual functions back: their ports go down.",
        "{ release_vf: device of vf }",
        (),
        |()| DeviceAction::ReleaseVf,
    ),
    &device(
        "destroy_vfs",
        "Removes all virtual functions of these physical ones.",
        "{ destroy_vfs: device of victim }",
        (),
        |()| DeviceAction::DestroyVfs,
    ),
];
