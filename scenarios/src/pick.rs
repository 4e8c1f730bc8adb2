//! How many of the matching ports a handle takes.

use files::YamlValue;
use serde_json::json;

use crate::keys::{Keys, maybe, together};
use crate::kind::{Plain, any_of, plain};

/// How many of the matching ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The nth port, from 1.
    Nth(usize),
    /// The last port.
    Last,
    /// The first ports, this many.
    Count(HowMany),
    /// Ports on the first cards: how many cards, and how many ports of each.
    Cards(HowMany, HowMany),
}

/// A number, or a share of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HowMany {
    Number(usize),
    /// Half of them, rounded down.
    Half,
    All,
}

impl HowMany {
    /// The count for a total of `all`; `None` if there are not enough.
    pub(crate) fn of(self, all: usize) -> Option<usize> {
        match self {
            Self::Number(number) => (number <= all).then_some(number),
            Self::Half => (all >= 2).then_some(all / 2),
            Self::All => (all >= 1).then_some(all),
        }
    }
}

/// The keys of a handle that state how many ports it takes.
pub(crate) fn pick() -> impl Keys<Value = Option<Pick>> {
    together(
        (
            maybe(
                "nth",
                NTH,
                "The nth matching port, in the order of device names; `1` by default.",
            ),
            maybe("count", HOW_MANY, "The first matching ports, this many."),
            maybe(
                "cards",
                HOW_MANY,
                "The matching ports on this many cards, the first ones; `half` is rounded down.",
            ),
            maybe(
                "ports",
                HOW_MANY,
                "With `cards`: how many ports of each card; `all` by default.",
            ),
        ),
        |context, fields, (nth, count, cards, ports)| {
            let source = &context.source;
            let amounts: Vec<&str> = ["nth", "count", "cards"]
                .into_iter()
                .filter(|name| fields.get(name).is_some())
                .collect();
            if let [first, second, ..] = amounts[..] {
                return Err(source.wrong(
                    fields.place_of(second),
                    format!("`{first}` and `{second}` together in a handle"),
                ));
            }
            if ports.is_some() && cards.is_none() {
                return Err(source
                    .wrong(fields.place_of("ports"), "`ports` goes with `cards`")
                    .hint("use `count` for a number of ports"));
            }
            let cards = cards.map(|cards| Pick::Cards(cards, ports.unwrap_or(HowMany::All)));
            Ok(nth.or(count.map(Pick::Count)).or(cards))
        },
    )
}

const NTH: Plain<Pick> = plain(
    "a number or `last`",
    || any_of([json!({ "const": "last" }), whole_form()]),
    |context, node| match &node.value {
        YamlValue::Text(_) => context
            .source
            .choice(node, "amount", &[("last", Pick::Last)]),
        _ => Ok(Pick::Nth(context.source.small(node, 1)? as usize)),
    },
);

const HOW_MANY: Plain<HowMany> = plain(
    "a number, `half` or `all`",
    || any_of([json!({ "enum": ["half", "all"] }), whole_form()]),
    |context, node| match &node.value {
        YamlValue::Text(_) => {
            let words = [("half", HowMany::Half), ("all", HowMany::All)];
            context.source.choice(node, "amount", &words)
        }
        _ => Ok(HowMany::Number(context.source.small(node, 1)? as usize)),
    },
);

fn whole_form() -> serde_json::Value {
    json!({ "type": "integer", "minimum": 1 })
}
