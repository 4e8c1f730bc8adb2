//! The last eight times that a subnet manager found reasons on a port.
//!
//! The log belongs to the manager, not to the port: it is written in a sweep, from what the port
//! shows then. A time of 0 marks an empty entry. The rest of the crate decides when sweeps happen;
//! `text.rs` formats the log. Start at [`LinkDownErrorLog`].

use super::record::Pair;

/// The world's clock at its start, 2025-03-01T00:00:00Z, in seconds since 1970. It is above 0
/// because a time of 0 marks an empty entry.
pub const START_S: u64 = 1_740_787_200;

/// An entry: what a port showed when a sweep began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogEntry {
    /// The start of the sweep, in seconds since 1970; 0 marks an empty entry.
    pub at_s: u64,
    /// Both reasons.
    pub pair: Pair,
}

impl LogEntry {
    /// Whether the entry is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.at_s == 0
    }
}

/// How many entries a log has.
const ENTRIES: usize = 8;

/// A subnet manager's log of one port ("Link Down Reason", Cornelis; `sm_popo.c` of the fabric
/// manager).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkDownErrorLog {
    entries: [LogEntry; ENTRIES],
    written: bool,
}

impl LinkDownErrorLog {
    /// A sweep that began at `at_s` read this pair. Until the port is armed, one going down is
    /// logged once, however many sweeps see it.
    pub fn read(&mut self, pair: Pair, at_s: u64) {
        if pair.is_clear() || self.written {
            return;
        }
        self.written = true;
        let empty = self.entries.iter().position(|entry| entry.is_empty());
        let slot = empty.unwrap_or_else(|| self.oldest());
        self.entries[slot] = LogEntry { at_s, pair };
    }

    /// The port was seen armed or active: the next time it goes down is logged again.
    pub fn armed(&mut self) {
        self.written = false;
    }

    /// The entries in storage order.
    #[must_use]
    pub fn entries(&self) -> &[LogEntry; ENTRIES] {
        &self.entries
    }

    /// The number of non-empty entries, 0 to 8.
    #[must_use]
    pub fn len(&self) -> usize {
        let written = self.entries.iter().filter(|entry| !entry.is_empty());
        written.count()
    }

    /// Whether all entries are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries as the tools print them: from the first one on; for a full log, from the one
    /// after the oldest on, so that the oldest comes last (`IbPrint/stl_sa.c`).
    pub fn printed(&self) -> impl Iterator<Item = LogEntry> {
        let first = if self.len() == ENTRIES {
            self.oldest() + 1
        } else {
            0
        };
        let around = (first..first + ENTRIES).map(|slot| self.entries[slot % ENTRIES]);
        around.filter(|entry| !entry.is_empty())
    }

    fn oldest(&self) -> usize {
        let times = self.entries.iter().enumerate();
        let oldest = times.min_by_key(|(_, entry)| entry.at_s);
        oldest.map_or(0, |(slot, _)| slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes one entry at each of these times, and compares the stored and the printed times.
    fn check(times: &[u64], kept: [u64; 8], printed: &[u64]) {
        let mut log = LinkDownErrorLog::default();
        for at_s in times {
            log.read(Pair::UNEXPLAINED, *at_s);
            log.armed();
        }
        assert_eq!(log.entries().map(|entry| entry.at_s), kept);
        let times: Vec<u64> = log.printed().map(|entry| entry.at_s).collect();
        assert_eq!(times, printed);
    }

    #[test]
    fn entries_stand_in_order_until_the_log_is_full() {
        check(&[], [0; 8], &[]);
        check(&[5, 7], [5, 7, 0, 0, 0, 0, 0, 0], &[5, 7]);
    }

    #[test]
    fn a_full_log_loses_its_oldest_entry_and_prints_the_oldest_last() {
        let eight = [1, 2, 3, 4, 5, 6, 7, 8];
        check(&eight, eight, &[2, 3, 4, 5, 6, 7, 8, 1]);
        let nine = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        check(&nine, [9, 2, 3, 4, 5, 6, 7, 8], &[3, 4, 5, 6, 7, 8, 9, 2]);
    }

    #[test]
    fn a_time_of_zero_is_an_empty_entry_and_the_next_takes_its_place() {
        check(&[0, 5], [5, 0, 0, 0, 0, 0, 0, 0], &[5]);
    }

    #[test]
    fn one_going_down_is_written_once_and_a_clear_pair_never() {
        let mut log = LinkDownErrorLog::default();
        log.read(Pair::CLEAR, 1);
        assert!(log.is_empty());
        for at_s in 2..7 {
            log.read(Pair::UNEXPLAINED, at_s);
        }
        assert_eq!(log.len(), 1);
        assert_eq!(log.entries()[0].at_s, 2);
    }
}
