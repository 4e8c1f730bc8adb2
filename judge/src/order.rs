//! Ordered groups: checks that their events came in the stated order.

use std::collections::BTreeMap;

use reports::{CauseKind, FindingKind};

use super::assign::Assignment;
use super::demands::Demand;
use super::reported_event::ReportedEvent;
use super::{Judging, place};

impl Judging<'_> {
    /// Reports events of an ordered group that came in another order.
    pub(super) fn order(
        &mut self,
        demands: &[Demand<'_>],
        assignment: &Assignment,
        accepted: &[ReportedEvent<'_>],
    ) {
        let mut groups: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
        for (at, demand) in demands.iter().enumerate() {
            if let Some((group, place)) = demand.in_order {
                groups.entry(group).or_default().push((place, at));
            }
        }
        for mut members in groups.into_values() {
            members.sort_unstable();
            let mut events: Vec<(u32, usize, usize)> = Vec::new();
            for (place, demand) in members {
                events.extend(
                    assignment.of_demand[demand]
                        .iter()
                        .map(|event| (place, demand, *event)),
                );
            }
            // Events of one position have no order among themselves.
            let wrong = events.iter().enumerate().find_map(|(at, later)| {
                let earlier = events[..at].iter().filter(|earlier| earlier.0 < later.0);
                earlier
                    .rev()
                    .find(|earlier| self.comes_before(&accepted[later.2], &accepted[earlier.2]))
                    .map(|earlier| [(earlier.1, earlier.2), (later.1, later.2)])
            });
            let Some([first, second]) = wrong else {
                continue;
            };
            let demand = &demands[second.0];
            let tick = accepted[second.1].tick;
            let cause = self.context.cause_of_pattern(
                CauseKind::Order,
                &demand.node,
                tick,
                &demand.pattern,
            );
            let mut finding =
                self.finding(FindingKind::Missing, cause, Some(&demand.node), Some(tick));
            place(&mut finding, demand.expectation);
            finding
                .expected
                .push("these events in this order".to_owned());
            finding
                .expected
                .extend([first, second].map(|(demand, _)| demands[demand].line(&self.context)));
            finding.came = [second, first]
                .map(|(_, event)| accepted[event].line())
                .to_vec();
            self.findings.push(finding);
        }
    }

    /// Whether one event certainly came before another; calls of a monitor with concurrent loops, and those of
    /// different loops of a monitor, have no order within a tick.
    fn comes_before(&self, one: &ReportedEvent<'_>, other: &ReportedEvent<'_>) -> bool {
        let descriptor = self.context.descriptor;
        let loop_of = |reported: &ReportedEvent<'_>| {
            let check = reported.event.check.as_deref();
            check.and_then(|check| descriptor.loop_of(check))
        };
        let apart = descriptor.concurrent || loop_of(one) != loop_of(other);
        let unordered = apart && one.tick == other.tick && one.call != other.call;
        !unordered && one.position() < other.position()
    }
}

/// Swaps assigned events of an ordered group where each could satisfy the other's demand, so that
/// the earlier event satisfies the earlier demand.
pub(super) fn put_in_order(
    assignment: &mut Assignment,
    fits: &[Vec<usize>],
    demands: &[Demand<'_>],
    accepted: &[ReportedEvent<'_>],
) {
    let mut members: Vec<(u32, u32, usize)> = Vec::new();
    for (at, demand) in demands.iter().enumerate() {
        if let Some((group, place)) = demand.in_order
            && assignment.of_demand[at].len() == 1
        {
            members.push((group, place, at));
        }
    }
    members.sort_unstable();
    // As in bubble sort, each round puts one event of each group in its place.
    for _ in 0..members.len() {
        let mut swapped = false;
        for pair in members.windows(2) {
            let [(group, _, first), (other, _, second)] = *pair else {
                continue;
            };
            let (one, two) = (
                assignment.of_demand[first][0],
                assignment.of_demand[second][0],
            );
            let late = accepted[two].position() < accepted[one].position();
            if group == other && late && fits[two].contains(&first) && fits[one].contains(&second) {
                assignment.of_demand[first][0] = two;
                assignment.of_demand[second][0] = one;
                (assignment.of_event[two], assignment.of_event[one]) = (Some(first), Some(second));
                swapped = true;
            }
        }
        if !swapped {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
