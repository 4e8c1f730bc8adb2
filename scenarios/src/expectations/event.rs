//! Expectations about events: what must be said, of whom, and in which order.

use serde_json::json;

use super::parse;
use super::qualifier::{of_event, tally};
use crate::expect::{EventSpec, ExpectLine, ExpectationSpec};
use crate::keys::{Keys, Literal, Needed, maybe, need, or};
use crate::kind::{List, Many, NoValue, Number, OrNull, Parsed, Plain, count, plain};
use crate::row::{Line, Row, word};
use crate::story::Tone;
use crate::values::{Of, POLLS};

/// Whom an expectation is about.
pub(crate) const WHOM: Of = Of("whom");

/// Expectations about events.
pub(crate) const EVENTS: &[&dyn Row<ExpectationSpec>] = &[
    &event(
        ("fatal", "{ fatal: victim, within: 2 polls }"),
        "An event that says: dead, replace the machine.",
        Statement::Fresh(Tone::Fatal),
    ),
    &event(
        ("nonfatal", "{ nonfatal: victim }"),
        "An event that says: unhealthy, no action.",
        Statement::Fresh(Tone::NonFatal),
    ),
    &event(
        ("healthy", "{ healthy: device of victim }"),
        "An event that says: healthy.",
        Statement::Fresh(Tone::Healthy),
    ),
    &event(
        ("cleared", "{ cleared: { name: mlx5_3, port: 1 } }"),
        "An event that says healthy of what was reported before, under the name it was reported by.",
        Statement::Cleared,
    ),
    &word(
        "baseline",
        NoValue("baseline"),
        "The healthy events of a first poll without an old state: one for each healthy monitored port, each device whose ports are all healthy, and each compared card that meets its peers.",
        "baseline",
        maybe("except", WHOM, "Not these ports."),
        |_, (), except| {
            Ok(ExpectationSpec::Baseline {
                fresh: true,
                except,
            })
        },
    ),
    &word(
        "reboot_baseline",
        NoValue("reboot_baseline"),
        "The healthy events of a first poll after a reboot with a readable old state: one for each healthy monitored port.",
        "reboot_baseline",
        maybe("except", WHOM, "Not these ports."),
        |_, (), except| {
            Ok(ExpectationSpec::Baseline {
                fresh: false,
                except,
            })
        },
    ),
    &word(
        "nothing",
        OrNull("whom, or no more", WHOM),
        "No event that no other line expects, about these or about anything.",
        "{ nothing: device of victim, from: 10s, to: 20s }",
        (),
        |_, of, ()| Ok(ExpectationSpec::Nothing(of)),
    ),
    EACH,
];

/// Expectations around others.
pub(crate) const AROUND: &[&dyn Row<ExpectationSpec>] = &[
    &word(
        "said",
        EXPECTATION,
        "An attempt is enough: a call carrying it was received, accepted or not.",
        "{ said: { fatal: victim } }",
        (),
        |_, line, ()| Ok(ExpectationSpec::Spec(Box::new(line))),
    ),
    &word(
        "accepted",
        EXPECTATION,
        "It was accepted; what every line means unless it says `said`.",
        "{ accepted: nothing }",
        (),
        |_, line, ()| Ok(ExpectationSpec::Group(vec![line])),
    ),
    &word(
        "say",
        EXPECTATIONS,
        "These; for qualifiers that belong to all of them, or to a word that takes none.",
        "{ say: nothing, from: 20s, to: 25s }",
        (),
        |_, lines, ()| Ok(ExpectationSpec::Group(lines)),
    ),
    &word(
        "this_poll",
        EXPECTATIONS,
        "In the step's own poll.",
        "{ this_poll: nothing }",
        (),
        |_, lines, ()| Ok(ExpectationSpec::Group(lines)),
    ),
    &word(
        "next_poll",
        EXPECTATIONS,
        "In the poll after the step's own.",
        "{ next_poll: [ { fatal: device of victim } ] }",
        (),
        |_, lines, ()| Ok(ExpectationSpec::Group(lines)),
    ),
    &word(
        "in_order",
        EXPECTATIONS,
        "These expected events, in this order.",
        "{ in_order: [ { cleared: { name: mlx5_3 } }, { fatal: { name: mlx5_5 } } ] }",
        (),
        |line, lines, ()| in_order(line, lines),
    ),
];

/// An expectation.
pub(crate) const EXPECTATION: Plain<ExpectLine> = plain(
    "an expectation",
    || json!({ "$ref": "#/$defs/expectation" }),
    parse,
);

const EXPECTATIONS: Many<Plain<ExpectLine>> = Many("expectations", EXPECTATION);

/// What an event tells: something new, or that what was said under the name at rest is over.
#[derive(Clone, Copy, Debug)]
enum Statement {
    Fresh(Tone),
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
                Statement::Cleared => Tone::Healthy,
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
    .sharing(|| of_event().form())
}

/// `each` with `say`: events at the edges of each port. Another line beside `each` is
/// [`super::parse`]'s.
pub(crate) const EACH: &dyn Row<ExpectationSpec> = &word(
    "each",
    Of("ports, named `it` in the line"),
    "The same for each port: another expectation beside it, or `say`.",
    "{ each: storm, say: [ { fatal: it }, { healthy: it } ], times: 4, each_within: 1 poll }",
    (
        need(
            "say",
            List("a list of events", EDGE),
            "Where no other expectation stands beside: `fatal` or `nonfatal` whenever the port goes down, `healthy` whenever it comes up; goes with `times`.",
        ),
        or(
            "each_within",
            Literal::Text("1 poll"),
            POLLS,
            "With `say`: so many polls after the edge at most.",
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
.sharing(|| tally().form().and(&TIMES_OF_EACH));

const TIMES_OF_EACH: Needed<Number<u32>> = need("times", count(1), "How often each edge happens.");

type EdgeLine = (bool, Box<EventSpec>, platforms::yaml::Place);

/// An event at an edge; whether it is the way up.
const EDGE: Plain<EdgeLine> = plain(
    "an event",
    || json!({ "$ref": "#/$defs/expectation" }),
    |context, node| {
        let line = parse(&context.with_it(), node)?;
        let plain = line.window.is_none() && line.nodes.is_empty() && line.only.is_none();
        match line.what {
            ExpectationSpec::Event(event) if plain && event.times.is_none() && !event.clears => {
                Ok((event.tone == Tone::Healthy, event, node.place))
            }
            _ => Err(context
                .source
                .wrong(node.place, "only plain events can be said at an edge")
                .hint("write `{ fatal: it }`, `{ nonfatal: it }` or `{ healthy: it }`; times and windows stand beside `each`")),
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
            .hint("windows stand beside `in_order`")),
    }
}
