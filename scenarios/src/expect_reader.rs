//! Reading the words of `expect:`.
//!
//! Which words there are and what may stand beside them is in the table of words; here is what each
//! of them becomes. Start at [`read`].

mod consequence;
mod link;
mod load;
mod metric;
mod qualifiers;

use std::collections::BTreeMap;

use crate::deed_reader::verb;
use crate::error::ScenarioError;
use crate::expect::{EventSaid, ExpectLine, ExpectSaid};
use crate::reader::{Fields, Source};
use crate::story::{StateFileIs, Times, Tone};
use crate::subject::{Context, Nodes};
use crate::words::{EVENT_QUALIFIERS, EXPECTATION_QUALIFIERS, EXPECTATIONS, KeyWord, Word};

use platforms::yaml::{Key, Node, Value};
pub(crate) use qualifiers::polls;
use qualifiers::{messages, stamped, tally, times};

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
            "metric" => self.metric()?,
            "healthz" => {
                let status = source.number(self.value, 100, 599)?;
                ExpectSaid::Healthz(u16::try_from(status).expect("a number up to 599 fits 16 bits"))
            }
            "link" => self.link()?,
            "lnet" => self.lnet()?,
            "workload" => self.workload()?,
            "verdict" => self.verdict()?,
            "condition" => self.condition()?,
            "cordoned" => self.cordoned()?,
            "uncordoned" => ExpectSaid::Uncordoned(source.truth(self.value)?),
            "rule" => self.rule()?,
            "rules" => {
                source.choice(self.value, "word after `rules`", &[("silent", ())])?;
                ExpectSaid::RulesSilent
            }
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
        if let (Some(_), Some(_)) = (fields.get("counter"), fields.get("codes")) {
            return Err(source
                .wrong(
                    fields.place_of("codes"),
                    "`counter` and `codes` in one line",
                )
                .hint("`counter` says the code"));
        }
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
            counter: fields.maybe("counter", |node| source.text(node, "a counter's name"))?,
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
