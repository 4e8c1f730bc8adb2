//! The timers of a request that ran out, from its trace.
//!
//! What ran out is found later by whom it concerns: a message's deadline at the end of an attempt, a response by the monitor
//! thread. Start at [`timers`].

use std::collections::{BTreeMap, BTreeSet};

use simfs::SimTime;

use super::{
    message::MessageId,
    trace::{EndsBy, Loss, TraceEntry, Traced},
    wire::{Noticed, Trouble},
    workload_event::{Ending, What},
};

/// Every timer that ran out until `now`: when it did, and in words.
pub(crate) fn timers(entries: &[&TraceEntry], now: SimTime) -> Vec<(SimTime, String)> {
    let mut timers = Vec::new();
    let mut tries: BTreeMap<MessageId, Trouble> = BTreeMap::new();
    let mut deadlines: BTreeMap<MessageId, SimTime> = BTreeMap::new();
    let mut ended: BTreeSet<MessageId> = BTreeSet::new();
    let mut response = None;
    for entry in entries {
        let found = entry.at;
        match &entry.what {
            Traced::Prospect {
                message,
                by: EndsBy::Driver(trouble),
                ..
            } => {
                tries.insert(*message, *trouble);
            }
            Traced::Prospect { message, by, .. } => {
                tries.remove(message);
                if let EndsBy::Closed(trouble) = by
                    && let Some(name) = timer_of(*trouble)
                {
                    let timer = format!("{name}, of another message on its connection, at {found}");
                    timers.push((found, timer));
                }
            }
            Traced::Deadline { message, at } => {
                deadlines.insert(*message, *at);
            }
            Traced::Tracked { until, .. } => response = Some(*until),
            Traced::Event(What::Judged { message, .. }) => {
                let trouble = tries.get(message);
                if let Some(name) = trouble.and_then(|trouble| timer_of(*trouble)) {
                    timers.push((found, format!("{name}, at {found}")));
                }
            }
            Traced::Event(What::Ended {
                message,
                ending: Ending::Deadline,
                ..
            })
            | Traced::Loss {
                message,
                why: Loss::Late,
            } => {
                if let Some(at) = deadlines.remove(message) {
                    timers.push((at, passed(at, found)));
                }
            }
            Traced::Event(What::Ended { message, .. }) => {
                // At its receiver it can still be late.
                ended.insert(*message);
            }
            Traced::Overdue { since, .. } => {
                response = None;
                timers.push((
                    *since,
                    format!(
                        "transaction_timeout of the response, at {since}; found by the monitor thread at {found}"
                    ),
                ));
            }
            Traced::Event(What::Told { last: true, .. }) => response = None,
            _ => {}
        }
    }
    for (message, at) in deadlines {
        if at < now && !ended.contains(&message) {
            timers.push((
                at,
                format!("the message's deadline, at {at}; its driver has not found it yet"),
            ));
        }
    }
    if let Some(at) = response.filter(|at| *at <= now) {
        timers.push((
            at,
            format!("transaction_timeout of the response, at {at}; the monitor thread has not found it yet"),
        ));
    }
    timers
}

/// A message's deadline, and when it was found to have passed.
fn passed(at: SimTime, found: SimTime) -> String {
    if found == at {
        format!("the message's deadline, at {at}")
    } else {
        format!("the message's deadline, at {at}; found at {found}")
    }
}

/// The timer by which a driver notices a trouble; `None` if it needs none.
pub(crate) fn timer_of(trouble: Trouble) -> Option<&'static str> {
    match trouble.noticed() {
        Noticed::AtOnce => None,
        Noticed::AfterRetries => Some("the retries of the reliable connection"),
        Noticed::AfterLndTimeout => Some("lnd_timeout"),
    }
}
