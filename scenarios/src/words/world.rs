//! The words of a world's file, and those of the workloads that run in a world.

use super::{KeyWord, key};

/// The keys of a world.
pub(crate) const WORLD: &[KeyWord] = &[
    key(
        "world",
        "a name",
        "Its name, by which scenarios ask for it. Needed.",
    ),
    key("why", "a text", "What the world is for. Needed."),
    key(
        "nodes",
        "a list of nodes",
        "The nodes, in the order in which handles choose. Needed.",
    ),
    key(
        "switches",
        "a list of names",
        "The switches; `leaf-1..leaf-4` is four.",
    ),
    key(
        "cables",
        "a list of cables",
        "From which ports of which nodes to which switch. A port that none names has a partner of its own.",
    ),
];

/// The keys of a node.
pub(crate) const WORLD_NODE: &[KeyWord] = &[
    key(
        "name",
        "a name or a range",
        "Its name; `vm1..vm8` is eight nodes of one make. Needed.",
    ),
    key(
        "platform",
        "a platform's name",
        "What it is made of, such as `dgx-h100:ib-storage`. Needed.",
    ),
    key(
        "monitored",
        "`true` or `false`",
        "Whether a monitor sits in its chair; `true` unless said.",
    ),
    key(
        "rails",
        "a map of `sout` and `sup`",
        "The two rails of an MPIB host.",
    ),
];

/// The keys of a rail.
pub(crate) const WORLD_RAIL: &[KeyWord] = &[
    key(
        "device",
        "a device's name",
        "The NIC, of which the plugin uses port 1. Needed.",
    ),
    key(
        "address",
        "an IPv4 address",
        "Its address; the nth node of a range has the nth from here. Needed.",
    ),
];

/// The keys of a cable.
pub(crate) const CABLE: &[KeyWord] = &[
    key(
        "nodes",
        "names or ranges",
        "Whose port; every node's unless said.",
    ),
    key(
        "device",
        "a name or a list of names",
        "Of which devices. Needed.",
    ),
    key("port", "a number", "Which port of them; 1 unless said."),
    key("to", "a switch's name", "Where it leads. Needed."),
];

/// The keys of a workload `lnet`.
pub(crate) const LNET: &[KeyWord] = &[
    key(
        "client",
        "a name or a list",
        "Who writes; several with `clients`' ranges such as `vm1..vm8`. Needed.",
    ),
    key("server", "a name", "To whom. Needed."),
    key(
        "nis",
        "a number",
        "How many interfaces each node has on LNet: its first so many ports of `role`; 1 unless said.",
    ),
    key(
        "role",
        "`compute` or `storage`",
        "Which ports they are; `storage` unless said.",
    ),
    key(
        "rpc",
        "`1MiB per TIME`",
        "How often each client writes 1 MiB; `1MiB per 1s` unless said.",
    ),
    key(
        "profile",
        "`hld`, `2.15` or `2.17`",
        "Which LNet; `2.17` unless said.",
    ),
];

/// The keys of a workload `mpib`.
pub(crate) const MPIB: &[KeyWord] = &[
    key(
        "ring",
        "a list of nodes",
        "Each sends to the next, the last to the first. One of `ring`, `mesh` and `pairs` is needed.",
    ),
    key("mesh", "a list of nodes", "One edge for each pair."),
    key("pairs", "a list of pairs of nodes", "These edges."),
    key(
        "message",
        "a size",
        "The size of each message, such as `4096` or `1MiB`; `1MiB` unless said.",
    ),
    key(
        "every",
        "a time",
        "From one message of an edge to the next; `100ms` unless said.",
    ),
    key(
        "pause",
        "a list of two times",
        "Between these nothing is sent, the second not included.",
    ),
    key(
        "profile",
        "`spec`, `g1` or `g2`",
        "Whose behaviour; `g1` unless said.",
    ),
    key(
        "retries",
        "`7` or `8`",
        "Tries of a write before its queue pair dies; 8 unless said.",
    ),
    key(
        "agents",
        "`running` or `missing`",
        "Whether each host has the agent; `running` unless said.",
    ),
];
