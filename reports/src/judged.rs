//! How many expectations of a drill or run were judged, and why the others were not. Start at [`Judged`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{StoryLine, counted};

/// Why an expectation is not judged whose drill ended before its end: what was said is not all that would have been said.
pub const BROKE_OFF: &str = "the drill broke off";

/// An expectation that was not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its line.
    pub line: StoryLine,
    /// Why it was not judged, in words.
    pub reason: String,
    /// How often it counts: once for each node that it is meant for, 1 or more.
    pub count: u64,
}

/// Expectations that were judged, and those that were not, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// How many were judged, whether or not they held.
    pub judged: u64,
    /// How many were not, by reason, such as ``no promise about `card` ``.
    pub not_judged: BTreeMap<String, u64>,
    /// The expectations that were not, as far as they are lines of a scenario, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How many parts of judged expectations were not, such as a timestamp, by reason.
    pub parts: BTreeMap<String, u64>,
}

impl Judged {
    /// Counts an expectation that was judged.
    pub fn judge(&mut self) {
        self.judged += 1;
    }

    /// Counts an expectation that was not judged.
    pub fn leave_out(&mut self, reason: impl Into<String>) {
        *self.not_judged.entry(reason.into()).or_default() += 1;
    }

    /// Counts an expectation of a scenario that was not judged.
    pub fn leave_out_line(&mut self, line: StoryLine, reason: impl Into<String>) {
        let reason = reason.into();
        self.leave_out(reason.clone());
        let mut known = self.left_out.iter_mut();
        match known.find(|of| of.line == line && of.reason == reason) {
            Some(same) => same.count += 1,
            None => self.left_out.push(LeftOut {
                line,
                reason,
                count: 1,
            }),
        }
    }

    /// Counts a part of a judged expectation that was not judged.
    pub fn leave_out_part(&mut self, reason: impl Into<String>) {
        *self.parts.entry(reason.into()).or_default() += 1;
    }

    /// Adds the counts of another drill, without its lines.
    pub fn add(&mut self, other: &Judged) {
        self.judged += other.judged;
        let sums = [
            (&mut self.not_judged, &other.not_judged),
            (&mut self.parts, &other.parts),
        ];
        for (sum, more) in sums {
            for (reason, count) in more {
                *sum.entry(reason.clone()).or_default() += count;
            }
        }
    }

    /// How many expectations there were.
    #[must_use]
    pub fn expectations(&self) -> u64 {
        self.judged + self.not_judged.values().sum::<u64>()
    }

    /// Whether there were expectations and none of them was judged.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.judged == 0 && self.expectations() > 0
    }

    /// The share of expectations that were judged in percent, rounded down; 100 if there were none.
    #[must_use]
    pub fn percent(&self) -> u64 {
        match self.expectations() {
            0 => 100,
            all => self.judged * 100 / all,
        }
    }
}

/// `judged 90 of 120 expectations (75 %)`, without a share if there were none.
impl std::fmt::Display for Judged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = self.expectations();
        write!(
            f,
            "judged {} of {}",
            self.judged,
            counted(all, "expectation")
        )?;
        if all > 0 {
            write!(f, " ({} %)", self.percent())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_left_out_once_for_each_reason_and_read_as_it_was_written() {
        let line = StoryLine {
            place: "mine.yaml:7:5".to_owned(),
            text: "- healthy: victim".to_owned(),
        };
        let mut judged = Judged::default();
        for reason in ["one", "other", "one"] {
            judged.leave_out_line(line.clone(), reason);
        }
        let counts = judged.left_out.iter();
        let counts: Vec<_> = counts.map(|of| (of.reason.as_str(), of.count)).collect();
        assert_eq!(counts, [("one", 2), ("other", 1)]);
        let json = serde_json::to_string(&judged).unwrap();
        assert_eq!(serde_json::from_str::<Judged>(&json).unwrap(), judged);
        let mut sum = Judged::default();
        sum.add(&judged);
        assert_eq!((sum.expectations(), sum.left_out), (3, Vec::new()));
    }

    #[test]
    fn the_share_is_that_of_the_expectations_and_parts_do_not_count() {
        let mut judged = Judged::default();
        assert_eq!(judged.percent(), 100);
        assert_eq!(judged.to_string(), "judged 0 of 0 expectations");
        assert!(!judged.is_nothing());
        let mut unpromised = Judged::default();
        unpromised.leave_out("no promise about `card`");
        assert!(unpromised.is_nothing());
        for _ in 0..2 {
            judged.judge();
        }
        judged.leave_out("no promise about `card`");
        judged.leave_out_part("time stamps: it has a clock of its own");
        assert_eq!(judged.to_string(), "judged 2 of 3 expectations (66 %)");
        assert!(!judged.is_nothing());
        let one = judged.clone();
        judged.add(&one);
        assert_eq!(judged.expectations(), 6);
        assert_eq!(judged.not_judged["no promise about `card`"], 2);
    }
}
