//! Verbs about workloads: LNet's fault rules and requests by hand, and MPIB's agents.
//!
//! Whether a workload of the given name exists is checked when the story is resolved in a world.

use files::{Node, Place, YamlValue};
use lnet::{Nid, Param, Verb, WRITE_BYTES};
use mpib::SupBandwidth;
use serde_json::json;

use super::fault_rule::{NID, fault_keys, fault_rule};
use super::spec::{AgentSpec, SendSpec, VerbSpec};
use crate::context::Context;
use crate::expectations::INTERFACE;
use crate::keys::{Keys, Literal, maybe, need, or};
use crate::kind::{Only, Parsed, Placed, Plain, Text, Words, any_of, count, number, plain};
use crate::map::{Alternative, AtMostOne, OneOf, alt};
use crate::row::{Row, word};
use crate::story::NiChange;
use crate::values::NODE_NAME;

/// Verbs about workloads.
pub(crate) const LOADS: &[&dyn Row<VerbSpec>] = &[
    &word(
        "lnet_fault",
        Text("a workload `lnet`"),
        "Adds a fault rule of LNet on a node (`lnetctl fault`): exactly one of `simulate`, `drop`, `delay`, for the messages that all its selectors fit.",
        "{ lnet_fault: storage, node: client, simulate: remote_dropped, one_in: 2 }",
        fault_keys(),
        |line, workload, keys| {
            let (rule, places) = fault_rule(line, keys)?;
            Ok(VerbSpec::LnetFault {
                workload,
                rule: Box::new(rule),
                places,
            })
        },
    ),
    &word(
        "no_lnet_fault",
        Text("a workload `lnet`"),
        "Removes such fault rules from a node.",
        "{ no_lnet_fault: storage, node: client }",
        (),
        |_, workload, ()| Ok(VerbSpec::NoLnetFault { workload }),
    ),
    &word(
        "lnet_set",
        Text("a workload `lnet`"),
        "Sets a parameter of a node's LNet (`lnetctl set`, or a module's option), within its limits.",
        "{ lnet_set: storage, node: client, param: retry_count, to: 0 }",
        (
            need("param", PARAM, "The parameter."),
            need(
                "to",
                Placed(number::<u32>(0, i32::MAX as u64)),
                "Its new value; times are in seconds.",
            ),
        ),
        |line, workload, (param, (value, place))| {
            let (least, most) = param.range();
            let value = i64::from(value);
            if !(least..=most).contains(&value) {
                let what = format!("`{param}` cannot be {value}");
                return Err(line
                    .source()
                    .wrong(place, what)
                    .hint(format!("{least} to {most}")));
            }
            Ok(VerbSpec::LnetSet {
                workload,
                param,
                value,
            })
        },
    ),
    &word(
        "lnet_ni",
        Text("a workload `lnet`"),
        "Changes an interface by hand, in the view of `node`: its own (`ni`: `lnetctl net set`), or a peer's (`peer_ni`: `lnetctl peer set`). Exactly one of the two is required.",
        "{ lnet_ni: storage, node: client, ni: victim, health: 500 }",
        (OneOf(INTERFACE), AtMostOne(NI_CHANGES)),
        |line, workload, (of, change)| {
            let Some(change) = change else {
                let wrong = line
                    .source()
                    .wrong(line.fields.place, "`lnet_ni` changes nothing");
                return Err(wrong.hint("write `health: 500`, or `priority: 1`"));
            };
            Ok(VerbSpec::LnetNi {
                workload,
                of,
                change,
            })
        },
    ),
    &word(
        "lnet_put",
        Text("a workload `lnet`"),
        "Sends a single PUT from a node (`LNetPut`); `nicdrill lnet show --trace` lists it.",
        "{ lnet_put: storage, node: client, to: 10.1.2.1@o2ib, ack: true }",
        (
            send_keys(),
            maybe(
                "ack",
                Only {
                    value: true,
                    otherwise: "`ack: false` says nothing",
                    hint: Some("leave it out: without it no ACK is asked for"),
                },
                "Asks the receiver for an ACK (`LNET_ACK_REQ`), and waits for it.",
            ),
        ),
        |_, workload, (keys, ack)| {
            let verb = if ack.is_some() {
                Verb::PutAck
            } else {
                Verb::Put
            };
            let send = sending(verb, keys);
            Ok(VerbSpec::LnetSend { workload, send })
        },
    ),
    &word(
        "lnet_get",
        Text("a workload `lnet`"),
        "Sends a single GET from a node (`LNetGet`); to the portal 0 it is `lnetctl ping`.",
        "{ lnet_get: storage, node: client, to: 10.1.2.1@o2ib }",
        send_keys(),
        |_, workload, keys| {
            let send = sending(Verb::Get, keys);
            Ok(VerbSpec::LnetSend { workload, send })
        },
    ),
    &word(
        "hint",
        Text("a workload `mpib`"),
        "The agent of a node writes a hint for the pair of this node and another.",
        "{ hint: job, node: vm1, pair: vm2, share: 0 }",
        (
            need("pair", Placed(NODE_NAME), "The other node."),
            need("share", SHARE, "The written share (`sup_bw`)."),
        ),
        |_, workload, (pair, share)| {
            let agent = AgentSpec::Hint { pair, share };
            Ok(VerbSpec::Agent { workload, agent })
        },
    ),
    &word(
        "agent",
        Text("a workload `mpib`"),
        "The agent of a node dies.",
        "{ agent: job, node: vm1, to: die }",
        (
            need(
                "to",
                Words("word", &[("die", false), ("die_writing", true)]),
                "`die_writing`: while it writes a hint for a pair, whose sequence stays odd.",
            ),
            maybe(
                "pair",
                Placed(NODE_NAME),
                "With `die_writing`: the other node of the pair.",
            ),
        ),
        |line, workload, (writing, pair)| {
            let agent = if writing {
                AgentSpec::DiesWhileWriting {
                    pair: line.needs("pair", pair)?,
                }
            } else {
                AgentSpec::Dies
            };
            Ok(VerbSpec::Agent { workload, agent })
        },
    ),
];

type Send = ((Nid, Place), Option<(Nid, Place)>, u64, u32);

/// The keys of a single request.
const fn send_keys() -> impl Keys<Value = Send> {
    (
        need("to", Placed(NID), "The NID that it is sent to."),
        maybe(
            "from",
            Placed(NID),
            "The NID of the node to send it by; selection chooses one by default.",
        ),
        or(
            "bytes",
            Literal::Whole(0),
            number(0, WRITE_BYTES),
            "The number of bytes that it carries or asks for, up to 1 MiB.",
        ),
        or(
            "portal",
            Literal::Whole(0),
            count(0),
            "The portal; 0 is LNet's own.",
        ),
    )
}

fn sending(verb: Verb, (to, from, length, portal): Send) -> SendSpec {
    SendSpec {
        verb,
        to,
        from,
        length,
        portal,
    }
}

const PARAM: Plain<Param> = plain(
    "a parameter of LNet",
    || json!({ "enum": Param::ALL.map(Param::name) }),
    |context, node| {
        let words = Param::ALL.map(|param| (param.name(), param));
        context.source.choice(node, "parameter of LNet", &words)
    },
);

const NI_CHANGES: &[&dyn Alternative<NiChange>] = &[
    &alt(
        "health",
        number(0, 1000),
        "Its health value.",
        NiChange::Health,
    ),
    &alt(
        "priority",
        count(0),
        "Its priority; a lower one is preferred.",
        NiChange::Priority,
    ),
];

const SHARE: Plain<SupBandwidth> = plain(
    "a number or `all`",
    || {
        any_of([
            json!({ "const": "all" }),
            json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        ])
    },
    share,
);

fn share(context: &Context<'_>, node: &Node) -> Parsed<SupBandwidth> {
    if let YamlValue::Text(_) = node.value {
        return context
            .source
            .choice(node, "share", &[("all", SupBandwidth::MAX)]);
    }
    let number = context.source.number(node, 0, u64::from(u32::MAX))?;
    let number = u32::try_from(number).expect("it was just bounded");
    Ok(SupBandwidth::new(number))
}
