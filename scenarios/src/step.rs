//! A step of the timeline as said: when, at which moment, what is done, what is expected.

use platforms::yaml::{Node, Place};
use simfs::SimTime;

use crate::deed::{DeedLine, DeedSaid, MonitorSaid};
use crate::deed_reader::{self, WRITES};
use crate::error::ScenarioError;
use crate::expect::ExpectLine;
use crate::expect_reader;
use crate::reader::Source;
use crate::story::{FileOp, Signal};
use crate::subject::{Context, FileSaid, Nodes};
use crate::words::{IN_POLL, STEP};

/// Something done before the monitor starts.
#[derive(Clone, Debug)]
pub(crate) struct GivenSaid {
    pub(crate) deed: DeedLine,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct StepSaid {
    /// Where it stands.
    pub(crate) place: Place,
    /// When.
    pub(crate) when: When,
    /// The nodes of lines that name none.
    pub(crate) nodes: Nodes,
    /// At which moment within the poll.
    pub(crate) moment: Option<MomentSaid>,
    /// What is done.
    pub(crate) deeds: Vec<DeedLine>,
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
pub(crate) enum MomentSaid {
    /// Between two operations on files.
    Files {
        after: Option<FileMomentSaid>,
        before: Option<FileMomentSaid>,
    },
    /// When the nth call of the poll has been received, or accepted.
    Call { nth: u32, accepted: bool },
}

/// An operation on a file.
#[derive(Clone, Debug)]
pub(crate) struct FileMomentSaid {
    pub(crate) op: FileOp,
    pub(crate) file: FileSaid,
    pub(crate) nth: u64,
}

impl StepSaid {
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

/// Reads `given:`.
pub(crate) fn read_given(
    context: &Context<'_>,
    node: &Node,
) -> Result<Vec<GivenSaid>, ScenarioError> {
    let source = &context.source;
    let nodes = source.list(node, "a list of deeds")?;
    let given = |node: &Node| {
        let deed = deed_reader::read(context, node)?;
        match deed.deed {
            DeedSaid::Monitor(_) => Err(source
                .wrong(node.place, "`monitor` before the monitor starts")
                .hint(
                    "what is given is so before the monitor starts; write a step of the timeline",
                )),
            _ => Ok(GivenSaid { deed }),
        }
    };
    nodes.iter().map(given).collect()
}

/// Reads one step.
pub(crate) fn read(context: &Context<'_>, node: &Node) -> Result<StepSaid, ScenarioError> {
    let source = &context.source;
    let fields = source.open_map(node, "a step")?;
    fields.known(source, STEP.iter().map(|word| word.word))?;
    let time = |name| fields.maybe(name, |node| source.time(node));
    let when = match (time("at")?, time("from")?, time("to")?) {
        (Some(at), None, None) => When::At(at),
        (None, Some(from), Some(to)) if from < to => When::FromTo(from, to),
        (None, Some(_), Some(_)) => {
            return Err(source.wrong(fields.place_of("to"), "`to` is not after `from`"));
        }
        _ => {
            return Err(source
                .wrong(node.place, "a step needs `at`, or `from` and `to`")
                .hint("write `at: 10s`"));
        }
    };
    let lines = |name: &'static str| fields.read(name, &[][..], |node| source.list(node, "a list"));
    let deeds: Vec<DeedLine> = lines("do")?
        .iter()
        .map(|node| deed_reader::read(context, node))
        .collect::<Result<_, _>>()?;
    let expect: Vec<ExpectLine> = lines("expect")?
        .iter()
        .map(|node| expect_reader::read(context, node))
        .collect::<Result<_, _>>()?;
    if deeds.is_empty() && expect.is_empty() {
        return Err(source
            .wrong(node.place, "a step that does and expects nothing")
            .hint("write `do: [ … ]` or `expect: [ … ]`"));
    }
    if let (When::FromTo(..), Some(_)) = (when, deeds.first()) {
        return Err(source
            .wrong(
                fields.place_of("do"),
                "something is done at one time, not from one to another",
            )
            .hint("write `at: …`"));
    }
    let moment = fields.maybe("in_poll", |node| moment(context, node))?;
    if let (Some(_), true) = (&moment, deeds.is_empty()) {
        return Err(source.wrong(fields.place_of("in_poll"), "`in_poll` without a deed"));
    }
    if moment.is_some() {
        deeds
            .iter()
            .try_for_each(|line| sense_in_poll(source, line))?;
    }
    Ok(StepSaid {
        place: node.place,
        when,
        nodes: fields.read("node", Nodes::new(), |node| context.nodes(node))?,
        moment,
        deeds,
        expect,
    })
}

/// Refuses what cannot happen at a moment within a poll.
fn sense_in_poll(source: &Source<'_>, line: &DeedLine) -> Result<(), ScenarioError> {
    let what = match &line.deed {
        DeedSaid::Monitor(
            MonitorSaid::Restart {
                signal: Signal::Term,
                ..
            }
            | MonitorSaid::Stop(Signal::Term),
        ) => {
            let what = "a monitor that is asked to end does so some time later, not at a moment";
            let hint = "write `monitor: kill` or `signal: KILL`, or leave `in_poll` out";
            return Err(source.wrong(line.place, what).hint(hint));
        }
        DeedSaid::Monitor(MonitorSaid::Start { .. }) => "a monitor starts",
        DeedSaid::Monitor(MonitorSaid::Pause(_)) => "a monitor stands still",
        DeedSaid::Reboot(_) => "a node reboots",
        _ => return Ok(()),
    };
    Err(source
        .wrong(line.place, format!("{what} between polls, not within one"))
        .hint("leave `in_poll` out"))
}

fn moment(context: &Context<'_>, node: &Node) -> Result<MomentSaid, ScenarioError> {
    let source = &context.source;
    let fields = source.map(node, "`in_poll`", IN_POLL)?;
    let calls = fields.get("received").or(fields.get("accepted"));
    if let Some(nth) = calls {
        if let Some((key, _)) = fields
            .pairs
            .iter()
            .find(|(_, node)| !std::ptr::eq(node, nth))
        {
            return Err(source.wrong(
                key.place,
                format!("`{}` beside a moment of a call", key.name),
            ));
        }
        let accepted = fields.get("accepted").is_some();
        return Ok(MomentSaid::Call {
            nth: source.small(nth, 1)?,
            accepted,
        });
    }
    let nth = fields.read("nth", 1, |node| source.number(node, 1, 1_000_000))?;
    let after = fields.maybe("after", |node| file_moment(context, node, 1))?;
    let before = fields.maybe("before", |node| file_moment(context, node, nth))?;
    match (&after, &before) {
        (None, None) => Err(source
            .wrong(node.place, "`in_poll` names no moment")
            .hint("write `{ after: list class/infiniband, before: read victim/state }`")),
        (Some(after), None) => {
            let after = FileMomentSaid {
                nth,
                ..after.clone()
            };
            Ok(MomentSaid::Files {
                after: Some(after),
                before: None,
            })
        }
        _ => Ok(MomentSaid::Files { after, before }),
    }
}

fn file_moment(
    context: &Context<'_>,
    node: &Node,
    nth: u64,
) -> Result<FileMomentSaid, ScenarioError> {
    let source: &Source<'_> = &context.source;
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
    Ok(FileMomentSaid {
        op,
        file: context.file_text(node.place, file.trim())?,
        nth,
    })
}
