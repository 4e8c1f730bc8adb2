//! Qualifiers of an expectation: where, in which polls, how often, with which message.

use std::collections::BTreeMap;

use files::{Node, Place, YamlValue};
use platforms::LinkLayer;
use serde_json::{Value as Json, json};
use simfs::SimTime;

use crate::context::Context;
use crate::duration;
use crate::expect::{Distinct, Tally, WindowSpec};
use crate::keys::{Keys, maybe, together};
use crate::kind::{
    Checked, Kind, List, Parsed, Placed, Plain, Text, Two, Words, any_of, count, plain, string_form,
};
use crate::map::MapOf;
use crate::message;
use crate::reader::Fields;
use crate::story::Times;
use crate::subject::NodeNames;
use crate::values::{LAYER, NODES, POLLS_MAX, TIME, counted};

/// The keys that every expectation accepts: nodes, layer, and polls.
pub(crate) fn qualifiers() -> impl Keys<Value = Qualifiers> {
    together(
        (
            maybe(
                "node",
                NODES,
                "The nodes; by default every node with a monitor.",
            ),
            maybe(
                "only",
                LAYER,
                "Restricts the line to ports of this link layer; without such a port nothing is expected.",
            ),
            maybe(
                "within",
                WITHIN,
                "In the step's own poll or one of the next N; `1 poll` by default. Only polls that happen are counted.",
            ),
            maybe("from", TIME, "With `to`: in the polls from this time on …"),
            maybe("to", TIME, "… and before this time."),
            maybe(
                "between",
                BETWEEN,
                "In the polls between these times, inclusive.",
            ),
            maybe("exactly_at", TIME, "In the poll at this time."),
        ),
        |context, fields, (nodes, only, within, from, to, between, at)| {
            Ok(Qualifiers {
                nodes: nodes.unwrap_or_default(),
                only,
                window: window(context, fields, (within, from.zip(to), between, at))?,
            })
        },
    )
}

/// The parsed qualifiers of an expectation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Qualifiers {
    pub(crate) nodes: NodeNames,
    pub(crate) only: Option<LinkLayer>,
    pub(crate) window: Option<WindowSpec>,
}

type Span = (SimTime, SimTime);

/// The window; an error if it is stated in two ways.
fn window(
    context: &Context<'_>,
    fields: &Fields<'_>,
    (within, from_to, between, at): (
        Option<WindowSpec>,
        Option<Span>,
        Option<Span>,
        Option<SimTime>,
    ),
) -> Parsed<Option<WindowSpec>> {
    let source = &context.source;
    let spec: Vec<&str> = [
        "within",
        "from",
        "between",
        "exactly_at",
        "this_poll",
        "next_poll",
    ]
    .into_iter()
    .filter(|name| fields.get(name).is_some())
    .collect();
    if let (Some(_), None) = (fields.get("to"), fields.get("from")) {
        return Err(source.wrong(fields.place_of("to"), "`to` without `from`"));
    }
    if let [first, second, ..] = spec[..] {
        return Err(source.wrong(
            fields.place_of(second),
            format!("`{first}` and `{second}` in one line"),
        ));
    }
    Ok(match spec.first().copied() {
        Some("this_poll") => Some(WindowSpec::ThisPoll),
        Some("next_poll") => Some(WindowSpec::NextPoll),
        Some("from") => {
            let (from, to) = from_to.ok_or_else(|| fields.missing(source, "to"))?;
            if to <= from {
                return Err(source.wrong(fields.place_of("to"), "`to` is not after `from`"));
            }
            Some(WindowSpec::FromTo(from, to))
        }
        _ => within
            .or(between.map(|(from, to)| WindowSpec::Between(from, to)))
            .or(at.map(WindowSpec::ExactlyAt)),
    })
}

const WITHIN: Plain<WindowSpec> = plain("`N polls` or a time", string_form, |context, node| {
    let text = context.source.text(node, "`N polls` or a time")?;
    if let Some(polls) = counted(&text, &["poll", "polls"]) {
        return Ok(WindowSpec::Polls(polls));
    }
    duration::parse(&text).map(WindowSpec::Span).ok_or_else(|| {
        context
            .source
            .wrong(
                node.place,
                format!("invalid number of polls or duration `{text}`"),
            )
            .hint(format!(
                "write `2 polls`, at most {POLLS_MAX}, or a time such as `5s`"
            ))
    })
});

/// Two times, the second not before the first.
pub(crate) const BETWEEN: Checked<Two<Plain<SimTime>>, Span> = Checked(
    Two("a list of two times", "`between` takes two times", TIME),
    |context, node, (from, to)| {
        if to < from {
            return Err(context
                .source
                .wrong(node.place, "the second time is before the first"));
        }
        Ok((from, to))
    },
);

/// Constraints on the number of subjects.
pub(crate) fn tally() -> impl Keys<Value = Tally> {
    together(
        (
            maybe(
                "count",
                Placed(count(1)),
                "The number of subjects that the line must have.",
            ),
            maybe(
                "distinct",
                Words(
                    "word",
                    &[
                        ("node", Distinct::Node),
                        ("card", Distinct::Card),
                        ("device", Distinct::Device),
                    ],
                ),
                "What no two subjects may share.",
            ),
        ),
        |_, _, (count, distinct)| Ok(Tally { count, distinct }),
    )
}

/// The keys that an expected event accepts in addition.
pub(crate) fn of_event() -> impl Keys<Value = OfEvent> {
    together(
        (
            maybe(
                "times",
                TIMES,
                "How often for each subject; once by default, at least once with `said`.",
            ),
            maybe(
                "repeats",
                Words("word", &[("allowed", ())]),
                "More events than `times` are allowed.",
            ),
            maybe(
                "message",
                MESSAGES,
                "The message. `…` matches any text; `{device}`, `{port}`, `{card}`, `{role}`, `{netdev}` are the subject's, `{victim.device}` is a handle's.",
            ),
            maybe(
                "check",
                Text("a name"),
                "The check; by default the one of the subject's link layer.",
            ),
            maybe(
                "codes",
                List("a list of texts", Text("a list of error codes")),
                "The error codes.",
            ),
            maybe(
                "counter",
                Placed(Text("a name")),
                "The counter that the event is about: emitted by the layer's counter check, with this name as its only error code.",
            ),
            maybe(
                "stamped",
                STAMPED,
                "The event's timestamp, as time of the story.",
            ),
            tally(),
        ),
        |context, fields, (times, repeats, message, check, codes, counter, stamped, tally)| {
            if counter.is_some() && codes.is_some() {
                return Err(context
                    .source
                    .wrong(
                        fields.place_of("codes"),
                        "`counter` and `codes` in one line",
                    )
                    .hint("`counter` implies the code"));
            }
            let times = match repeats {
                Some(()) => Some(Times {
                    at_least: times.unwrap_or(Times::ONCE).at_least,
                    at_most: u32::MAX,
                }),
                None => times,
            };
            let (stamped_from, stamped_to) = stamped.unwrap_or_default();
            Ok(OfEvent {
                times,
                message: message.unwrap_or_default(),
                check,
                codes,
                counter,
                stamped_from,
                stamped_to,
                tally,
            })
        },
    )
}

/// The parsed keys of an expected event.
#[derive(Clone, Debug)]
pub(crate) struct OfEvent {
    pub(crate) times: Option<Times>,
    pub(crate) message: BTreeMap<LinkLayer, (String, Place)>,
    pub(crate) check: Option<String>,
    pub(crate) codes: Option<Vec<String>>,
    pub(crate) counter: Option<(String, Place)>,
    pub(crate) stamped_from: Option<SimTime>,
    pub(crate) stamped_to: Option<SimTime>,
    pub(crate) tally: Tally,
}

/// How often.
pub(crate) const TIMES: Plain<Times> = times_of(|context, node| times(context, node, 1));

/// How often a file is read: as [`TIMES`], and `at most 0`, which is never.
pub(crate) const READS: Plain<Times> = times_of(|context, node| times(context, node, 0));

const fn times_of(parse: fn(&Context<'_>, &Node) -> Parsed<Times>) -> Plain<Times> {
    plain(
        "N, `at least N`, `at most N` or `[a, b]`",
        || {
            any_of([
                json!({ "type": "integer", "minimum": 1 }),
                string_form(),
                json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 }),
            ])
        },
        parse,
    )
}

/// The number of times; an upper bound below `least_bound` is impossible.
fn times(context: &Context<'_>, node: &Node, least_bound: u32) -> Parsed<Times> {
    const HINT: &str = "write `2`, `at least 2`, `at most 2` or `[ 1, 2 ]`";
    let source = &context.source;
    let wrong = || {
        source
            .wrong(node.place, format!("invalid number of times `{node}`"))
            .hint(HINT)
    };
    let between = |at_least, at_most| Times { at_least, at_most };
    let times = match &node.value {
        YamlValue::Whole(0) => {
            return Err(source.wrong(node.place, "`times: 0`").hint(
                "write `nothing: …` where no event is expected, elsewhere `times: at most 0`",
            ));
        }
        YamlValue::Whole(_) => {
            let times = source.small(node, 1)?;
            between(times, times)
        }
        YamlValue::Text(text) => {
            let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n <= 1_000_000);
            let least = text.strip_prefix("at least ").and_then(number);
            let most = text.strip_prefix("at most ").and_then(number);
            match (least, most) {
                (Some(least), _) => between(least, u32::MAX),
                (None, Some(most)) => between(0, most),
                (None, None) => return Err(wrong()),
            }
        }
        YamlValue::List(items) => match &items[..] {
            [least, most] => between(source.small(least, 0)?, source.small(most, 0)?),
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    if times.at_least > times.at_most || times.at_most < least_bound {
        return Err(source
            .wrong(node.place, format!("`{node}` is impossible"))
            .hint(HINT));
    }
    Ok(times)
}

type Stamped = (Option<SimTime>, Option<SimTime>);

const STAMPED: Plain<Stamped> = plain(
    "a time, `\">= 15s\"`, `\"<= 20s\"` or `[a, b]`",
    || {
        any_of([
            string_form(),
            json!({ "type": "array", "items": string_form(), "minItems": 2, "maxItems": 2 }),
        ])
    },
    stamped,
);

fn stamped(context: &Context<'_>, node: &Node) -> Parsed<Stamped> {
    const HINT: &str = "write `15s`, `\">= 15s\"`, `\"<= 20s\"` or `[ 15s, 20s ]`";
    let source = &context.source;
    if let YamlValue::List(items) = &node.value {
        return match &items[..] {
            [from, to] => Ok((Some(source.time(from)?), Some(source.time(to)?))),
            _ => Err(source
                .wrong(node.place, "`stamped` takes one time or two")
                .hint(HINT)),
        };
    }
    let text = source.text(node, "a time")?;
    let (sign, time) = text.split_at(
        text.find(|c: char| c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let time = duration::parse(time).ok_or_else(|| {
        source
            .wrong(node.place, format!("invalid duration `{text}`"))
            .hint(HINT)
    })?;
    match sign.trim() {
        "" => Ok((Some(time), Some(time))),
        ">=" => Ok((Some(time), None)),
        "<=" => Ok((None, Some(time))),
        other => Err(source
            .unknown(node.place, "comparison", other, [">=", "<="])
            .hint(HINT)),
    }
}

type Messages = BTreeMap<LinkLayer, (String, Place)>;

const MESSAGES: Plain<Messages> =
    plain("a text, or one by layer", messages_form, |context, node| {
        if let YamlValue::Map(_) = node.value {
            return by_layer().parse(context, node);
        }
        let text = MESSAGE.parse(context, node)?;
        Ok([
            (LinkLayer::InfiniBand, text.clone()),
            (LinkLayer::Ethernet, text),
        ]
        .into())
    });

fn messages_form() -> Json {
    any_of([MESSAGE.schema(), by_layer().schema()])
}

fn by_layer() -> impl Kind<Value = Messages> {
    MapOf(
        "a message by layer",
        together(
            (
                maybe("infiniband", MESSAGE, "The message on InfiniBand."),
                maybe("ethernet", MESSAGE, "The message on Ethernet."),
            ),
            |_, _, (infiniband, ethernet)| {
                let infiniband = infiniband.map(|text| (LinkLayer::InfiniBand, text));
                let ethernet = ethernet.map(|text| (LinkLayer::Ethernet, text));
                Ok(infiniband.into_iter().chain(ethernet).collect())
            },
        ),
    )
}

const MESSAGE: Checked<Placed<Text>, (String, Place)> =
    Checked(Placed(Text("a text")), |context, _, (text, place)| {
        message::check(context, place, &text)?;
        Ok((text, place))
    });
