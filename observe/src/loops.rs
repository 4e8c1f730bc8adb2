//! The loops of a monitor that polls in several, each with checks, listings and an interval of its own.
//!
//! A thread that lists the class folder does not say which loop it serves (a goroutine may change its thread),
//! so loops are told apart by what they do in their first poll: which checks their calls name, and whether they
//! read files of counters or list the folders of character devices. Start at [`Loop`].

use std::{collections::BTreeSet, time::Duration};

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use terms::{Check, CheckKind};

use crate::{Descriptor, PollUnit, Span, toml_tables};

/// A loop of a monitor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// The checks that it runs, by name. A loop is expected at the gate only in scenarios that run one of them.
    pub checks: BTreeSet<String>,
    /// Number of listings of the anchor folder in one of its poll units, at least 1; default 1.
    #[serde(default = "one")]
    pub listings: u32,
    /// Its interval in simulated time; without it, it polls in every tick.
    #[serde(default)]
    pub interval: Option<Span>,
    /// The real time between two of its polls, if it cannot be shortened. Then it is also its interval in simulated
    /// time unless `interval` states another. One loop at most may have it.
    #[serde(default)]
    pub real_interval: Option<Span>,
    /// The key of the monitor's configuration that switches it on, with dots, such as `detection.enabled`. Where it
    /// is not `true`, the loop does not run.
    #[serde(default)]
    pub switch: Option<String>,
}

fn one() -> u32 {
    1
}

/// A loop as one story expects it at the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedLoop {
    /// Its checks that the story runs.
    pub checks: BTreeSet<String>,
    /// Listings of the anchor folder in one of its polls, at least 1.
    pub listings: u32,
    /// Its interval in ticks, at least 1.
    pub every: u64,
    /// The real time between two of its polls, if it cannot be shortened.
    pub paced: Option<Duration>,
}

impl ExpectedLoop {
    /// What only this loop reads: the kinds of its checks other than of port states, because every check reads
    /// port states when it looks for devices.
    #[must_use]
    pub fn telling(&self) -> BTreeSet<CheckKind> {
        telling(&self.checks)
    }
}

fn telling(checks: &BTreeSet<String>) -> BTreeSet<CheckKind> {
    let kinds = checks.iter().filter_map(|check| Check::parse(check));
    kinds
        .map(Check::kind)
        .filter(|kind| *kind != CheckKind::State)
        .collect()
}

/// Whether the first polls of two loops with these checks look alike.
fn alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let (one, other) = (telling(one), telling(other));
    (one.is_empty() && other.is_empty()) || !one.is_disjoint(&other)
}

/// The kind of check that a line of a recording's reads, as `op path: outcome`, tells of; `None` if every check
/// reads that path.
#[must_use]
pub fn told_by(read: &str) -> Option<CheckKind> {
    let counts = [
        "/counters/",
        "/hw_counters/",
        "/statistics/",
        "/carrier_changes:",
    ];
    if counts.iter().any(|part| read.contains(part)) {
        return Some(CheckKind::Degradation);
    }
    let nodes = ["class/infiniband_mad", "class/infiniband_verbs"];
    let lists = nodes.iter().any(|folder| read.contains(folder));
    lists.then_some(CheckKind::CharDevice)
}

impl Descriptor {
    /// The loops that come to the gate in a story with these checks and ticks of this length, in the
    /// descriptor's order. Empty for a descriptor without `loops`.
    #[must_use]
    pub fn expected_loops(&self, checks: &[&str], tick: Duration) -> Vec<ExpectedLoop> {
        let expected = self.loops.iter().filter_map(|spec| {
            let runs = checks.iter().filter(|check| spec.checks.contains(**check));
            let checks: BTreeSet<String> = runs.map(|check| (*check).to_owned()).collect();
            if checks.is_empty() {
                return None;
            }
            let units = match self.poll_unit {
                PollUnit::Whole => 1,
                PollUnit::Check => u32::try_from(checks.len()).expect("there are few checks"),
            };
            let interval = spec.interval.or(spec.real_interval);
            let interval = interval.map_or(0, |span| span.0.as_nanos());
            let every = interval.div_ceil(tick.as_nanos().max(1)).max(1);
            Some(ExpectedLoop {
                checks,
                listings: spec.listings * units,
                every: u64::try_from(every).unwrap_or(u64::MAX),
                paced: spec.real_interval.map(|span| span.0),
            })
        });
        expected.collect()
    }

    /// Of these checks those whose loops run with these lines of a story in the configuration.
    #[must_use]
    pub fn switched_on<'c>(&self, checks: &[&'c str], story_lines: &str) -> Vec<&'c str> {
        let default = self.config_default.as_deref().unwrap_or_default();
        let is_on = |check: &&&str| {
            let runs = self.loops.iter().find(|spec| spec.checks.contains(**check));
            let switch = runs.and_then(|spec| spec.switch.as_deref());
            switch.is_none_or(|key| toml_tables::is_true(default, story_lines, key))
        };
        checks.iter().filter(is_on).copied().collect()
    }

    /// The real time between the polls of a drill with this many ticks, each of this length.
    #[must_use]
    pub fn between_polls(&self, checks: &[&str], ticks: u64, tick: Duration) -> Duration {
        let mut least = self.real_time.intervals(ticks);
        for spec in self.expected_loops(checks, tick) {
            let polls = u32::try_from(ticks / spec.every).unwrap_or(u32::MAX);
            least = least.max(spec.paced.unwrap_or_default().saturating_mul(polls));
        }
        least
    }

    /// Why the loops of a story with these checks cannot be played; `None` if they can.
    #[must_use]
    pub fn unattributable(&self, checks: &[&str], tick: Duration) -> Option<String> {
        if self.loops.is_empty() {
            return None;
        }
        let name = &self.name;
        let expected = self.expected_loops(checks, tick);
        let mut unnamed = checks.iter();
        if let Some(check) =
            unnamed.find(|check| !expected.iter().any(|spec| spec.checks.contains(**check)))
        {
            return Some(format!("no loop of `{name}` runs {check}"));
        }
        let same = |(at, one): (usize, &ExpectedLoop)| {
            let mut others = expected[..at].iter();
            others.any(|other| alike(&one.checks, &other.checks))
        };
        expected.iter().enumerate().any(same).then(|| {
            format!("two loops of `{name}` cannot be told apart: with these checks they read the same files")
        })
    }

    /// The position of the loop that runs a check; `None` if the descriptor names none.
    #[must_use]
    pub fn loop_of(&self, check: &str) -> Option<usize> {
        self.loops
            .iter()
            .position(|spec| spec.checks.contains(check))
    }

    /// How many ticks a check may run behind a change because of its loop's interval.
    #[must_use]
    pub fn ticks_behind(&self, kind: CheckKind, tick: Duration) -> u64 {
        let checks: Vec<&str> = Check::ALL
            .into_iter()
            .filter(|check| check.kind() == kind)
            .map(Check::name)
            .collect();
        let every = self.expected_loops(&checks, tick).into_iter();
        every.map(|spec| spec.every - 1).max().unwrap_or(0)
    }
}

/// What is wrong with a descriptor's loops.
pub(crate) fn problems(loops: &[Loop]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    for (at, spec) in loops.iter().enumerate() {
        let mut add = |key: &str, what: &'static str, hint: &'static str| {
            let problem = Problem::at([key], what, hint);
            problems.push(problem.below(["loops".to_owned(), at.to_string()]));
        };
        if spec.checks.is_empty() {
            add(
                "checks",
                "a loop has no checks",
                "name the checks that it runs",
            );
        }
        if spec.checks.iter().any(|name| Check::parse(name).is_none()) {
            add(
                "checks",
                "a loop names a check that does not exist",
                "the checks are InfiniBandStateCheck, InfiniBandDegradationCheck, InfiniBandCharDeviceCheck, EthernetStateCheck and EthernetDegradationCheck",
            );
        }
        if spec.checks.iter().any(|name| seen.contains(name)) {
            add(
                "checks",
                "two loops run the same check",
                "name each check in one loop",
            );
        } else if loops[..at].iter().any(|one| is_alike(one, spec)) {
            add(
                "checks",
                "two loops cannot be told apart: they read the same files",
                "of all loops one at most may run state checks alone; the counter checks belong into one loop",
            );
        }
        seen.extend(&spec.checks);
        if spec.listings == 0 {
            add(
                "listings",
                "a poll has at least one listing",
                "write 1 or more",
            );
        }
        let mut before = loops[..at].iter();
        if spec.real_interval.is_some() && before.any(|one| one.real_interval.is_some()) {
            add(
                "real_interval",
                "two loops have a `real_interval`: nothing would tell which of them comes back",
                "shorten one of them by its configuration",
            );
        }
    }
    problems
}

/// Whether the first polls of two loops look alike, so far as their checks exist.
fn is_alike(one: &Loop, other: &Loop) -> bool {
    let exist = |spec: &Loop| {
        let mut names = spec.checks.iter();
        !spec.checks.is_empty() && names.all(|name| Check::parse(name).is_some())
    };
    exist(one) && exist(other) && alike(&one.checks, &other.checks)
}

#[cfg(test)]
mod tests;
