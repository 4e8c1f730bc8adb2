//! The keys of a workload `lnet`: its nodes, their interfaces and nets, and the traffic.
//!
//! `storage_resolver` finds the nodes and ports; `routing` has the keys for nodes on two nets.

use files::Place;
use lnet::LnetProfile;
use platforms::NicRole;
use serde_json::json;
use simfs::SimTime;

use super::routing::{RoutingSpec, routing_keys};
use super::{NAMES, Name};
use crate::duration;
use crate::keys::{Keys, Literal, need, or, together};
use crate::kind::{Kind, Placed, Plain, Text, Words, count, plain, string_form};
use crate::map::{Alternative, MapOf, WordOr, alt};

/// A workload `lnet` as parsed.
#[derive(Clone, Debug)]
pub(crate) struct LnetSpec {
    pub(super) clients: Vec<Name>,
    pub(super) server: Name,
    pub(super) nis: u32,
    /// Interfaces on `tcp` beside the others, with the place of their key.
    pub(super) tcp: (u32, Place),
    pub(super) role: NicRole,
    pub(super) routing: RoutingSpec,
    pub(super) discovery: DiscoverySpec,
    pub(super) write_interval: SimTime,
    pub(super) profile: LnetProfile,
}

/// The nodes that discover their peers.
#[derive(Clone, Debug)]
pub(super) enum DiscoverySpec {
    /// All.
    On,
    /// None.
    Off,
    /// All but these.
    OffOn(Vec<Name>),
}

pub(super) const LNET: Plain<LnetSpec> = plain(
    "a map",
    || MapOf("a workload `lnet`", lnet_keys()).schema(),
    |context, node| MapOf("a workload `lnet`", lnet_keys()).parse(context, node),
);

/// The keys of a workload `lnet`.
pub(crate) fn lnet_keys() -> impl Keys<Value = LnetSpec> {
    together(
        (
            need(
                "client",
                NAMES,
                "The nodes that write; a range such as `vm1..vm8` is possible.",
            ),
            need(
                "server",
                Placed(Text("a name")),
                "The node that they write to.",
            ),
            or(
                "nis",
                Literal::Whole(1),
                count(1),
                "Number of LNet interfaces of each node, on its first ports of `role`.",
            ),
            or(
                "tcp",
                Literal::Whole(0),
                Placed(count(0)),
                "Number of further interfaces of each node, on the net `tcp`, on the ports of `role` after those of `nis`.",
            ),
            or(
                "role",
                Literal::Text("storage"),
                Words(
                    "role",
                    &[("compute", NicRole::Compute), ("storage", NicRole::Storage)],
                ),
                "The role of the ports.",
            ),
            routing_keys(),
            or(
                "discovery",
                Literal::Text("on"),
                WordOr {
                    takes: "`on`, `off` or `{ off: nodes }`",
                    word: "word after `discovery`",
                    words: DISCOVERY,
                    map: "the nodes that discover",
                    keys: DISCOVERY_OF,
                },
                "Whether the nodes learn all interfaces of their peers; otherwise every NID is a peer of its own.",
            ),
            or(
                "rpc",
                Literal::Text("1MiB per 1s"),
                RPC,
                "How often each client writes 1 MiB.",
            ),
            or(
                "profile",
                Literal::Text("2.17"),
                LNET_PROFILE,
                "The LNet version, or document, whose behaviour is modelled.",
            ),
        ),
        |_, _, (clients, server, nis, tcp, role, routing, discovery, write_interval, profile)| {
            Ok(LnetSpec {
                clients,
                server,
                nis,
                tcp,
                role,
                routing,
                discovery,
                write_interval,
                profile,
            })
        },
    )
}

const DISCOVERY: &[(&str, DiscoverySpec, &str)] = &[
    ("on", DiscoverySpec::On, "all nodes discover"),
    (
        "off",
        DiscoverySpec::Off,
        "none does (`lnetctl set discovery 0`)",
    ),
];

const DISCOVERY_OF: &[&dyn Alternative<DiscoverySpec>] = &[&alt(
    "off",
    NAMES,
    "as `{ off: [ client ] }`: these nodes do not, the others do",
    DiscoverySpec::OffOn,
)];

/// `1MiB per 1s`: the size is fixed, the interval is not.
const RPC: Plain<SimTime> = plain("`1MiB per TIME`", string_form, |context, node| {
    let text = context.source.text(node, "`1MiB per 1s`")?;
    let every = text
        .split_once(" per ")
        .filter(|(size, _)| size.trim() == "1MiB")
        .and_then(|(_, time)| duration::parse(time))
        .filter(|every| *every >= SimTime::from_ms(1));
    every.ok_or_else(|| {
        context
            .source
            .wrong(node.place, format!("invalid rate of RPCs `{text}`"))
            .hint("write `1MiB per 1s`: every write is of 1 MiB, at most one a millisecond")
    })
});

const LNET_PROFILE: Plain<LnetProfile> = plain(
    "`hld`, `2.15` or `2.17`",
    || {
        let names = LnetProfile::ALL.map(LnetProfile::name);
        let texts = names.iter().map(|name| json!(name));
        let numbers = names.iter().filter_map(|name| name.parse::<f64>().ok());
        json!({ "enum": texts.chain(numbers.map(|number| json!(number))).collect::<Vec<_>>() })
    },
    |context, node| {
        let source = &context.source;
        let text = source.text(node, "a profile of LNet")?;
        let mut all = LnetProfile::ALL.into_iter();
        all.find(|profile| profile.name() == text).ok_or_else(|| {
            let names = LnetProfile::ALL.map(LnetProfile::name);
            source.unknown(node.place, "profile", &text, names)
        })
    },
);
