//! The message of a node condition: entries, each terminated by `;`, in at most 1024 bytes.
//!
//! A longer message is compacted and then truncated; truncated entries are lost, because they are
//! stored nowhere else. Source: NVSentinel, platform-connectors, `maxNodeConditionMessageLength` and
//! `compactedHealthEventMsgLen`.

use std::collections::BTreeSet;

use crate::entry::ACTION;

/// The largest size of a message, in bytes.
pub const MESSAGE_MAX_BYTES: usize = 1024;
/// The number of bytes of an event's message that an entry keeps when it is compacted.
pub const FREE_TEXT_MAX_BYTES: usize = 72;

const CUT: &str = "...";

/// What a condition's message lost when it was shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Entries that were lost completely, so that no condition has these faults any more.
    pub forgotten: Vec<String>,
    /// The entry that was truncated. A healthy event whose entities were truncated no longer clears it.
    pub torn: Option<String>,
}

impl Loss {
    /// Whether only free text was lost.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.forgotten.is_empty() && self.torn.is_none()
    }
}

/// The entries of a message, without a truncation mark.
pub fn entries(message: &str) -> impl Iterator<Item = &str> {
    let parts = message.split(';');
    parts.filter(|entry| !entry.is_empty() && *entry != CUT)
}

/// Whether an entry is truncated. Its entities may be incomplete, and then no healthy event clears it.
#[must_use]
pub fn is_torn(entry: &str) -> bool {
    entry.ends_with(CUT) && !entry.contains(ACTION)
}

/// The message of these entries, shortened if necessary.
#[must_use]
pub(crate) fn message_of(all: &[String]) -> (String, Loss) {
    let whole = joined(all);
    if whole.len() <= MESSAGE_MAX_BYTES {
        return (whole, Loss::default());
    }
    let distinct = without_doubles(all);
    let short: Vec<String> = distinct.iter().map(|entry| compacted(entry)).collect();
    let whole = joined(&short);
    if whole.len() <= MESSAGE_MAX_BYTES {
        return (whole, Loss::default());
    }
    let kept = whole.floor_char_boundary(MESSAGE_MAX_BYTES - CUT.len());
    (
        whole[..kept].to_owned() + CUT,
        loss(&distinct, &short, kept),
    )
}

fn joined(entries: &[String]) -> String {
    entries.iter().map(|entry| format!("{entry};")).collect()
}

/// Removes entries with the same GPUs and PCI functions, except the first. NICs are not considered, so
/// entries about NICs are never removed.
fn without_doubles(entries: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut fresh = Vec::new();
    for entry in entries {
        let counts = |token: &&str| token.starts_with("GPU:") || token.starts_with("PCI:");
        let identity: Vec<&str> = tokens(entry).filter(counts).collect();
        if identity.is_empty() || seen.insert(identity) {
            fresh.push(entry.clone());
        }
    }
    fresh
}

/// The leading words that contain a colon: codes and entities.
fn tokens(entry: &str) -> impl Iterator<Item = &str> {
    entry
        .split_inclusive(' ')
        .take_while(|word| word.trim_end().contains(':'))
}

/// The entry with its free text shortened.
fn compacted(entry: &str) -> String {
    let head: usize = tokens(entry).map(str::len).sum();
    let tail = entry.rfind(ACTION).unwrap_or(entry.len()).max(head);
    let free = &entry[head..tail];
    let free = &free[..free.floor_char_boundary(FREE_TEXT_MAX_BYTES)];
    format!("{}{free}{}", &entry[..head], &entry[tail..])
}

/// What the first `kept` bytes of the compacted entries lack.
fn loss(distinct: &[String], short: &[String], kept: usize) -> Loss {
    let mut loss = Loss::default();
    let mut start = 0;
    for (entry, short) in distinct.iter().zip(short) {
        let end = start + short.len();
        if kept <= start {
            loss.forgotten.push(entry.clone());
        } else if kept < end {
            loss.torn = Some(entry.clone());
        }
        start = end + 1;
    }
    loss
}
