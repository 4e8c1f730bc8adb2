//! Workloads as a scenario declares them: `workloads: { storage: { lnet: … }, job: { mpib: … } }`.
//!
//! `workload/storage.rs` has the keys of `lnet`. `workload/workload_resolver.rs` resolves workloads in a world; the crates
//! `lnet` and `mpib` implement them.

mod routing;
mod storage;
mod storage_resolver;
mod workload_resolver;

use std::ops::RangeInclusive;

use files::{Key, Node, Place, YamlValue};
use mpib::{ACK_TIMEOUT_EXPONENT, Bytes, Gid, IN_FLIGHT_MAX, MpibProfile, Retries};
use serde_json::json;
use simfs::SimTime;

use crate::keys::{Keys, Literal, maybe, or, together};
use crate::kind::{
    Checked, Kind, Many, Placed, Plain, Text, Two, Words, count, number, plain, string_form,
    text_form,
};
use crate::map::{Alternative, MapOf, OneOf, alt};
use crate::values::{NODE_NAME, SPAN, TIME};
use crate::world::range;

pub(crate) use storage::lnet_keys;
use storage::{LNET, LnetSpec};

/// A node's name and its place.
type Name = (String, Place);

/// Environment variables, in order.
type Variables = Vec<(String, String)>;

/// A workload as parsed.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadSpec {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) kind: KindSpec,
}

#[derive(Clone, Debug)]
pub(crate) enum KindSpec {
    Lnet(LnetSpec),
    Mpib(MpibSpec),
}

#[derive(Clone, Debug)]
pub(crate) struct MpibSpec {
    edges: EdgesSpec,
    message: Bytes,
    every: SimTime,
    in_flight: u8,
    dependent: bool,
    pause: Option<(SimTime, SimTime)>,
    profile: MpibProfile,
    retries: Retries,
    timeout_exponent: u8,
    gids: Vec<(Name, Gid)>,
    agents: bool,
    environment: Variables,
    environment_of: Vec<(Name, Variables)>,
    cts_queue: u32,
}

#[derive(Clone, Debug)]
enum EdgesSpec {
    Ring(Vec<Name>),
    Mesh(Vec<Name>),
    Pairs(Vec<(Name, Name)>),
}

/// The kind of the value of `workloads:`.
pub(crate) const WORKLOADS: Plain<Vec<WorkloadSpec>> = plain(
    "a map of names and `{ lnet: … }` or `{ mpib: … }`",
    || json!({ "type": "object", "additionalProperties": WORKLOAD.schema() }),
    |context, node| {
        let fields = context.source.open_map(node, "workloads")?;
        let spec = |(key, node): &(Key, Node)| {
            Ok(WorkloadSpec {
                name: key.name.clone(),
                place: key.place,
                kind: WORKLOAD.parse(context, node)?,
            })
        };
        fields.pairs.iter().map(spec).collect()
    },
);

const WORKLOAD: MapOf<OneOf<KindSpec>> = MapOf("a workload", OneOf(KINDS));

const KINDS: &[&dyn Alternative<KindSpec>] = &[
    &alt("lnet", LNET, "Writes over LNet.", KindSpec::Lnet),
    &alt("mpib", MPIB, "A job over MPIB.", KindSpec::Mpib),
];

const MPIB: Plain<MpibSpec> = plain(
    "a map",
    || MapOf("a workload `mpib`", mpib_keys()).schema(),
    |context, node| MapOf("a workload `mpib`", mpib_keys()).parse(context, node),
);

/// The keys of a workload `mpib`.
pub(crate) fn mpib_keys() -> impl Keys<Value = MpibSpec> {
    together(
        (
            OneOf(EDGES),
            or(
                "message",
                Literal::Text("1MiB"),
                SIZE,
                "The size of each message, such as `4096` or `1MiB`.",
            ),
            (
                or(
                    "every",
                    Literal::Text("100ms"),
                    INTERVAL,
                    "The interval between messages of an edge; at least a millisecond.",
                ),
                or(
                    "in_flight",
                    Literal::Whole(1),
                    number(1, IN_FLIGHT_MAX as u64),
                    "How many messages of an edge may be in flight; what waits behind a lost write is flushed with it.",
                ),
                or(
                    "steps",
                    Literal::Text("independent"),
                    Words("word", &[("independent", false), ("dependent", true)]),
                    "Whether a rank sends its next message only when as many have arrived from those before it, as in an allreduce; one edge that waits then holds up the whole ring.",
                ),
            ),
            maybe(
                "pause",
                PAUSE,
                "Nothing is sent from the first time until just before the second.",
            ),
            or(
                "profile",
                Literal::Text("g1"),
                Words(
                    "profile",
                    &[
                        ("spec", MpibProfile::Spec),
                        ("g1", MpibProfile::G1),
                        ("g2", MpibProfile::G2),
                    ],
                ),
                "The MPIB version, or document, whose behaviour is modelled.",
            ),
            or(
                "retries",
                Literal::Whole(8),
                RETRIES,
                "Tries of a write, the first one counted, before its queue pair fails.",
            ),
            or(
                "timeout",
                Literal::Whole(ACK_TIMEOUT_EXPONENT as i64),
                number(1, 31),
                "The InfiniBand timeout of every rank, as `NCCL_IB_TIMEOUT`: one try lasts 4.096 µs × 2^N. The plugin sets 20. 0 would be no timeout, and is not modelled.",
            ),
            maybe(
                "gids",
                GIDS,
                "The GID of a node's SOUT port, such as `{ vm5: fe80::5 }` for another GID index; IPv4-mapped by default.",
            ),
            or(
                "agents",
                Literal::Text("running"),
                Words("word", &[("running", true), ("missing", false)]),
                "Whether each host runs the agent.",
            ),
            maybe(
                "environment",
                VARIABLES,
                "Variables of every rank's environment, such as `{ MPIB_CTS_SIGNAL_INTERVAL: 128 }`.",
            ),
            maybe(
                "environment_of",
                VARIABLES_OF,
                "Variables of one node's rank, such as `{ vm5: { MPIB_ISLAND_PREFIX_LEN: 16 } }`.",
            ),
            or(
                "cts_queue",
                Literal::Whole(512),
                count(1),
                "The depth of a connection's send queue for clear-to-send, in writes.",
            ),
        ),
        |_,
         _,
         (
            edges,
            message,
            (every, in_flight, dependent),
            pause,
            profile,
            retries,
            timeout_exponent,
            gids,
            agents,
            environment,
            environment_of,
            cts_queue,
        )| {
            Ok(MpibSpec {
                edges,
                message,
                every,
                in_flight,
                dependent,
                pause,
                profile,
                retries,
                timeout_exponent,
                gids: gids.unwrap_or_default(),
                agents,
                environment: environment.unwrap_or_default(),
                environment_of: environment_of.unwrap_or_default(),
                cts_queue,
            })
        },
    )
}

const EDGES: &[&dyn Alternative<EdgesSpec>] = &[
    &alt(
        "ring",
        SEVERAL,
        "Each node sends to the next, the last to the first. One of `ring`, `mesh` and `pairs` is needed.",
        EdgesSpec::Ring,
    ),
    &alt("mesh", SEVERAL, "One edge for each pair.", EdgesSpec::Mesh),
    &alt("pairs", PAIRS, "These edges.", EdgesSpec::Pairs),
];

const RETRIES: Plain<Retries> = plain(
    "`7` or `8`",
    || json!({ "enum": [7, 8] }),
    |context, node| {
        Ok(match context.source.number(node, 7, 8)? {
            7 => Retries::Seven,
            _ => Retries::Eight,
        })
    },
);

/// The variables that the plugin reads, apart from those that name its devices, and the values that its documents define.
/// A prefix beyond 1 to 32 is one of them: the plugin replaces it by 24.
const VARIABLE_NAMES: [(&str, &str, RangeInclusive<i64>); 5] = [
    (
        "MPIB_CTS_SIGNAL_INTERVAL",
        "One in so many clear-to-send writes asks for a completion.",
        1..=1_000_000,
    ),
    (
        "MPIB_ISLAND_PREFIX_LEN",
        "How many bits of their addresses the ends of an island share. Beyond 1 to 32 it is 24, with a warning.",
        i64::MIN..=i64::MAX,
    ),
    (
        "MPIB_MODE",
        "How data is shared between the rails of `g2`: 0 is vanilla, 1 advanced.",
        0..=1,
    ),
    (
        "MPIB_SOUT_QP",
        "Queue pairs of a connection on SOUT.",
        0..=127,
    ),
    (
        "MPIB_SUP_QP",
        "Queue pairs of a connection on SUP.",
        0..=127,
    ),
];

const VARIABLES: Plain<Variables> = plain(
    "a map of variables",
    || {
        let names = VARIABLE_NAMES.map(|(name, text, _)| {
            let mut form = text_form();
            form["description"] = json!(text);
            (name.to_owned(), form)
        });
        json!({ "type": "object", "properties": serde_json::Map::from_iter(names), "additionalProperties": false })
    },
    |context, node| {
        let source = &context.source;
        let fields = source.open_map(node, "environment variables")?;
        let variable = |(key, node): &(Key, Node)| {
            let name = key.name.as_str();
            let Some((_, _, range)) = VARIABLE_NAMES.iter().find(|(known, ..)| *known == name)
            else {
                let names = VARIABLE_NAMES.map(|(name, ..)| name);
                return Err(source.unknown(key.place, "variable", name, names));
            };
            let value = source.text(node, "a value")?;
            if let Ok(number) = value.parse::<i64>()
                && !range.contains(&number)
            {
                return Err(source
                    .wrong(node.place, format!("`{name}` of {number} is out of range"))
                    .hint(format!("allowed: {} to {}", range.start(), range.end())));
            }
            Ok((key.name.clone(), value))
        };
        fields.pairs.iter().map(variable).collect()
    },
);

const VARIABLES_OF: Plain<Vec<(Name, Variables)>> = plain(
    "a map of nodes and maps of variables",
    || json!({ "type": "object", "additionalProperties": VARIABLES.schema() }),
    |context, node| {
        let fields = context.source.open_map(node, "nodes")?;
        let of = |(key, node): &(Key, Node)| {
            let name = (key.name.clone(), key.place);
            Ok((name, VARIABLES.parse(context, node)?))
        };
        fields.pairs.iter().map(of).collect()
    },
);

const INTERVAL: Checked<Plain<SimTime>, SimTime> = Checked(SPAN, |context, node, every| {
    if every >= SimTime::from_ms(1) {
        return Ok(every);
    }
    let wrong = context
        .source
        .wrong(node.place, format!("`every` of {every}"));
    Err(wrong.hint("at most one message a millisecond: write `1ms` or longer"))
});

const GIDS: Plain<Vec<(Name, Gid)>> = plain(
    "a map of nodes and GIDs",
    || json!({ "type": "object", "additionalProperties": string_form() }),
    |context, node| {
        let source = &context.source;
        let fields = source.open_map(node, "nodes")?;
        let of = |(key, node): &(Key, Node)| {
            let text = source.text(node, "a GID")?;
            let gid = text.parse().map_err(|_| {
                source
                    .wrong(node.place, format!("invalid GID `{text}`"))
                    .hint("write it as an IPv6 address, such as `fe80::5` or `::ffff:10.0.1.5`")
            })?;
            Ok(((key.name.clone(), key.place), Gid::new(gid)))
        };
        fields.pairs.iter().map(of).collect()
    },
);

const PAUSE: Checked<Two<Plain<SimTime>>, (SimTime, SimTime)> = Checked(
    Two("a list of two times", "`pause` takes two times", TIME),
    |context, node, (from, to)| {
        if from < to {
            return Ok((from, to));
        }
        Err(context
            .source
            .wrong(node.place, "the pause ends before it begins"))
    },
);

type Ranges = Checked<Many<Placed<Text>>, Vec<Name>>;

/// Names of nodes, or ranges of them.
const NAMES: Ranges = Checked(
    Many("nodes' names", Placed(NODE_NAME)),
    |context, _, ranges| {
        let source = &context.source;
        let mut names: Vec<Name> = Vec::new();
        for (text, place) in ranges {
            for name in range(source, &text, place)? {
                if names.iter().any(|(other, _)| *other == name) {
                    return Err(source.wrong(place, format!("`{name}` is named twice")));
                }
                names.push((name, place));
            }
        }
        Ok(names)
    },
);

const SEVERAL: Checked<Ranges, Vec<Name>> =
    Checked(NAMES, |context, node, names| match names.len() {
        0 | 1 => Err(context
            .source
            .wrong(node.place, "a job of one node sends nothing")),
        _ => Ok(names),
    });

const PAIRS: Plain<Vec<(Name, Name)>> = plain(
    "a list of pairs of nodes",
    || json!({ "type": "array", "items": NAMES.schema() }),
    |context, node| {
        let source = &context.source;
        let pair = |node: &Node| {
            if let YamlValue::List(ends) = &node.value
                && let [one, other] = &ends[..]
                && one.value == other.value
            {
                return Err(source
                    .wrong(node.place, format!("a pair of `{one}` with itself"))
                    .hint("what a rank sends to itself passes no port, so no fault reaches it; the plugin would take the pair for one island"));
            }
            match &NAMES.parse(context, node)?[..] {
                [from, to] => Ok((from.clone(), to.clone())),
                _ => Err(source
                    .wrong(node.place, "a pair is two nodes")
                    .hint("write `pairs: [ [ vm1, vm2 ] ]`: the first sends to the second")),
            }
        };
        let nodes = source.one_or_more(node, "pairs of nodes")?;
        nodes.iter().map(pair).collect()
    },
);

/// `4096`, `64KiB` or `1MiB`.
const SIZE: Plain<Bytes> = plain("a size", text_form, |context, node| {
    const MOST: u64 = 1 << 30;
    let source = &context.source;
    if let YamlValue::Whole(_) = node.value {
        return Ok(Bytes::new(source.number(node, 0, MOST)?));
    }
    let text = source.text(node, "a size such as `1MiB`")?;
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20)];
    let bytes = units.iter().find_map(|(unit, bytes)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*bytes).filter(|bytes| *bytes <= MOST)
    });
    bytes.map(Bytes::new).ok_or_else(|| {
        source
            .wrong(node.place, format!("invalid size `{text}`"))
            .hint("write bytes, or `64KiB`, or `1MiB`; at most 1 GiB")
    })
});
