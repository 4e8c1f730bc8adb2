//! Verbs about ports: their links, their states, their counters and character devices.

use fabric::{CharDeviceKind, CounterChange, PortAction, PortsAction, StickAt};
use files::YamlValue;
use platforms::CounterValue;

use super::spec::{VerbSpec, port, ports};
use crate::keys::{Literal, maybe, need, or, together};
use crate::kind::{Checked, Plain, Text, Words, any_of, count, number, plain, string_form};
use crate::map::{Alternative, OneOf, alt};
use crate::row::Row;
use crate::values::{ERRNO, LAYER, PHYS_STATE, RATE, SPAN, STATE, TIME};

/// Verbs about ports and their links.
pub(crate) const PORTS: &[&dyn Row<VerbSpec>] = &[
    &port(
        "cut",
        "The cable is pulled: InfiniBand shows DOWN/Polling, RoCE DOWN/Disabled.",
        "{ cut: victim }",
        (),
        |()| PortAction::Cut,
    ),
    &port(
        "mend",
        "Ends all faults of the port; it trains and comes up in its driver's way.",
        "{ mend: victim }",
        (),
        |()| PortAction::Mend,
    ),
    &port(
        "disable",
        "The port is disabled by an administrator: DOWN/Disabled on both layers.",
        "{ disable: victim }",
        (),
        |()| PortAction::Disable,
    ),
    &port(
        "set",
        "The port shows these values independently of the link, until mended.",
        "{ set: victim, state: ACTIVE, phys_state: LinkErrorRecovery }",
        together(
            (
                maybe(
                    "state",
                    STATE,
                    "Logical state, such as `INIT`; unchanged by default.",
                ),
                maybe(
                    "phys_state",
                    PHYS_STATE,
                    "Physical state, such as `Polling`; unchanged by default.",
                ),
            ),
            |context, fields, spec| match spec {
                (None, None) => Err(context
                    .source
                    .wrong(fields.place, "`set` needs `state`, `phys_state` or both")),
                spec => Ok(spec),
            },
        ),
        |(state, phys_state)| PortAction::Set { state, phys_state },
    ),
    &ports(
        "flap",
        "The port leaves ACTIVE and returns, several times.",
        "{ flap: storm, times: 4, down: 3s, up: 7s, stagger: 400ms }",
        (
            need("times", count(1), "How many times each goes down."),
            need("down", SPAN, "Time from leaving ACTIVE to ACTIVE again."),
            need("up", SPAN, "Time from ACTIVE to the next down."),
            or(
                "stagger",
                Literal::Text("0s"),
                TIME,
                "The nth port starts n times this later.",
            ),
        ),
        |(times, down, up, stagger)| PortsAction::Flap {
            times,
            down,
            up,
            stagger,
        },
    ),
    &port(
        "train_slowly",
        "The port retrains and is ACTIVE again only after `takes`.",
        "{ train_slowly: victim, takes: 20s }",
        need("takes", SPAN, "Time from leaving ACTIVE to ACTIVE again."),
        |takes| PortAction::TrainSlowly { takes },
    ),
    &port(
        "stick",
        "The port stays at one point of the way up until mended.",
        "{ stick: victim, in: init }",
        need("in", Words("point of the way up", STICK), "The point."),
        |at| PortAction::Stick { at },
    ),
    &port(
        "speed",
        "The port comes up at another speed and stays ACTIVE.",
        "{ speed: victim, rate: 4X EDR }",
        need("rate", RATE, "The new rate, such as `2X HDR`."),
        |rate| PortAction::Speed { rate },
    ),
    &port(
        "interface",
        "`ip link set <netdev> down` or `up`: IPoIB keeps its port, RoCE loses it.",
        "{ interface: victim, to: down }",
        need(
            "to",
            Words("word", &[("up", true), ("down", false)]),
            "Which.",
        ),
        |up| PortAction::Interface { up },
    ),
    &port(
        "operstate",
        "The net device shows another operstate until mended.",
        "{ operstate: victim, to: lowerlayerdown }",
        need(
            "to",
            Text("an operstate such as `dormant`"),
            "The operstate.",
        ),
        |text| PortAction::Operstate { text },
    ),
    &port(
        "remove_port",
        "The port is no longer listed in `ports/`; its device stays.",
        "{ remove_port: victim }",
        (),
        |()| PortAction::RemovePort,
    ),
    &port(
        "restore_port",
        "The port is listed again.",
        "{ restore_port: victim }",
        (),
        |()| PortAction::RestorePort,
    ),
    &port(
        "change_layer",
        "The port comes up under the other link layer.",
        "{ change_layer: victim, to: ethernet }",
        need("to", LAYER, "Which."),
        |layer| PortAction::ChangeLayer { layer },
    ),
];

const STICK: &[(&str, StickAt)] = &[
    ("polling", StickAt::Polling),
    ("training", StickAt::Training),
    ("init", StickAt::Init),
    ("armed", StickAt::Armed),
    ("recovery", StickAt::Recovery),
];

/// Verbs about counters and character devices.
pub(crate) const COUNTERS: &[&dyn Row<VerbSpec>] = &[
    &port(
        "counter",
        "Changes a counter: exactly one of `add`, `per_second`, `shows`, `fails`.",
        "{ counter: victim, name: symbol_error, add: 5 }",
        (
            need(
                "name",
                COUNTER_NAME,
                "A file of `counters/`, `hw_counters/`, the net device's `statistics/`, or `carrier_changes`.",
            ),
            OneOf(CHANGES),
        ),
        |(name, change)| PortAction::Counter { name, change },
    ),
    &port(
        "reset_counter",
        "The counter restarts at zero, as after an operator's reset.",
        "{ reset_counter: victim, name: symbol_error }",
        need("name", COUNTER_NAME, "As for `counter`."),
        |name| PortAction::Counter {
            name,
            change: CounterChange::Reset,
        },
    ),
    &port(
        "saturate_counter",
        "The counter is at its field's maximum.",
        "{ saturate_counter: victim, name: link_downed }",
        need("name", COUNTER_NAME, "As for `counter`."),
        |name| PortAction::Counter {
            name,
            change: CounterChange::Saturate,
        },
    ),
    &port(
        "traffic",
        "Data moves over the port at the same rate in both directions while its link is up. Without it ports are idle and only faults change counters.",
        "{ traffic: victim, per_second: 1000000000 }",
        (
            need(
                "per_second",
                number(0, COUNTER_MAX),
                "Bytes per second in each direction; 0 ends it.",
            ),
            or(
                "packet",
                Literal::Whole(PACKET_BYTES),
                number(1, 1 << 20),
                "Bytes per packet.",
            ),
        ),
        |(bytes_per_second, packet_bytes)| PortAction::Traffic {
            bytes_per_second,
            packet_bytes,
        },
    ),
    &port(
        "remove_char_device",
        "A character device disappears, as when udev or a driver lost it; the port does not change.",
        "{ remove_char_device: victim, kind: issm }",
        need(
            "kind",
            Words("character device", CHAR_DEVICES),
            WHICH_CHAR_DEVICE,
        ),
        |kind| PortAction::CharDevice { kind, there: false },
    ),
    &port(
        "restore_char_device",
        "The character device is back.",
        "{ restore_char_device: victim, kind: issm }",
        need(
            "kind",
            Words("character device", CHAR_DEVICES),
            WHICH_CHAR_DEVICE,
        ),
        |kind| PortAction::CharDevice { kind, there: true },
    ),
];

/// The largest value of a counter in a scenario.
const COUNTER_MAX: u64 = i64::MAX as u64;

/// The largest path MTU of InfiniBand and RoCE (IBTA 7.7.8), bytes.
const PACKET_BYTES: i64 = 4096;

const WHICH_CHAR_DEVICE: &str =
    "The character device: `issm` and `umad` belong to the port, `uverbs` to its device.";

const CHAR_DEVICES: &[(&str, CharDeviceKind)] = &[
    ("issm", CharDeviceKind::Issm),
    ("umad", CharDeviceKind::Umad),
    ("uverbs", CharDeviceKind::Uverbs),
];

const CHANGES: &[&dyn Alternative<CounterChange>] = &[
    &alt(
        "add",
        number(1, COUNTER_MAX),
        "Adds this much, at most up to the field's maximum.",
        CounterChange::Add,
    ),
    &alt(
        "per_second",
        number(0, COUNTER_MAX),
        "Grows by this much each second from now on; 0 stops it.",
        CounterChange::RatePerSecond,
    ),
    &alt(
        "shows",
        COUNTER_VALUE,
        "Shows exactly this, such as `\"N/A (no PMA)\"`.",
        CounterChange::Set,
    ),
    &alt(
        "fails",
        ERRNO,
        "Reading it fails with this error.",
        |errno| CounterChange::Set(CounterValue::Fails(errno)),
    ),
];

const COUNTER_NAME: Checked<Text, String> =
    Checked(Text("a counter's file name"), |context, node, name| {
        if name.contains('/') {
            return Err(context
                .source
                .wrong(node.place, format!("`{name}` is a path"))
                .hint("write the file's name alone"));
        }
        Ok(name)
    });

const COUNTER_VALUE: Plain<CounterValue> = plain(
    "a number or a text",
    || {
        any_of([
            serde_json::json!({ "type": "integer", "minimum": 0 }),
            string_form(),
        ])
    },
    |context, node| {
        Ok(match &node.value {
            YamlValue::Whole(_) => {
                CounterValue::Count(context.source.number(node, 0, COUNTER_MAX)?)
            }
            _ => CounterValue::Text(context.source.text(node, "a number or a text")?),
        })
    },
);
