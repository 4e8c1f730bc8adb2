//! A shard of a run: the k-th of n, so that n machines together play all of it.

use std::{fmt, str::FromStr};

/// The k-th of n shards, written `K/N`, from 1; or `index:I/N`, from 0, as Kubernetes counts the pods of an indexed job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard {
    number: usize,
    of: usize,
}

impl Shard {
    /// The only shard of an undivided run.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// Whether the drill at this index, counted from 0, is in this shard.
    #[must_use]
    pub fn holds(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }

    /// Its number, from 1.
    #[must_use]
    pub fn number(self) -> usize {
        self.number
    }

    /// How many shards the run has.
    #[must_use]
    pub fn of(self) -> usize {
        self.of
    }

    /// All shards of its run, in order.
    pub fn all(self) -> impl Iterator<Item = Self> {
        let of = self.of;
        (1..=of).map(move |number| Self { number, of })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// An invalid shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid shard `{text}`\nhint: {hint}", hint = Self::HINT)]
pub struct ShardError {
    text: String,
}

impl ShardError {
    /// What helps.
    pub const HINT: &str =
        "a shard is written K/N with 1 <= K <= N, such as 2/4, or index:I/N with 0 <= I < N";
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (from, numbers) = match text.strip_prefix("index:") {
            Some(numbers) => (0_usize, numbers),
            None => (1, text),
        };
        numbers
            .split_once('/')
            .and_then(|(number, of)| {
                let number: usize = number.parse().ok()?;
                Some(Self {
                    number: number.checked_add(1 - from)?,
                    of: of.parse().ok()?,
                })
            })
            .filter(|shard| (1..=shard.of).contains(&shard.number))
            .ok_or_else(|| ShardError {
                text: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_whole_hold_every_place_once() {
        for of in 1..7 {
            let shards: Vec<Shard> = (1..=of)
                .map(|number| format!("{number}/{of}").parse().unwrap())
                .collect();
            for place in 0..50 {
                assert_eq!(shards.iter().filter(|shard| shard.holds(place)).count(), 1);
            }
        }
    }

    #[test]
    fn an_index_counts_from_0() {
        let shard: Shard = "index:0/4".parse().unwrap();
        assert_eq!(shard.to_string(), "1/4");
    }

    #[test]
    fn what_is_no_part_of_a_whole_is_refused() {
        for text in [
            "",
            "1",
            "0/2",
            "3/2",
            "1/0",
            "a/b",
            "-1/2",
            "1/2/3",
            "index:2/2",
            "index:-1/2",
            "index:",
        ] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
