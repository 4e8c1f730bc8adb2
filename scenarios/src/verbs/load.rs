//! Verbs about workloads: LNet's fault rules, and MPIB's agents.
//!
//! Whether a workload of the given name exists is checked when the story is resolved in a world.

use lnet::Param;
use mpib::SupBandwidth;
use platforms::yaml::{Node, Value};
use serde_json::json;

use super::fault_rule::{fault_keys, fault_rule};
use super::spec::{AgentSpec, VerbSpec};
use crate::context::Context;
use crate::expectations::INTERFACE;
use crate::keys::{maybe, need};
use crate::kind::{Parsed, Placed, Plain, Text, Words, any_of, count, number, plain};
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
    if let Value::Text(_) = node.value {
        return context
            .source
            .choice(node, "share", &[("all", SupBandwidth::MAX)]);
    }
    let number = context.source.number(node, 0, u64::from(u32::MAX))?;
    let number = u32::try_from(number).expect("it was just bounded");
    Ok(SupBandwidth::new(number))
}
