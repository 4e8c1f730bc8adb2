//! Verbs about workloads: LNet's fault rules, and MPIB's agents.
//!
//! Whether a workload of the given name exists is checked when the story is resolved in a world.

use mpib::SupBandwidth;
use platforms::yaml::{Node, Value};
use serde_json::json;

use super::fault_rule::{fault_keys, fault_rule};
use super::spec::{AgentSpec, VerbSpec};
use crate::context::Context;
use crate::keys::{maybe, need};
use crate::kind::{Parsed, Placed, Plain, Text, Words, any_of, plain};
use crate::row::{Row, word};
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
