//! Which drills the process arm plays when not all are asked for.
//!
//! Every scenario once, every platform at least ten times and each of its variants once, where that
//! many fit. The choice is a function of the list alone: the same list, the same cover.

use std::collections::{BTreeMap, BTreeSet};

/// How often each platform is played at least. Chosen: a platform's tree is read by ten different
/// stories before a release, while a run stays a matter of seconds.
pub(super) const PLATFORM_AT_LEAST: usize = 10;

/// A pair that fits and could be played in the process arm, by its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate<'p> {
    /// The scenario's name.
    pub(super) scenario: &'p str,
    /// The platform's name, as `name` or `name:variant`.
    pub(super) platform: &'p str,
}

impl<'p> Candidate<'p> {
    fn base(&self) -> &'p str {
        self.platform.split(':').next().unwrap_or_default()
    }
}

/// The places in `candidates` that the process arm plays.
#[must_use]
pub(super) fn cover(candidates: &[Candidate<'_>]) -> BTreeSet<usize> {
    let mut chosen = Chosen::default();
    let mut of_scenario: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut of_platform: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut of_base: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, candidate) in candidates.iter().enumerate() {
        of_scenario
            .entry(candidate.scenario)
            .or_default()
            .push(place);
        of_platform
            .entry(candidate.platform)
            .or_default()
            .push(place);
        of_base.entry(candidate.base()).or_default().push(place);
    }
    for places in of_scenario.values() {
        let least = places
            .iter()
            .min_by_key(|place| chosen.load(candidates[**place]))
            .expect("a scenario in the map has a place");
        chosen.take(candidates, *least);
    }
    for (platform, places) in &of_platform {
        chosen.fill(candidates, places, 1, |chosen| {
            chosen.platforms.get(platform).copied()
        });
    }
    for (base, places) in &of_base {
        chosen.fill(candidates, places, PLATFORM_AT_LEAST, |chosen| {
            chosen.bases.get(base).copied()
        });
    }
    chosen.places
}

#[derive(Default)]
struct Chosen<'p> {
    places: BTreeSet<usize>,
    platforms: BTreeMap<&'p str, usize>,
    bases: BTreeMap<&'p str, usize>,
    scenarios: BTreeMap<&'p str, usize>,
}

impl<'p> Chosen<'p> {
    /// How much the candidate's platform and scenario are played already.
    fn load(&self, candidate: Candidate<'p>) -> (usize, usize, usize) {
        let of = |counts: &BTreeMap<&str, usize>, name| counts.get(name).copied().unwrap_or(0);
        (
            of(&self.bases, candidate.base()),
            of(&self.platforms, candidate.platform),
            of(&self.scenarios, candidate.scenario),
        )
    }

    fn take(&mut self, candidates: &[Candidate<'p>], place: usize) {
        if self.places.insert(place) {
            let candidate = candidates[place];
            *self.bases.entry(candidate.base()).or_default() += 1;
            *self.platforms.entry(candidate.platform).or_default() += 1;
            *self.scenarios.entry(candidate.scenario).or_default() += 1;
        }
    }

    /// Takes more of `places`, the scenario least played first, until there are `at_least`.
    fn fill(
        &mut self,
        candidates: &[Candidate<'p>],
        places: &[usize],
        at_least: usize,
        so_far: impl Fn(&Self) -> Option<usize>,
    ) {
        while so_far(self).unwrap_or(0) < at_least {
            let next = places
                .iter()
                .filter(|place| !self.places.contains(place))
                .min_by_key(|place| {
                    let (_, platform, scenario) = self.load(candidates[**place]);
                    (scenario, platform)
                });
            match next {
                Some(place) => self.take(candidates, *place),
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidates(pairs: &[(u8, u8, bool)]) -> Vec<(String, String)> {
        let pairs: BTreeSet<(String, String)> = pairs
            .iter()
            .map(|(scenario, platform, variant)| {
                let variant = if *variant { ":vfs" } else { "" };
                (format!("port/s{scenario}"), format!("p{platform}{variant}"))
            })
            .collect();
        pairs.into_iter().collect()
    }

    proptest! {
        #[test]
        fn every_scenario_is_played_once_and_every_platform_ten_times_where_so_many_fit(
            pairs in prop::collection::vec((0_u8..40, 0_u8..6, any::<bool>()), 0..200)
        ) {
            let names = candidates(&pairs);
            let all: Vec<Candidate<'_>> = names
                .iter()
                .map(|(scenario, platform)| Candidate { scenario, platform })
                .collect();
            let chosen = cover(&all);
            prop_assert_eq!(&cover(&all), &chosen);
            for candidate in &all {
                prop_assert!(chosen.iter().any(|place| all[*place].scenario == candidate.scenario));
                prop_assert!(chosen.iter().any(|place| all[*place].platform == candidate.platform));
                let fit = all.iter().filter(|other| other.base() == candidate.base()).count();
                let played =
                    chosen.iter().filter(|place| all[**place].base() == candidate.base()).count();
                prop_assert!(played >= fit.min(PLATFORM_AT_LEAST));
            }
        }
    }

    #[test]
    fn a_cover_of_many_scenarios_spreads_over_the_platforms() {
        let names = candidates(
            &(0..60)
                .flat_map(|s| (0..8).map(move |p| (s, p, false)))
                .collect::<Vec<_>>(),
        );
        let all: Vec<Candidate<'_>> = names
            .iter()
            .map(|(scenario, platform)| Candidate { scenario, platform })
            .collect();
        let chosen = cover(&all);
        assert!(chosen.len() <= 80, "{}", chosen.len());
    }
}
