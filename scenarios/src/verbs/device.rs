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
        "Falls off the bus.",
        "{ remove: device of victim }",
        (),
        |()| DeviceAction::Remove,
    ),
    &device(
        "restore",
        "Is back: PCI first, then net and RDMA, then its ports train.",
        "{ restore: device of victim }",
        (),
        |()| DeviceAction::Restore,
    ),
    &device(
        "rename",
        "The RDMA device gets another name at once; a device that bears it takes the old one.",
        "{ rename: device of victim, to: mlx5_42 }",
        need("to", DEVICE_NAME, "The new name."),
        |to| DeviceAction::Rename { to },
    ),
    &device(
        "replace",
        "New hardware in the same slot: new GUIDs and firmware.",
        "{ replace: device of victim }",
        (),
        |()| DeviceAction::Replace,
    ),
    &word(
        "driver",
        Choices(
            "word after `driver`",
            &[
                ("unload", false, "detached: the class folder goes"),
                ("load", true, "attached again"),
            ],
        ),
        "The RDMA driver of the whole node.",
        "{ driver: load, names: { first: mlx5_1, second: mlx5_0 } }",
        maybe("names", NAMES, "With `load`: names that changed."),
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
        "All functions of the card vanish together and come back.",
        "{ firmware_reset: device of victim, takes: 20s }",
        need("takes", SPAN, "From vanishing to being back."),
        |takes| DeviceAction::FirmwareReset { takes },
    ),
    &device(
        "pci_error",
        "A PCI error: the driver detaches and, after this long, recovers.",
        "{ pci_error: device of victim, takes: 5s }",
        need("takes", SPAN, "From detaching to being back."),
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
        "They come back.",
        "{ return_to_namespace: device of victim }",
        (),
        |()| DeviceAction::ReturnToNamespace,
    ),
    &device(
        "hot_add",
        "A card of this device's make that was never there appears.",
        "{ hot_add: device of model, pci: \"0000:f1:00.0\", name: mlx5_40, cabled: false }",
        (
            need("pci", PCI, "Where."),
            need("name", DEVICE_NAME, "What it is called."),
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
        "Virtual functions of these physical ones, all unassigned.",
        "{ create_vfs: device of victim, count: 4 }",
        need("count", number(1, 1024), "How many."),
        |count| DeviceAction::CreateVfs { count },
    ),
    &device(
        "assign_vf",
        "Virtual functions go to a guest or container: their ports come up.",
        "{ assign_vf: device of vf }",
        (),
        |()| DeviceAction::AssignVf,
    ),
    &device(
        "release_vf",
        "They are taken back: their ports go down.",
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
