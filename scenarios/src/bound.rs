//! A bound on a number: `5`, `">= 5"`, `"< 3"`, `"5 to 9"`.

use std::ops::RangeInclusive;

use files::{Node, YamlValue};
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::kind::{Checked, Parsed, Plain, any_of, plain, string_form};

/// An inclusive range of numbers, written as one number or a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Lower end, inclusive.
    pub(crate) least: u64,
    /// Upper end, inclusive.
    pub(crate) most: u64,
}

impl Bound {
    /// Whether this number is in the range.
    pub(crate) fn holds(self, number: usize) -> bool {
        (self.least..=self.most).contains(&(number as u64))
    }
}

/// The largest number of a bound; counters of bytes need large ones.
const MOST: u64 = 1_000_000_000_000_000;

/// The kind of a bound.
pub(crate) const BOUND: Plain<Bound> =
    plain("a number such as `1` or `\">= 1\"`", bound_form, parse);

/// The kind of a bound that parses to a range.
pub(crate) const RANGE: Checked<Plain<Bound>, RangeInclusive<u64>> =
    Checked(BOUND, |_, _, bound| Ok(bound.least..=bound.most));

/// The JSON Schema of a bound.
pub(crate) fn bound_form() -> Json {
    any_of([json!({ "type": "integer", "minimum": 0 }), string_form()])
}

fn parse(context: &Context<'_>, node: &Node) -> Parsed<Bound> {
    let source = &context.source;
    let bound = |least, most| Ok(Bound { least, most });
    let YamlValue::Text(text) = &node.value else {
        let number = source.number(node, 0, MOST)?;
        return bound(number, number);
    };
    let text = text.trim();
    let whole = |text: &str| text.parse().ok().filter(|number: &u64| *number <= MOST);
    let wrong = || {
        source
            .wrong(node.place, format!("invalid bound `{text}`"))
            .hint("write a number such as `5`, `\">= 5\"`, `\"< 3\"` or `\"5 to 9\"`, up to 10^15")
    };
    if let Some((least, most)) = text.split_once(" to ") {
        let ends = whole(least.trim()).zip(whole(most.trim()));
        let (least, most) = ends
            .filter(|(least, most)| least <= most)
            .ok_or_else(wrong)?;
        return bound(least, most);
    }
    let (sign, number) = text.split_at(
        text.find(|c: char| c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let number = whole(number).ok_or_else(wrong)?;
    match sign.trim() {
        "" | "=" | "==" => bound(number, number),
        ">=" => bound(number, u64::MAX),
        ">" => bound(number + 1, u64::MAX),
        "<=" => bound(0, number),
        "<" if number > 0 => bound(0, number - 1),
        "<" => Err(source.wrong(node.place, format!("`{text}` is below every number"))),
        other => Err(source.unknown(node.place, "comparison", other, [">=", ">", "<=", "<", "="])),
    }
}
