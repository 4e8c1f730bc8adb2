//! Reading what stands beside an expectation: in which polls, how often, with which message.

use std::collections::BTreeMap;

use platforms::LinkLayer;
use platforms::yaml::{Node, Place, Value};
use simfs::SimTime;

use super::{Line, Read};
use crate::deed_reader::counted;
use crate::duration;
use crate::error::ScenarioError;
use crate::expect::{Distinct, Tally, WindowSaid};
use crate::message;
use crate::reader::{Fields, Source};
use crate::story::Times;
use crate::subject::Context;
use crate::words::MESSAGE;

impl Line<'_, '_> {
    pub(super) fn window(&self) -> Read<Option<WindowSaid>> {
        let source = self.source;
        let fields = &self.fields;
        let forced = match self.word.word {
            "this_poll" => Some(("this_poll", WindowSaid::ThisPoll)),
            "next_poll" => Some(("next_poll", WindowSaid::NextPoll)),
            _ => None,
        };
        let said: Vec<&str> = ["within", "from", "between", "exactly_at"]
            .into_iter()
            .filter(|name| fields.get(name).is_some())
            .chain(forced.iter().map(|(name, _)| *name))
            .collect();
        if let (Some(_), None) = (fields.get("to"), fields.get("from")) {
            return Err(source.wrong(fields.place_of("to"), "`to` without `from`"));
        }
        let Some(first) = said.first() else {
            return Ok(None);
        };
        if let Some(second) = said.get(1) {
            return Err(source.wrong(
                fields.place_of(second),
                format!("`{first}` and `{second}` in one line"),
            ));
        }
        let time = |name: &str| source.time(fields.need(source, name)?);
        Ok(Some(match *first {
            "within" => within(source, fields.need(source, "within")?)?,
            "from" => {
                let (from, to) = (time("from")?, time("to")?);
                if to <= from {
                    return Err(source.wrong(fields.place_of("to"), "`to` is not after `from`"));
                }
                WindowSaid::FromTo(from, to)
            }
            "between" => {
                let node = fields.need(source, "between")?;
                match source.list(node, "a list of two times")? {
                    [from, to] => {
                        let (from, to) = (source.time(from)?, source.time(to)?);
                        if to < from {
                            return Err(
                                source.wrong(node.place, "the second time is before the first")
                            );
                        }
                        WindowSaid::Between(from, to)
                    }
                    _ => return Err(source.wrong(node.place, "`between` takes two times")),
                }
            }
            "exactly_at" => WindowSaid::ExactlyAt(time("exactly_at")?),
            _ => return Ok(forced.map(|(_, window)| window)),
        }))
    }
}

fn within(source: &Source<'_>, node: &Node) -> Read<WindowSaid> {
    const HINT: &str = "write `2 polls` or a time such as `5s`";
    let text = source.text(node, "`N polls` or a time")?;
    if let Some(polls) = counted(&text, &["poll", "polls"]) {
        return Ok(WindowSaid::Polls(polls));
    }
    match duration::parse(&text) {
        Some(span) => Ok(WindowSaid::Span(span)),
        None => Err(source
            .wrong(
                node.place,
                format!("`{text}` is no number of polls and no time"),
            )
            .hint(HINT)),
    }
}

/// A number of polls: `3 polls`.
pub(crate) fn polls(source: &Source<'_>, node: &Node) -> Read<u32> {
    let text = source.text(node, "`N polls`")?;
    counted(&text, &["poll", "polls"]).ok_or_else(|| {
        source
            .wrong(node.place, format!("`{text}` is no number of polls"))
            .hint("write `1 poll` or `3 polls`")
    })
}

pub(super) fn times(source: &Source<'_>, node: &Node) -> Read<Times> {
    const HINT: &str = "write `2`, `at least 2`, `at most 2` or `[ 1, 2 ]`";
    let wrong = || {
        source
            .wrong(node.place, format!("`{node}` is no number of times"))
            .hint(HINT)
    };
    let times = match &node.value {
        Value::Whole(0) => {
            return Err(source
                .wrong(node.place, "`times: 0`")
                .hint("write `nothing: …`"));
        }
        Value::Whole(_) => {
            let times = source.small(node, 1)?;
            Times {
                at_least: times,
                at_most: times,
            }
        }
        Value::Text(text) => {
            let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n <= 1_000_000);
            if let Some(number) = text.strip_prefix("at least ").and_then(number) {
                Times {
                    at_least: number,
                    at_most: u32::MAX,
                }
            } else if let Some(number) = text.strip_prefix("at most ").and_then(number) {
                Times {
                    at_least: 0,
                    at_most: number,
                }
            } else {
                return Err(wrong());
            }
        }
        Value::List(items) => match &items[..] {
            [least, most] => Times {
                at_least: source.small(least, 0)?,
                at_most: source.small(most, 0)?,
            },
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    if times.at_least > times.at_most || times.at_most == 0 {
        return Err(source
            .wrong(node.place, format!("`{node}` is impossible"))
            .hint(HINT));
    }
    Ok(times)
}

pub(super) fn stamped(
    source: &Source<'_>,
    node: &Node,
) -> Read<(Option<SimTime>, Option<SimTime>)> {
    const HINT: &str = "write `15s`, `\">= 15s\"`, `\"<= 20s\"` or `[ 15s, 20s ]`";
    if let Value::List(items) = &node.value {
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
            .wrong(node.place, format!("`{text}` is no time"))
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

pub(super) fn messages(
    context: &Context<'_>,
    node: &Node,
) -> Read<BTreeMap<LinkLayer, (String, Place)>> {
    let source = &context.source;
    let checked = |node: &Node| {
        let text = source.text(node, "a message")?;
        message::check(context, node.place, &text)?;
        Ok::<_, ScenarioError>((text, node.place))
    };
    if let Value::Map(_) = node.value {
        let fields = source.map(node, "a message by layer", MESSAGE)?;
        return fields
            .pairs
            .iter()
            .map(|(key, node)| {
                let layer = if key.name == "infiniband" {
                    LinkLayer::InfiniBand
                } else {
                    LinkLayer::Ethernet
                };
                Ok((layer, checked(node)?))
            })
            .collect();
    }
    let text = checked(node)?;
    Ok([
        (LinkLayer::InfiniBand, text.clone()),
        (LinkLayer::Ethernet, text),
    ]
    .into())
}

pub(super) fn tally(source: &Source<'_>, fields: &Fields<'_>) -> Read<Tally> {
    Ok(Tally {
        count: fields.maybe("count", |node| Ok((source.small(node, 1)?, node.place)))?,
        distinct: fields.maybe("distinct", |node| {
            source.choice(
                node,
                "word",
                &[
                    ("node", Distinct::Node),
                    ("card", Distinct::Card),
                    ("device", Distinct::Device),
                ],
            )
        })?,
    })
}
