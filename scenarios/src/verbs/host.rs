//! Verbs about a node itself: reboot, clock, metadata file and route table.

use fabric::{Action, NodeAction};

use super::spec::{MetadataSpec, RebootSpec, RoutesSpec, VerbSpec};
use crate::keys::{Literal, maybe, need, or, together};
use crate::kind::{AnyText, Choices, Text, Words};
use crate::map::{Alternative, MapOf, WordOr, alt};
use crate::row::{Row, word};
use crate::values::{NAMES, Of, SPAN, SignedTime, TRUTH};

/// Verbs about a node.
pub(crate) const HOST: &[&dyn Row<VerbSpec>] = &[
    &word(
        "reboot",
        MapOf(
            "a reboot",
            together(
                (
                    need("takes", SPAN, "Time from going down to the next poll."),
                    maybe(
                        "mend",
                        Of("ports"),
                        "Ports whose faults end while the node is down.",
                    ),
                    maybe(
                        "remove",
                        Of("devices"),
                        "Devices that are missing afterwards.",
                    ),
                    maybe(
                        "restore",
                        Of("devices"),
                        "Devices that were missing and are present afterwards.",
                    ),
                    maybe(
                        "replace",
                        Of("devices"),
                        "Devices replaced by new hardware.",
                    ),
                    maybe("names", NAMES, "New device names."),
                    or(
                        "counters",
                        Literal::Text("zero"),
                        Words("word", &[("zero", false), ("keep", true)]),
                        "Whether counters keep their values.",
                    ),
                    or(
                        "announced",
                        Literal::Truth(true),
                        TRUTH,
                        "Whether the node's ports notify their partners before they go down; `false` is a loss of power.",
                    ),
                    or(
                        "boot_id",
                        Literal::Text("new"),
                        Words("word", &[("new", false), ("same", true)]),
                        "Whether the boot id changes.",
                    ),
                ),
                |_, _, spec| {
                    let (takes, mend, remove, restore, replace, names, keep, announced, same) =
                        spec;
                    Ok(RebootSpec {
                        takes,
                        mend,
                        remove,
                        restore,
                        replace,
                        names: names.unwrap_or_default(),
                        keep_counters: keep,
                        same_boot_id: same,
                        announced,
                    })
                },
            ),
        ),
        "The node goes down with its monitor, and both are back after `takes`.",
        "{ reboot: { takes: 90s, mend: [ victim ], names: { victim: mlx5_5 }, counters: zero } }",
        (),
        |_, reboot, ()| Ok(VerbSpec::Reboot(reboot)),
    ),
    &word(
        "clock",
        Choices(
            "word after `clock`",
            &[("step", (), "jumps; goes with `by`")],
        ),
        "Steps the wall clock; the boot clock continues.",
        "{ clock: step, by: \"-1h\" }",
        need(
            "by",
            SignedTime("write `3s`, or `\"-1h\"` for back"),
            "How far.",
        ),
        |_, (), by_ns| {
            Ok(VerbSpec::World(Action::Node(
                (),
                NodeAction::ClockStep { by_ns },
            )))
        },
    ),
    &word(
        "metadata",
        WordOr {
            takes: "a word, `{ without: ports }`, `{ short_row: ports }` or `{ write: text }`",
            word: "word after `metadata`",
            words: METADATA,
            map: "a metadata file",
            keys: METADATA_OF,
        },
        "Replaces the metadata collector's `gpu_metadata.json`.",
        "{ metadata: missing }",
        (),
        |_, metadata, ()| Ok(VerbSpec::Metadata(metadata)),
    ),
    &word(
        "routes",
        WordOr {
            takes: "a word, `{ port: ports }` or `{ over: a name }`",
            word: "word after `routes`",
            words: ROUTES,
            map: "a route table",
            keys: ROUTES_OF,
        },
        "Replaces the route table.",
        "{ routes: { over: bond0 } }",
        (),
        |_, routes, ()| Ok(VerbSpec::Routes(routes)),
    ),
];

const METADATA: &[(&str, MetadataSpec, &str)] = &[
    ("missing", MetadataSpec::Missing, "there is none"),
    (
        "malformed",
        MetadataSpec::Malformed,
        "a text that is not JSON",
    ),
    (
        "empty_topology",
        MetadataSpec::EmptyTopology,
        "the platform's, with no row in `nic_topology`",
    ),
    (
        "unknown_numa",
        MetadataSpec::UnknownNuma,
        "the platform's, with every GPU's `numa_node` -1",
    ),
    (
        "no_gpus",
        MetadataSpec::NoGpus,
        "the platform's, with no GPU",
    ),
    (
        "at_rest",
        MetadataSpec::AtRest,
        "the platform's, with the names at rest",
    ),
];

const METADATA_OF: &[&dyn Alternative<MetadataSpec>] = &[
    &alt(
        "without",
        Of("ports"),
        "`{ without: victim }`: the platform's, without the rows of these devices",
        MetadataSpec::Without,
    ),
    &alt(
        "short_row",
        Of("ports"),
        "`{ short_row: victim }`: the platform's, with one level missing for these devices",
        MetadataSpec::ShortRow,
    ),
    &alt(
        "write",
        AnyText("a text"),
        "`{ write: \"text\" }`: this",
        MetadataSpec::Text,
    ),
];

const ROUTES: &[(&str, RoutesSpec, &str)] = &[
    ("missing", RoutesSpec::Missing, "no such file"),
    (
        "no_default",
        RoutesSpec::NoDefault,
        "a table without a default route",
    ),
    ("at_rest", RoutesSpec::AtRest, "the platform's"),
];

const ROUTES_OF: &[&dyn Alternative<RoutesSpec>] = &[
    &alt(
        "port",
        Of("ports"),
        "`{ port: victim }`: the default route goes over this port's net device",
        RoutesSpec::OverPort,
    ),
    &alt(
        "over",
        Text("an interface's name"),
        "`{ over: bond0 }`: the default route goes over this interface, such as a bond or a VLAN",
        RoutesSpec::Over,
    ),
];
