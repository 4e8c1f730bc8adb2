//! The content of a state file, tick by tick.
//!
//! A monitor may write a hundred kilobytes in every poll to change some times in them: of such contents one is kept
//! whole, and of the others what differs from it. Start at [`StateFile::then`].

use std::{borrow::Cow, fmt, sync::Arc};

/// The number of bytes that are compared at once.
const BLOCK: usize = 64;

/// The content of a state file at the end of a tick.
#[derive(Clone)]
pub struct StateFile {
    /// The content, but for the changes; shared with other ticks.
    whole: Arc<[u8]>,
    changes: Option<Arc<Changes>>,
}

/// What replaces parts of a content by others of the same lengths.
#[derive(PartialEq, Eq)]
struct Changes {
    /// Where each part begins, and its length in bytes; in order.
    parts: Vec<(u32, u32)>,
    /// The bytes of the parts, one after another.
    bytes: Vec<u8>,
}

impl StateFile {
    /// The content of a later tick.
    #[must_use]
    pub fn then(&self, bytes: &[u8]) -> Self {
        let Some(changes) = Changes::between(&self.whole, bytes) else {
            return bytes.into();
        };
        if changes.parts.is_empty() {
            return Self {
                whole: Arc::clone(&self.whole),
                changes: None,
            };
        }
        let same = self.changes.as_ref().filter(|same| ***same == changes);
        Self {
            whole: Arc::clone(&self.whole),
            changes: Some(same.map_or_else(|| Arc::new(changes), Arc::clone)),
        }
    }

    /// The content.
    #[must_use]
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        let Some(changes) = &self.changes else {
            return Cow::Borrowed(&self.whole);
        };
        let mut bytes = self.whole.to_vec();
        let mut rest = changes.bytes.as_slice();
        for (at, len) in &changes.parts {
            let (at, len) = (*at as usize, *len as usize);
            let (part, others) = rest.split_at(len);
            bytes[at..at + len].copy_from_slice(part);
            rest = others;
        }
        Cow::Owned(bytes)
    }
}

impl Changes {
    /// What makes the second content of the first; `None` if they differ in length, or in so much that the second is
    /// better kept whole.
    fn between(whole: &[u8], bytes: &[u8]) -> Option<Self> {
        if whole.len() != bytes.len() || u32::try_from(bytes.len()).is_err() {
            return None;
        }
        let mut changes = Self {
            parts: Vec::new(),
            bytes: Vec::new(),
        };
        let blocks = whole.chunks(BLOCK).zip(bytes.chunks(BLOCK));
        for (nth, (was, is)) in blocks.enumerate().filter(|(_, (was, is))| was != is) {
            let mut pairs = was.iter().zip(is);
            let differs = |(was, is): (&u8, &u8)| was != is;
            let first = pairs.position(differs)?;
            let last = pairs.rposition(differs).map_or(first, |at| first + 1 + at);
            let at = u32::try_from(nth * BLOCK + first).ok()?;
            let part = &is[first..=last];
            changes.parts.push((at, u32::try_from(part.len()).ok()?));
            changes.bytes.extend_from_slice(part);
        }
        let size = changes.bytes.len() + size_of::<(u32, u32)>() * changes.parts.len();
        (size <= whole.len() / 2).then_some(changes)
    }
}

impl From<&[u8]> for StateFile {
    fn from(bytes: &[u8]) -> Self {
        Self {
            whole: bytes.into(),
            changes: None,
        }
    }
}

impl<const N: usize> From<[u8; N]> for StateFile {
    fn from(bytes: [u8; N]) -> Self {
        bytes.as_slice().into()
    }
}

impl PartialEq for StateFile {
    fn eq(&self, other: &Self) -> bool {
        if Arc::ptr_eq(&self.whole, &other.whole) {
            self.changes == other.changes
        } else {
            self.bytes() == other.bytes()
        }
    }
}

impl Eq for StateFile {}

impl fmt::Debug for StateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        f.debug_tuple("StateFile")
            .field(&String::from_utf8_lossy(&bytes))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each content after the other; whether the last one is kept by what differs.
    #[track_caller]
    fn check(contents: &[&[u8]], shared: bool) {
        let mut kept: Vec<StateFile> = Vec::new();
        for bytes in contents {
            let next = kept.last().map_or((*bytes).into(), |last| last.then(bytes));
            kept.push(next);
        }
        for (file, bytes) in kept.iter().zip(contents) {
            assert_eq!(*file.bytes(), **bytes);
            for (other, others) in kept.iter().zip(contents) {
                assert_eq!(file == other, bytes == others);
                assert_eq!(*file == StateFile::from(*others), bytes == others);
            }
        }
        let [first, .., last] = &kept[..] else { return };
        assert_eq!(Arc::ptr_eq(&first.whole, &last.whole), shared);
    }

    fn changed(bytes: &[u8], at: &[usize]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        at.iter().for_each(|at| bytes[*at] ^= 1);
        bytes
    }

    #[test]
    fn a_content_reads_as_it_was_given() {
        let long: Vec<u8> = (0..1000u32).map(|nth| (nth % 251) as u8).collect();
        let once = changed(&long, &[0, 63, 64, 700, 999]);
        let again = changed(&once, &[0, 128]);
        check(&[&long, &once, &again, &again, &long], true);
        check(&[&long, &long], true);
        check(&[&long, &once, b"", b"", &long], false);
    }

    #[test]
    fn a_content_that_differs_in_most_parts_or_in_length_is_kept_whole() {
        let long = vec![7; 1000];
        check(&[&long, &vec![8; 1000]], false);
        check(&[&long, &long[1..]], false);
        check(&[b"torn", b"tor"], false);
    }
}
