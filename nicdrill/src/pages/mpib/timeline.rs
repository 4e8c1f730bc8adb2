//! The course of an outage on a job's queue pairs, and how the job fared. Start at [`timeline`].

use std::fmt::Write as _;

use mpib::{
    ConnectError, Death, Edge, FailureCause, Hopeless, Job, Net, NetEvent, NetEventKind, PostKind,
    QueuePairId, Rail, Rescue, Side, Transport, WC_FLUSHED, WC_RETRY_EXCEEDED, ack_timeout,
};
use simfs::SimTime;

use super::edge_name;

/// Log lines, asynchronous events, lost posts, retries and completions in order, then the verdict.
/// Writes that were acknowledged at once are left out.
pub(super) fn timeline(job: &Job) -> String {
    let mut page = try_text(job.net());
    for (at, text) in course(job) {
        let _ = writeln!(page, "{at} {text}");
    }
    page + &verdict(job)
}

/// The lines of the course with their times, in order.
pub(super) fn course(job: &Job) -> Vec<(SimTime, String)> {
    let net = job.net();
    let end = job.failure().map_or(SimTime::MAX, |failure| failure.at);
    let mut lines: Vec<(SimTime, String)> = Vec::new();
    for line in net.logs() {
        let name = &net.host(line.host).name;
        lines.push((line.at, format!("{name}: log: {}", line.text)));
    }
    for event in net.events().iter().filter(|event| event.at <= end) {
        lines.push((event.at, event_text(job, event)));
    }
    lines.sort_by_key(|(at, _)| *at);
    lines
}

/// How the job fared; if it died of an outage, whether hints would have saved it.
pub(in crate::pages) fn verdict(job: &Job) -> String {
    let net = job.net();
    let Some(failure) = job.failure() else {
        let waits: Vec<Option<SimTime>> = job
            .stalls()
            .map(|stall| Some(stall.to?.since(stall.from)))
            .collect();
        let open = waits.iter().filter(|wait| wait.is_none()).count();
        let longest = waits.iter().flatten().max();
        return match (longest, open) {
            (None, 0) => "job survives: no message had to wait\n".to_owned(),
            (Some(longest), 0) => format!(
                "job survives: {} had to wait, the longest for {longest}\n",
                reports::counted(waits.len() as u64, "message")
            ),
            (_, 1) => "job waits: 1 message is not delivered yet\n".to_owned(),
            _ => format!("job waits: {open} messages are not delivered yet\n"),
        };
    };
    let on = failure
        .edge
        .map_or_else(String::new, |edge| format!(" on {}", edge_name(net, edge)));
    let result = failure.cause.result().map_or_else(
        || "calls never return".to_owned(),
        |result| result.to_string(),
    );
    let mut page = format!(
        "job fails at {}{on}, on every rank: {result} ({})\n",
        failure.at,
        cause_text(net, failure.cause)
    );
    if let Some(rescue) = job.rescue() {
        page += &rescue_text(job, &rescue);
    }
    page
}

/// Which hints would have saved the job, as played, or why none would.
fn rescue_text(job: &Job, rescue: &Rescue) -> String {
    let net = job.net();
    let (at, why) = match rescue {
        Rescue::Hints { at, hints } => {
            let (a_hint, hints) = hints_text(net, hints);
            return format!(
                "another mask: {a_hint} right before {at} would have saved it: {hints}\n"
            );
        }
        Rescue::NotEnough { at, hints, failure } => {
            let (a_hint, hints) = hints_text(net, hints);
            let then = failure.map_or_else(
                || "a message still waits".to_owned(),
                |failure| {
                    let cause = cause_text(net, failure.cause);
                    format!("the job fails at {} ({cause})", failure.at)
                },
            );
            return format!(
                "another mask: {a_hint} right before {at} would not have been enough: {hints}, and {then}\n"
            );
        }
        Rescue::None { at, why } => (at, why),
    };
    let why = match why {
        Hopeless::ClearToSend(rail) => {
            format!("clear-to-send uses {rail} whatever the mask")
        }
        Hopeless::Fixed(rail) => {
            format!("{rail} was fixed when the connection was made, whatever the hint")
        }
        Hopeless::NoHint(host) => {
            format!("the agent of {} writes none", net.host(*host).name)
        }
        Hopeless::TooEarly => {
            "it was posted when the connections were made, and no pair has a slot before".to_owned()
        }
        Hopeless::Rest(rail, rest) if rest.get() == 0 => {
            format!("an empty message uses {rail} whatever the hint")
        }
        Hopeless::Rest(rail, rest) => {
            format!("{rest} bytes of each message use {rail} whatever the hint")
        }
    };
    format!("another mask: no hint right before {at} would have saved it: {why}\n")
}

/// `a hint` and `vm1 to vm2, all to SUP`, or the plural.
fn hints_text(net: &Net, hints: &[(Edge, Rail)]) -> (&'static str, String) {
    let hints: Vec<String> = hints
        .iter()
        .map(|(edge, rail)| format!("{}, all to {rail}", edge_name(net, *edge)))
        .collect();
    let a_hint = if hints.len() == 1 { "a hint" } else { "hints" };
    (a_hint, hints.join("; "))
}

/// How long a write is tried.
fn try_text(net: &Net) -> String {
    let settings = net.settings();
    let (timeout, tries) = (settings.ack_timeout, settings.retries.tries());
    let formula = exponent(timeout).map_or_else(String::new, |exponent| {
        format!(" (4.096 us * 2^{exponent})")
    });
    format!("# {tries} tries of {timeout}{formula}\n")
}

/// The exponent of a timeout, 4.096 us * 2^exponent; `None` if it has none.
pub(super) fn exponent(timeout: SimTime) -> Option<u8> {
    (0..=31).find(|exponent| ack_timeout(*exponent) == timeout)
}

/// What is seen of an outage without its retries: asynchronous events, lost queue pairs, and what was logged after the
/// start, in order.
pub(in crate::pages) fn signs(job: &Job) -> Vec<(SimTime, String)> {
    let net = job.net();
    let end = job.failure().map_or(SimTime::MAX, |failure| failure.at);
    let logs = net.logs().iter().filter(|line| line.at > SimTime::ZERO);
    let logs = logs.map(|line| {
        let name = &net.host(line.host).name;
        (line.at, format!("{name}: log: {}", line.text))
    });
    let is_sign = |kind: &NetEventKind| {
        matches!(
            kind,
            NetEventKind::Async(_) | NetEventKind::RetryExceeded { .. }
        )
    };
    let events = net.events().iter();
    let events = events.filter(|event| event.at <= end && is_sign(&event.kind));
    let events = events.map(|event| (event.at, event_text(job, event)));
    let mut signs: Vec<(SimTime, String)> = logs.chain(events).collect();
    signs.sort_by_key(|(at, _)| *at);
    signs
}

fn event_text(job: &Job, event: &NetEvent) -> String {
    let net = job.net();
    let host = net.host(event.host);
    let on = |queue_pair: QueuePairId| {
        let [sender, receiver] = net.ends(queue_pair.connection);
        let peer = match queue_pair.side {
            Side::Send => receiver,
            Side::Receive => sender,
        };
        let index = queue_pair.index;
        format!(
            "{} {} QP {index} to {}:",
            host.name,
            event.rail,
            net.host(peer).name
        )
    };
    let tries = net.settings().retries.tries();
    match event.kind {
        NetEventKind::Async(raised) => {
            let device = host.nics[event.rail].device.as_str();
            let read = match job.transport() {
                Transport::Mpib => "; MPIB reads none",
                Transport::Internal => "",
            };
            let number = raised.number();
            format!(
                "{} {} {device}: event {raised} ({number}){read}",
                host.name, event.rail
            )
        }
        NetEventKind::Post {
            queue_pair,
            purpose,
            bytes,
            mask,
            behind,
        } => {
            let purpose = match purpose {
                PostKind::Data => "data",
                PostKind::ClearToSend => "clear-to-send",
            };
            let mask = mask.map_or_else(String::new, |mask| format!(", mask {:#x}", mask.bits()));
            let place = if behind == 0 {
                format!("try 1 of {tries}")
            } else {
                format!("waits behind {behind}")
            };
            let on = on(queue_pair);
            format!("{on} post {purpose}, {bytes} bytes{mask}; {place}")
        }
        NetEventKind::Retry {
            queue_pair,
            tries: now,
        } => format!("{} timeout; try {now} of {tries}", on(queue_pair)),
        NetEventKind::Acknowledged { queue_pair, writes } => format!(
            "{} acknowledged: WC 0 IBV_WC_SUCCESS for {writes}",
            on(queue_pair)
        ),
        NetEventKind::RetryExceeded {
            queue_pair,
            tries,
            flushed,
        } => {
            let behind = if flushed == 0 {
                String::new()
            } else {
                format!("; WC {WC_FLUSHED} IBV_WC_WR_FLUSH_ERR for {flushed} behind it")
            };
            format!(
                "{} timeout; WC {WC_RETRY_EXCEEDED} IBV_WC_RETRY_EXC_ERR after {tries} tries{behind}",
                on(queue_pair)
            )
        }
    }
}

pub(super) fn cause_text(net: &Net, cause: FailureCause) -> String {
    let name = |host| net.host(host).name.as_str();
    match cause {
        FailureCause::Connect(ConnectError::NotLoaded { host }) => {
            format!("the plugin of {} is not loaded", name(host))
        }
        FailureCause::Connect(ConnectError::RailNotUp { host, rail }) => {
            format!("{rail} of {} is not up", name(host))
        }
        FailureCause::Connect(ConnectError::Unregistered { host, reason }) => {
            format!("{} got no hint slot: {reason}", name(host))
        }
        FailureCause::Network(Death::RetryExceeded { host, rail }) => {
            format!(
                "transport retry counter exceeded on {rail} of {}",
                name(host)
            )
        }
        FailureCause::Network(Death::QueueFull { host, rail }) => {
            format!("send queue full on {rail} of {}", name(host))
        }
        FailureCause::Network(Death::DeviceGone { host, rail }) => {
            format!("{rail} of {} is gone", name(host))
        }
        FailureCause::RankLost(host) => format!("{} lost its rank", name(host)),
        FailureCause::Hung => "hung, without an error".to_owned(),
    }
}
