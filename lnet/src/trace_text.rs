//! The trace as text: one request with its answers ([`Traces::why`]), or every message
//! ([`Traces::all`]).

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use simfs::SimTime;

use super::{
    message::MessageId,
    nid::{NetName, Nid},
    status::MsgStatus,
    trace::{Candidate, Choice, Criterion, EndsBy, Loss, NoResend, PassedOver, TraceEntry, Traced},
    trace_timer::{timer_of, timers},
    wire::Trouble,
    workload_event::{Cause, Ending, Errand, Side, UlpResult, What},
};

/// A message that the trace does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no message {asked} was sent\nhint: {hint}", hint = self.hint())]
pub struct UnknownMessage {
    /// The requested number.
    pub asked: u64,
    /// The last number of a message; 0 if there is none.
    pub last: u64,
}

impl UnknownMessage {
    /// The hint.
    #[must_use]
    pub fn hint(&self) -> String {
        match self.last {
            0 => "nothing was sent up to this time".to_owned(),
            last => format!("messages are numbered up to {last}; `--trace` lists them"),
        }
    }
}

/// The recorded trace of a network, up to an instant.
#[derive(Clone, Copy, Debug)]
pub struct Traces<'a>(pub &'a [TraceEntry], pub SimTime);

impl<'a> Traces<'a> {
    /// The request of a message, with all its answers: each try, its timer, its end, the health that
    /// it cost, and what the layer above was told. First which timer ran out, which interface was
    /// blamed, what was lost, and which other path was tried, or why none was.
    ///
    /// # Errors
    /// [`UnknownMessage`].
    pub fn why(&self, message: u64) -> Result<String, UnknownMessage> {
        let request = self.request_of(message)?;
        let mut page = format!("request {request}\n");
        page += &self.answer(request).to_string();
        for entry in self.of_request(request) {
            page += &lines(entry);
        }
        Ok(page)
    }

    /// The request that a message is or answers.
    ///
    /// # Errors
    /// [`UnknownMessage`].
    pub fn request_of(&self, message: u64) -> Result<MessageId, UnknownMessage> {
        let choices = || self.0.iter().filter_map(choice_of);
        let found = choices().find(|choice| choice.message.0 == message);
        found
            .map(|choice| choice.request)
            .ok_or_else(|| UnknownMessage {
                asked: message,
                last: choices().map(|choice| choice.message.0).max().unwrap_or(0),
            })
    }

    /// The entries about a request and its answers, in order.
    #[must_use]
    pub fn of_request(&self, request: MessageId) -> Vec<&'a TraceEntry> {
        let choices = self.0.iter().filter_map(choice_of);
        let of_it: BTreeSet<MessageId> = choices
            .filter(|choice| choice.request == request)
            .map(|choice| choice.message)
            .collect();
        self.about(|about| match about {
            About::Message(id) => of_it.contains(&id),
            About::Request(id) => id == request,
            About::NoMessage => false,
        })
    }

    /// The first timer of a request and its answers that ran out: when it did, and in words.
    #[must_use]
    pub fn first_timer(&self, request: MessageId) -> Option<(SimTime, String)> {
        let timers = timers(&self.of_request(request), self.1);
        timers.into_iter().min_by_key(|(at, _)| *at)
    }

    /// The requests of the layer above that met trouble, in order: one of their tries, or of their answers', had no path or
    /// failed, a message was lost, or the response is overdue.
    #[must_use]
    pub fn troubled(&self) -> Vec<u64> {
        let mut request_of = BTreeMap::new();
        let (mut asked, mut troubled) = (BTreeSet::new(), BTreeSet::new());
        for entry in self.0 {
            if let Some(choice) = choice_of(entry) {
                request_of.insert(choice.message, choice.request);
                if choice.errand == Errand::Ulp {
                    asked.insert(choice.request);
                }
            }
            if is_trouble(&entry.what) {
                troubled.extend(match subject(&entry.what) {
                    Some(About::Request(request)) => Some(request),
                    Some(About::Message(message)) => request_of.get(&message).copied(),
                    Some(About::NoMessage) | None => None,
                });
            }
        }
        troubled.retain(|request| asked.contains(request));
        troubled.into_iter().map(|request| request.0).collect()
    }

    /// Every message: its tries, losses and end, in order.
    #[must_use]
    pub fn all(&self) -> String {
        let mut page = String::new();
        for entry in self.about(|_| true) {
            if let Some(line) = short(entry) {
                page += &line;
            }
        }
        page
    }

    /// The entries about certain messages; a change of health after an overdue response is about
    /// that request.
    fn about(&self, wanted: impl Fn(About) -> bool) -> Vec<&'a TraceEntry> {
        let mut overdue = None;
        let mut found = Vec::new();
        for entry in self.0 {
            if let Traced::Overdue { request, .. } = entry.what {
                overdue = Some(request);
            }
            let about = match &entry.what {
                Traced::Event(What::Health {
                    cause: Cause::ResponseTimeout,
                    ..
                })
                | Traced::AtZero {
                    cause: Cause::ResponseTimeout,
                    ..
                } => overdue.map(About::Request),
                what => subject(what),
            };
            if about.is_some_and(&wanted) {
                found.push(entry);
            }
        }
        found
    }
}

/// What an entry is about.
#[derive(Clone, Copy)]
enum About {
    /// A route, or health that changes for another reason than a message of this node.
    NoMessage,
    Message(MessageId),
    Request(MessageId),
}

fn subject(what: &Traced) -> Option<About> {
    Some(match what {
        Traced::Choice(Choice { message, .. })
        | Traced::Prospect { message, .. }
        | Traced::Deadline { message, .. }
        | Traced::AtZero {
            cause: Cause::Status(message, _),
            ..
        }
        | Traced::NoResend { message, .. }
        | Traced::Loss { message, .. }
        | Traced::Event(
            What::Sent { message, .. }
            | What::Judged { message, .. }
            | What::Ended { message, .. }
            | What::Health {
                cause: Cause::Status(message, _),
                ..
            },
        ) => About::Message(*message),
        Traced::Tracked { request, .. }
        | Traced::Overdue { request, .. }
        | Traced::Event(What::Told { request, .. } | What::Arrived { request, .. }) => {
            About::Request(*request)
        }
        Traced::Route { .. } | Traced::Event(What::Health { .. }) => About::NoMessage,
        Traced::AtZero { .. } | Traced::Event(What::Dropped { .. } | What::Console(_)) => {
            return None;
        }
    })
}

/// Whether it tells that something of a message did not go well.
fn is_trouble(what: &Traced) -> bool {
    match what {
        Traced::Event(What::Judged { status, .. } | What::Ended { status, .. }) => {
            *status != MsgStatus::Ok
        }
        Traced::Overdue { .. } | Traced::Loss { .. } => true,
        _ => false,
    }
}

pub(crate) fn choice_of(entry: &TraceEntry) -> Option<&Choice> {
    match &entry.what {
        Traced::Choice(choice) => Some(choice),
        _ => None,
    }
}

impl TraceEntry {
    /// The message that it is about, if it is about one.
    #[must_use]
    pub fn message(&self) -> Option<MessageId> {
        match subject(&self.what)? {
            About::Message(message) => Some(message),
            About::Request(_) | About::NoMessage => None,
        }
    }

    /// The request that it is about, as far as the entry tells.
    #[must_use]
    pub fn request(&self) -> Option<MessageId> {
        match (&self.what, subject(&self.what)?) {
            (Traced::Choice(choice), _) => Some(choice.request),
            (_, About::Request(request)) => Some(request),
            (_, About::Message(_) | About::NoMessage) => None,
        }
    }

    /// It in words, without time and node; `None` for what other entries tell.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match &self.what {
            Traced::Choice(choice) => Some(head(choice)),
            _ => words(self),
        }
    }
}

impl fmt::Display for Errand {
    /// As in the trace, `of the layer above`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ulp => "of the layer above",
            Self::RecoverLocal => "recovery ping of an own NI",
            Self::RecoverPeer => "recovery ping of a peer NI",
            Self::RouterPing => "router ping",
            Self::Push => "push",
            Self::Answer => "answer",
            Self::Forward => "forwarded",
        })
    }
}

impl fmt::Display for PassedOver {
    /// The reason alone, `lower health`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoPath => "there is no path",
            Self::SourceGiven => "the source is given",
            Self::OneSource => "the peer keeps seeing one NI",
            Self::BothGiven => "the source is given and the destination on its net",
            Self::Fixed => "the message goes to a fixed NID",
            Self::OtherNet => "another net was chosen",
            Self::Fatal => "its fatal flag is set",
            Self::AllFatal => "all are fatal, and the first is used",
            Self::Used => "an earlier try used it",
            Self::RouteDown => "the route is down",
            Self::NotNear => "it is not on the net of the given source",
            Self::Loses(criterion) => match criterion {
                Criterion::Health => "lower health",
                Criterion::Priority => "priority",
                Criterion::Hops => "more hops",
                Criterion::QueuedBytes => "more bytes in flight to it",
                Criterion::DevicePriority => "priority of the device",
                Criterion::NumaDistance => "NUMA distance",
                Criterion::Credits => "fewer credits",
                Criterion::Sequence => "selected more often",
                Criterion::Order => "later in the configuration",
            },
        })
    }
}

impl fmt::Display for NoResend {
    /// The reason alone, `the node has no other NI`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline => f.write_str("its deadline has passed"),
            Self::Status(status) => write!(f, "LNet never resends after {status}"),
            Self::OneLocalNi => f.write_str("the node has no other NI"),
            Self::OnePeerNi => f.write_str("the peer has no other NI"),
            Self::RecoveryPing => f.write_str("a recovery ping is sent once"),
            Self::RetriesUsed(count) => {
                write!(f, "all of its retry_count {count} resends are used")
            }
            Self::Unanswered => {
                f.write_str("was sent, and LNet never resends for want of a response")
            }
        }
    }
}

impl fmt::Display for Loss {
    /// The reason alone, `it arrives after its deadline`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule => "a fault rule of this node drops it on arrival",
            Self::Late => "it arrives after its deadline",
            Self::Asymmetric => "drop_asym_route, no route leads back by this way",
            Self::NoRequest => "it answers no open request",
            Self::NotForwarded => "it is for another node, and this one does not forward",
            Self::DeadHop => "the router's next hop is dead",
        })
    }
}

/// The lines of an entry, for one request.
fn lines(entry: &TraceEntry) -> String {
    let TraceEntry { at, node, what } = entry;
    match what {
        Traced::Choice(choice) => chosen(entry, choice),
        _ => words(entry).map_or_else(String::new, |text| format!("{at} {node}: {text}\n")),
    }
}

/// An entry in words, other than a choice.
fn words(entry: &TraceEntry) -> Option<String> {
    Some(match &entry.what {
        Traced::Choice(_) | Traced::Deadline { .. } | Traced::AtZero { .. } => return None,
        Traced::Prospect { by, at: due, .. } => format!("{}, due at {due}", ends_by(*by)),
        Traced::Tracked { until, .. } => {
            format!("waits for the response until {until} (transaction_timeout)")
        }
        Traced::Overdue {
            since, next_hop, ..
        } => {
            let hop = next_hop.as_ref();
            let hop = hop.map_or_else(String::new, |hop| format!("; the next hop was {hop}"));
            format!("the monitor thread finds the response overdue since {since}{hop}")
        }
        Traced::NoResend { message, why } => {
            format!("message {message} is not resent: {why}")
        }
        Traced::Loss { message, why } => format!("message {message} is lost: {why}"),
        Traced::Route { net, gateway, up } => route_line(net, gateway, *up),
        Traced::Event(_) => event(entry)?,
    })
}

/// The line of an entry in a list of all messages; `None` if it has none.
fn short(entry: &TraceEntry) -> Option<String> {
    let TraceEntry { at, node, what } = entry;
    let text = match what {
        Traced::Choice(choice) => head(choice),
        Traced::Event(
            What::Judged { .. } | What::Ended { .. } | What::Health { .. } | What::Told { .. },
        ) => event(entry)?,
        Traced::Overdue { request, .. } => format!("the response to {request} is overdue"),
        Traced::Loss { message, why } => format!("message {message} is lost: {why}"),
        Traced::Route { net, gateway, up } => route_line(net, gateway, *up),
        _ => return None,
    };
    Some(format!("{at} {node}: {text}\n"))
}

/// `by a1@o2ib to b1@o2ib`, or why there is no path.
pub(crate) fn path(choice: &Choice) -> String {
    match &choice.path {
        Ok((by, to)) => format!("by {by} to {to}"),
        Err(why) => {
            let (to, status) = (&choice.destination, why.status());
            format!("no path to {to}: {why} ({status})")
        }
    }
}

fn head(choice: &Choice) -> String {
    let path = path(choice);
    format!(
        "message {} (request {}, {}), {} of {} bytes, portal {}: try {} {path}",
        choice.message,
        choice.request,
        choice.errand,
        choice.kind.name().to_uppercase(),
        choice.length,
        choice.portal,
        choice.attempt,
    )
}

fn chosen(entry: &TraceEntry, choice: &Choice) -> String {
    let mut page = format!("\n{} {}: {}\n", entry.at, entry.node, head(choice));
    let sides = [
        ("gateway", "its route is down", &choice.gateways),
        ("source", "fatal", &choice.local),
        ("destination", "reported down", &choice.remote),
    ];
    for (side, down, all) in sides {
        for candidate in all {
            page += &row(side, down, candidate);
        }
    }
    page
}

fn row(side: &str, down: &str, candidate: &Candidate) -> String {
    let Candidate {
        nid,
        health,
        credits,
        priority,
        sequence,
        ..
    } = candidate;
    let down = if candidate.down {
        format!(", {down}")
    } else {
        String::new()
    };
    let verdict = match candidate.passed_over {
        None => "chosen".to_owned(),
        Some(why @ PassedOver::NoPath) => why.to_string(),
        Some(why) => format!("passed over, {why}"),
    };
    let times = if *sequence == 1 { "time" } else { "times" };
    format!(
        "  {side:<12}{nid:<18} health {health:>4}, credits {credits}, priority {priority}, \
         selected {sequence} {times}{down}: {verdict}\n",
        nid = nid.to_string(),
        health = health.value(),
    )
}

/// An event in words; `None` for one that the trace tells otherwise.
pub(crate) fn event(entry: &TraceEntry) -> Option<String> {
    let Traced::Event(what) = &entry.what else {
        return None;
    };
    Some(match what {
        What::Judged {
            message,
            status,
            resend,
        } => {
            let then = if *resend { ", and it is resent" } else { "" };
            format!("the try of message {message} ends: {status}{then}")
        }
        What::Ended {
            message,
            status,
            resends,
            ending,
        } => {
            let ending = match ending {
                Ending::Success => "sent",
                Ending::Failure => "failed",
                Ending::Deadline => "past its deadline",
            };
            let noun = if *resends == 1 { "resend" } else { "resends" };
            format!("message {message} is finalised: {ending}, {status}, {resends} {noun}")
        }
        What::Health {
            ni,
            side,
            before,
            after,
            cause,
        } => {
            let side = match side {
                Side::Local => "its own NI",
                Side::Peer => "the peer NI",
            };
            let cause = match cause {
                Cause::Status(..) | Cause::ResponseTimeout => "",
                Cause::Arrival => ", by a message that arrived",
                Cause::Recovery => ", by a recovery ping",
                Cause::PingFailed => ", by a recovery ping that failed",
                Cause::ReportedDown => ", reported down",
                Cause::Set => ", set",
            };
            format!(
                "{side} {ni} on {}: health {before} to {after}{cause}",
                entry.node.as_str()
            )
        }
        What::Told {
            request,
            event,
            result,
            last,
        } => {
            let event = event.name();
            let result = match result {
                UlpResult::Ok => "success".to_owned(),
                UlpResult::Failed(status) => format!("failure ({status})"),
                UlpResult::TimedOut => "timed out (-ETIMEDOUT)".to_owned(),
                UlpResult::Shutdown => "LNet was unloaded".to_owned(),
            };
            let last = if *last { ", nothing follows" } else { "" };
            format!("the layer above is told of {request}: {event}, {result}{last}")
        }
        What::Arrived {
            request,
            kind,
            from,
            ..
        } => {
            let kind = kind.name().to_uppercase();
            format!("{kind} of request {request} arrives from {from}")
        }
        What::Sent { .. } | What::Dropped { .. } | What::Console(_) => return None,
    })
}

fn route_line(net: &NetName, gateway: &Nid, up: bool) -> String {
    let state = if up { "up" } else { "down" };
    format!("the route to {net} by {gateway} goes {state}")
}

fn ends_by(by: EndsBy) -> String {
    match by {
        EndsBy::Arrival => "on the wire, arrival".to_owned(),
        EndsBy::Rule => "a fault rule of this node ends the try".to_owned(),
        EndsBy::Closed(_) => {
            "another message on its connection failed: the driver closes it and drops all on it"
                .to_owned()
        }
        EndsBy::Driver(trouble) => {
            let timer = timer_of(trouble).unwrap_or("no timer, the driver knows at once");
            let what = match trouble {
                Trouble::CompletionFailed => "posted, its completion will fail",
                Trouble::AwaitingResponse => "sent, the driver's answer will not come",
                Trouble::StillSending => "still being sent at the timeout",
                Trouble::StillQueued => "still queued at the timeout",
                Trouble::ConnectTimedOut => "connecting takes too long",
                Trouble::ConnectUnreachable => "connecting finds no host",
                Trouble::ConnectRefused => "connecting is refused",
                Trouble::ConnectFailed => "connecting fails",
                Trouble::Nak => "the other side answers with an error",
                Trouble::NoResources => "no descriptor to send it with",
            };
            format!("{what}; {timer}")
        }
    }
}
