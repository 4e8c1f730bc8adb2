//! Expectations about the monitor: its exit, log, polls, calls, state file and metrics.

use std::collections::BTreeMap;

use files::{Key, Node, YamlValue};
use serde_json::json;

use super::qualifier::READS;
use crate::bound::{BOUND, bound_form};
use crate::context::Context;
use crate::expect::ExpectationSpec;
use crate::keys::{maybe, need, together};
use crate::kind::{
    Checked, Choices, Kind, NoValue, Parsed, Plain, Text, any_of, count, number, plain,
};
use crate::map::{MapOf, OrMap};
use crate::message::{self, Part};
use crate::row::{Row, word};
use crate::story::{MetricIs, StateFileIs, Times, What};
use crate::values::FileOf;

/// Expectations about the monitor.
pub(crate) const MONITOR: &[&dyn Row<ExpectationSpec>] = &[
    &word(
        "exit",
        number(0, 255),
        "The monitor exits with this code.",
        "{ exit: 0, within: 1s }",
        (),
        |_, code: u8, ()| Ok(ExpectationSpec::Stated(What::Exit { code: code.into() })),
    ),
    &word(
        "log",
        LOG_TEXT,
        "A line of the monitor's log contains this text; `…` matches any text.",
        "{ log: \"state file …: fresh start\" }",
        (),
        |_, contains, ()| Ok(ExpectationSpec::Stated(What::Log { contains })),
    ),
    &word(
        "no_log",
        Text("a text"),
        "No line of the monitor's log contains this text.",
        "{ no_log: \"panicked\" }",
        (),
        |_, contains, ()| Ok(ExpectationSpec::Stated(What::NoLog { contains })),
    ),
    &word(
        "polls",
        count(0),
        "The number of polls that happen.",
        "{ polls: 0, from: 20s, to: 110s }",
        (),
        |_, polls, ()| Ok(ExpectationSpec::Stated(What::Polls(polls))),
    ),
    &word(
        "calls",
        count(0),
        "The number of calls that are received.",
        "{ calls: 1 }",
        (),
        |_, count, ()| Ok(ExpectationSpec::Stated(What::Calls { count })),
    ),
    &word(
        "reads",
        FileOf("a file"),
        "How often the file is read or the folder listed: `times`.",
        "{ reads: victim/state, times: 1 }",
        maybe("times", READS, "How often; once by default."),
        |_, file, times| {
            Ok(ExpectationSpec::Reads {
                file,
                times: times.unwrap_or(Times::ONCE),
            })
        },
    ),
    &word(
        "state_file",
        OrMap(
            "a word or `{ member, equals }`",
            Choices("word after `state_file`", STATE_FILE),
            MapOf(
                "what the state file holds",
                together(
                    (
                        need(
                            "member",
                            Text("a path such as `a.b`"),
                            "`{ member: a.b, equals: \"1\" }`: the JSON member at this path equals this JSON text",
                        ),
                        need(
                            "equals",
                            JSON_TEXT,
                            "`{ …, equals: \"1\" }`: what the member is, as JSON",
                        ),
                    ),
                    |_, _, (member, equals)| Ok(StateFileIs::Holds { member, equals }),
                ),
            ),
        ),
        "The state file at the end of the window.",
        "{ state_file: { member: version, equals: \"2\" } }",
        (),
        |_, is, ()| Ok(ExpectationSpec::Stated(What::StateFile(is))),
    ),
    &word(
        "metric",
        METRIC,
        "The sum of the metric's values with these labels, in the monitor's `/metrics` after the window's last poll.",
        "{ metric: nic_health_monitor_health_events_sent_total, labels: { is_fatal: \"true\" }, is: 1 }",
        (
            maybe(
                "labels",
                LABELS,
                "Only values with these labels; in a text, `{victim.device}` is the handle's device name at rest.",
            ),
            need(
                "is",
                METRIC_IS,
                "The expected sum; `absent`: no value has these labels.",
            ),
        ),
        |_, name, (labels, is)| {
            Ok(ExpectationSpec::Metric {
                name,
                labels: labels.unwrap_or_default(),
                is,
            })
        },
    ),
    &word(
        "healthz",
        number(100, 599),
        "The HTTP status of the monitor's `/healthz` at the end of the window's last tick, with or without a poll. It is queried again until it matches, for some seconds of real time. Needs `arms: [ process ]`.",
        "{ healthz: 503 }",
        (),
        |_, status, ()| Ok(ExpectationSpec::Stated(What::Healthz { status })),
    ),
    &word(
        "stuck_in_kernel",
        NoValue("stuck_in_kernel"),
        "The monitor cannot be killed at the end.",
        "stuck_in_kernel",
        (),
        |_, (), ()| Ok(ExpectationSpec::Stated(What::StuckInKernel)),
    ),
];

const STATE_FILE: &[(&str, StateFileIs, &str)] = &[
    (
        "unchanged",
        StateFileIs::Unchanged,
        "the same bytes as before",
    ),
    ("absent", StateFileIs::Absent, "not there"),
    ("valid", StateFileIs::Valid, "there, and JSON"),
];

/// A text that not every line has: `…` alone matches all.
const LOG_TEXT: Checked<Text, String> = Checked(Text("a text"), |context, node, text| {
    if text.chars().all(|c| c == '…' || c.is_whitespace()) {
        return Err(context
            .source
            .wrong(node.place, "every line contains this")
            .hint("write a part of the line that is meant"));
    }
    Ok(text)
});

const JSON_TEXT: Plain<String> = plain(
    "a JSON text",
    || json!({ "type": ["string", "number", "boolean"] }),
    |context, node| match node.value {
        YamlValue::Truth(truth) => Ok(truth.to_string()),
        _ => context.source.text(node, "a JSON text"),
    },
);

const METRIC: Checked<Text, String> = Checked(Text("a metric's name"), |context, node, name| {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if !name.chars().all(is_plain) {
        return Err(context
            .source
            .wrong(node.place, format!("invalid metric name `{name}`"))
            .hint("write labels beside it: `labels: { check: InfiniBandStateCheck }`"));
    }
    Ok(name)
});

const LABELS: Plain<BTreeMap<String, String>> = plain(
    "a map of names and texts",
    || {
        let text = json!({ "type": ["string", "number", "boolean"] });
        json!({ "type": "object", "additionalProperties": text })
    },
    labels,
);

fn labels(context: &Context<'_>, node: &Node) -> Parsed<BTreeMap<String, String>> {
    let fields = context.source.open_map(node, "labels")?;
    let label = |(key, node): &(Key, Node)| {
        let text = match &node.value {
            YamlValue::Truth(truth) => truth.to_string(),
            _ => context.source.any_text(node, "a label's text")?,
        };
        filled_by_handles(context, node, &text)?;
        Ok((key.name.clone(), text))
    };
    fields.pairs.iter().map(label).collect()
}

/// Rejects placeholders of the subject, which a label does not have.
fn filled_by_handles(context: &Context<'_>, node: &Node, text: &str) -> Parsed<()> {
    message::check(context, node.place, text)?;
    for part in message::parts(text) {
        if let Part::Own(field) = part {
            return Err(context
                .source
                .wrong(node.place, format!("`{{{field}}}` is nobody's here"))
                .hint(format!("write `{{victim.{field}}}`")));
        }
    }
    Ok(())
}

const METRIC_IS: Plain<MetricIs> = plain(
    "a number such as `1` or `\">= 1\"`, or `absent`",
    || any_of([json!({ "const": "absent" }), bound_form()]),
    |context, node| {
        if matches!(&node.value, YamlValue::Text(word) if word == "absent") {
            return Ok(MetricIs::Absent);
        }
        let within = BOUND.parse(context, node)?;
        Ok(MetricIs::Within {
            least: within.least,
            most: within.most,
        })
    },
);
