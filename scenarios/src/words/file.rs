//! The words of a scenario's frame: the file, its platforms, its handles, its steps.

use super::{KeyWord, Word, WordKind, key, word};

const fn of_file(name: &'static str, takes: &'static str, text: &'static str) -> Word {
    word(WordKind::File, name, takes, text, "")
}

const fn of_handle(name: &'static str, takes: &'static str, text: &'static str) -> Word {
    word(WordKind::Handle, name, takes, text, "")
}

const fn of_step(name: &'static str, takes: &'static str, text: &'static str) -> Word {
    word(WordKind::Step, name, takes, text, "")
}

/// The file's keys.
pub(crate) const FILE: &[Word] = &[
    of_file(
        "scenario",
        "a title",
        "The title: the story in one line. Needed.",
    ),
    of_file("why", "a text", "What the scenario is for. Needed."),
    of_file(
        "scenario_version",
        "`1`",
        "The version of the language, 1 unless said.",
    ),
    of_file(
        "covers",
        "a list of clause ids",
        "The clauses of the sources that it covers, such as `lsd/3.2/down-is-fatal`. An id whose prefix nicdrill knows (`lsd/`, `lcd/`, `decision/`, `field/`, `cluster/`) must exist; any other prefix is your own.",
    ),
    of_file(
        "platforms",
        "`all`, a list of names, or `{ with, not, names }`",
        "Where it is told, `all` unless said. On a platform that lacks what a handle asks for it is not applicable.",
    ),
    of_file(
        "world",
        "a name",
        "The world of several nodes in which it is told, instead of on platforms.",
    ),
    of_file(
        "workloads",
        "a map of names and `{ lnet: … }` or `{ mpib: … }`",
        "What runs on the world's links, from the story's start.",
    ),
    of_file(
        "rules",
        "a word",
        "The correlation rules that listen to what connectors accept.",
    )
    .choices(&[
        ("lsd", "those of \"NIC Health Monitor: Link State Detection\": `RepeatedNICLinkFlap`, `NICPortDrop`, `NICStabilizationWindow`, and `FabricWideFault` across nodes; unless said"),
        ("lsd-text", "the query for `RepeatedNICLinkFlap` that it prints, to the letter"),
        ("nvsentinel", "the two that NVSentinel deploys: `RepeatedNICDegradation`, `RepeatedNICDriverError`"),
        ("gpud", "`ib_port_flap` and `ib_port_drop`"),
    ]),
    of_file(
        "cluster",
        "a map",
        "The cluster that hears the monitors, where it is not as deployed at present.",
    ),
    of_file(
        "chairs",
        "a name or a list of names",
        "The nodes with a monitor in their chair; every one that the world's file does not except, unless said.",
    ),
    of_file("checks", "a word", "Which of the monitor's checks run.").choices(&[
        ("state", "the two state checks; unless said"),
        ("counters", "the two counter checks"),
        ("char_devices", "the check of character devices alone"),
        ("all", "all five"),
    ]),
    of_file(
        "arms",
        "a list of words",
        "Where it can be played: both unless said.",
    )
    .choices(&[
        ("memory", "pure code, simulated hands"),
        ("process", "a real process on a real mount"),
    ]),
    of_file(
        "tick",
        "a time",
        "The length of one poll, `1s` unless said. Poll k happens at k ticks, after everything done until then.",
    ),
    of_file(
        "until",
        "a time",
        "The story's last instant; two polls after the last line unless said. Healing comes after.",
    ),
    of_file(
        "heal",
        "`never` or `{ within: 3 polls }`",
        "How it ends. Everything is healed, and within 3 polls nothing may be outstanding, unless said.",
    ),
    of_file(
        "because",
        "a text",
        "Why a story may end in trouble; goes with `heal: never`.",
    ),
    of_file(
        "flags",
        "a list of texts",
        "Flags for the monitor beyond the descriptor's.",
    ),
    of_file("config", "a text", "Lines for the monitor's `config.toml`."),
    of_file(
        "let",
        "a map of handles",
        "Names for ports, chosen by what they are. A handle is a slot: it follows the hardware through renames.",
    ),
    of_file(
        "given",
        "a list of deeds",
        "What was done before the monitor started.",
    ),
    of_file(
        "timeline",
        "a list of steps",
        "What happens and what must be said. Needed.",
    ),
    of_file(
        "quiet",
        "a word",
        "Whether minutes of nothing cost one line in a trace.",
    )
    .choices(&[("fold", "one line"), ("full", "a line each; unless said")]),
];

/// The keys of `cluster`.
pub(crate) const CLUSTER: &[KeyWord] = &[
    key(
        "clearing",
        "`all`, `any_with_code` or `any`",
        "Which entries of a node condition a healthy event clears: those with all its entities and one of its codes (unless said), with any and one of its codes (from 2026-05-12 to 2026-07-08), with any whatever the codes (before).",
    ),
    key(
        "rulesets",
        "`shipped`, `without_nics` or `with_analyzer`",
        "For whose fatal events a node is cordoned: the NIC monitor's among others (unless said), no NIC monitor's (before 2026-05-18), the analyzer's too.",
    ),
    key(
        "breaker",
        "`{ fleet: N }`",
        "A circuit breaker of a cluster of so many nodes: when half of them are cordoned within five minutes, nothing is cordoned or released any more. There is none unless said.",
    ),
];

/// The keys of `platforms`.
pub(crate) const PLATFORMS: &[KeyWord] = &[
    key(
        "with",
        "a map of properties",
        "Only platforms that have all of these.",
    ),
    key(
        "not",
        "a list of names",
        "None of these; a base name stands for its variants too.",
    ),
    key(
        "names",
        "a list of names",
        "Only these; a base name stands for its base only.",
    ),
];

/// The keys of `platforms: { with }`.
pub(crate) const WITH: &[KeyWord] = &[
    key(
        "compute_cards",
        "a number such as `\">= 5\"`",
        "Cards with a monitored Compute port that is healthy at rest.",
    ),
    key("storage_cards", "a number", "The same for Storage."),
    key(
        "management_cards",
        "a number",
        "Cards with a Management function.",
    ),
    key(
        "compute_ports",
        "a number",
        "Monitored Compute ports that are healthy at rest.",
    ),
    key("storage_ports", "a number", "The same for Storage."),
    key(
        "uncabled_ports",
        "a number",
        "Monitored ports that have no cable at rest.",
    ),
    key(
        "monitored_ports",
        "a number",
        "Monitored ports, healthy or not.",
    ),
    key("vfs", "a number", "Virtual functions."),
    key("gpus", "a number", "GPUs."),
    key(
        "layer",
        "`infiniband`, `ethernet` or `both`",
        "The layers of the monitored ports that are healthy at rest: at least this one; `both`: each.",
    ),
    key(
        "only_layer",
        "`infiniband` or `ethernet`",
        "The same, and no other.",
    ),
    key(
        "devices",
        "a list of device names",
        "These devices are there at rest.",
    ),
    key(
        "cards_with_two_ports",
        "a number",
        "Cards with two or more monitored ports, by functions or by port numbers.",
    ),
    key(
        "devices_with_two_ports",
        "a number",
        "Devices with port numbers 1 and 2.",
    ),
    key(
        "cards_with_two_functions",
        "a number",
        "Cards with two or more RDMA functions.",
    ),
    key(
        "default_route",
        "`rdma`, `other` or `none`",
        "What carries the default route: a net device of an RDMA function, another, nothing.",
    ),
];

/// The properties of `with` that are numbers of ports or cards.
pub(crate) const ROLES_OF_WITH: &[&str] = &[
    "compute_cards",
    "storage_cards",
    "management_cards",
    "compute_ports",
    "storage_ports",
    "uncabled_ports",
    "monitored_ports",
    "vfs",
    "gpus",
    "cards_with_two_ports",
    "devices_with_two_ports",
    "cards_with_two_functions",
];

/// The keys of a handle.
pub(crate) const HANDLE: &[Word] = &[
    of_handle("role", "a word", "The role that the platform declares.").choices(&[
        ("management", "not monitored"),
        ("compute", "the compute fabric"),
        ("storage", "storage"),
    ]),
    of_handle("layer", "a word", "The link layer.").choices(&[
        ("infiniband", "InfiniBand"),
        ("ethernet", "Ethernet (RoCE)"),
    ]),
    of_handle(
        "device",
        "a name or a list of names",
        "The devices that bear these names at rest.",
    ),
    of_handle(
        "netdev",
        "a name",
        "The port whose net device this is at rest.",
    ),
    of_handle("pci", "an address", "The function at `0000:0c:00.0`."),
    of_handle("port", "a number", "Ports of this number only."),
    of_handle(
        "function",
        "a number",
        "The card's nth RDMA function, from 1.",
    ),
    of_handle(
        "device_of",
        "ports",
        "Ports of the same devices as these, these included.",
    ),
    of_handle(
        "card_of",
        "ports",
        "Ports on the same cards as these, these included.",
    ),
    of_handle(
        "sibling_of",
        "ports",
        "Other ports on the same cards as these.",
    ),
    of_handle(
        "peer_of",
        "ports",
        "Ports on other cards of the same role and layer as these.",
    ),
    of_handle(
        "vf_of",
        "ports",
        "Ports of the virtual functions of these ports' functions.",
    ),
    of_handle(
        "not",
        "ports or a list of them",
        "Not these, nor other ports on their cards.",
    ),
    of_handle("numa", "a number", "Functions on this NUMA node."),
    of_handle(
        "vf",
        "`true` or `false`",
        "Virtual functions, or not; not unless said.",
    ),
    of_handle(
        "cabled",
        "`true` or `false`",
        "With a cable at rest, or without.",
    ),
    of_handle(
        "healthy",
        "`true`, `false` or `any`",
        "Healthy at rest; `true` unless said, `any` where `cabled`, `vf` or `vf_of` is said.",
    ),
    of_handle(
        "monitored",
        "`true`, `false` or `any`",
        "In the monitor's scope; `true` unless said, `any` where the role is management, or `vf`, `vf_of`, `device`, `netdev`, `pci` or `default_route` is said.",
    ),
    of_handle(
        "default_route",
        "`true`",
        "The port whose net device carries the default route.",
    ),
    of_handle(
        "group_cards",
        "a number such as `1` or `\">= 3\"`",
        "Ports whose group of compared cards (same role, same layer) has so many cards.",
    ),
    of_handle(
        "card_functions",
        "a number",
        "Ports on cards with so many RDMA functions.",
    ),
    of_handle(
        "card_ports",
        "a number",
        "Ports on cards with so many monitored ports, healthy or not.",
    ),
    of_handle(
        "device_ports",
        "a number",
        "Ports of devices with so many ports.",
    ),
    of_handle(
        "nth",
        "a number or `last`",
        "The nth port that fits, in the order of device names; the first unless a number is said.",
    ),
    of_handle(
        "count",
        "a number, `half` or `all`",
        "The first so many ports that fit.",
    ),
    of_handle(
        "cards",
        "a number, `half` or `all`",
        "The ports that fit on the first so many cards; `half` is rounded down.",
    ),
    of_handle(
        "ports",
        "a number or `all`",
        "With `cards`: so many ports of each card; `all` unless said.",
    ),
    of_handle("node", "a name", "On this node."),
    of_handle(
        "cabled_to",
        "a switch",
        "Ports with a cable to it; all of them unless a number is said.",
    ),
    of_handle("rail", "a word", "The port of this rail of a node.").choices(&[
        ("sout", "scaleout, between islands"),
        ("sup", "scaleup, inside an island"),
    ]),
];

/// The keys of a step.
pub(crate) const STEP: &[Word] = &[
    of_step(
        "at",
        "a time",
        "When; times do not go backwards. A step at t belongs to the first poll at or after t.",
    ),
    of_step(
        "from",
        "a time",
        "Instead of `at`, with `to`: for expectations about the polls from here …",
    ),
    of_step("to", "a time", "… until just before here."),
    of_step(
        "in_poll",
        "a map",
        "The moment within the poll at which the deeds are done, instead of before it.",
    ),
    of_step(
        "node",
        "a name or a list of names",
        "The nodes of every line of the step.",
    ),
    of_step("do", "a list of deeds", "What is done, in order."),
    of_step(
        "expect",
        "a list of expectations",
        "What must be said of it.",
    ),
];

/// The keys of `in_poll`.
pub(crate) const IN_POLL: &[KeyWord] = &[
    key(
        "after",
        "`<operation> <file>`",
        "This was asked before in the same poll.",
    ),
    key(
        "before",
        "`<operation> <file>`",
        "This is asked now and not answered yet. Operations are `list`, `read`, `write`, `create`, `fsync`, `rename`, `unlink`.",
    ),
    key(
        "nth",
        "a number",
        "The how-manieth such operation of the poll, from 1; the first unless said.",
    ),
    key(
        "received",
        "a number",
        "The nth call of this poll has been received and not answered yet.",
    ),
    key(
        "accepted",
        "a number",
        "The nth call of this poll has been accepted, and the monitor knows it not yet.",
    ),
];

/// The keys of `heal`.
pub(crate) const HEAL: &[KeyWord] = &[key(
    "within",
    "`N polls`",
    "The deadline after the last port is ACTIVE.",
)];

/// The keys of an end of a link.
pub(crate) const END_IS: &[KeyWord] = &[
    key("pair", "two reasons, or `unavailable`", "What it shows."),
    key("offline", "a reason", "Its OfflineDisabledReason."),
    key("log", "a list of pairs", "Its LinkDownErrorLog."),
];

/// The keys of a message by layer.
pub(crate) const MESSAGE: &[KeyWord] = &[
    key("infiniband", "a text", "The message on InfiniBand."),
    key("ethernet", "a text", "The message on Ethernet."),
];

/// The keys of `reboot`.
pub(crate) const REBOOT: &[KeyWord] = &[
    key("takes", "a time", "From going down to the next poll."),
    key(
        "mend",
        "ports",
        "Ports whose trouble ends while the node is down.",
    ),
    key(
        "remove",
        "devices",
        "Devices that are not there afterwards.",
    ),
    key(
        "restore",
        "devices",
        "Devices that were out and are back afterwards.",
    ),
    key("replace", "devices", "Devices exchanged for new hardware."),
    key(
        "names",
        "a map of handles and names",
        "What devices are called afterwards.",
    ),
    key(
        "counters",
        "`zero` or `keep`",
        "Whether counters survive; `zero` unless said.",
    ),
    key(
        "announced",
        "`true` or `false`",
        "Whether the node's ports tell their partners that they go; `true` unless said. `false` is a loss of power.",
    ),
    key(
        "boot_id",
        "`new` or `same`",
        "Whether the boot id changes; `new` unless said.",
    ),
];
