//! Expectations about the cluster: conditions, cordons, rules.

use super::event::WHOM;
use super::qualifier::TIMES;
use crate::bound::RANGE;
use crate::cluster::{ConditionOf, Stands};
use crate::expect::{ConditionSpec, ExpectationSpec, FiringSpec};
use crate::keys::{Literal, Maybe, maybe, or};
use crate::kind::{Choices, Only, Parsed, Placed, Text, Words, count};
use crate::row::{Line, Row, word};
use crate::story::{Times, What};
use crate::values::TRUTH;

/// Expectations about the cluster.
pub(crate) const CLUSTER: &[&dyn Row<ExpectationSpec>] = &[
    &word(
        "condition",
        Placed(Text("`state`, `counters`, or the name of a check or rule")),
        "Whether this node condition is present at the end of one of the window's polls. `state` and `counters` are the check of the link layer of `of`; without `of`, of either layer.",
        "{ condition: state, of: victim, stands: true }",
        (
            maybe(
                "of",
                WHOM,
                "Only its entries about these subjects; each subject is checked by itself.",
            ),
            maybe(
                "counter",
                Placed(Text("a counter's name")),
                "Only its entries with this error code.",
            ),
            or(
                "stands",
                Literal::Truth(true),
                TRUTH,
                "Whether such an entry is present.",
            ),
            THROUGHOUT,
        ),
        |_, (name, place), (of, counter, is, throughout)| {
            Ok(ExpectationSpec::Condition(ConditionSpec {
                condition: match name.as_str() {
                    "state" => ConditionOf::State,
                    "counters" => ConditionOf::Counters,
                    _ => ConditionOf::Named(name),
                },
                place,
                of,
                counter,
                stands: stands(is, throughout),
            }))
        },
    ),
    &word(
        "cordoned",
        TRUTH,
        "Whether the node is cordoned at the end of one of the window's polls.",
        "{ cordoned: true, from: 10s, to: 20s, throughout: true }",
        THROUGHOUT,
        |_, is, throughout| {
            Ok(ExpectationSpec::Stated(What::Cordoned(stands(
                is, throughout,
            ))))
        },
    ),
    &word(
        "uncordoned",
        TRUTH,
        "Whether the node, once cordoned, is released in one of the window's polls.",
        "{ uncordoned: true, within: 3 polls }",
        (),
        |_, is, ()| Ok(ExpectationSpec::Stated(What::Uncordoned(is))),
    ),
    &word(
        "rule",
        Placed(Text("a rule's name")),
        "A correlation rule fires in the window, once by default. What the passing of time alone makes it emit between two polls counts for the later poll.",
        "{ rule: NICPortDrop, port: victim, exactly_at: 4m30s, events_this_tick: 0 }",
        (
            maybe(
                "port",
                WHOM,
                "The subjects of the rule's event; each is checked by itself.",
            ),
            maybe(
                "switch",
                Placed(Text("a switch's name")),
                "The switch of the rule's event.",
            ),
            maybe(
                "counted",
                RANGE,
                "The number that the rule counted: events, different nodes, or held-back events.",
            ),
            or(
                "says",
                Literal::Text("fired"),
                Words("word", &[("fired", false), ("cleared", true)]),
                "Whether the rule reports a problem or its end.",
            ),
            maybe(
                "fires",
                Only {
                    value: false,
                    otherwise: "`fires: true` has no effect",
                    hint: Some("leave it out: `rule` means that it fires"),
                },
                "The rule does not fire in the window; instead of `times`.",
            ),
            maybe("times", TIMES, "How often."),
            maybe(
                "events_this_tick",
                count(0),
                "How many events connectors accept in the poll in which it fires.",
            ),
        ),
        |line, (rule, place), (of, switch, counted, cleared, silent, times, events_this_tick)| {
            Ok(ExpectationSpec::Rule(Box::new(FiringSpec {
                rule,
                place,
                of,
                switch,
                counted,
                cleared,
                times: match silent {
                    Some(()) => silence(line)?,
                    None => times.unwrap_or(Times::ONCE),
                },
                events_this_tick,
            })))
        },
    ),
    &word(
        "rules",
        Choices("word after `rules`", &[("silent", (), "no rule fires")]),
        "No rule fires in the window.",
        "{ rules: silent, from: 31s, to: 4m29s }",
        (),
        |_, (), ()| Ok(ExpectationSpec::Stated(What::RulesSilent)),
    ),
];

const THROUGHOUT: Maybe<Only> = maybe(
    "throughout",
    Only {
        value: true,
        otherwise: "`throughout: false` has no effect",
        hint: Some("leave it out: by default one of the window's polls is enough"),
    },
    "At the end of every poll of the window, instead of one.",
);

fn stands(is: bool, throughout: Option<()>) -> Stands {
    Stands {
        is,
        throughout: throughout.is_some(),
    }
}

/// `fires: false` excludes the keys about what the rule counted.
fn silence(line: &Line<'_, '_>) -> Parsed<Times> {
    match line.first_of(&["times", "counted", "events_this_tick"]) {
        Some(beside) => Err(line.source().wrong(
            line.fields.place_of(beside),
            format!("`fires: false` and `{beside}` in one line"),
        )),
        None => Ok(Times {
            at_least: 0,
            at_most: 0,
        }),
    }
}
