//! How often things happen at a site, by kind: the weights of a comparison of monitors.
//!
//! The words are those of promises ([`Kind`]): faults and episodes. `harness` reads a file of them. Start at [`Mix`].

use std::collections::BTreeMap;

use files::Problem;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{needs, promises::Kind};

/// The most events of a kind. Chosen: a thousand times a day on each of 1,000 nodes.
const MOST: f64 = 30_000_000.0;

/// How often each kind of fault and episode happens.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "How often faults happen at a site, for nicdrill")]
pub struct Mix {
    /// The version of this format: 1.
    pub mix_version: u32,
    /// A one-line description.
    pub title: Option<String>,
    /// How often each kind happens on 1,000 nodes in a month, from 0 to 30,000,000. `counter.*` stands for each
    /// counter that is not listed. A kind that is not listed has no weight.
    pub per_1000_nodes_and_month: BTreeMap<Kind, f64>,
}

impl Mix {
    /// How often a kind happens on 1,000 nodes in a month; `None` if the mix does not say.
    #[must_use]
    pub fn rate(&self, kind: &Kind) -> Option<f64> {
        needs::of(&self.per_1000_nodes_and_month, kind).copied()
    }

    /// The invalid values.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        const KINDS: &str = "per_1000_nodes_and_month";
        let mut problems = Vec::new();
        if self.mix_version != 1 {
            problems.push(Problem::at(
                ["mix_version"],
                "this mix has another version",
                "write `mix_version: 1`",
            ));
        }
        if self.per_1000_nodes_and_month.is_empty() {
            problems.push(Problem::at(
                [KINDS],
                "nothing happens",
                "list kinds of faults and episodes, each with how often it happens",
            ));
        }
        let rates = self.per_1000_nodes_and_month.iter();
        let wrong = rates.filter(|(_, rate)| !(0.0..=MOST).contains(*rate));
        problems.extend(wrong.map(|(kind, rate)| {
            Problem::at(
                [KINDS, &kind.to_string()],
                format!("`{rate}` is no number of events"),
                "write a number from 0 to 30000000, such as `2.5`",
            )
        }));
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promises::Named;

    fn mix(kinds: &[(Kind, f64)]) -> Mix {
        Mix {
            mix_version: 1,
            title: None,
            per_1000_nodes_and_month: kinds.iter().cloned().collect(),
        }
    }

    #[test]
    fn counters_share_the_rate_of_all_of_them() {
        let counter = |name: &str| Kind::Counter(name.to_owned());
        let mix = mix(&[(counter("*"), 2.0), (counter("symbol_error"), 7.0)]);
        assert_eq!(mix.problems(), []);
        assert_eq!(mix.rate(&counter("link_downed")), Some(2.0));
        assert_eq!(mix.rate(&counter("symbol_error")), Some(7.0));
        assert_eq!(mix.rate(&Named::Polling.into()), None);
    }

    #[test]
    fn a_mix_that_cannot_be_is_refused_with_its_keys() {
        let check = |mix: &Mix, keys: &[&str]| {
            let problem = mix.problems().into_iter().next();
            assert_eq!(problem.expect("it is refused").keys, keys);
        };
        let polling = |rate: f64| mix(&[(Named::Polling.into(), rate)]);
        assert_eq!(polling(0.0).problems(), []);
        for rate in [-1.0, f64::NAN, f64::INFINITY] {
            check(&polling(rate), &["per_1000_nodes_and_month", "polling"]);
        }
        check(&mix(&[]), &["per_1000_nodes_and_month"]);
        let later = Mix {
            mix_version: 2,
            ..polling(1.0)
        };
        check(&later, &["mix_version"]);
    }
}
