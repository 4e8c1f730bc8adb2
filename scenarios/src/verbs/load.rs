//! Verbs about workloads: LNet's fault rules, and MPIB's agents.
//!
//! Whether a workload of the given name exists is checked when the story is resolved in a world.

use std::collections::BTreeSet;

use lnet::{FaultEffect, FaultRule, MsgStatus, NidPattern, Pace};
use mpib::SupBandwidth;
use platforms::yaml::{Node, Value};
use serde_json::json;

use super::spec::{AgentSpec, VerbSpec};
use crate::context::Context;
use crate::keys::{maybe, need};
use crate::kind::{
    Many, Only, Parsed, Placed, Plain, Text, Words, any_of, count, plain, string_form,
};
use crate::map::{Alternative, OneOf, alt};
use crate::row::{Line, Row, word};
use crate::values::{NODE_NAME, SPAN, positive};

/// Verbs about workloads.
pub(crate) const LOADS: &[&dyn Row<VerbSpec>] = &[
    &word(
        "lnet_fault",
        Text("a workload `lnet`"),
        "Adds a fault rule of LNet on a node (`lnetctl fault`): exactly one of `simulate`, `drop`, `delay`.",
        "{ lnet_fault: storage, node: client, simulate: remote_dropped, one_in: 2 }",
        (
            OneOf(FAULTS),
            maybe(
                "one_in",
                count(1),
                "Applies to one of this many messages; to every message by default.",
            ),
            maybe(
                "every",
                WHOLE_SECONDS,
                "Instead of `one_in`: applies to the first message of each such interval.",
            ),
        ),
        |line, workload, (effect, one_in, every)| {
            let rule = FaultRule {
                source: NidPattern::Any,
                destination: NidPattern::Any,
                kinds: BTreeSet::new(),
                portal: None,
                via: None,
                pace: pace(line, one_in, every)?,
                effect,
            };
            Ok(VerbSpec::LnetFault {
                workload,
                rule: Box::new(rule),
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

const FAULTS: &[&dyn Alternative<FaultEffect>] = &[
    &alt(
        "simulate",
        Many("message statuses", MESSAGE_STATUS),
        "Sent messages end with this status, such as `local_dropped`; of several, a random one.",
        |statuses| FaultEffect::Simulate(statuses.into_iter().collect()),
    ),
    &alt(
        "drop",
        Only {
            value: true,
            otherwise: "`drop: false` is not a fault",
            hint: None,
        },
        "Received messages are lost.",
        |()| FaultEffect::Drop,
    ),
    &alt(
        "delay",
        SPAN,
        "Received messages are delayed by this much.",
        FaultEffect::Delay,
    ),
];

fn statuses() -> impl Iterator<Item = MsgStatus> {
    let all = MsgStatus::ALL.into_iter();
    all.filter(|status| *status != MsgStatus::Ok)
}

const MESSAGE_STATUS: Plain<MsgStatus> = plain(
    "a message status",
    || json!({ "enum": statuses().map(MsgStatus::name).collect::<Vec<_>>() }),
    |context, node| {
        let words: Vec<(&str, MsgStatus)> =
            statuses().map(|status| (status.name(), status)).collect();
        context.source.choice(node, "message status", &words)
    },
);

/// A duration in whole seconds, LNet's unit.
const WHOLE_SECONDS: Plain<u32> = plain("a time in whole seconds", string_form, |context, node| {
    let ns = positive(&context.source, node)?.as_ns();
    if ns % 1_000_000_000 == 0 {
        Ok(u32::try_from(ns / 1_000_000_000).unwrap_or(u32::MAX))
    } else {
        Err(context
            .source
            .wrong(node.place, "LNet counts in whole seconds"))
    }
});

fn pace(line: &Line<'_, '_>, one_in: Option<u32>, every: Option<u32>) -> Parsed<Pace> {
    match (one_in, every) {
        (None, None) => Ok(Pace::Every),
        (Some(number), None) => Ok(Pace::OneIn(number)),
        (None, Some(secs)) => Ok(Pace::EverySecs(secs)),
        (Some(_), Some(_)) => Err(line.source().wrong(
            line.fields.place_of("every"),
            "`one_in` and `every` in one line",
        )),
    }
}

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
