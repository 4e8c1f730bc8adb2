//! What a program has written and nobody has taken yet, of any length in bounded memory: its first and its last bytes are
//! kept, and those between are counted.

use std::collections::VecDeque;

/// How many of the first bytes are kept, and how many of the last ones.
const KEPT: usize = 256 * 1024;

/// Bytes of a pipe.
#[derive(Debug, Default)]
pub(super) struct Output {
    first: Vec<u8>,
    last: VecDeque<u8>,
    /// How many bytes between the two were dropped.
    dropped: u64,
    /// How many bytes have come in all.
    come: u64,
}

impl Output {
    /// Adds bytes that have come.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.come += bytes.len() as u64;
        self.keep(bytes);
    }

    /// How many bytes have come so far, kept or not.
    pub(super) fn come(&self) -> u64 {
        self.come
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.first.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        if self.last.is_empty() {
            self.first.extend_from_slice(first);
            self.last.extend(rest);
        } else {
            self.last.extend(bytes);
        }
        let excess = self.last.len().saturating_sub(KEPT);
        self.last.drain(..excess);
        self.dropped += excess as u64;
    }

    /// Takes the complete lines; with `at_end` also an incomplete last one. A line tells how many bytes were dropped.
    pub(super) fn take(&mut self, at_end: bool) -> Vec<u8> {
        let last = self.last.make_contiguous();
        let mut bytes = std::mem::take(&mut self.first);
        if self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            let told = format!("\nnicdrill: {dropped} bytes of its output are left out here\n");
            bytes.extend(told.into_bytes());
        }
        bytes.extend_from_slice(last);
        self.last.clear();
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = match end {
            _ if at_end => bytes.len(),
            end => end.map_or(0, |end| end + 1),
        };
        // A rest longer than that is no line that anybody reads.
        let rest = bytes.split_off(whole);
        self.keep(&rest);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &[&[u8]], at_end: bool, expected: &[u8], rest: &[u8]) {
        let mut output = Output::default();
        written.iter().for_each(|bytes| output.extend(bytes));
        assert_eq!(output.take(at_end), expected);
        assert_eq!(output.take(true), rest);
    }

    #[test]
    fn whole_lines_are_taken_and_the_rest_stays_until_the_end() {
        check(&[b"one\ntw", b"o\nthr"], false, b"one\ntwo\n", b"thr");
        check(&[b"one\ntw"], true, b"one\ntw", b"");
        check(&[b"on"], false, b"", b"on");
        check(&[], false, b"", b"");
    }

    #[test]
    fn of_much_output_the_first_and_last_bytes_are_kept_and_the_others_counted() {
        let mut output = Output::default();
        output.extend(&[b'a'; KEPT]);
        for _ in 0..40 {
            output.extend(&[b'b'; KEPT]);
        }
        output.extend(b"\nthe end\n");
        assert!(output.first.len() + output.last.len() <= 2 * KEPT);
        let taken = output.take(false);
        let dropped = 39 * KEPT + b"\nthe end\n".len();
        let told = format!("\nnicdrill: {dropped} bytes of its output are left out here\n");
        assert_eq!(taken.len(), 2 * KEPT + told.len());
        assert!(taken.starts_with(&[b'a'; KEPT]));
        assert_eq!(&taken[KEPT..KEPT + told.len()], told.as_bytes());
        assert!(taken.ends_with(b"b\nthe end\n"));
        assert_eq!(output.take(true), b"");
        assert_eq!(output.come(), 41 * KEPT as u64 + 9);
    }

    #[test]
    fn a_line_that_never_ends_keeps_its_bounds() {
        let mut output = Output::default();
        for _ in 0..10 {
            output.extend(&[b'x'; KEPT]);
            assert!(output.first.len() + output.last.len() <= 2 * KEPT);
            output.take(false);
        }
        assert!(output.take(true).len() <= 2 * KEPT + 100);
    }
}
