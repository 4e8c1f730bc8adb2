//! Expectations about the world and its workloads: reasons and logs of links, outcomes of
//! workloads.

use fabric::opa::{LinkDownReason, OfflineDisabledReason, Pair};
use files::{Node, Place, YamlValue};
use serde_json::json;
use terms::ReportVerdict;
use workloads::{WorkloadCause, WorkloadOutcome};

use super::qualifier::BETWEEN;
use crate::bound::RANGE;
use crate::context::Context;
use crate::expect::{ExpectationSpec, LnetSpec};
use crate::keys::{maybe, together};
use crate::kind::{
    Checked, Kind, List, Parsed, Plain, Text, Two, Words, any_of, plain, string_form,
};
use crate::map::{Alternative, MapOf, OneOf, OrMap, alt};
use crate::row::{Row, word};
use crate::story::{EndIs, PairIs, WorkloadIs};
use crate::subject::Subjects;
use crate::values::{Of, REASON, Reason, SignedTime, TIME, whole_seconds};

/// Expectations about the world.
pub(crate) const WORLD: &[&dyn Row<ExpectationSpec>] = &[
    &word(
        "link",
        Of("ports"),
        "The reasons that both ends of the link hold for its going down, in one of the window's polls. It checks the world, not the monitor.",
        "{ link: victim, here: [ fm_bounce, none ], there: [ none, fm_bounce ] }",
        (
            maybe(
                "here",
                END,
                "The node's own port: both reasons, each by word or number; `unavailable`: it cannot be queried. A map has more: `{ pair: [ 0, 0 ], offline: power_policy, log: [ [ 39, 0 ] ] }`, with `offline` for the OfflineDisabledReason and `log` for the subnet manager's LinkDownErrorLog, oldest entry first.",
            ),
            maybe("there", END, "The partner's port, likewise."),
        ),
        |line, of, (here, there)| {
            let (here, there) = (here.unwrap_or_default(), there.unwrap_or_default());
            if (&here, &there) == (&EndIs::default(), &EndIs::default()) {
                return Err(line
                    .source()
                    .wrong(line.fields.place, "`link` needs `here` or `there`")
                    .hint("write `here: [ 36, 0 ]`, `there: unavailable`, or both"));
            }
            Ok(ExpectationSpec::Link { of, here, there })
        },
    ),
    &word(
        "lnet",
        Text("a workload `lnet`"),
        "The state of an interface in one of the window's polls, in the view of `node`: its own (`ni`), or a peer's (`peer_ni`). Exactly one of the two is required.",
        "{ lnet: storage, node: client, ni: victim, status: down, fatal_error: 1, health: 1000 }",
        (
            OneOf(INTERFACE),
            maybe(
                "status",
                Words("status", &[("up", true), ("down", false)]),
                "Its status; for `peer_ni`, the status that the peer reports.",
            ),
            maybe(
                "fatal_error",
                FATAL_ERROR,
                "Its fatal flag; with `ni` only.",
            ),
            maybe("health", RANGE, "Its health value."),
            maybe(
                "recovery",
                Words("word", &[("queued", true), ("none", false)]),
                "Whether it is on the node's recovery queue.",
            ),
            maybe(
                "pings",
                RANGE,
                "Recovery pings of it since the last answer.",
            ),
            maybe(
                "next_ping",
                WHOLE_SECOND,
                "It is queued, and its next recovery ping is due at this time, in whole seconds.",
            ),
        ),
        |line, workload, ((peers, of), up, fatal, health, queued, pings, next_ping_s)| {
            if peers && fatal.is_some() {
                return Err(line
                    .source()
                    .wrong(
                        line.fields.place_of("fatal_error"),
                        "the fatal flag of a peer's interface is not known",
                    )
                    .hint("`status` is what the peer reports"));
            }
            let is_of_recovery = queued.is_some() || pings.is_some() || next_ping_s.is_some();
            if up.is_none() && fatal.is_none() && health.is_none() && !is_of_recovery {
                return Err(line
                    .source()
                    .wrong(line.fields.place, "`lnet` needs an expectation")
                    .hint("write `status`, `fatal_error`, `health`, `recovery`, `pings`, `next_ping`, or several of them"));
            }
            Ok(ExpectationSpec::Lnet(LnetSpec {
                workload,
                of,
                peers,
                up,
                fatal,
                health,
                queued,
                pings,
                next_ping_s,
            }))
        },
    ),
    &word(
        "workload",
        Text("a workload"),
        "The state of a workload at the end of the window's last poll. `between` is about the instant of its failure, to the nanosecond.",
        "{ workload: job, outcome: failed, cause: WC 12, between: [ 40s, 50s ] }",
        (
            maybe("outcome", OUTCOME, "Its outcome."),
            maybe(
                "cause",
                CAUSE,
                "The cause of its failure: `WC 12`, `send queue full`, `device gone`, `rank lost`, `hung`, `no connection`, `evicted`, `unanswered`.",
            ),
            maybe("ulp_errors", RANGE, "Errors reported to the layer above."),
            maybe(
                "retries",
                RANGE,
                "`lnet`: retries; `mpib`: messages that had to wait.",
            ),
            maybe(
                "done",
                RANGE,
                "`lnet`: answered writes; `mpib`: delivered messages.",
            ),
        ),
        |line, workload, (outcome, cause, errors, retries, done)| {
            let (source, fields) = (line.source(), &line.fields);
            let failed = fields.maybe("between", |node| BETWEEN.parse(line.context, node))?;
            if (cause.is_some() || failed.is_some()) && outcome != Some(WorkloadOutcome::Failed) {
                return Err(source
                    .wrong(
                        fields.place,
                        "only a failed workload has a cause and an instant of failure",
                    )
                    .hint("write `outcome: failed`"));
            }
            let figures = [&errors, &retries, &done];
            if outcome.is_none() && figures.iter().all(|figure| figure.is_none()) {
                return Err(source
                    .wrong(fields.place, "`workload` expects nothing of it")
                    .hint("write `outcome: survived`, or `ulp_errors: 0`"));
            }
            Ok(ExpectationSpec::Workload(WorkloadIs {
                workload,
                outcome,
                cause,
                failed,
                errors,
                retries,
                done,
            }))
        },
    ),
    &word(
        "verdict",
        Verdicts,
        "Whether the monitor's report was right, given the workload's outcome at the end of the story. The report is the first event with `isFatal`, of the monitor of `node`, or of any monitor.",
        "{ verdict: { job: agreement }, lead: [ 29s, 40s ] }",
        maybe(
            "lead",
            LEAD,
            "Time from the report to the failure, inclusive; `-1s`: one second after the failure.",
        ),
        |line, of, lead| {
            let early = |(.., verdict): &&(_, _, ReportVerdict)| {
                lead.is_some() && *verdict != ReportVerdict::Agreement
            };
            if let Some((.., verdict)) = of.iter().find(early) {
                let what = format!("`lead` with `{}`", verdict.word());
                return Err(line
                    .source()
                    .wrong(line.fields.place_of("lead"), what)
                    .hint("`lead` needs a fatal report and a workload that failed"));
            }
            Ok(ExpectationSpec::Verdict { of, lead })
        },
    ),
];

const END: Plain<EndIs> = plain(
    "`[ LinkDownReason, NeighborLinkDownReason ]`, `unavailable` or a map",
    || end().schema(),
    |context, node| end().parse(context, node),
);

fn end() -> impl Kind<Value = EndIs> {
    OrMap(
        "both reasons, or a map",
        Checked(PAIR_IS, |_, _, pair| {
            Ok(EndIs {
                pair: Some(pair),
                ..EndIs::default()
            })
        }),
        MapOf(
            "an end of a link",
            together(
                (
                    maybe("pair", PAIR_IS, "Both reasons."),
                    maybe("offline", OFFLINE, "Its OfflineDisabledReason."),
                    maybe(
                        "log",
                        List("a list of pairs", PAIR),
                        "Its LinkDownErrorLog, oldest entry first.",
                    ),
                ),
                |_, _, (pair, offline, log)| Ok(EndIs { pair, offline, log }),
            ),
        ),
    )
}

const UNAVAILABLE: Words<PairIs> = Words("end of a link", &[("unavailable", PairIs::Unavailable)]);

const PAIR_IS: Plain<PairIs> = plain(
    "two reasons, or `unavailable`",
    || any_of([UNAVAILABLE.schema(), PAIR.schema()]),
    |context, node| match &node.value {
        YamlValue::List(_) => PAIR.parse(context, node).map(PairIs::Shown),
        _ => UNAVAILABLE.parse(context, node),
    },
);

const PAIR: Checked<Two<Reason>, Pair> = Checked(
    Two(
        "a pair of reasons",
        "a pair is LinkDownReason and NeighborLinkDownReason",
        REASON,
    ),
    |_, _, (local, neighbour)| Ok(Pair { local, neighbour }),
);

/// An OfflineDisabledReason by the LinkDownReason that it corresponds to, or by its number.
const OFFLINE: Plain<OfflineDisabledReason> = plain(
    "a reason",
    || {
        let words = Reason(is_mirrored, "").schema();
        any_of([
            words,
            json!({ "type": "integer", "minimum": 0, "maximum": 15 }),
        ])
    },
    offline,
);

fn is_mirrored(reason: LinkDownReason) -> bool {
    let mirrors =
        reason.holds() || [LinkDownReason::NONE, LinkDownReason::TRANSIENT].contains(&reason);
    mirrors && OfflineDisabledReason::of(reason).is_some()
}

fn offline(context: &Context<'_>, node: &Node) -> Parsed<OfflineDisabledReason> {
    let source = &context.source;
    let wrong = |what: String| {
        source
            .wrong(node.place, what)
            .hint("such as `none`, `power_policy`, or a number up to 15")
    };
    if let YamlValue::Whole(_) = node.value {
        let number = source.number(node, 0, 15)?;
        let code = u8::try_from(number).expect("a number up to 15 fits 8 bits");
        return OfflineDisabledReason::by_code(code)
            .ok_or_else(|| wrong(format!("the OfflineDisabledReason {code} is not used")));
    }
    let mirrored = REASON.parse(context, node)?;
    OfflineDisabledReason::of(mirrored)
        .filter(|_| is_mirrored(mirrored))
        .ok_or_else(|| wrong(format!("no port is offline for `{node}`")))
}

/// Which interface, and whether it belongs to a peer.
pub(crate) const INTERFACE: &[&dyn Alternative<(bool, Subjects)>] = &[
    &alt(
        "ni",
        Of("a port"),
        "The node's own interface on this port; `node` is the port's node by default.",
        |of| (false, of),
    ),
    &alt(
        "peer_ni",
        Of("a port"),
        "The interface of another node on this port.",
        |of| (true, of),
    ),
];

const FATAL_ERROR: Plain<bool> = plain(
    "`0` or `1`",
    || json!({ "enum": [0, 1] }),
    |context, node| Ok(context.source.number(node, 0, 1)? == 1),
);

/// A time in LNet's unit for queues.
const WHOLE_SECOND: Plain<u64> = plain("a time in whole seconds", string_form, |context, node| {
    let time = TIME.parse(context, node)?;
    whole_seconds(&context.source, node, time)
});

const OUTCOME: Plain<WorkloadOutcome> = plain(
    "`survived`, `degraded` or `failed`",
    || json!({ "enum": WorkloadOutcome::ALL.map(|outcome| outcome.word()) }),
    |context, node| {
        let words = WorkloadOutcome::ALL.map(|outcome| (outcome.word(), outcome));
        context.source.choice(node, "outcome", &words)
    },
);

const CAUSE: Plain<WorkloadCause> = plain(
    "such as `WC 12` or `evicted`",
    || json!({ "enum": WorkloadCause::ALL.map(|cause| cause.word()) }),
    |context, node| {
        let words = WorkloadCause::ALL.map(|cause| (cause.word(), cause));
        context.source.choice(node, "cause", &words)
    },
);

/// Workloads and verdicts.
struct Verdicts;

impl Kind for Verdicts {
    type Value = Vec<(String, Place, ReportVerdict)>;

    fn takes(&self) -> Option<String> {
        Some("a map of workloads and verdicts".to_owned())
    }

    fn choices(&self) -> crate::kind::Meanings {
        vec![
            (
                ReportVerdict::Agreement.word(),
                "fatal and failed, or silent and not failed",
            ),
            (
                ReportVerdict::OverReport.word(),
                "fatal, and it did not fail",
            ),
            (ReportVerdict::UnderReport.word(), "silent, and it failed"),
        ]
    }

    fn schema(&self) -> serde_json::Value {
        let words = ReportVerdict::ALL.map(|verdict| verdict.word());
        json!({ "type": "object", "additionalProperties": { "enum": words } })
    }

    fn parse(&self, context: &Context<'_>, node: &Node) -> Parsed<Self::Value> {
        let source = &context.source;
        let words = ReportVerdict::ALL.map(|verdict| (verdict.word(), verdict));
        let fields = source.open_map(node, "workloads and verdicts")?;
        let mut of = Vec::new();
        for (key, node) in fields.pairs {
            let verdict = source.choice(node, "verdict", &words)?;
            of.push((key.name.clone(), key.place, verdict));
        }
        if of.is_empty() {
            return Err(source.wrong(node.place, "an empty `verdict`"));
        }
        Ok(of)
    }
}

/// Two times with signs, in nanoseconds.
const LEAD: Checked<Two<SignedTime>, (i64, i64)> = Checked(
    Two(
        "a list of two times",
        "`lead` takes two times",
        SignedTime("write `29s`, or `-1s` for after the failure"),
    ),
    |context, node, (from, to)| {
        if from <= to {
            return Ok((from, to));
        }
        Err(context
            .source
            .wrong(node.place, "the second time is before the first"))
    },
);
