//! Reading the words of `expect:`.
//!
//! Which words there are and what may stand beside them is in the table of words; here is what each
//! of them becomes. Start at [`read`].

use std::collections::BTreeMap;

use platforms::LinkLayer;
use platforms::yaml::Place;
use simfs::SimTime;

use crate::deed_reader::{counted, verb};
use crate::duration;
use crate::error::ScenarioError;
use crate::expect::{Distinct, EventSaid, ExpectLine, ExpectSaid, Tally, WindowSaid};
use crate::message;
use crate::node::{Key, Node, Value};
use crate::reader::{Fields, Source};
use crate::story::{StateFileIs, Times, Tone};
use crate::subject::{Context, Nodes};
use crate::words::{
    EVENT_QUALIFIERS, EXPECTATION_QUALIFIERS, EXPECTATIONS, KeyWord, MESSAGE, Word,
};

type Read<T> = Result<T, ScenarioError>;

/// Reads one line: a map, or a word that needs nothing more.
pub(crate) fn read(context: &Context<'_>, node: &Node) -> Read<ExpectLine> {
    let source = &context.source;
    if let Value::Text(word) = &node.value {
        let alone = || {
            EXPECTATIONS
                .iter()
                .filter(|known| known.takes.is_empty() || known.word == "nothing")
        };
        if !alone().any(|known| known.word == word && known.built) {
            let error = source.unknown(
                node.place,
                "expectation",
                word,
                alone().filter(|w| w.built).map(|w| w.word),
            );
            return Err(if EXPECTATIONS.iter().any(|known| known.word == word) {
                source
                    .wrong(node.place, format!("`{word}` alone says too little"))
                    .hint(format!("write `{{ {word}: … }}`"))
            } else {
                error
            });
        }
        let key = Key {
            place: node.place,
            name: word.clone(),
        };
        let pairs = [(
            key,
            Node {
                place: node.place,
                value: Value::Null,
            },
        )];
        let fields = Fields {
            what: "an expectation",
            place: node.place,
            pairs: &pairs,
        };
        return read_fields(context, node, fields);
    }
    read_fields(context, node, source.open_map(node, "an expectation")?)
}

/// Reads a line, or a list of lines.
pub(crate) fn read_some(context: &Context<'_>, node: &Node) -> Read<Vec<ExpectLine>> {
    let nodes = context.source.one_or_more(node, "expectations")?;
    nodes.iter().map(|node| read(context, node)).collect()
}

fn read_fields(context: &Context<'_>, node: &Node, fields: Fields<'_>) -> Read<ExpectLine> {
    let source = &context.source;
    if let (Some(of), None) = (fields.get("each"), fields.get("say")) {
        return each(context, node, &fields, of);
    }
    let (word, value) = match fields.get("each") {
        // Beside `each`, `say` is what is said at the edges.
        Some(of) => (word("each"), of),
        None => verb(source, &fields, "expectation", EXPECTATIONS)?,
    };
    let mut allowed: Vec<&str> = word
        .keys
        .iter()
        .chain(EXPECTATION_QUALIFIERS)
        .map(|key| key.word)
        .collect();
    allowed.push(word.word);
    if is_event(word.word) {
        allowed.extend(EVENT_QUALIFIERS.iter().map(|key| key.word));
    }
    if word.word == "say" {
        allowed.push("each");
    }
    if word.word == "each" {
        allowed.extend(["times", "count", "distinct"]);
    }
    fields.known(source, allowed)?;
    let line = Line {
        context,
        source,
        word,
        value,
        fields,
    };
    Ok(ExpectLine {
        place: node.place,
        text: node.to_string(),
        nodes: fields.read("node", Nodes::new(), |node| context.nodes(node))?,
        only: fields.maybe("only", |node| source.layer(node))?,
        window: line.window()?,
        what: line.what()?,
    })
}

/// `{ each: storm, fatal: it, … }`: the rest of the map is a line about `it`.
fn each(context: &Context<'_>, node: &Node, fields: &Fields<'_>, of: &Node) -> Read<ExpectLine> {
    let source = &context.source;
    if context.in_each {
        return Err(source.wrong(fields.place_of("each"), "an `each` within an `each`"));
    }
    let own = ["each", "count", "distinct"];
    let rest: Vec<(Key, Node)> = fields
        .pairs
        .iter()
        .filter(|(key, _)| !own.contains(&key.name.as_str()))
        .cloned()
        .collect();
    if rest.is_empty() {
        return Err(source
            .wrong(fields.place, "`each` expects nothing of each")
            .hint("write `{ each: storm, fatal: it }`, or `say: [ … ]` beside it"));
    }
    let what = "an expectation";
    let inner = Fields {
        what,
        place: fields.place,
        pairs: &rest,
    };
    let line = read_fields(&context.with_it(), node, inner)?;
    Ok(ExpectLine {
        place: node.place,
        text: node.to_string(),
        nodes: line.nodes.clone(),
        only: line.only,
        window: line.window,
        what: ExpectSaid::Each {
            of: context.subjects(of)?,
            tally: tally(source, fields)?,
            line: Box::new(line),
        },
    })
}

/// A line in reading.
struct Line<'a, 'n> {
    context: &'a Context<'a>,
    source: &'a Source<'a>,
    word: &'static Word,
    value: &'n Node,
    fields: Fields<'n>,
}

impl Line<'_, '_> {
    fn what(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let context = self.context;
        Ok(match self.word.word {
            name if is_event(name) => ExpectSaid::Event(Box::new(self.event(name)?)),
            "baseline" | "reboot_baseline" => {
                if self.value.value != Value::Null {
                    return Err(source
                        .wrong(
                            self.value.place,
                            format!("`{}` takes no value", self.word.word),
                        )
                        .hint(format!(
                            "write `{{ {}: null, except: … }}`, or the word alone",
                            self.word.word
                        )));
                }
                let except = self.fields.maybe("except", |node| context.subjects(node))?;
                ExpectSaid::Baseline {
                    fresh: self.word.word == "baseline",
                    except,
                }
            }
            "nothing" => ExpectSaid::Nothing(match self.value.value {
                Value::Null => None,
                _ => Some(context.subjects(self.value)?),
            }),
            "each" => self.edges()?,
            "said" => ExpectSaid::Said(Box::new(read(context, self.value)?)),
            "accepted" => ExpectSaid::Group(vec![read(context, self.value)?]),
            "say" | "this_poll" | "next_poll" => ExpectSaid::Group(read_some(context, self.value)?),
            "in_order" => self.in_order()?,
            "exit" => {
                let code = source.number(self.value, 0, 255)?;
                ExpectSaid::Exit(i32::try_from(code).expect("a number up to 255 fits 32 bits"))
            }
            "log" => ExpectSaid::Log(source.text(self.value, "a text")?),
            "no_log" => ExpectSaid::NoLog(source.text(self.value, "a text")?),
            "polls" => ExpectSaid::Polls(source.number(self.value, 0, 1_000_000)?),
            "calls" => ExpectSaid::Calls(source.number(self.value, 0, 1_000_000)?),
            "reads" => ExpectSaid::Reads {
                file: context.file(self.value)?,
                times: self
                    .fields
                    .read("times", Times::ONCE, |node| times(source, node))?,
            },
            "state_file" => ExpectSaid::StateFile(self.state_file()?),
            "stuck_in_kernel" => match self.value.value {
                Value::Null => ExpectSaid::StuckInKernel,
                _ => return Err(source.wrong(self.value.place, "`stuck_in_kernel` takes no value")),
            },
            other => unreachable!("`{other}` is in the table of expectations and has no reading"),
        })
    }

    fn event(&self, name: &str) -> Read<EventSaid> {
        let source = self.source;
        let fields = &self.fields;
        let said = fields.maybe("times", |node| times(source, node))?;
        let repeats = fields.maybe("repeats", |node| {
            source.choice(node, "word", &[("allowed", ())])
        })?;
        let times = match (said, repeats) {
            (said, Some(())) => {
                let least = said.unwrap_or(Times::ONCE).at_least;
                Some(Times {
                    at_least: least,
                    at_most: u32::MAX,
                })
            }
            (said, None) => said,
        };
        let (stamped_from, stamped_to) =
            fields.read("stamped", (None, None), |node| stamped(source, node))?;
        Ok(EventSaid {
            tone: match name {
                "fatal" => Tone::Fatal,
                "nonfatal" => Tone::NonFatal,
                _ => Tone::Healthy,
            },
            clears: name == "cleared",
            of: self.context.subjects(self.value)?,
            tally: tally(source, fields)?,
            times,
            message: fields.read("message", BTreeMap::new(), |node| {
                messages(self.context, node)
            })?,
            check: fields.maybe("check", |node| source.text(node, "a check's name"))?,
            codes: fields.maybe("codes", |node| source.texts(node, "a list of error codes"))?,
            stamped_from,
            stamped_to,
        })
    }

    fn edges(&self) -> Read<ExpectSaid> {
        let source = self.source;
        let say = self.fields.need(source, "say")?;
        let (mut down, mut up) = (None, None);
        for node in source.list(say, "a list of events")? {
            let line = read(&self.context.with_it(), node)?;
            let plain = line.window.is_none() && line.nodes.is_empty() && line.only.is_none();
            let event = match line.what {
                ExpectSaid::Event(event) if plain && event.times.is_none() && !event.clears => {
                    event
                }
                _ => {
                    return Err(source
                        .wrong(node.place, "only plain events can be said at an edge")
                        .hint("write `{ fatal: it }`, `{ nonfatal: it }` or `{ healthy: it }`; times and windows stand beside `each`"));
                }
            };
            let edge = if event.tone == Tone::Healthy {
                &mut up
            } else {
                &mut down
            };
            if edge.replace(event).is_some() {
                return Err(source.wrong(node.place, "two events for the same edge"));
            }
        }
        let within_polls = self
            .fields
            .read("each_within", 1, |node| polls(source, node))?;
        Ok(ExpectSaid::Edges {
            of: self.context.subjects(self.value)?,
            tally: tally(source, &self.fields)?,
            down,
            up,
            times: source.small(self.fields.need(source, "times")?, 1)?,
            within_polls,
        })
    }

    fn in_order(&self) -> Read<ExpectSaid> {
        let lines = read_some(self.context, self.value)?;
        let ordered = |line: &&ExpectLine| {
            line.window.is_none()
                && matches!(
                    line.what,
                    ExpectSaid::Event(_) | ExpectSaid::Baseline { .. } | ExpectSaid::Each { .. }
                )
        };
        match lines.iter().find(|line| !ordered(line)) {
            None => Ok(ExpectSaid::InOrder(lines)),
            Some(line) => Err(self
                .source
                .wrong(line.place, "only expected events can stand in an order")
                .hint("windows stand beside `in_order`")),
        }
    }

    fn state_file(&self) -> Read<StateFileIs> {
        let source = self.source;
        if let Value::Map(_) = self.value.value {
            let keys = [
                KeyWord {
                    word: "member",
                    takes: "",
                    text: "",
                },
                KeyWord {
                    word: "equals",
                    takes: "",
                    text: "",
                },
            ];
            let fields = source.map(self.value, "what the state file holds", &keys)?;
            let equals = fields.need(source, "equals")?;
            return Ok(StateFileIs::Holds {
                member: source.text(fields.need(source, "member")?, "a path such as `a.b`")?,
                equals: match equals.value {
                    Value::Truth(truth) => truth.to_string(),
                    _ => source.text(equals, "a JSON text")?,
                },
            });
        }
        let words = [
            ("unchanged", &StateFileIs::Unchanged),
            ("absent", &StateFileIs::Absent),
            ("valid", &StateFileIs::Valid),
        ];
        source
            .choice(self.value, "word after `state_file`", &words)
            .cloned()
    }

    fn window(&self) -> Read<Option<WindowSaid>> {
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

/// A word of the table.
fn word(name: &str) -> &'static Word {
    let found = EXPECTATIONS.iter().find(|word| word.word == name);
    found.expect("the words named here are in the table")
}

/// Whether the word expects an event.
fn is_event(word: &str) -> bool {
    matches!(word, "fatal" | "nonfatal" | "healthy" | "cleared")
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

fn times(source: &Source<'_>, node: &Node) -> Read<Times> {
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

fn stamped(source: &Source<'_>, node: &Node) -> Read<(Option<SimTime>, Option<SimTime>)> {
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

fn messages(context: &Context<'_>, node: &Node) -> Read<BTreeMap<LinkLayer, (String, Place)>> {
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

fn tally(source: &Source<'_>, fields: &Fields<'_>) -> Read<Tally> {
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
