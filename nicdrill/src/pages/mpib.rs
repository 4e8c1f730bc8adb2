//! A job over MPIB at an instant: classification, masks, bytes, hints and hazards; or what an outage did
//! to its queue pairs, in order (`mpib/timeline.rs`).
//!
//! The world is played without a monitor ([`freeze_at`]). Start at [`mpib_page`].

mod job_json;
pub(super) mod timeline;

use std::borrow::Cow;
use std::fmt::Write as _;

use director::{FreezeError, freeze_at};
use mpib::{ConnectionId, Edge, Hazard, Job, Net, Rail, Refusal, ShareSource, Side, Transport};
use scenarios::Story;

use super::json;
use job_json::job_json;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MpibPageError {
    /// The world cannot be played to that instant.
    #[error(transparent)]
    Still(#[from] FreezeError),
    /// The story has no job over MPIB.
    #[error("`{0}` has no job over MPIB\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    NoJob(String),
    /// The story has no job of this name.
    #[error("no job over MPIB `{asked}` in this story\nhint: {hint}", hint = self.hint().unwrap_or_default())]
    Unknown {
        /// The requested name.
        asked: String,
        /// The known names.
        known: String,
    },
}

impl MpibPageError {
    /// A hint for the user; `None` if the text needs none.
    pub(crate) fn hint(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoJob(..) => "`workloads: { job: { mpib: … } }`".into(),
            Self::Unknown { known, .. } => format!("there are {known}").into(),
            Self::Still(_) => return None,
        })
    }
}

/// The parts that a page shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MpibAsked<'a> {
    /// A time, such as `10s`; the story's end by default.
    pub(crate) at: Option<&'a str>,
    /// A job; all by default.
    pub(crate) workload: Option<&'a str>,
    /// Whether to show the course instead of the state.
    pub(crate) timeline: bool,
    /// Whether the page is JSON.
    pub(crate) json: bool,
}

/// The page, and the lines of the story that were left out.
///
/// # Errors
/// [`MpibPageError`], by cause.
pub(crate) fn mpib_page(
    story: &Story,
    asked: MpibAsked<'_>,
) -> Result<(String, Vec<String>), MpibPageError> {
    let (director, left_out) = freeze_at(story, asked.at)?;
    let names = story.workloads.keys();
    let jobs: Vec<(&str, &Job)> = names
        .filter_map(|name| Some((name.as_str(), director.workloads().job(name)?)))
        .collect();
    if jobs.is_empty() {
        return Err(MpibPageError::NoJob(story.name.clone()));
    }
    if let Some(asked) = asked.workload
        && !jobs.iter().any(|(name, _)| *name == asked)
    {
        let known: Vec<String> = jobs.iter().map(|(name, _)| format!("`{name}`")).collect();
        return Err(MpibPageError::Unknown {
            asked: asked.to_owned(),
            known: known.join(", "),
        });
    }
    let meant = |name: &str| asked.workload.is_none_or(|asked| asked == name);
    let jobs = jobs.into_iter().filter(|(name, _)| meant(name));
    if asked.json {
        let jobs: Vec<_> = jobs
            .map(|(name, job)| job_json(name, job, asked.timeline))
            .collect();
        let page = serde_json::json!({ "story": story.name, "jobs": jobs });
        return Ok((json::page(&page), left_out));
    }
    let mut page = String::new();
    for (name, job) in jobs {
        page += &heading(name, job);
        page += &if asked.timeline {
            timeline::timeline(job)
        } else {
            state(job)
        };
    }
    Ok((page, left_out))
}

fn heading(name: &str, job: &Job) -> String {
    let net = job.net();
    let ranks: Vec<&str> = job
        .ranks()
        .map(|host| net.host(host).name.as_str())
        .collect();
    let transport = match job.transport() {
        Transport::Mpib => format!("MPIB, profile {}", net.settings().profile),
        Transport::Internal => "NCCL's own transport, because MPIB was refused".to_owned(),
    };
    let (ranks, now) = (ranks.join(" "), net.now());
    format!("# job {name} on {ranks}, up to {now}: {transport}\n")
}

/// The state of a job.
fn state(job: &Job) -> String {
    let net = job.net();
    let mut page = String::new();
    for (host, refusal) in job.refusals() {
        let (reason, hint) = refusal_text(refusal);
        let (name, result) = (&net.host(*host).name, refusal.result());
        let _ = writeln!(page, "{name}: init returned {result}: {reason}");
        if let Some(hint) = hint {
            let _ = writeln!(page, "  hint: {hint}");
        }
    }
    for (edge, connection, messages) in job.edges() {
        let _ = writeln!(
            page,
            "{}: {} delivered",
            edge_name(net, edge),
            reports::counted(messages, "message")
        );
        for (side, verb, host) in [
            (Side::Send, "sends", edge.from),
            (Side::Receive, "receives", edge.to),
        ] {
            let name = &net.host(host).name;
            let _ = writeln!(page, "  {name} {verb}: {}", end(net, connection, side));
        }
        let [_, sout, sup, both] = net.masks(connection);
        let _ = writeln!(
            page,
            "  messages by mask: 0x1 {sout}, 0x2 {sup}, 0x3 {both}"
        );
    }
    for host in job.ranks() {
        let name = &net.host(host).name;
        for rail in Rail::BOTH {
            let (bytes, device) = (net.nic(host, rail), &net.host(host).nics[rail].device);
            let (sent, received) = (bytes.sent, bytes.received);
            let _ = writeln!(
                page,
                "{name} {rail} {}: {sent} bytes sent, {received} received",
                device.as_str()
            );
        }
        let _ = writeln!(
            page,
            "{name}: {} read",
            reports::counted(net.hint_reads(host), "hint")
        );
    }
    for hazard in net.hazards() {
        let _ = writeln!(page, "hazard: {}", hazard_text(job, *hazard));
    }
    for stall in job.stalls() {
        let (edge, from) = (edge_name(net, stall.edge), stall.from);
        let until = match stall.to {
            Some(to) => format!("waited from {from} to {to}"),
            None => format!("was not delivered since {from}"),
        };
        let _ = writeln!(page, "{edge}: a message {until}");
    }
    page + &timeline::verdict(job)
}

/// Why the plugin was refused, and the hint if there is one.
fn refusal_text(refusal: &Refusal) -> (String, Option<String>) {
    let text = refusal.to_string();
    match text.split_once("\n(hint: ") {
        Some((reason, hint)) => {
            let hint = hint.strip_suffix(')').unwrap_or(hint);
            (reason.to_owned(), Some(hint.to_owned()))
        }
        None => (text, None),
    }
}

/// One end of a connection: class, share, rail of clear-to-send, queue pairs, slot.
fn end(net: &Net, connection: ConnectionId, side: Side) -> String {
    let path = net.path(connection, side);
    let class = path
        .class()
        .map_or_else(|| "not classified".to_owned(), |class| class.to_string());
    let use_of_rails = match (side, path.share()) {
        (Side::Receive, _) => format!("clear-to-send on {}", path.cts_rail()),
        (Side::Send, ShareSource::Agent) => "SUP's share by the agent's hint".to_owned(),
        (Side::Send, ShareSource::Cached(share)) => {
            format!("SUP's share fixed at {}, no hint read", share.get())
        }
    };
    let pairs = path.queue_pairs();
    let slot = net
        .slot(connection, side)
        .map_or_else(String::new, |slot| format!(", hint slot {}", slot.number()));
    format!(
        "{class}, {use_of_rails}, queue pairs SOUT {} SUP {}{slot}",
        pairs.sout, pairs.sup
    )
}

fn edge_name(net: &Net, edge: Edge) -> String {
    let [from, to] = [edge.from, edge.to].map(|host| net.host(host).name.as_str());
    format!("{from} to {to}")
}

fn hazard_text(job: &Job, hazard: Hazard) -> String {
    let net = job.net();
    let on = |connection| {
        let [from, to] = net
            .ends(connection)
            .map(|host| net.host(host).name.as_str());
        format!("{from} to {to}")
    };
    match hazard {
        Hazard::NothingPosted { connection, rail } => format!(
            "{}: nothing was posted, {rail} has no queue pairs; the receiver waits forever",
            on(connection)
        ),
        Hazard::NoRoute { connection, rail } => format!(
            "{}: posted on {rail}, which has no route between islands",
            on(connection)
        ),
        Hazard::SpinsOnHint { connection } => format!(
            "{}: the send spins on a hint whose writer died in the middle of a write",
            on(connection)
        ),
    }
}
