//! A step of the timeline as said: when, at which moment, what is done, what is expected.

use platforms::yaml::{Node, Place};
use serde_json::json;
use simfs::SimTime;

use crate::context::Context;
use crate::error::ScenarioError;
use crate::expect::ExpectLine;
use crate::expectations::EXPECTATION;
use crate::keys::{Keys, maybe, together};
use crate::kind::{Checked, Kind, List, Parsed, Plain, count, plain, string_form};
use crate::map::MapOf;
use crate::reader::Source;
use crate::story::{FileOp, Signal};
use crate::subject::{FileSpec, NodeNames};
use crate::values::{NODES, TIME};
use crate::verbs::spec::{MonitorSpec, VerbLine, VerbSpec};
use crate::verbs::{self, WRITES};

/// A line that does something.
pub(crate) const VERB: Plain<VerbLine> =
    plain("a deed", || json!({ "$ref": "#/$defs/deed" }), verbs::parse);

/// A step of the timeline.
pub(crate) const STEP: Plain<StepSpec> = plain(
    "a step",
    || json!({ "$ref": "#/$defs/step" }),
    |context, node| {
        let fields = context.source.open_map(node, "a step")?;
        fields.known(&context.source, keys().form().names())?;
        keys().parse(context, &fields)
    },
);

/// Something done before the monitor starts.
#[derive(Clone, Debug)]
pub(crate) struct GivenSpec {
    pub(crate) action: VerbLine,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct StepSpec {
    /// Where it stands.
    pub(crate) place: Place,
    /// When.
    pub(crate) when: When,
    /// The nodes of lines that name none.
    pub(crate) nodes: NodeNames,
    /// At which moment within the poll.
    pub(crate) moment: Option<MomentSpec>,
    /// What is done.
    pub(crate) actions: Vec<VerbLine>,
    /// What is expected.
    pub(crate) expect: Vec<ExpectLine>,
}

/// When a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// At this time.
    At(SimTime),
    /// From the first until just before the second.
    FromTo(SimTime, SimTime),
}

/// A moment within a poll.
#[derive(Clone, Debug)]
pub(crate) enum MomentSpec {
    /// Between two operations on files.
    Files {
        after: Option<FileMomentSpec>,
        before: Option<FileMomentSpec>,
    },
    /// When the nth call of the poll has been received, or accepted.
    Call { nth: u32, accepted: bool },
}

/// An operation on a file.
#[derive(Clone, Debug)]
pub(crate) struct FileMomentSpec {
    pub(crate) op: FileOp,
    pub(crate) file: FileSpec,
    pub(crate) nth: u64,
}

impl StepSpec {
    /// Its first instant.
    pub(crate) fn first(&self) -> SimTime {
        match self.when {
            When::At(at) | When::FromTo(at, _) => at,
        }
    }

    /// Its last instant.
    pub(crate) fn last(&self) -> SimTime {
        match self.when {
            When::At(at) | When::FromTo(_, at) => at,
        }
    }
}

/// A line of `given:`.
pub(crate) const GIVEN: Checked<Plain<VerbLine>, GivenSpec> =
    Checked(VERB, |context, node, action| match action.spec {
        VerbSpec::Monitor(_) => Err(context
            .source
            .wrong(node.place, "`monitor` before the monitor starts")
            .hint("what is given is so before the monitor starts; write a step of the timeline")),
        _ => Ok(GivenSpec { action }),
    });

/// The keys of a step.
pub(crate) fn keys() -> impl Keys<Value = StepSpec> {
    together(
        (
            maybe(
                "at",
                TIME,
                "When; times do not go backwards. A step at t belongs to the first poll at or after t.",
            ),
            maybe(
                "from",
                TIME,
                "Instead of `at`, with `to`: for expectations about the polls from here …",
            ),
            maybe("to", TIME, "… until just before here."),
            maybe("node", NODES, "The nodes of every line of the step."),
            maybe(
                "do",
                List("a list of deeds", VERB),
                "What is done, in order.",
            ),
            maybe(
                "expect",
                List("a list of expectations", EXPECTATION),
                "What must be said of it.",
            ),
            maybe(
                "in_poll",
                MOMENT,
                "The moment within the poll at which the deeds are done, instead of before it.",
            ),
        ),
        |context, fields, (at, from, to, nodes, actions, expect, moment)| {
            let source = &context.source;
            let when = match (at, from, to) {
                (Some(at), None, None) => When::At(at),
                (None, Some(from), Some(to)) if from < to => When::FromTo(from, to),
                (None, Some(_), Some(_)) => {
                    return Err(source.wrong(fields.place_of("to"), "`to` is not after `from`"));
                }
                _ => {
                    return Err(source
                        .wrong(fields.place, "a step needs `at`, or `from` and `to`")
                        .hint("write `at: 10s`"));
                }
            };
            let (actions, expect) = (actions.unwrap_or_default(), expect.unwrap_or_default());
            if actions.is_empty() && expect.is_empty() {
                return Err(source
                    .wrong(fields.place, "a step that does and expects nothing")
                    .hint("write `do: [ … ]` or `expect: [ … ]`"));
            }
            if let (When::FromTo(..), Some(_)) = (when, actions.first()) {
                return Err(source
                    .wrong(
                        fields.place_of("do"),
                        "something is done at one time, not from one to another",
                    )
                    .hint("write `at: …`"));
            }
            if let (Some(_), true) = (&moment, actions.is_empty()) {
                return Err(source.wrong(fields.place_of("in_poll"), "`in_poll` without a deed"));
            }
            if moment.is_some() {
                actions
                    .iter()
                    .try_for_each(|line| sense_in_poll(source, line))?;
            }
            Ok(StepSpec {
                place: fields.place,
                when,
                nodes: nodes.unwrap_or_default(),
                moment,
                actions,
                expect,
            })
        },
    )
}

/// Refuses what cannot happen at a moment within a poll.
fn sense_in_poll(source: &Source<'_>, line: &VerbLine) -> Result<(), ScenarioError> {
    let what = match &line.spec {
        VerbSpec::Monitor(
            MonitorSpec::Restart {
                signal: Signal::Term,
                ..
            }
            | MonitorSpec::Stop(Signal::Term),
        ) => {
            let what = "a monitor that is asked to end does so some time later, not at a moment";
            let hint = "write `monitor: kill` or `signal: KILL`, or leave `in_poll` out";
            return Err(source.wrong(line.place, what).hint(hint));
        }
        VerbSpec::Monitor(MonitorSpec::Start { .. }) => "a monitor starts",
        VerbSpec::Monitor(MonitorSpec::Pause(_)) => "a monitor stands still",
        VerbSpec::Reboot(_) => "a node reboots",
        _ => return Ok(()),
    };
    Err(source
        .wrong(line.place, format!("{what} between polls, not within one"))
        .hint("leave `in_poll` out"))
}

const MOMENT: Plain<MomentSpec> = plain(
    "a map",
    || moment().schema(),
    |context, node| moment().parse(context, node),
);

fn moment() -> impl Kind<Value = MomentSpec> {
    MapOf("`in_poll`", moment_keys())
}

/// The keys of `in_poll`.
pub(crate) fn moment_keys() -> impl Keys<Value = MomentSpec> {
    together(
        (
            maybe(
                "after",
                FILE_MOMENT,
                "This was asked before in the same poll.",
            ),
            maybe(
                "before",
                FILE_MOMENT,
                "This is asked now and not answered yet. Operations are `list`, `read`, `write`, `create`, `fsync`, `rename`, `unlink`.",
            ),
            maybe(
                "nth",
                count(1),
                "The how-manieth such operation of the poll, from 1; the first unless said.",
            ),
            maybe(
                "received",
                count(1),
                "The nth call of this poll has been received and not answered yet.",
            ),
            maybe(
                "accepted",
                count(1),
                "The nth call of this poll has been accepted, and the monitor knows it not yet.",
            ),
        ),
        |context, fields, (after, before, nth, received, accepted)| {
            let source = &context.source;
            if let Some(call) = received.or(accepted) {
                let name = if received.is_some() {
                    "received"
                } else {
                    "accepted"
                };
                if let Some((key, _)) = fields.pairs.iter().find(|(key, _)| key.name != name) {
                    return Err(source.wrong(
                        key.place,
                        format!("`{}` beside a moment of a call", key.name),
                    ));
                }
                return Ok(MomentSpec::Call {
                    nth: call,
                    accepted: accepted.is_some(),
                });
            }
            let of = |nth| move |(op, file)| FileMomentSpec { op, file, nth };
            let nth = nth.unwrap_or(1);
            match (after, before) {
                (None, None) => Err(source
                    .wrong(fields.place, "`in_poll` names no moment")
                    .hint("write `{ after: list class/infiniband, before: read victim/state }`")),
                (after, None) => Ok(MomentSpec::Files {
                    after: after.map(of(nth)),
                    before: None,
                }),
                (after, before) => Ok(MomentSpec::Files {
                    after: after.map(of(1)),
                    before: before.map(of(nth)),
                }),
            }
        },
    )
}

const FILE_MOMENT: Plain<(FileOp, FileSpec)> =
    plain("`<operation> <file>`", string_form, file_moment);

fn file_moment(context: &Context<'_>, node: &Node) -> Parsed<(FileOp, FileSpec)> {
    let source = &context.source;
    let text = source.text(node, "`<operation> <file>`")?;
    let ops = || {
        [("list", FileOp::List), ("read", FileOp::Read)]
            .into_iter()
            .chain(WRITES.iter().copied())
    };
    let Some((word, file)) = text.trim().split_once(' ') else {
        return Err(source
            .wrong(node.place, format!("`{text}` is no operation on a file"))
            .hint("write `read victim/state`"));
    };
    let Some((_, op)) = ops().find(|(name, _)| *name == word) else {
        return Err(source.unknown(node.place, "operation", word, ops().map(|(name, _)| name)));
    };
    Ok((op, context.file_text(node.place, file.trim())?))
}
