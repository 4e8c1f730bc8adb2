//! What can be looked at while a row is played, each as one text.
//!
//! A key is an end and what is looked at (`a pair`), or a table and where to look (`tool text 39`).
//! Start at [`observe`].

use fabric::opa::{
    Change, DeedError, EndRef, KernelEventKind, LinkDownErrorLog, LinkDownReason, Network, Notice,
    OfflineDisabledReason, Pair, Reply, START_S, log_text, logical_change, physical_change,
    state_text,
};

use crate::play::Stage;

/// The end that a name such as `a` or `b2` stands for.
pub(crate) fn end(name: &str) -> Result<EndRef, String> {
    let digits = name.find(|char: char| char.is_ascii_digit());
    let (node, port) = name.split_at(digits.unwrap_or(name.len()));
    let port = if port.is_empty() {
        1
    } else {
        port.parse().map_err(|_| format!("{name} is no end"))?
    };
    Ok(EndRef::new(node, port))
}

/// What is so.
pub(crate) fn observe(stage: &Stage, key: &str) -> Result<String, String> {
    let words: Vec<&str> = key.split(' ').collect();
    let number = |word: &str| word.parse().map_err(|_| format!("`{key}`: no number"));
    match words[..] {
        ["reply"] => Ok(reply(stage)),
        ["tool", "text", code] => Ok(LinkDownReason::tool_text(number(code)?).to_owned()),
        ["logical", old, "to", new] => Ok(verdict(logical_change(number(old)?, number(new)?))),
        ["physical", old, "to", new] => Ok(verdict(physical_change(number(old)?, number(new)?))),
        [name, ref what @ ..] => {
            let seen = of_end(&stage.network, &end(name)?, &what.join(" "))?;
            seen.ok_or_else(|| format!("nobody knows how to look at `{key}`"))
        }
        [] => Err("an empty key".to_owned()),
    }
}

fn reply(stage: &Stage) -> String {
    match &stage.reply {
        None => "none",
        Some(Ok(Reply::Answered)) => "answered",
        Some(Ok(Reply::Silent)) => "silent",
        Some(Err(DeedError::Refused { .. })) => "refused",
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

/// What is so of an end; `None` if there is no such look.
fn of_end(network: &Network, end: &EndRef, what: &str) -> Result<Option<String>, String> {
    let nothing = || "unavailable".to_owned();
    let record = network.record(end);
    let wrong = |error: DeedError| error.to_string();
    let queried = network.query(end).map_err(wrong)?;
    let local = network.local(end).map_err(wrong)?;
    let last: Option<&Notice> = network.notices().iter().rfind(|notice| notice.end == *end);
    Ok(Some(match what {
        "pair" => record.map_or_else(nothing, |record| codes(record.shown())),
        "latest" => record.map_or_else(nothing, |record| codes(record.latest())),
        "offline" => record.map_or_else(nothing, |record| offline(record.offline())),
        "query" => queried.map_or_else(nothing, |(info, _)| codes(info.pair)),
        "local" => local.map_or_else(nothing, |info| codes(info.pair)),
        "state" => local.map_or_else(nothing, |info| state_text(&info)),
        "shows" => {
            let states = network.states(end);
            states.map_or_else(nothing, |(logical, physical)| {
                format!("{} / {}", logical.shown(), physical.shown())
            })
        }
        "walk" => network
            .walk(end)
            .iter()
            .map(|step| {
                let (logical, physical) = (step.logical.shown(), step.physical.shown());
                format!("{} {logical} / {physical}\n", step.at.as_ms())
            })
            .collect(),
        "events" => events(network, end),
        "kernel" => network
            .kernel_log(&end.node)
            .iter()
            .map(|line| format!("{}\n", line.text))
            .collect(),
        "log" => log(&network.log_of(end)),
        "log text" => log_text(&network.log_of(end)),
        "notice" => last.map_or_else(nothing, |notice| notice.condition.text().to_owned()),
        "detail" => last.map_or_else(nothing, Notice::detail),
        "link_downed" => format!(
            "{} shown as {}",
            network.link_downed(end),
            network.link_downed_shown(end)
        ),
        _ => return Ok(None),
    }))
}

fn events(network: &Network, end: &EndRef) -> String {
    let own = network.events().iter().filter(|event| event.end == *end);
    own.map(|event| {
        let kind = match event.kind {
            KernelEventKind::PortErr => "PORT_ERR",
            KernelEventKind::PortActive => "PORT_ACTIVE",
            KernelEventKind::DeviceFatal => "DEVICE_FATAL",
            KernelEventKind::DeviceGone => "gone",
            KernelEventKind::DeviceBack => "back",
        };
        format!("{} {kind}\n", event.at.as_ms())
    })
    .collect()
}

/// The entries as printed, their times in seconds since the start.
fn log(log: &LinkDownErrorLog) -> String {
    let entries = log.printed().map(|entry| {
        let at_s = entry.at_s - START_S;
        format!("{}@{at_s}s", codes(entry.pair))
    });
    entries.collect::<Vec<_>>().join(" ")
}
