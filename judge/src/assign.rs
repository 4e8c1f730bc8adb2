//! Assigns events to demands such that all are satisfied, if that is possible.
//!
//! An event may fit several demands, so a greedy assignment could report a correct monitor as
//! wrong. This is a maximum matching with lower and upper bounds, by augmenting paths, in two
//! rounds. First every demand takes its minimum; then every unassigned event is given to a demand
//! that is below its maximum. A path of the second round never takes an event from a demand without
//! giving it another one, so the minima stay satisfied. By the theorem of Mendelsohn and Dulmage,
//! both rounds succeed together whenever each could succeed alone.

/// How many events a demand takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Minimum.
    pub(crate) at_least: usize,
    /// Maximum.
    pub(crate) at_most: usize,
}

/// A matching of events and demands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// For each event its demand.
    pub(crate) of_event: Vec<Option<usize>>,
    /// For each demand its events.
    pub(crate) of_demand: Vec<Vec<usize>>,
}

/// Assigns events to demands; `fits[event]` lists the demands that an event could satisfy.
pub(crate) fn assign(fits: &[Vec<usize>], demands: &[Bounds]) -> Assignment {
    let mut candidates = vec![Vec::new(); demands.len()];
    for (event, fitting) in fits.iter().enumerate() {
        for demand in fitting {
            candidates[*demand].push(event);
        }
    }
    let mut search = Search {
        fits,
        demands,
        candidates,
        assignment: Assignment {
            of_event: vec![None; fits.len()],
            of_demand: vec![Vec::new(); demands.len()],
        },
        seen_events: vec![false; fits.len()],
        seen_demands: vec![false; demands.len()],
    };
    for (demand, bounds) in demands.iter().enumerate() {
        for _ in 0..bounds.at_least {
            search.seen_events.fill(false);
            if !search.take_one(demand) {
                break;
            }
        }
    }
    for event in 0..fits.len() {
        if search.assignment.of_event[event].is_none() {
            search.seen_demands.fill(false);
            search.find_place(event);
        }
    }
    for events in &mut search.assignment.of_demand {
        events.sort_unstable();
    }
    search.assignment
}

struct Search<'a> {
    fits: &'a [Vec<usize>],
    demands: &'a [Bounds],
    candidates: Vec<Vec<usize>>,
    assignment: Assignment,
    seen_events: Vec<bool>,
    seen_demands: Vec<bool>,
}

impl Search<'_> {
    /// Gives the demand one more event; the other demands keep their number of events.
    fn take_one(&mut self, demand: usize) -> bool {
        for at in 0..self.candidates[demand].len() {
            let event = self.candidates[demand][at];
            if std::mem::replace(&mut self.seen_events[event], true) {
                continue;
            }
            let free = match self.assignment.of_event[event] {
                None => true,
                Some(owner) => owner != demand && self.take_one(owner),
            };
            if free {
                self.give(event, demand);
                return true;
            }
        }
        false
    }

    /// Gives the event to a demand; no demand has fewer events afterwards.
    fn find_place(&mut self, event: usize) -> bool {
        for at in 0..self.fits[event].len() {
            let demand = self.fits[event][at];
            if std::mem::replace(&mut self.seen_demands[demand], true) {
                continue;
            }
            if self.assignment.of_demand[demand].len() < self.demands[demand].at_most {
                self.give(event, demand);
                return true;
            }
            for other in self.assignment.of_demand[demand].clone() {
                if self.find_place(other) {
                    self.give(event, demand);
                    return true;
                }
            }
        }
        false
    }

    fn give(&mut self, event: usize, demand: usize) {
        if let Some(owner) = self.assignment.of_event[event].replace(demand) {
            self.assignment.of_demand[owner].retain(|other| *other != event);
        }
        self.assignment.of_demand[demand].push(event);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONCE: Bounds = Bounds {
        at_least: 1,
        at_most: 1,
    };

    /// Whether an assignment exists that gives every event to a demand and satisfies every demand.
    fn possible(fits: &[Vec<usize>], demands: &[Bounds], event: usize, held: &mut [usize]) -> bool {
        let Some(fitting) = fits.get(event) else {
            return held
                .iter()
                .zip(demands)
                .all(|(held, bounds)| *held >= bounds.at_least);
        };
        fitting.iter().any(|demand| {
            if held[*demand] == demands[*demand].at_most {
                return false;
            }
            held[*demand] += 1;
            let found = possible(fits, demands, event + 1, held);
            held[*demand] -= 1;
            found
        })
    }

    fn satisfies(fits: &[Vec<usize>], demands: &[Bounds]) -> bool {
        let assignment = assign(fits, demands);
        let claimed = assignment.of_event.iter().all(Option::is_some);
        let met = assignment
            .of_demand
            .iter()
            .zip(demands)
            .all(|(events, bounds)| {
                assert!(events.len() <= bounds.at_most);
                events.len() >= bounds.at_least
            });
        claimed && met
    }

    #[test]
    fn an_event_gives_way_to_one_that_has_no_choice() {
        let assignment = assign(&[vec![0, 1], vec![0]], &[ONCE, ONCE]);
        assert_eq!(assignment.of_event, [Some(1), Some(0)]);
    }

    proptest! {
        #[test]
        fn all_are_satisfied_whenever_that_is_possible(
            fits in prop::collection::vec(prop::collection::btree_set(0_usize..4, 0..4), 0..6),
            bounds in prop::collection::vec((0_usize..3, 0_usize..3), 4),
        ) {
            let fits: Vec<Vec<usize>> = fits.into_iter().map(|set| set.into_iter().collect()).collect();
            let demands: Vec<Bounds> = bounds
                .into_iter()
                .map(|(least, more)| Bounds { at_least: least, at_most: least + more })
                .collect();
            let possible = possible(&fits, &demands, 0, &mut vec![0; demands.len()]);
            prop_assert_eq!(satisfies(&fits, &demands), possible);
        }
    }
}
