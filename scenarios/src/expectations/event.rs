//! Expectations about events: which, about what subject, and in which order.

use serde_json::json;
use terms::Severity;

use super::parse;
use super::qualifier::{of_event, tally};
use crate::expect::{EventSpec, ExpectLine, ExpectationSpec};
use crate::keys::{Keys, Literal, Maybe, Needed, maybe, need, or};
use crate::kind::{List, Many, NoValue, Number, OrNull, Parsed, Placed, Plain, Text, count, plain};
use crate::row::{Line, Row, word};
use crate::values::{Of, POLLS};

/// The subject of an expectation.
pub(crate) const WHOM: Of = Of("whom");

/// A counter by name.
const COUNTER: Placed<Text> = Placed(Text("a counter's name"));

/// What a first poll says nothing of.
const EXCEPTIONS: Exceptions = (
    maybe(
        "except",
        WHOM,
        "Ports, devices and cards without such an event.",
    ),
    maybe(
        "counter",
        COUNTER,
        "Only this counter is excepted, of the ports in `except` or of all, and nothing else.",
    ),
);

type Exceptions = (Maybe<Of>, Maybe<Placed<Text>>);

/// Expectations about events.
pub(crate) const EVENTS: &[&dyn Row<ExpectationSpec>] = &[
    &event(
        ("fatal", "{ fatal: victim, within: 2 polls }"),
        "A fatal event, which asks for a replacement of the machine.",
        Statement::Fresh(Severity::Fatal),
    ),
    &event(
        ("nonfatal", "{ nonfatal: victim }"),
        "An unhealthy event that is not fatal and asks for no action.",
        Statement::Fresh(Severity::NonFatal),
    ),
    &event(
        ("healthy", "{ healthy: device of victim }"),
        "A healthy event.",
        Statement::Fresh(Severity::Healthy),
    ),
    &event(
        ("cleared", "{ cleared: { name: mlx5_3, port: 1 } }"),
        "A healthy event about something reported before, under the name in that report.",
        Statement::Cleared,
    ),
    &word(
        "baseline",
        NoValue("baseline"),
        "The healthy events of a first poll without an old state: one for each healthy monitored port, each device whose ports are all healthy, and each compared card with at least as many healthy ports as its group's mode.",
        "baseline",
        EXCEPTIONS,
        |_, (), (except, counter)| {
            Ok(ExpectationSpec::Baseline {
                fresh: true,
                except,
                counter,
            })
        },
    ),
    &word(
        "reboot_baseline",
        NoValue("reboot_baseline"),
        "The healthy events of a first poll after a reboot with a readable old state: one for each healthy monitored port.",
        "reboot_baseline",
        EXCEPTIONS,
        |_, (), (except, counter)| {
            Ok(ExpectationSpec::Baseline {
                fresh: false,
                except,
                counter,
            })
        },
    ),
    &word(
        "nothing",
        OrNull("subjects, or `null`", WHOM),
        "No event about these subjects, or about any, other than those that other lines expect.",
        "{ nothing: device of victim, from: 10s, to: 20s }",
        maybe(
            "counter",
            COUNTER,
            "No event of this counter; others may come.",
        ),
        |_, of, counter| Ok(ExpectationSpec::Nothing(of, counter)),
    ),
    EACH,
];

/// Words that contain other expectations.
pub(crate) const AROUND: &[&dyn Row<ExpectationSpec>] = &[
    &word(
        "said",
        EXPECTATION,
        "The event was received in a call, accepted or not.",
        "{ said: { fatal: victim } }",
        (),
        |_, line, ()| Ok(ExpectationSpec::Attempt(Box::new(line))),
    ),
    &word(
        "accepted",
        EXPECTATION,
        "The event was received in a call that was accepted. This is the default.",
        "{ accepted: nothing }",
        (),
        |_, line, ()| Ok(ExpectationSpec::Group(vec![line])),
    ),
    &word(
        "say",
        EXPECTATIONS,
        "A list of expectations with common qualifiers.",
        "{ say: nothing, from: 20s, to: 25s }",
        (),
        |_, lines, ()| Ok(ExpectationSpec::Group(lines)),
    ),
    &word(
        "this_poll",
        EXPECTATIONS,
        "Expectations in the step's own poll.",
        "{ this_poll: nothing }",
        (),
        |_, lines, ()| Ok(ExpectationSpec::Group(lines)),
    ),
    &word(
        "next_poll",
        EXPECTATIONS,
        "Expectations in the poll after the step's own.",
        "{ next_poll: [ { fatal: device of victim } ] }",
        (),
        |_, lines, ()| Ok(ExpectationSpec::Group(lines)),
    ),
    &word(
        "in_order",
        EXPECTATIONS,
        "Expected events, in this order.",
        "{ in_order: [ { cleared: { name: mlx5_3 } }, { fatal: { name: mlx5_5 } } ] }",
        (),
        |line, lines, ()| in_order(line, lines),
    ),
];

pub(crate) const EXPECTATION: Plain<ExpectLine> = plain(
    "an expectation",
    || json!({ "$ref": "#/$defs/expectation" }),
    parse,
);

const EXPECTATIONS: Many<Plain<ExpectLine>> = Many("expectations", EXPECTATION);

/// Whether an event reports something new, or clears what was reported under the name at rest.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Fresh(Severity),
    Cleared,
}

const fn event(
    (name, example): (&'static str, &'static str),
    text: &'static str,
    statement: Statement,
) -> impl Row<ExpectationSpec> {
    word(name, WHOM, text, example, (), move |line, of, ()| {
        let beside = of_event().parse(line.context, &line.fields)?;
        Ok(ExpectationSpec::Event(Box::new(EventSpec {
            tone: match statement {
                Statement::Fresh(tone) => tone,
                Statement::Cleared => Severity::Healthy,
            },
            clears: matches!(statement, Statement::Cleared),
            of,
            tally: beside.tally,
            times: beside.times,
            message: beside.message,
            check: beside.check,
            codes: beside.codes,
            counter: beside.counter,
            stamped_from: beside.stamped_from,
            stamped_to: beside.stamped_to,
        })))
    })
    .sharing(|form| form.and(&of_event()))
}

/// `each` with `say`: events at the edges of each port. [`super::parse`] handles `each` with
/// another expectation.
pub(crate) const EACH: &dyn Row<ExpectationSpec> = &word(
    "each",
    Of("ports, named `it` in the line"),
    "Repeats the expectation beside it for each port; or, with `say`, expects events at each port's edges.",
    "{ each: storm, say: [ { fatal: it }, { healthy: it } ], times: 4, each_within: 1 poll }",
    (
        need(
            "say",
            List("a list of events", EDGE),
            "The events at the edges: `fatal` or `nonfatal` whenever the port goes down, `healthy` whenever it comes up. Requires `times`.",
        ),
        or(
            "each_within",
            Literal::Text("1 poll"),
            POLLS,
            "With `say`: the largest delay after the edge, in polls.",
        ),
    ),
    |line, of, (spec, within_polls)| {
        let (mut down, mut up) = (None, None);
        for (is_up, event, place) in spec {
            let edge = if is_up { &mut up } else { &mut down };
            if edge.replace(event).is_some() {
                return Err(line.source().wrong(place, "two events for the same edge"));
            }
        }
        if down.is_none() && up.is_none() {
            return Err(line
                .source()
                .wrong(line.value.place, "no event at any edge is expected")
                .hint("write `say: [ { fatal: it }, { healthy: it } ]`, or `nothing: …`"));
        }
        Ok(ExpectationSpec::Edges {
            of,
            times: TIMES_OF_EACH.parse(line.context, &line.fields)?,
            tally: tally().parse(line.context, &line.fields)?,
            down,
            up,
            within_polls,
        })
    },
)
.sharing(|form| form.and(&tally()).and(&TIMES_OF_EACH));

const TIMES_OF_EACH: Needed<Number<u32>> = need("times", count(1), "How often each edge happens.");

type EdgeLine = (bool, Box<EventSpec>, files::Place);

/// An event at an edge, and whether the edge is up.
const EDGE: Plain<EdgeLine> = plain(
    "an event",
    || json!({ "$ref": "#/$defs/expectation" }),
    |context, node| {
        let line = parse(&context.with_it(), node)?;
        let plain = line.window.is_none() && line.nodes.is_empty() && line.only.is_none();
        match line.what {
            ExpectationSpec::Event(event) if plain && event.times.is_none() && !event.clears => {
                Ok((event.tone == Severity::Healthy, event, node.place))
            }
            _ => Err(context
                .source
                .wrong(node.place, "only plain events can be expected at an edge")
                .hint("write `{ fatal: it }`, `{ nonfatal: it }` or `{ healthy: it }`; write times and windows beside `each`")),
        }
    },
);

fn in_order(line: &Line<'_, '_>, lines: Vec<ExpectLine>) -> Parsed<ExpectationSpec> {
    let ordered = |line: &&ExpectLine| {
        line.window.is_none()
            && matches!(
                line.what,
                ExpectationSpec::Event(_)
                    | ExpectationSpec::Baseline { .. }
                    | ExpectationSpec::Each { .. }
            )
    };
    match lines.iter().find(|line| !ordered(line)) {
        None => Ok(ExpectationSpec::InOrder(lines)),
        Some(other) => Err(line
            .source()
            .wrong(other.place, "only expected events can stand in an order")
            .hint("write windows beside `in_order`")),
    }
}
