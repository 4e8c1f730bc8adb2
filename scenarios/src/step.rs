//! A step of the timeline as parsed: its time, its moment, its actions, its expectations.

use files::{Node, Place};
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

/// A line of `do:`.
pub(crate) const VERB: Plain<VerbLine> = plain(
    "an action",
    || json!({ "$ref": "#/$defs/action" }),
    verbs::parse,
);

/// A step of the timeline.
pub(crate) const STEP: Plain<StepSpec> = plain(
    "a step",
    || json!({ "$ref": "#/$defs/step" }),
    |context, node| {
        let fields = context.source.open_map(node, "a step")?;
        let keys = keys();
        let form = keys.bare();
        fields.only(&context.source, form.names(), || {
            keys.parse(context, &fields)
        })
    },
);

/// A line of `given:`.
#[derive(Clone, Debug)]
pub(crate) struct GivenSpec {
    pub(crate) action: VerbLine,
}

#[derive(Clone, Debug)]
pub(crate) struct StepSpec {
    /// Where it is in the file.
    pub(crate) place: Place,
    pub(crate) when: When,
    /// The default nodes of its lines.
    pub(crate) nodes: NodeNames,
    /// The moment within the poll.
    pub(crate) moment: Option<MomentSpec>,
    pub(crate) actions: Vec<VerbLine>,
    /// Its expectations.
    pub(crate) expect: Vec<ExpectLine>,
}

/// The time of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// At this time.
    At(SimTime),
    /// From the first time until just before the second.
    FromTo(SimTime, SimTime),
}

/// A moment within a poll.
#[derive(Clone, Debug)]
pub(crate) enum MomentSpec {
    /// Between two file operations.
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
            .hint("`given` happens before the monitor starts; write a step of the timeline")),
        _ => Ok(GivenSpec { action }),
    });

/// The keys of a step.
pub(crate) fn keys() -> impl Keys<Value = StepSpec> {
    together(
        (
            maybe(
                "at",
                TIME,
                "The time of the step; times must not decrease. A step at t belongs to the first poll at or after t.",
            ),
            maybe(
                "from",
                TIME,
                "With `to`, instead of `at`: expectations are about the polls from this time on …",
            ),
            maybe("to", TIME, "… and before this time."),
            maybe("node", NODES, "The nodes of the step's lines."),
            maybe(
                "do",
                List("a list of actions", VERB),
                "The actions, in order.",
            ),
            maybe(
                "expect",
                List("a list of expectations", EXPECTATION),
                "The expectations.",
            ),
            maybe(
                "in_poll",
                MOMENT,
                "The moment within the poll at which the actions happen, instead of before the poll.",
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
                    .wrong(fields.place, "a step without `do` and `expect`")
                    .hint("write `do: [ … ]` or `expect: [ … ]`"));
            }
            if let (When::FromTo(..), Some(_)) = (when, actions.first()) {
                return Err(source
                    .wrong(
                        fields.place_of("do"),
                        "`do` needs `at`, not `from` and `to`",
                    )
                    .hint("write `at: …`"));
            }
            if let (Some(_), true) = (&moment, actions.is_empty()) {
                return Err(source.wrong(fields.place_of("in_poll"), "`in_poll` without `do`"));
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

/// Rejects a verb that cannot act within a poll.
fn sense_in_poll(source: &Source<'_>, line: &VerbLine) -> Result<(), ScenarioError> {
    let what = match &line.spec {
        VerbSpec::Monitor(
            MonitorSpec::Restart {
                signal: Signal::Term,
                ..
            }
            | MonitorSpec::Stop(Signal::Term),
        ) => {
            let what = "a monitor ends some time after SIGTERM, not at a moment";
            let hint = "write `monitor: kill` or `signal: KILL`, or leave `in_poll` out";
            return Err(source.wrong(line.place, what).hint(hint));
        }
        VerbSpec::Monitor(MonitorSpec::Start { .. }) => "a monitor starts",
        VerbSpec::Monitor(MonitorSpec::Pause(_)) => "a monitor is paused",
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
                "This operation was completed before, in the same poll.",
            ),
            maybe(
                "before",
                FILE_MOMENT,
                "This operation was requested and is not answered yet. Operations are `list`, `read`, `write`, `create`, `fsync`, `rename`, `unlink`.",
            ),
            maybe(
                "nth",
                count(1),
                "Which of these operations of the poll, from 1; `1` by default.",
            ),
            maybe(
                "received",
                count(1),
                "The nth call of this poll has been received and not answered yet.",
            ),
            maybe(
                "accepted",
                count(1),
                "The nth call of this poll has been accepted, but the monitor has no answer yet.",
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
            .wrong(node.place, format!("invalid file operation `{text}`"))
            .hint("write `read victim/state`"));
    };
    let Some((_, op)) = ops().find(|(name, _)| *name == word) else {
        return Err(source.unknown(node.place, "operation", word, ops().map(|(name, _)| name)));
    };
    Ok((op, context.file_text(node.place, file.trim())?))
}
