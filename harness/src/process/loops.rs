//! The loops of one monitor under test: which held listing is whose, and which loop polls next.
//!
//! All loops wait at the gate, and one of them is let go. Whatever lists, reads and calls while the others are
//! held is that one's, until it is back at the gate. Nothing tells beforehand which held listing is whose, so in
//! the first round listings go in the order in which they came, and each loop is recognised by what it does;
//! from then on loops poll in the descriptor's order. Start at [`Loops::next`].

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Range,
    time::{Duration, Instant},
};

use observe::{Call, ExpectedLoop, MonitorTick, Reads, told_by};
use simfs_fuse::HoldId;
use terms::CheckKind;

/// The loops of a monitor, in the descriptor's order.
pub(super) struct Loops {
    loops: Vec<LoopState>,
    /// Whose the held listings are, as far as it is known.
    owners: BTreeMap<HoldId, usize>,
    going: Option<Going>,
    /// The loop that the real time paces, between its poll and its next listing.
    away: Option<Away>,
    /// What the polls of the first round added to the present tick, in the order in which they came.
    round: Vec<Part>,
}

struct LoopState {
    expected: ExpectedLoop,
    /// The tick from which on it polls again.
    due: u64,
    /// The tick of its last poll.
    polled: Option<u64>,
    known: bool,
    /// When its last poll was let go.
    let_go: Option<Instant>,
}

/// A loop that sleeps in real time.
struct Away {
    which: usize,
    /// It does not list before this time.
    back_at: Instant,
}

/// Why it is not known whose poll it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LoopError {
    /// No poll is going on.
    #[error("a listing belongs to no loop")]
    NoPoll,
    /// What was done in the poll is done by no loop alone.
    #[error(
        "nothing tells which of the monitor's loops polled: it made no call and read nothing that only one of them reads\nhint: see `loops` of its descriptor"
    )]
    Unknown,
    /// The loop called for what is another one's.
    #[error(
        "the monitor's loop with {} called for {check}, which is a check of another loop\nhint: see `loops` of its descriptor",
        own.join(" and ")
    )]
    ForeignCheck {
        /// The checks of the loop.
        own: Vec<String>,
        /// The check that it called for.
        check: String,
    },
}

/// How much earlier than its interval a loop that the real time paces may list again. Chosen: more than a timer
/// and a poll of other loops take.
const EARLY: Duration = Duration::from_millis(250);

/// How much later than its interval a loop that the real time paces polls again. Chosen: more than one poll may take
/// longer than another until it looks at its clock.
const LATE: Duration = Duration::from_millis(10);

/// The poll that is going on.
struct Going {
    /// When it was let go.
    since: Option<Instant>,
    /// The loop, once it is known.
    which: Option<usize>,
    /// Whether it is of the first round.
    first: bool,
    /// Number of lines of the tick's reads, and of its calls, before the poll.
    from: (usize, usize),
}

/// What one poll added to a tick.
struct Part {
    which: usize,
    reads: Range<usize>,
    calls: Range<usize>,
}

impl Loops {
    /// The loops of a monitor that is started in this tick; at least one is expected.
    pub(super) fn new(expected: &[ExpectedLoop], tick: u64) -> Self {
        let loops = expected.iter().map(|expected| LoopState {
            expected: expected.clone(),
            due: tick,
            polled: None,
            known: false,
            let_go: None,
        });
        Self {
            loops: loops.collect(),
            owners: BTreeMap::new(),
            going: None,
            away: None,
            round: Vec::new(),
        }
    }

    /// The number of loops that come to the gate.
    pub(super) fn count(&self) -> usize {
        self.loops.len()
    }

    /// Takes the listing that is let go next in this tick from those at the gate; `None` once every loop that is
    /// due has polled. While the world heals, every loop is due. `so_far` is what the tick has already.
    pub(super) fn next(
        &mut self,
        tick: u64,
        heals: bool,
        gate: &mut VecDeque<HoldId>,
        so_far: &MonitorTick,
    ) -> Option<HoldId> {
        self.note_return(gate);
        let unknown = |hold: &HoldId| !self.owners.contains_key(hold);
        let stranger = gate.iter().copied().find(unknown);
        let (hold, which) = match stranger {
            Some(hold) => (hold, self.last_unknown()),
            None => {
                let due = self
                    .loops
                    .iter()
                    .position(|state| state.due <= tick || (heals && state.polled != Some(tick)))?;
                let mut owned = gate.iter().copied();
                let hold = owned.find(|hold| self.owners.get(hold) == Some(&due))?;
                (hold, Some(due))
            }
        };
        gate.retain(|held| *held != hold);
        self.owners.remove(&hold);
        self.going = Some(Going {
            since: None,
            which,
            first: stranger.is_some(),
            from: (so_far.reads.len(), so_far.calls.len()),
        });
        Some(hold)
    }

    /// Whether a further listing belongs to the poll that is going on, of which `granted` were let go. `tick` has
    /// everything up to this listing.
    ///
    /// # Errors
    /// If that depends on which loop it is and nothing tells.
    pub(super) fn goes_on(&mut self, granted: u32, tick: &MonitorTick) -> Result<bool, LoopError> {
        let mut listings = match self.going.as_ref().map(|going| going.which) {
            None => return Ok(false),
            Some(Some(which)) => return Ok(granted < self.loops[which].expected.listings),
            Some(None) => self.candidates().map(|at| self.loops[at].expected.listings),
        };
        let goes_on = |listings| granted < listings;
        let first = listings.next().is_some_and(goes_on);
        if listings.all(|listings| goes_on(listings) == first) {
            return Ok(first);
        }
        drop(listings);
        let which = self.recognise(tick)?;
        Ok(goes_on(self.loops[which].expected.listings))
    }

    /// Whether enough listings of the poll that is going on were let go for it to be over.
    pub(super) fn may_be_over(&self, granted: u32) -> bool {
        let least = match self.going.as_ref().and_then(|going| going.which) {
            Some(which) => Some(self.loops[which].expected.listings),
            None => self
                .candidates()
                .map(|at| self.loops[at].expected.listings)
                .min(),
        };
        least.is_none_or(|least| granted >= least)
    }

    /// Notes when the poll that is going on was let go.
    pub(super) fn goes_at(&mut self, now: Instant) {
        if let Some(going) = &mut self.going {
            going.since = Some(now);
            if let Some(which) = going.which {
                self.loops[which].let_go = Some(now);
            }
        }
    }

    /// The time before which the loop that goes next may not poll: one that the real time paces measures by its own
    /// clock, and must find its interval between two polls.
    pub(super) fn not_before(&self) -> Option<Instant> {
        let state = &self.loops[self.going.as_ref()?.which?];
        Some(state.let_go? + state.expected.paced? + LATE)
    }

    /// Whether the loop is going that the real time paces.
    pub(super) fn paced_one_goes(&self) -> bool {
        let which = self.going.as_ref().and_then(|going| going.which);
        which.is_some_and(|which| {
            let state = &self.loops[which];
            state.known && state.expected.paced.is_some()
        })
    }

    /// Whether the loop that the real time paces is away, has nothing to do in this tick, and does not come back
    /// yet, so that the others need not wait for it. `heals`: every loop polls in this tick.
    pub(super) fn spares_the_paced(&self, tick: u64, heals: bool, now: Instant) -> bool {
        self.away.as_ref().is_some_and(|away| {
            let state = &self.loops[away.which];
            let is_due = state.due <= tick || (heals && state.polled != Some(tick));
            !is_due && now < away.back_at
        })
    }

    /// Recognises the listing of the loop that was away: no other one is unknown.
    fn note_return(&mut self, gate: &VecDeque<HoldId>) {
        let mut unknown = gate.iter().filter(|hold| !self.owners.contains_key(hold));
        if let Some(hold) = unknown.next().copied()
            && let Some(away) = self.away.take()
        {
            self.owners.insert(hold, away.which);
        }
    }

    /// Ends the poll that is going on, whose loop came to the gate last; without a gate it sleeps in real time.
    ///
    /// # Errors
    /// If nothing tells which loop it was, or if it did what belongs to another one.
    pub(super) fn ended(
        &mut self,
        tick: u64,
        gate: Option<&VecDeque<HoldId>>,
        done: &mut MonitorTick,
    ) -> Result<(), LoopError> {
        let which = self.recognise(done)?;
        let Some(going) = self.going.take() else {
            return Ok(());
        };
        if going.first {
            self.check(which, &going, done)?;
            self.round.push(Part {
                which,
                reads: going.from.0..done.reads.len(),
                calls: going.from.1..done.calls.len(),
            });
            if self.candidates().next().is_none() {
                sort(std::mem::take(&mut self.round), done);
            }
        }
        let state = &mut self.loops[which];
        state.polled = Some(tick);
        state.let_go = going.since;
        while state.due <= tick {
            state.due += state.expected.every;
        }
        match gate {
            Some(gate) => self.back(which, gate),
            None => {
                let interval = state.expected.paced.unwrap_or_default();
                let since = going.since.unwrap_or_else(Instant::now);
                let back_at = since + interval.saturating_sub(EARLY);
                self.away = Some(Away { which, back_at });
            }
        }
        Ok(())
    }

    /// Notes whose the newest listing at the gate is. If the loop that was away came back too, nothing tells which
    /// of two listings is whose, and both loops are to be recognised again.
    fn back(&mut self, which: usize, gate: &VecDeque<HoldId>) {
        let newest_first = gate.iter().rev();
        let mut unknown = newest_first.filter(|hold| !self.owners.contains_key(hold));
        let (newest, other) = (unknown.next().copied(), unknown.next());
        if other.is_some()
            && let Some(away) = self.away.take()
        {
            self.loops[away.which].known = false;
            self.loops[which].known = false;
        } else if let Some(newest) = newest {
            self.owners.insert(newest, which);
        }
    }

    /// A tick ends. A poll that goes on in the next one starts with what that one has, and a round that does is
    /// not sorted.
    pub(super) fn tick_ends(&mut self) {
        self.round.clear();
        if let Some(going) = &mut self.going {
            going.from = (0, 0);
        }
    }

    /// Whether it depends on the reads of the poll that is going on which loop it is.
    pub(super) fn is_unknown(&self) -> bool {
        self.going
            .as_ref()
            .is_some_and(|going| going.which.is_none())
    }

    /// The loops that are not recognised yet.
    fn candidates(&self) -> impl Iterator<Item = usize> {
        (0..self.loops.len()).filter(|at| !self.loops[*at].known)
    }

    /// The only loop that is not recognised yet, if there is only one.
    fn last_unknown(&self) -> Option<usize> {
        let mut candidates = self.candidates();
        candidates.next().filter(|_| candidates.next().is_none())
    }

    /// Which loop is going, by what it has done.
    fn recognise(&mut self, tick: &MonitorTick) -> Result<usize, LoopError> {
        let Some(going) = &self.going else {
            return Err(LoopError::NoPoll);
        };
        let (calls, reads) = (&tick.calls[going.from.1..], &tick.reads[going.from.0..]);
        let which = match going.which {
            Some(which) => which,
            None => self
                .named(calls)
                .or_else(|| self.told(reads))
                .ok_or(LoopError::Unknown)?,
        };
        self.loops[which].known = true;
        if let Some(going) = &mut self.going {
            going.which = Some(which);
        }
        Ok(which)
    }

    /// The loop that runs a check which these calls name.
    fn named(&self, calls: &[Call]) -> Option<usize> {
        let mut checks = calls
            .iter()
            .flat_map(|call| &call.observations)
            .filter_map(|observation| observation.check.as_ref());
        checks.find_map(|check| {
            let runs = |at: &usize| self.loops[*at].expected.checks.contains(check);
            self.candidates().find(runs)
        })
    }

    /// The loop that reads what these reads tell of; if they tell of nothing, the one that would not.
    fn told(&self, reads: &[std::sync::Arc<str>]) -> Option<usize> {
        let told: BTreeSet<CheckKind> = reads.iter().filter_map(|line| told_by(line)).collect();
        self.candidates().find(|at| {
            let telling = self.loops[*at].expected.telling();
            if told.is_empty() {
                telling.is_empty()
            } else {
                !telling.is_disjoint(&told)
            }
        })
    }

    /// Checks that a loop made no call of another one's checks.
    fn check(&self, which: usize, going: &Going, tick: &MonitorTick) -> Result<(), LoopError> {
        let calls = tick.calls[going.from.1..].iter();
        let mut checks = calls
            .flat_map(|call| &call.observations)
            .filter_map(|observation| observation.check.as_deref());
        let others = |check: &&str| {
            let runs = |at: usize| self.loops[at].expected.checks.contains(*check);
            !runs(which) && (0..self.loops.len()).any(runs)
        };
        checks.find(others).map_or(Ok(()), |check| {
            let own = self.loops[which].expected.checks.iter();
            Err(LoopError::ForeignCheck {
                own: own.cloned().collect(),
                check: check.to_owned(),
            })
        })
    }
}

/// Puts what the loops did into the order of the loops. Only the order in which their threads came to the gate
/// decided which of them polled first, and it differs between two runs.
fn sort(mut round: Vec<Part>, tick: &mut MonitorTick) {
    let Some(first) = round.first() else {
        return;
    };
    let (mut reads, mut calls) = (
        tick.reads[..first.reads.start].to_vec(),
        tick.calls[..first.calls.start].to_vec(),
    );
    round.sort_by_key(|part| part.which);
    for part in round {
        reads.extend_from_slice(&tick.reads[part.reads]);
        calls.extend_from_slice(&tick.calls[part.calls]);
    }
    tick.reads = Reads::from(reads);
    tick.calls = calls;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_for_a_check_of_another_loop_is_told_with_both() {
        let error = LoopError::ForeignCheck {
            own: ["A", "B"].map(str::to_owned).into(),
            check: "C".to_owned(),
        };
        let told = "the monitor's loop with A and B called for C, which is a check of another loop\n\
                    hint: see `loops` of its descriptor";
        assert_eq!(error.to_string(), told);
    }
}
