//! The verbs of `do:` and `given:`, with what stands beside them.

use super::{KeyWord, Word, WordKind, key, word};

const fn deed(
    name: &'static str,
    takes: &'static str,
    text: &'static str,
    example: &'static str,
) -> Word {
    word(WordKind::Deed, name, takes, text, example)
}

const fn planned(name: &'static str, text: &'static str) -> Word {
    word(WordKind::Deed, name, "", text, "").planned()
}

/// How a name in a deed's table begins: the ports it is done to.
const PORTS: &str = "ports";
/// Devices; ports stand for their devices.
const DEVICES: &str = "devices";

/// How long a rule on a file stands.
const RULE_KEYS: &[KeyWord] = &[
    key(
        "fail",
        "an errno such as `EIO`",
        "The operation ends with this error.",
    ),
    key(
        "hang",
        "`given_up` or `N ticks`",
        "No answer comes until the monitor gives up by its own timeout, or so many ticks have passed without a poll.",
    ),
    key(
        "killable",
        "`true` or `false`",
        "Whether a kill frees the one who waits in a `hang`; `true` unless said.",
    ),
    key("content", "a text", "The file gives this instead."),
    key(
        "truncate",
        "a number",
        "The file gives at most so many bytes.",
    ),
    key(
        "torn",
        "a text",
        "The first half of what it holds and the rest of this.",
    ),
    key(
        "vanish",
        "`true`",
        "What is named goes away at this operation.",
    ),
    key("for", "a time", "Stands for this long."),
    key("nth", "a number", "Strikes the nth operation only, from 1."),
    key("first", "a number", "Strikes the first so many."),
];

const WRITE_KEYS: &[KeyWord] = &[
    key(
        "fail",
        "an errno such as `ENOSPC`",
        "The operation ends with this error.",
    ),
    key("short", "a number", "A write takes only so many bytes."),
    key("hang", "`given_up` or `N ticks`", "No answer comes."),
    key("killable", "`true` or `false`", "As for `read`."),
    key(
        "ops",
        "a list of `create`, `write`, `fsync`, `rename`, `unlink`",
        "Which operations; `write` unless said.",
    ),
    key("for", "a time", "Stands for this long."),
    key("nth", "a number", "Strikes the nth operation only, from 1."),
    key("first", "a number", "Strikes the first so many."),
];

/// Which character device.
const CHAR_DEVICE_KIND: KeyWord = key(
    "kind",
    "`issm`, `umad` or `uverbs`",
    "Which: `issm` and `umad` are the port's, `uverbs` its device's.",
);

/// Why a link goes down.
const WHY: KeyWord = key(
    "why",
    "a reason such as `fm_bounce`, or its number",
    "The LinkDownReason: the end of its symbol in lower case.",
);

/// Which end of a link.
const END: KeyWord = key(
    "end",
    "`here` or `there`",
    "The node's own port, or its partner; `here` unless said.",
);

/// Qualifiers of every deed.
pub(crate) const DEED_QUALIFIERS: &[KeyWord] = &[
    key("node", "a name or a list of names", "On these nodes."),
    key(
        "only",
        "`infiniband` or `ethernet`",
        "To ports of this layer only; others are left alone.",
    ),
];

/// The verbs.
pub(crate) const DEEDS: &[Word] = &[
    // Ports.
    deed("cut", PORTS, "The cable is pulled: InfiniBand shows DOWN/Polling, RoCE DOWN/Disabled.", "{ cut: victim }"),
    deed("mend", PORTS, "Ends whatever was done to the port; it trains and comes up as its driver does.", "{ mend: victim }"),
    deed("disable", PORTS, "Disabled by an administrator: DOWN/Disabled on both layers.", "{ disable: victim }"),
    deed("set", PORTS, "Shows these values whatever the link does, until mended.", "{ set: victim, state: ACTIVE, phys_state: LinkErrorRecovery }")
        .keys(&[
            key("state", "a word or a number", "Logical state, such as `INIT`; unchanged unless said."),
            key("phys_state", "a word or a number", "Physical state, such as `Polling`; unchanged unless said."),
        ]),
    deed("flap", PORTS, "Leaves ACTIVE and returns, several times.", "{ flap: storm, times: 4, down: 3s, up: 7s, stagger: 400ms }")
        .keys(&[
            key("times", "a number", "How many times each goes down."),
            key("down", "a time", "From leaving ACTIVE to ACTIVE again."),
            key("up", "a time", "From ACTIVE to the next leaving."),
            key("stagger", "a time", "The nth port starts n times this later; `0s` unless said."),
        ]),
    deed("train_slowly", PORTS, "Retrains and is ACTIVE again only after this long.", "{ train_slowly: victim, takes: 20s }")
        .keys(&[key("takes", "a time", "From leaving ACTIVE to ACTIVE again.")]),
    deed("stick", PORTS, "Stays at one point of the way up until mended.", "{ stick: victim, in: init }")
        .keys(&[key("in", "`polling`, `training`, `init`, `armed` or `recovery`", "Where.")]),
    deed("speed", PORTS, "Comes up at another speed and stays ACTIVE.", "{ speed: victim, rate: 4X EDR }")
        .keys(&[key("rate", "lanes and speed", "The new rate, such as `2X HDR`.")]),
    deed("interface", PORTS, "`ip link set <netdev> down` or `up`: IPoIB keeps its port, RoCE loses it.", "{ interface: victim, to: down }")
        .keys(&[key("to", "`up` or `down`", "Which.")]),
    deed("operstate", PORTS, "The net device shows another operstate, until mended.", "{ operstate: victim, to: lowerlayerdown }")
        .keys(&[key("to", "a word", "Such as `dormant`.")]),
    deed("remove_port", PORTS, "The port is no longer listed in `ports/`; its device stays.", "{ remove_port: victim }"),
    deed("restore_port", PORTS, "It is listed again.", "{ restore_port: victim }"),
    deed("change_layer", PORTS, "The port comes up under the other link layer.", "{ change_layer: victim, to: ethernet }")
        .keys(&[key("to", "`infiniband` or `ethernet`", "Which.")]),
    // The fabric.
    deed("subnet_manager", "a word", "The InfiniBand subnet manager.", "{ subnet_manager: die }")
        .choices(&[
            ("stop", "it stops; ACTIVE ports stay so, others wait in INIT"),
            ("die", "it stops, and every InfiniBand port goes to INIT"),
            ("start", "it runs again"),
        ]),
    deed("take_down", PORTS, "An end of the link takes it down. For a reason that holds, such as `switch_mgmt` or `power_policy`, it stays down until `let_up` or `mend`; for others, such as `fm_bounce`, it trains again at once.", "{ take_down: victim, why: fm_bounce, end: there }")
        .keys(&[
            WHY,
            END,
            key("unheard", "`true` or `false`", "Whether the message to the other end is lost; `false` unless said."),
        ]),
    deed("two_sided", PORTS, "Both ends of the link take it down at the same instant, each for a reason that passes; it trains again.", "{ two_sided: victim, why: fm_bounce, partner_why: excessive_buffer_overrun }")
        .keys(&[
            WHY,
            key("partner_why", "a LinkDownReason by word or number", "Why the other end does."),
            key("unheard", "`here`, `there` or `both`", "Whose message is lost; nobody's unless said."),
        ]),
    deed("let_up", PORTS, "A reason no longer holds an end down.", "{ let_up: victim, why: switch_mgmt, end: there }")
        .keys(&[WHY, END]),
    deed("packet_error", PORTS, "An end finds an error in what it receives (reasons 1 to 32). If its `error_action` names the error, it takes the link down. `excessive_buffer_overrun` also counts, if the end is the node's own.", "{ packet_error: victim, why: bad_sc }")
        .keys(&[WHY, END]),
    deed("error_action", PORTS, "Which errors make an end take its link down; all of them at rest.", "{ error_action: victim, to: [ bad_sc, pkt_too_long ], end: there }")
        .keys(&[key("to", "`everything`, `nothing` or a list of reasons", "Which."), END]),
    deed("module", PORTS, "The transceiver module is taken out of an end, or put in.", "{ module: victim, to: out }")
        .keys(&[key("to", "`out` or `in`", "Which."), END]),
    deed("neighbour_reboots", PORTS, "The host at the other end reboots in good order.", "{ neighbour_reboots: victim, takes: 20s }")
        .keys(&[key("takes", "a time", "From going to its port's signalling again.")]),
    deed("partner_power", PORTS, "What these ports are cabled to loses its power, or has it again.", "{ partner_power: victim, to: lost }")
        .keys(&[key("to", "`lost` or `back`", "Which.")]),
    deed("switch", "a switch of the world", "The switch loses its power, and with it every port that is cabled to it; or has it again.", "{ switch: leaf-3, power: lost }")
        .keys(&[key("power", "`lost` or `back`", "Which.")]),
    // Workloads.
    deed("lnet_fault", "a workload `lnet`", "A fault that LNet makes itself on a node (`lnetctl fault`): exactly one of `simulate`, `drop`, `delay`.", "{ lnet_fault: storage, node: client, simulate: remote_dropped, one_in: 2 }")
        .keys(&[
            key("simulate", "a message status or a list", "What is sent ends so, such as `local_dropped`; of several, a random one."),
            key("drop", "`true`", "What arrives is lost."),
            key("delay", "a time", "What arrives does so later."),
            key("one_in", "a number", "One of so many messages; every one unless said."),
            key("every", "a time in whole seconds", "Instead: the first message of each such span."),
        ]),
    deed("no_lnet_fault", "a workload `lnet`", "An end to such faults on a node.", "{ no_lnet_fault: storage, node: client }"),
    deed("hint", "a workload `mpib`", "The agent of a node writes a hint for the pair of it and another node.", "{ hint: job, node: vm1, pair: vm2, share: 0 }")
        .keys(&[
            key("pair", "a node", "The other node."),
            key("share", "a number or `all`", "What it writes (`sup_bw`)."),
        ]),
    deed("agent", "a workload `mpib`", "The agent of a node dies.", "{ agent: job, node: vm1, to: die }")
        .keys(&[
            key("to", "`die` or `die_writing`", "`die_writing`: in the middle of a hint for a pair, whose sequence stays odd."),
            key("pair", "a node", "With `die_writing`: the other node of the pair."),
        ]),
    // Devices.
    deed("remove", DEVICES, "Falls off the bus.", "{ remove: device of victim }"),
    deed("restore", DEVICES, "Is back: PCI first, then net and RDMA, then its ports train.", "{ restore: device of victim }"),
    deed("rename", DEVICES, "The RDMA device gets another name at once; a device that bears it takes the old one.", "{ rename: device of victim, to: mlx5_42 }")
        .keys(&[key("to", "a name", "The new name.")]),
    deed("replace", DEVICES, "New hardware in the same slot: new GUIDs and firmware.", "{ replace: device of victim }"),
    deed("driver", "a word", "The RDMA driver of the whole node.", "{ driver: load, names: { first: mlx5_1, second: mlx5_0 } }")
        .choices(&[("unload", "detached: the class folder goes"), ("load", "attached again")])
        .keys(&[key("names", "a map of handles and names", "With `load`: names that changed.")]),
    deed("firmware_reset", DEVICES, "All functions of the card vanish together and come back.", "{ firmware_reset: device of victim, takes: 20s }")
        .keys(&[key("takes", "a time", "From vanishing to being back.")]),
    deed("pci_error", DEVICES, "A PCI error: the driver detaches and, after this long, recovers.", "{ pci_error: device of victim, takes: 5s }")
        .keys(&[key("takes", "a time", "From detaching to being back.")]),
    deed("leave_namespace", DEVICES, "The RDMA and net devices move to another namespace; PCI stays.", "{ leave_namespace: device of victim }"),
    deed("return_to_namespace", DEVICES, "They come back.", "{ return_to_namespace: device of victim }"),
    deed("hot_add", DEVICES, "A card of this device's make that was never there appears.", "{ hot_add: device of model, pci: \"0000:f1:00.0\", name: mlx5_40, cabled: false }")
        .keys(&[
            key("pci", "an address", "Where."),
            key("name", "a name", "What it is called."),
            key("cabled", "`true` or `false`", "Whether its ports have a cable; `true` unless said."),
        ]),
    // Virtual functions.
    deed("create_vfs", DEVICES, "Virtual functions of these physical ones, all unassigned.", "{ create_vfs: device of victim, count: 4 }")
        .keys(&[key("count", "a number", "How many.")]),
    deed("assign_vf", DEVICES, "Virtual functions go to a guest or container: their ports come up.", "{ assign_vf: device of vf }"),
    deed("release_vf", DEVICES, "They are taken back: their ports go down.", "{ release_vf: device of vf }"),
    deed("destroy_vfs", DEVICES, "Removes all virtual functions of these physical ones.", "{ destroy_vfs: device of victim }"),
    // Counters.
    deed("counter", PORTS, "Changes a counter; exactly one of `add`, `per_second`, `shows`, `fails`.", "{ counter: victim, name: symbol_error, add: 5 }")
        .keys(&[
            key("name", "a file name", "A file of `counters/`, `hw_counters/`, the net device's `statistics/`, or `carrier_changes`."),
            key("add", "a number", "Grows by this much, at most to the field's maximum."),
            key("per_second", "a number", "Grows by this much each second from now on; 0 stops it."),
            key("shows", "a number or a text", "Shows exactly this, such as `\"N/A (no PMA)\"`."),
            key("fails", "an errno", "Reading it ends with this error."),
        ]),
    deed("reset_counter", PORTS, "The counter starts again at zero, as after an operator's reset.", "{ reset_counter: victim, name: symbol_error }")
        .keys(&[key("name", "a file name", "As for `counter`.")]),
    deed("saturate_counter", PORTS, "The counter stands at its field's maximum.", "{ saturate_counter: victim, name: link_downed }")
        .keys(&[key("name", "a file name", "As for `counter`.")]),
    deed("traffic", PORTS, "Data moves over the port, as much each way, while its link is up. Without it ports are idle and only faults move counters.", "{ traffic: victim, per_second: 1000000000 }")
        .keys(&[
            key("per_second", "a number", "Bytes a second each way; 0 ends it."),
            key("packet", "a number", "Bytes in a packet; 4096 unless said."),
        ]),
    // Character devices.
    deed("remove_char_device", PORTS, "A character device goes, as when udev or a driver lost it; the port stays as it is.", "{ remove_char_device: victim, kind: issm }")
        .keys(&[CHAR_DEVICE_KIND]),
    deed("restore_char_device", PORTS, "It is back.", "{ restore_char_device: victim, kind: issm }")
        .keys(&[CHAR_DEVICE_KIND]),
    // Files. A file is `victim/state`, `device of victim/fw_ver`, a path such as `class/infiniband`, or `state_file`.
    deed("read", "a file", "A rule on reading a file: exactly one of `fail`, `hang`, `content`, `truncate`, `torn`, `vanish`.", "{ read: victim/state, fail: EIO, for: 3s }")
        .keys(RULE_KEYS),
    deed("list", "a folder", "The same for listing a folder.", "{ list: device of victim/ports, fail: EACCES, first: 2 }")
        .keys(RULE_KEYS),
    deed("write", "a file", "A rule on writing: exactly one of `fail`, `short`, `hang`.", "{ write: state_file, fail: ENOSPC, nth: 2 }")
        .keys(WRITE_KEYS),
    deed("no_rule", "a file or `everywhere`", "Ends the rules on a file, or all of them.", "{ no_rule: everywhere }"),
    // The connector.
    deed("connector", "a word, `{ code: NAME }` or `{ slow: a time }`", "How the platform connector takes calls from now on.", "{ connector: { code: INTERNAL }, calls: 2 }")
        .choices(&[
            ("accept", "takes them"),
            ("absent", "the socket's file is absent"),
            ("down", "the socket is there and nobody listens: refused, nothing received"),
            ("refuse", "received, and answered UNAVAILABLE"),
            ("hang", "received and never answered; nothing is accepted"),
            ("lose_reply", "accepted, and the reply is lost"),
            ("disconnect", "received, and cut off before an answer; nothing is accepted"),
            ("code", "`{ code: INTERNAL }`: received, and answered with this gRPC code"),
            ("slow", "`{ slow: 1s }`: accepted, and the answer comes this much real time later"),
        ])
        .keys(&[
            key("for", "a time", "For this long; then it accepts again."),
            key("calls", "a number", "For so many calls; then it accepts again."),
        ]),
    // The monitor.
    deed("monitor", "a word", "What is done to the monitor in the chair.", "{ monitor: restart, signal: KILL, away: 5s }")
        .choices(&[
            ("restart", "ended and started again"),
            ("stop", "ended by SIGTERM, not started again"),
            ("kill", "ended by SIGKILL, not started again"),
            ("start", "started again, or a second one beside the first"),
            ("pause", "stands still; goes with `for`"),
            ("upgrade", "another binary takes the chair (not built yet)"),
        ])
        .keys(&[
            key("signal", "`TERM` or `KILL`", "With `restart`: how it ends; `TERM` unless said."),
            key("away", "a time", "With `restart`: the time without a monitor; `0s` unless said."),
            key("for", "a time", "With `pause`: how long."),
            key("flags", "a list of texts", "With `restart` and `start`: further flags from now on; later ones win."),
            key("config", "a text", "With `restart`: the lines of `config.toml` from now on."),
        ]),
    deed("state_file", "a word, `{ truncate: N }`, `{ write: text }` or `{ version: N }`", "What is done to the monitor's state file.", "{ state_file: { version: 99 } }")
        .choices(&[
            ("delete", "removed"),
            ("corrupt", "holds a text that is no JSON"),
            ("read_only", "whatever is written ends with EROFS"),
            ("disk_full", "whatever is written ends with ENOSPC"),
            ("writable", "ends `read_only` and `disk_full`"),
            ("truncate", "`{ truncate: 10 }`: cut to so many bytes"),
            ("write", "`{ write: \"text\" }`: holds this"),
            ("version", "`{ version: 3 }`: its JSON member `version` becomes this"),
        ]),
    // The host.
    deed("reboot", "a map", "The node goes down with its monitor, and both are back after `takes`.", "{ reboot: { takes: 90s, mend: [ victim ], names: { victim: mlx5_5 }, counters: zero } }"),
    deed("clock", "a word", "The wall clock; boot time goes on.", "{ clock: step, by: \"-1h\" }")
        .choices(&[("step", "jumps; goes with `by`")])
        .keys(&[key("by", "a time, `-` for back", "How far.")]),
    deed("metadata", "a word, `{ without: ports }`, `{ short_row: ports }` or `{ write: text }`", "The metadata collector's `gpu_metadata.json` becomes this.", "{ metadata: missing }")
        .choices(&[
            ("missing", "there is none"),
            ("malformed", "a text that is no JSON"),
            ("empty_topology", "the platform's, with no row in `nic_topology`"),
            ("unknown_numa", "the platform's, with every GPU's `numa_node` -1"),
            ("no_gpus", "the platform's, with no GPU"),
            ("at_rest", "the platform's, with the names at rest"),
            ("without", "`{ without: victim }`: the platform's, without the rows of these devices"),
            ("short_row", "`{ short_row: victim }`: the platform's, with a level too few for these devices"),
            ("write", "`{ write: \"text\" }`: this"),
        ]),
    deed("routes", "a word, `{ port: ports }` or `{ over: a name }`", "The route table becomes this.", "{ routes: { over: bond0 } }")
        .choices(&[
            ("missing", "no such file"),
            ("no_default", "a table without a default route"),
            ("at_rest", "the platform's"),
            ("port", "`{ port: victim }`: the default route goes over this port's net device"),
            ("over", "`{ over: bond0 }`: the default route goes over this interface, such as a bond or a VLAN"),
        ]),
    // Known to the language, and not built yet.
    planned("rules", "Correlation rules are changed while they listen."),
];
