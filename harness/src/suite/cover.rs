//! Selects the drills that the process arm plays without `--full`.
//!
//! The selection has every scenario once, every platform at least ten times and each of its variants
//! once, as far as that many apply. Evidence comes first: no pair is selected while one whose fault can
//! matter more would do the same. Where it is equal, a long scenario is assigned to the platform on which
//! it reads least, and short ones so that platforms have about equal work: longest scenarios first, and
//! what one costs on a platform weighs more than the work that the platform has already. The selection
//! depends on the list alone: the same list gives the same selection.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How often each platform is played at least. Chosen: ten different stories read a platform's tree
/// before a release, while a run still takes seconds.
pub(super) const PLATFORM_AT_LEAST: usize = 10;

/// Weight of a scenario's own cost relative to its platform's assigned work. Chosen: at 16 the drills of
/// the shipped suite read an eighth more, and at 128 two dozen more are needed so that each platform has
/// its share.
const OWN_COST: u64 = 64;

/// An applicable pair that the process arm could play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate<'p> {
    /// The scenario's name.
    pub(super) scenario: &'p str,
    /// The platform's name, as `name` or `name:variant`.
    pub(super) platform: &'p str,
    /// The cost of playing it: about as many files as a right monitor reads.
    pub(super) work: u64,
    /// How many of the scenario's topics cannot matter there: the fewer, the better.
    pub(super) lacks: usize,
}

/// What a pair was selected for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Its scenario, which is played once.
    Scenario,
    /// Its platform or variant, which is played once.
    Variant,
    /// Its platform's share of [`PLATFORM_AT_LEAST`].
    Share,
}

impl<'p> Candidate<'p> {
    fn base(&self) -> &'p str {
        self.platform.split(':').next().unwrap_or_default()
    }
}

/// The indices in `candidates` that the process arm plays, each with what it was selected for.
#[must_use]
pub(super) fn cover(candidates: &[Candidate<'_>]) -> BTreeMap<usize, Turn> {
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
    let mut scenarios: Vec<&Vec<usize>> = of_scenario.values().collect();
    let cheapest = |places: &Vec<usize>| places.iter().map(|place| candidates[*place].work).min();
    scenarios.sort_by_key(|places| Reverse(cheapest(places)));
    for places in scenarios {
        let least = places
            .iter()
            .min_by_key(|place| chosen.work_with(candidates[**place]))
            .expect("a scenario in the map has a place");
        chosen.take(candidates, *least, Turn::Scenario);
    }
    for (platform, places) in &of_platform {
        chosen.fill(candidates, places, (1, Turn::Variant), |chosen| {
            chosen.platforms.get(platform).copied()
        });
    }
    for (base, places) in &of_base {
        let share = (PLATFORM_AT_LEAST, Turn::Share);
        chosen.fill(candidates, places, share, |chosen| {
            chosen.bases.get(base).copied()
        });
    }
    chosen.places
}

#[derive(Default)]
struct Chosen<'p> {
    places: BTreeMap<usize, Turn>,
    platforms: BTreeMap<&'p str, usize>,
    bases: BTreeMap<&'p str, usize>,
    scenarios: BTreeMap<&'p str, usize>,
    work: BTreeMap<&'p str, u64>,
}

impl<'p> Chosen<'p> {
    /// What it lacks, work of its platform with this one added and its own cost weighed, and how often the
    /// platform is played already.
    fn work_with(&self, candidate: Candidate<'p>) -> (usize, u64, usize) {
        let so_far = self.work.get(candidate.base()).copied().unwrap_or(0);
        (
            candidate.lacks,
            so_far + OWN_COST * candidate.work,
            often(&self.platforms, candidate.platform),
        )
    }

    /// What it lacks, how often its scenario and its platform are played already, and its cost.
    fn plays_and_work(&self, candidate: Candidate<'p>) -> (usize, usize, usize, u64) {
        (
            candidate.lacks,
            often(&self.scenarios, candidate.scenario),
            often(&self.platforms, candidate.platform),
            candidate.work,
        )
    }

    fn take(&mut self, candidates: &[Candidate<'p>], place: usize, turn: Turn) {
        if self.places.insert(place, turn).is_none() {
            let candidate = candidates[place];
            *self.bases.entry(candidate.base()).or_default() += 1;
            *self.platforms.entry(candidate.platform).or_default() += 1;
            *self.scenarios.entry(candidate.scenario).or_default() += 1;
            *self.work.entry(candidate.base()).or_default() += candidate.work;
        }
    }

    /// Adds more of `places` until there are `at_least`: those that lack least first, of these the least
    /// played scenario, the cheapest of those.
    fn fill(
        &mut self,
        candidates: &[Candidate<'p>],
        places: &[usize],
        (at_least, turn): (usize, Turn),
        so_far: impl Fn(&Self) -> Option<usize>,
    ) {
        while so_far(self).unwrap_or(0) < at_least {
            let next = places
                .iter()
                .filter(|place| !self.places.contains_key(place))
                .min_by_key(|place| self.plays_and_work(candidates[**place]));
            match next {
                Some(place) => self.take(candidates, *place, turn),
                None => return,
            }
        }
    }
}

fn often(counts: &BTreeMap<&str, usize>, name: &str) -> usize {
    counts.get(name).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Candidates by scenario, platform and whether it is a variant; each platform has four more ports
    /// than the one before, and each scenario ten more polls.
    fn named(pairs: &[(u8, u8, bool)]) -> Vec<(String, String, u64)> {
        let pairs: BTreeSet<_> = pairs.iter().copied().collect();
        let named = |(scenario, platform, is_variant): (u8, u8, bool)| {
            let variant = if is_variant { ":vfs" } else { "" };
            let polls = 10 * (u64::from(scenario) + 1);
            (
                format!("port/s{scenario}"),
                format!("p{platform}{variant}"),
                polls * 4 * (u64::from(platform) + 1),
            )
        };
        pairs.into_iter().map(named).collect()
    }

    fn candidates(named: &[(String, String, u64)]) -> Vec<Candidate<'_>> {
        let named = named.iter();
        named
            .map(|(scenario, platform, work)| Candidate {
                scenario,
                platform,
                work: *work,
                lacks: 0,
            })
            .collect()
    }

    /// Every third pair lacks nothing, the others one thing or two.
    fn with_evidence(named: &[(String, String, u64)]) -> Vec<Candidate<'_>> {
        let mut all = candidates(named);
        for (place, candidate) in all.iter_mut().enumerate() {
            candidate.lacks = (place * 7 + place / 3) % 3;
        }
        all
    }

    proptest! {
        #[test]
        fn every_scenario_is_played_once_and_every_platform_ten_times_where_so_many_fit(
            pairs in prop::collection::vec((0_u8..40, 0_u8..6, any::<bool>()), 0..200)
        ) {
            let named = named(&pairs);
            let all = with_evidence(&named);
            let chosen = cover(&all);
            prop_assert_eq!(&cover(&all), &chosen);
            for candidate in &all {
                prop_assert!(chosen.keys().any(|place| all[*place].scenario == candidate.scenario));
                prop_assert!(chosen.keys().any(|place| all[*place].platform == candidate.platform));
                let fit = all.iter().filter(|other| other.base() == candidate.base()).count();
                let played =
                    chosen.keys().filter(|place| all[**place].base() == candidate.base()).count();
                prop_assert!(played >= fit.min(PLATFORM_AT_LEAST));
            }
        }

        #[test]
        fn no_pair_is_played_while_one_with_more_evidence_would_do_the_same(
            pairs in prop::collection::vec((0_u8..40, 0_u8..6, any::<bool>()), 0..200)
        ) {
            let named = named(&pairs);
            let all = with_evidence(&named);
            let chosen = cover(&all);
            for (place, turn) in &chosen {
                let one = all[*place];
                let would_do = |other: &Candidate<'_>| match turn {
                    Turn::Scenario => other.scenario == one.scenario,
                    Turn::Variant => other.platform == one.platform,
                    Turn::Share => other.base() == one.base(),
                };
                let better = all.iter().enumerate().find(|(other, candidate)| {
                    let is_free = *turn == Turn::Scenario || !chosen.contains_key(other);
                    is_free && would_do(candidate) && candidate.lacks < one.lacks
                });
                prop_assert_eq!(better, None, "{:?} {:?}", one, turn);
            }
        }
    }

    #[test]
    fn the_longest_are_played_on_small_platforms_and_short_ones_on_all() {
        let pairs: Vec<_> = (0..120)
            .flat_map(|s| (0..4).map(move |p| (s, p, false)))
            .collect();
        let named = named(&pairs);
        let all = candidates(&named);
        let chosen = cover(&all);
        assert_eq!(chosen.len(), 120, "no platform needed more");
        let of = |platform: &str| {
            chosen
                .keys()
                .map(|place| all[*place])
                .filter(move |one| one.platform == platform)
                .collect::<Vec<_>>()
        };
        let (small, large) = (of("p0"), of("p3"));
        assert!(
            small.len() > large.len(),
            "{} and {}",
            small.len(),
            large.len()
        );
        let polls = |of: &[Candidate<'_>], ports: u64| of.iter().map(|one| one.work / ports).max();
        assert!(
            polls(&small, 4) > polls(&large, 16),
            "the longest go to small ones"
        );
        assert!(large.len() >= PLATFORM_AT_LEAST, "{}", large.len());
        let work: u64 = chosen.keys().map(|place| all[*place].work).sum();
        let least: u64 = all
            .iter()
            .filter(|one| one.platform == "p0")
            .map(|one| one.work)
            .sum();
        assert!(2 * work < 3 * least, "{work} beside {least} at least");
    }
}
