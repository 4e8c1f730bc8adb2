//! A node condition's message: entries, each ended by `;`, in at most 1024 bytes.
//!
//! What does not fit is compacted and then cut, and what is cut is forgotten: nothing else holds it.
//! Source: NVSentinel, platform-connectors, `maxNodeConditionMessageLength` and
//! `compactedHealthEventMsgLen`.

use std::collections::BTreeSet;

use crate::entry::ACTION;

/// The most bytes of a message.
pub const MESSAGE_MAX_BYTES: usize = 1024;
/// The bytes of free text that an entry keeps when the message is compacted.
pub const FREE_TEXT_MAX_BYTES: usize = 72;

const CUT: &str = "...";

/// What a message lost when it was made to fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Entries of which nothing is left: no condition tells of these faults any more.
    pub forgotten: Vec<String>,
    /// The entry that was cut in the middle. A healthy event whose entities stood behind the cut
    /// clears it no more.
    pub torn: Option<String>,
}

impl Loss {
    /// Was nothing lost but free text?
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.forgotten.is_empty() && self.torn.is_none()
    }
}

/// The entries of a message; a mark of a cut alone is none.
pub fn entries(message: &str) -> impl Iterator<Item = &str> {
    let parts = message.split(';');
    parts.filter(|entry| !entry.is_empty() && *entry != CUT)
}

/// Whether this is what the cut left of an entry. What it names need not be whole any more, and then no
/// healthy event clears it.
#[must_use]
pub fn is_torn(entry: &str) -> bool {
    entry.ends_with(CUT) && !entry.contains(ACTION)
}

/// The message of these entries, made to fit.
#[must_use]
pub fn message_of(all: &[String]) -> (String, Loss) {
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

/// Entries that name the same GPUs and PCI functions are one; the first is kept. NICs do not count, so
/// entries about a NIC are never doubles.
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

/// The leading words with a colon in them: codes and entities.
fn tokens(entry: &str) -> impl Iterator<Item = &str> {
    entry
        .split_inclusive(' ')
        .take_while(|word| word.trim_end().contains(':'))
}

/// The entry with its free text cut down.
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
