//! The observations of a row, each as text.
//!
//! A key is an end and a property (`a pair`), or a table and an index (`tool text 39`). Start at
//! [`observe`].

use fabric::{
    ActionError, EndTruth, PortEventKind, Side,
    opa::{
        Change, LinkDownErrorLog, LinkDownReason, Notice, OfflineDisabledReason, Pair, PortInfo,
        Profile, Reply, START_S, log_text, logical_change, physical_change, state_text,
    },
};
use platforms::{CounterValue, Port};

use crate::play::Stage;

/// The end with this name.
pub(crate) fn end(name: &str) -> Result<Side, String> {
    match name {
        "a" => Ok(Side::Here),
        "b" => Ok(Side::There),
        other => Err(format!("`{other}` is no end")),
    }
}

/// The value of an observation.
pub(crate) fn observe(stage: &Stage, key: &str) -> Result<String, String> {
    let words: Vec<&str> = key.split(' ').collect();
    let number = |word: &str| word.parse().map_err(|_| format!("`{key}`: no number"));
    match words[..] {
        ["reply"] => Ok(reply(stage)),
        ["tool", "text", code] => Ok(LinkDownReason::tool_text(number(code)?).to_owned()),
        ["logical", old, "to", new] => Ok(verdict(logical_change(number(old)?, number(new)?))),
        ["physical", old, "to", new] => Ok(verdict(physical_change(number(old)?, number(new)?))),
        [name, ref what @ ..] => of_end(stage, end(name)?, &what.join(" ")),
        [] => Err("an empty key".to_owned()),
    }
}

fn reply(stage: &Stage) -> String {
    match &stage.reply {
        None => "none",
        Some(Ok(Reply::Answered)) => "answered",
        Some(Ok(Reply::Silent)) => "silent",
        Some(Err(ActionError::Refused { .. })) => "refused",
        Some(Err(_)) => "impossible",
    }
    .to_owned()
}

fn verdict(change: Change) -> String {
    match change {
        Change::Allowed => "allowed",
        Change::Ignored => "ignored",
        Change::Refused => "refused",
    }
    .to_owned()
}

fn codes(pair: Pair) -> String {
    let (local, neighbour) = pair.codes();
    format!("({local},{neighbour})")
}

fn offline(reason: OfflineDisabledReason) -> String {
    format!("{} {reason}", reason.code())
}

/// The value of a property of an end.
fn of_end(stage: &Stage, side: Side, what: &str) -> Result<String, String> {
    let (fabric, slot) = (&stage.fabric, &stage.slot);
    let nothing = || "unavailable".to_owned();
    let EndTruth { record, log } = fabric.end(slot, side).ok_or("no link of its own")?;
    let info = fabric.port_info(slot, side);
    let notices = fabric.notices().iter();
    let last: Option<&Notice> = notices.rev().find(|notice| notice.slot == *slot);
    Ok(match what {
        "pair" => record.map_or_else(nothing, |record| codes(record.shown())),
        "latest" => record.map_or_else(nothing, |record| codes(record.latest())),
        "offline" => record.map_or_else(nothing, |record| offline(record.offline())),
        "query" => {
            let answer = fabric.query(slot, side);
            answer.map_or_else(nothing, |(info, _)| codes(info.pair))
        }
        "local" => info.map_or_else(nothing, |info| codes(info.pair)),
        "state" => info.map_or_else(nothing, |info| state_text(&info)),
        "shows" => match info {
            Some(info) => shows(stage, side, &info)?,
            None => nothing(),
        },
        "walk" => walk(stage, side),
        "events" => events(stage),
        "port errors" => {
            let all = fabric.port_events(slot).iter();
            let errors = all.filter(|event| event.kind == PortEventKind::PortErr);
            errors.count().to_string()
        }
        "link_downed" => match port(stage).and_then(|port| port.counters.get("link_downed")) {
            Some(CounterValue::Count(count)) => count.to_string(),
            other => format!("{other:?}"),
        },
        "kernel" => kernel(stage),
        "log" => entries(&log),
        "log text" => log_text(&log),
        "notice" => last.map_or_else(nothing, |notice| notice.condition.text().to_owned()),
        "detail" => last.map_or_else(nothing, Notice::detail),
        _ => return Err(format!("nobody knows how to look at `{what}`")),
    })
}

/// The node's own port as its kernel shows it.
fn port(stage: &Stage) -> Option<&Port> {
    let machine = stage.fabric.machine(&stage.slot.node)?;
    let rdma = machine.functions.get(&stage.slot.pci)?.rdma.as_ref()?;
    rdma.ports.get(&stage.slot.port).map(|port| &**port)
}

/// Both states. An hfi1's kernel shows the same ones, which are the port's own.
fn shows(stage: &Stage, side: Side, info: &PortInfo) -> Result<String, String> {
    let shown = format!("{} / {}", info.logical.shown(), info.physical.shown());
    let own = port(stage).filter(|_| side == Side::Here && stage.profile == Profile::Hfi1);
    match own.map(|port| format!("{} / {}", port.state, port.phys_state)) {
        Some(files) if files != shown => Err(format!("{shown}, but the kernel shows {files}")),
        _ => Ok(shown),
    }
}

fn walk(stage: &Stage, side: Side) -> String {
    let place = usize::from(side == Side::There);
    let steps = stage.fabric.walk(&stage.slot).iter().skip(1);
    steps
        .map(|step| {
            let (logical, physical) = (step.logical[place].shown(), step.physical[place].shown());
            format!("{} {logical} / {physical}\n", step.at.as_ms())
        })
        .collect()
}

fn events(stage: &Stage) -> String {
    let events = stage.fabric.port_events(&stage.slot).iter();
    events
        .map(|event| {
            let kind = match event.kind {
                PortEventKind::PortErr => "PORT_ERR",
                PortEventKind::PortActive => "PORT_ACTIVE",
                PortEventKind::DeviceFatal => "DEVICE_FATAL",
            };
            format!("{} {kind}\n", event.at.as_ms())
        })
        .collect()
}

/// What an hfi1's driver logged about the device, without the device's name.
fn kernel(stage: &Stage) -> String {
    let log = stage.fabric.kernel_log(&stage.slot.node).iter();
    let own = format!("hfi1 {}: ", stage.slot.pci);
    let lines = log.filter_map(|line| line.text.strip_prefix(&own)?.split_once(": "));
    lines.map(|(_, text)| format!("{text}\n")).collect()
}

/// The entries as printed, with times in seconds since the start.
fn entries(log: &LinkDownErrorLog) -> String {
    let entries = log.printed().map(|entry| {
        let at_s = entry.at_s - START_S;
        format!("{}@{at_s}s", codes(entry.pair))
    });
    entries.collect::<Vec<_>>().join(" ")
}
