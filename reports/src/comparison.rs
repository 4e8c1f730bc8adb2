//! A comparison of monitors by one set of drills and needs: the counts of each, by kind of fault, and as JSON. The
//! terminal's table is in `comparison_page.rs`. Start at [`Comparison`].

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::{DrillName, json::json_output};

/// The version of the JSON format. It is incremented when a member is removed or changes its meaning; a new member
/// does not change it.
pub(crate) const COMPARISON_VERSION: u32 = 1;

/// Several monitors in the same drills.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The file of needs that they are judged by, as the command line names it.
    pub needs: String,
    /// The mix that weights kinds, as the command line names it.
    pub mix: Option<String>,
    /// The drills that all of them played.
    #[serde(serialize_with = "as_texts")]
    pub drills: Vec<DrillName>,
    /// The monitors, in the order of the command line.
    pub monitors: Vec<ComparedMonitor>,
}

/// What one monitor made of the drills.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ComparedMonitor {
    /// Its name; where two have the same, the file or program that the command line names.
    pub name: String,
    /// How it reports, by the word of `speaks`.
    pub speaks: String,
    /// Why it was not played, if so.
    pub not_played: Option<String>,
    /// Drills of the selection that it cannot play, by reason. No monitor is compared in them.
    pub left_out: BTreeMap<String, u64>,
    /// Kinds about which it promises less than the documents ask. It is not judged by that here: needs are the same for all.
    pub conceded: BTreeMap<String, Conceded>,
    /// Faults, by kind: those that one of the monitors noticed or had to notice.
    pub faults: BTreeMap<String, FaultCount>,
    /// What must be quiet or was followed by an alarm without a fault, by kind; an empty word stands for nothing.
    pub false_alarms: BTreeMap<String, AlarmCount>,
    /// Drills in which it crashed or hung.
    #[serde(serialize_with = "as_texts")]
    pub broken: Vec<DrillName>,
    /// The same, weighted by the mix.
    pub weighted: Option<Weighted>,
}

/// What a promise about a kind hides that the documents ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conceded {
    /// In few words.
    pub in_short: String,
    /// What it hides.
    pub hides: String,
    /// A scenario that shows it where the documents' rows hold.
    pub scenario: String,
}

/// What a monitor made of the faults of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultCount {
    /// Faults that one of the monitors noticed or had to notice, and that this one watches.
    pub faults: u64,
    /// Noticed in time.
    pub in_time: u64,
    /// Noticed later than needed, while they stood.
    pub late: u64,
    /// Not noticed, although they stood for long enough.
    pub never: u64,
    /// Not noticed, and too short for that to be needed; another monitor noticed them.
    pub too_short: u64,
    /// How long after their beginning, of those that were noticed.
    pub noticed_after_ms: Option<Spread>,
    /// Of those that were noticed and are over: taken back in time, where this is needed and known.
    pub cleared_in_time: u64,
    /// Taken back later than needed.
    pub cleared_late: u64,
    /// Not taken back to the end of the drill.
    pub cleared_never: u64,
    /// How long after their end, of those that were taken back.
    pub cleared_after_ms: Option<Spread>,
    /// Of those never noticed, although others of the kind are: by what had happened before. `crash` and `hang` are
    /// the monitor's own.
    pub blind_after: BTreeMap<String, u64>,
    /// The first drill in which one was never noticed.
    #[serde(serialize_with = "as_text")]
    pub first_missed: Option<DrillName>,
}

/// How often something that is no reason for an alarm was taken for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AlarmCount {
    /// How often it happened; for nothing at all, the number of drills.
    pub happened: u64,
    /// How often at least one false alarm followed.
    pub alarmed: u64,
    /// How often one of them was fatal.
    pub fatal: u64,
    /// How often one of them stood to the end of the drill.
    pub standing: u64,
    /// The first drill.
    #[serde(serialize_with = "as_text")]
    pub first: Option<DrillName>,
}

/// The least, the median (the lower one of two) and the most of some times, in simulated milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// Simulated milliseconds.
    pub least: u64,
    /// Simulated milliseconds; the lower one of two.
    pub median: u64,
    /// Simulated milliseconds.
    pub most: u64,
}

/// What a mix makes of a monitor's counts, on 1,000 nodes in a month.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Weighted {
    /// Fatal false alarms.
    pub false_drains: Estimate,
    /// Faults that are noticed too late or never.
    pub missed_faults: Estimate,
    /// Kinds of the mix that no compared drill shows.
    pub not_drilled: Vec<String>,
}

/// A weighted sum, and how far it depends on its weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The sum.
    pub value: f64,
    /// The least if one weight is halved.
    pub least: f64,
    /// The most if one weight is doubled.
    pub most: f64,
    /// The kind with the largest part in it, if any has one.
    pub depends_on: Option<String>,
}

impl Spread {
    /// The spread of some times; `None` of none.
    #[must_use]
    pub fn of(mut times_ms: Vec<u64>) -> Option<Self> {
        times_ms.sort_unstable();
        Some(Self {
            least: *times_ms.first()?,
            median: times_ms[(times_ms.len() - 1) / 2],
            most: *times_ms.last()?,
        })
    }
}

impl Estimate {
    /// The sum of parts, each with its kind, and the sums with one part halved or doubled.
    #[must_use]
    pub fn of(parts: &[(String, f64)]) -> Self {
        let value = parts.iter().fold(0.0, |sum, (_, part)| sum + part);
        let largest = parts.iter().max_by(|one, other| one.1.total_cmp(&other.1));
        let largest = largest.filter(|(_, part)| *part > 0.0);
        let part = largest.map_or(0.0, |(_, part)| *part);
        Self {
            value,
            least: value - part / 2.0,
            most: value + part,
            depends_on: largest.map(|(kind, _)| kind.clone()),
        }
    }
}

impl Comparison {
    /// The comparison as JSON text, indented, with a final newline.
    #[must_use]
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        struct Versioned<'c> {
            comparison_version: u32,
            #[serde(flatten)]
            comparison: &'c Comparison,
        }
        json_output(&Versioned {
            comparison_version: COMPARISON_VERSION,
            comparison: self,
        })
    }
}

fn as_texts<S: Serializer>(drills: &[DrillName], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(drills.iter().map(ToString::to_string))
}

#[expect(clippy::ref_option, reason = "serde passes a field by reference")]
fn as_text<S: Serializer>(drill: &Option<DrillName>, to: S) -> Result<S::Ok, S::Error> {
    drill.as_ref().map(ToString::to_string).serialize(to)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn of_two_times_in_the_middle_the_median_is_the_lower() {
        let spread =
            |times: &[u64]| Spread::of(times.to_vec()).map(|it| (it.least, it.median, it.most));
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[7]), Some((7, 7, 7)));
        assert_eq!(spread(&[9, 1, 4, 2]), Some((1, 2, 9)));
    }

    proptest! {
        #[test]
        fn no_single_weight_that_is_halved_or_doubled_leaves_the_range(
            parts in vec(0.0..1000.0f64, 0..8),
            at in 0usize..8,
            factor in prop_oneof![Just(0.5), Just(2.0)],
        ) {
            let named = |parts: &[f64]| -> Vec<(String, f64)> {
                parts.iter().enumerate().map(|(at, part)| (at.to_string(), *part)).collect()
            };
            let estimate = Estimate::of(&named(&parts));
            let mut changed = parts;
            if let Some(part) = changed.get_mut(at) {
                *part *= factor;
            }
            let value = Estimate::of(&named(&changed)).value;
            let slack = 1e-6;
            prop_assert!((estimate.least - slack..=estimate.most + slack).contains(&value));
        }
    }
}
