//! Events against what was demanded: what is missing, what nobody asked for, what stayed outstanding.

use std::collections::BTreeSet;

use reports::FailureKind;
use scenarios::{Heal, What};

use super::assign::{self, Assignment, Room};
use super::demands::{self, Demand};
use super::order::put_in_order;
use super::outstanding;
use super::said::{self, Said};
use super::{Court, place};
use crate::consequences::Consequences;

/// How many events are shown as the nearest to one that did not come. Chosen.
const NEAREST_MAX: usize = 6;

impl<'a> Court<'a> {
    pub(super) fn events(&mut self) {
        let (bench, recording) = (self.bench, self.recording);
        let said = said::all_said(self.story, recording);
        let accepted: Vec<Said<'a>> = said.iter().filter(|said| said.accepted).copied().collect();
        let (demands, mismatches) = demands::demands(self.story, &bench, recording);
        for mismatch in mismatches {
            let expectation = mismatch.expectation;
            let mut failure =
                self.failure(FailureKind::Missing, None, Some(expectation.window.from));
            place(&mut failure, expectation);
            failure.came.push(mismatch.what);
            self.failures.push(failure);
        }
        let answers = |demand: &Demand<'_>, said: &Said<'_>| {
            demand.node == *said.node
                && (demand.window.from..=demand.window.to).contains(&said.tick)
                && bench.fits(&demand.pattern, said.node, said.tick, said.event)
        };
        let fits: Vec<Vec<usize>> = accepted
            .iter()
            .map(|said| {
                (0..demands.len())
                    .filter(|demand| answers(&demands[*demand], said))
                    .collect()
            })
            .collect();
        let rooms: Vec<Room> = demands.iter().map(|demand| demand.room).collect();
        let mut assignment = assign::assign(&fits, &rooms);
        put_in_order(&mut assignment, &fits, &demands, &accepted);
        self.demanded(&demands, &assignment, &accepted, &said, &answers);
        self.order(&demands, &assignment, &accepted);
        let reckoning = outstanding::reckon(
            &accepted,
            |at| assignment.of_event[at].is_some(),
            recording.healing_from,
            bench.truth,
        );
        for (at, said) in accepted.iter().enumerate() {
            if assignment.of_event[at].is_none() && !reckoning.allowed.contains(&at) {
                self.unexpected(said);
            }
        }
        if !matches!(self.story.heal, Heal::Never { .. }) {
            for at in reckoning.outstanding {
                self.outstanding(&accepted[at]);
            }
        }
        let claimed = |said: &Said<'_>| {
            demands
                .iter()
                .any(|demand| demand.attempts > 0 && answers(demand, said))
        };
        let said: Vec<(Said<'a>, bool)> = said
            .into_iter()
            .map(|said| (said, claimed(&said)))
            .collect();
        let made = Consequences::of(self.story, recording);
        self.facts(&said, &made);
        self.consequences(&made);
        self.count_not_judged();
    }

    /// Demands that were not met.
    fn demanded(
        &mut self,
        demands: &[Demand<'_>],
        assignment: &Assignment,
        accepted: &[Said<'_>],
        said: &[Said<'_>],
        answers: &dyn Fn(&Demand<'_>, &Said<'_>) -> bool,
    ) {
        for (demand, claimed) in demands.iter().zip(&assignment.of_demand) {
            let attempts = if demand.attempts == 0 {
                0
            } else {
                said.iter().filter(|said| answers(demand, said)).count()
            };
            if claimed.len() >= demand.room.at_least && attempts >= demand.attempts {
                continue;
            }
            let mut failure = self.failure(
                FailureKind::Missing,
                Some(&demand.node),
                Some(demand.window.from),
            );
            place(&mut failure, demand.expectation);
            failure.expected.push(demand.line(&self.bench));
            let claimed: Vec<&Said<'_>> = claimed.iter().map(|at| &accepted[*at]).collect();
            failure.came = self.nearest(demand, said, &claimed);
            let names = subject_names(&failure.expected[0]);
            failure.reads = self.reads(Some(&demand.node), demand.window.from, &names);
            self.failures.push(failure);
        }
    }

    /// The events nearest to a demand: those that it did claim, then those about the same subject.
    fn nearest(
        &self,
        demand: &Demand<'_>,
        said: &[Said<'_>],
        claimed: &[&Said<'_>],
    ) -> Vec<String> {
        let mut lines: Vec<String> = claimed.iter().map(|said| said.line()).collect();
        let about = |said: &&Said<'_>| {
            *said.node == demand.node
                && self
                    .bench
                    .names_subject(&demand.pattern.about, said.node, said.tick, said.event)
        };
        let mut others: Vec<&Said<'_>> = said.iter().filter(about).collect();
        let distance = |said: &Said<'_>| {
            let (from, to) = (demand.window.from, demand.window.to);
            from.saturating_sub(said.tick)
                .max(said.tick.saturating_sub(to))
        };
        others.sort_by_key(|said| distance(said));
        lines.extend(others.iter().map(|said| said.line()));
        let mut seen = BTreeSet::new();
        lines.retain(|line| seen.insert(line.clone()));
        lines.truncate(NEAREST_MAX);
        lines
    }

    fn unexpected(&mut self, said: &Said<'_>) {
        let mut failure = self.failure(FailureKind::Unexpected, Some(said.node), Some(said.tick));
        let silence = self.story.expectations.iter().find(|expectation| {
            let What::Nothing { about, .. } = &expectation.what else {
                return false;
            };
            (expectation.window.from..=expectation.window.to).contains(&said.tick)
                && (about.is_empty()
                    || about.iter().any(|about| {
                        self.bench
                            .names_subject(about, said.node, said.tick, said.event)
                    }))
        });
        match silence {
            Some(expectation) => {
                place(&mut failure, expectation);
                failure.expected.push("nothing".to_owned());
            }
            None => failure
                .expected
                .push("nothing that the story does not name".to_owned()),
        }
        failure.came.push(said.line());
        let names = subject_names(&said.event.subject.to_string());
        failure.reads = self.reads(Some(said.node), said.tick, &names);
        self.failures.push(failure);
    }

    fn outstanding(&mut self, said: &Said<'_>) {
        let last = (self.recording.ticks.len() as u64).saturating_sub(1);
        let mut failure = self.failure(FailureKind::Outstanding, Some(said.node), Some(last));
        let subject = said.event.subject.to_string();
        failure.expected.push(format!(
            "a healthy event of {} for {subject} by poll {last}",
            said.event.check.as_deref().unwrap_or("no check")
        ));
        failure.came.push(said.line());
        failure.reads = self.reads(Some(said.node), last, &subject_names(&subject));
        self.failures.push(failure);
    }
}

/// The device that a text with `NIC=…` is about, as it stands in paths.
fn subject_names(text: &str) -> Vec<String> {
    let nic = text.split(' ').find_map(|word| word.strip_prefix("NIC="));
    nic.map(|name| format!("/{}/", name.trim_end_matches(',')))
        .into_iter()
        .collect()
}
