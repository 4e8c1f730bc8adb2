//! Expectations about the counters of workloads: LNet's, and those of a job over MPIB.

use lnet::{NiStats, Statistics, UlpEvent, UlpResult};
use mpib::Counter;
use serde_json::json;

use super::world_facts::INTERFACE;
use crate::bound::RANGE;
use crate::expect::{CountOfSpec, CountSpec, ExpectationSpec};
use crate::keys::{maybe, need};
use crate::kind::{Placed, Plain, Text, Words, plain};
use crate::map::AtMostOne;
use crate::row::{Row, word};
use crate::values::NODE_NAME;

/// Expectations about counters.
pub(crate) const COUNTERS: &[&dyn Row<ExpectationSpec>] = &[
    &word(
        "lnet_stat",
        Text("a workload `lnet`"),
        "A counter of LNet in one of the window's polls: of `lnetctl stats show` on `node`, or of an interface in the view of `node`.",
        "{ lnet_stat: storage, node: client, counter: resend_count, is: \">= 1\" }",
        (
            need(
                "counter",
                Placed(LNET_COUNTER),
                "The counter, such as `resend_count` or `response_timeout_count`; of an interface such as `sent_put` or `network_timeout`.",
            ),
            need("is", RANGE, "Its value."),
            AtMostOne(INTERFACE),
        ),
        |line, workload, ((counter, place), is, interface)| {
            let (known, whose): (Vec<String>, _) = match interface {
                Some(_) => (ni_counters().collect(), "counter of an LNet interface"),
                None => (node_counters().collect(), "counter of LNet"),
            };
            if !known.contains(&counter) {
                let known = known.iter().map(String::as_str);
                return Err(line.source().unknown(place, whose, &counter, known));
            }
            let of = CountOfSpec::Lnet { counter, interface };
            Ok(ExpectationSpec::Count(CountSpec { workload, of, is }))
        },
    ),
    &word(
        "lnet_ulp",
        Text("a workload `lnet`"),
        "How often LNet had told the layer above on `node` of an event with this status, up to one of the window's polls: requests of the workload, and of `lnet_put` and `lnet_get`.",
        "{ lnet_ulp: storage, node: server, event: UNLINK, status: timed_out, is: \">= 1\" }",
        (
            need(
                "event",
                ULP_EVENT,
                "The event (`LNET_EVENT_…`): `SEND` that the request was sent or failed to be, `ACK` and `REPLY` that it was answered, `UNLINK` that nothing follows.",
            ),
            need(
                "status",
                ULP_STATUS,
                "Its status: `ok`, `timed_out` for want of an answer, `unloaded` with LNet itself, or the status of the last try, such as `remote_dropped`.",
            ),
            need("is", RANGE, "How often."),
        ),
        |_, workload, (event, status, is)| {
            let of = CountOfSpec::LnetUlp(event, status);
            Ok(ExpectationSpec::Count(CountSpec { workload, of, is }))
        },
    ),
    &word(
        "lnet_route",
        Text("a workload `lnet`"),
        "The state of a route of `node` in one of the window's polls, as `lnetctl route show -v` prints it.",
        "{ lnet_route: storage, node: client, gateway: router-1, state: down }",
        (
            need("gateway", Placed(NODE_NAME), "The router."),
            need(
                "state",
                Words("state of a route", &[("up", 1), ("down", 0)]),
                "Its state.",
            ),
        ),
        |_, workload, ((gateway, place), up): (_, u64)| {
            let (of, is) = (CountOfSpec::LnetRoute(gateway, place), up..=up);
            Ok(ExpectationSpec::Count(CountSpec { workload, of, is }))
        },
    ),
    &word(
        "mpib_stat",
        Text("a workload `mpib`"),
        "A counter of a job's rank on `node` in one of the window's polls: messages by mask, bytes by rail, tries and completions of lost writes.",
        "{ mpib_stat: job, node: vm1, counter: sout_retries, is: 7 }",
        (
            need(
                "counter",
                MPIB_COUNTER,
                "The counter, such as `messages_sup` or `sout_retry_exceeded` (status 12, `IBV_WC_RETRY_EXC_ERR`).",
            ),
            need("is", RANGE, "Its value."),
            maybe(
                "pair",
                Placed(NODE_NAME),
                "Only what concerns the connections with this node.",
            ),
        ),
        |line, workload, (counter, is, pair)| {
            if pair.is_some() && !counter.is_of_an_edge() {
                let what = format!("`{counter}` is of a node, not of a pair");
                return Err(line
                    .source()
                    .wrong(line.fields.place_of("pair"), what)
                    .hint("leave `pair` out"));
            }
            let of = CountOfSpec::Mpib { counter, pair };
            Ok(ExpectationSpec::Count(CountSpec { workload, of, is }))
        },
    ),
    &word(
        "mpib_log",
        Text("a workload `mpib`"),
        "How many lines of the plugin's log on `node` contain a text, up to one of the window's polls; `nicdrill mpib show --timeline` prints them.",
        "{ mpib_log: job, node: vm1, contains: \"SUP (intra-island)\", is: 1 }",
        (
            need("contains", Text("a part of a line"), "The text."),
            need("is", RANGE, "The number of lines."),
        ),
        |_, workload, (contains, is)| {
            let of = CountOfSpec::MpibLog(contains);
            Ok(ExpectationSpec::Count(CountSpec { workload, of, is }))
        },
    ),
];

fn node_counters() -> impl Iterator<Item = String> {
    let rows = Statistics::default().rows().into_iter();
    rows.map(|row| row.0.to_owned())
}

fn ni_counters() -> impl Iterator<Item = String> {
    NiStats::default().rows().into_iter().map(|row| row.0)
}

/// Of a node or of an interface; which of them is decided by the whole line.
const LNET_COUNTER: Plain<String> = plain(
    "a counter of LNet",
    || {
        let of_nis = ni_counters().filter(|name| !node_counters().any(|other| other == *name));
        json!({ "enum": node_counters().chain(of_nis).collect::<Vec<_>>() })
    },
    |context, node| context.source.text(node, "a counter of LNet"),
);

const ULP_EVENT: Plain<UlpEvent> = plain(
    "an event",
    || json!({ "enum": UlpEvent::ALL.map(UlpEvent::name) }),
    |context, node| {
        let words = UlpEvent::ALL.map(|event| (event.name(), event));
        context.source.choice(node, "event of LNet", &words)
    },
);

const ULP_STATUS: Plain<UlpResult> = plain(
    "a status",
    || json!({ "enum": UlpResult::all().map(UlpResult::name).collect::<Vec<_>>() }),
    |context, node| {
        let words: Vec<(&str, UlpResult)> = UlpResult::all().map(|it| (it.name(), it)).collect();
        context.source.choice(node, "status of an event", &words)
    },
);

const MPIB_COUNTER: Plain<Counter> = plain(
    "a counter of MPIB",
    || json!({ "enum": Counter::ALL.map(Counter::name) }),
    |context, node| {
        let words = Counter::ALL.map(|counter| (counter.name(), counter));
        context.source.choice(node, "counter of MPIB", &words)
    },
);
