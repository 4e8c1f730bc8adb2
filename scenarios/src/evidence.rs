//! Evidence that the fault of a story can matter where the story is played.
//!
//! What a story does and expects gives its [`Topic`]s: a link layer, a signal that classifies NICs, the comparison of
//! cards, a counter. A [`Fact`] says of each topic whether the machine lets it matter. Nothing here knows a scenario
//! by name. Start at [`Scenario::evidence`].

mod cast;
mod comparison;
mod counted;
mod fact;
mod layer;
mod signal;
mod starts;
mod watched;

use std::fmt;

pub use fact::{Fact, Topic};

use crate::scenario::{AtRest, Scenario};
use crate::story::Story;
use cast::Cast;

/// The facts about a story and the world that it was resolved in, one for each topic of the story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    facts: Vec<Fact>,
}

impl Scenario {
    /// The evidence that the fault of `story` can matter in this world; `story` is this scenario, resolved in it.
    #[must_use]
    pub fn evidence(&self, rest: &AtRest, story: &Story) -> Evidence {
        if self.world().is_some() {
            let text = "the world that it is written for".to_owned();
            return Evidence {
                facts: vec![Fact::holds(Topic::World, text)],
            };
        }
        let cast = Cast::new(&rest.resolved, story);
        let mut facts: Vec<Fact> = [
            watched::fact(&cast),
            layer::fact(self, &cast),
            comparison::fact(&cast),
            counted::fact(&cast),
        ]
        .into_iter()
        .flatten()
        .chain(signal::facts(&cast))
        .collect();
        facts.sort_by_key(|fact| fact.topic);
        Evidence { facts }
    }
}

impl Evidence {
    /// The facts, in the order of their topics.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The number of topics that cannot matter here; the fewer, the stronger is the evidence.
    #[must_use]
    pub fn lacks(&self) -> usize {
        self.facts.iter().filter(|fact| !fact.holds).count()
    }
}

/// What speaks for the pair, and then what speaks against it.
impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (held, lacking): (Vec<&Fact>, Vec<&Fact>) =
            self.facts.iter().partition(|fact| fact.holds);
        if self.facts.is_empty() {
            return f.write_str("any machine serves");
        }
        for (place, fact) in held.iter().enumerate() {
            let before = if place == 0 { "" } else { "; " };
            write!(f, "{before}{}", fact.text)?;
        }
        for (place, fact) in lacking.iter().enumerate() {
            let before = match (place, held.is_empty()) {
                (0, true) => "nowhere better: ",
                (0, false) => "; nowhere better: ",
                _ => ", ",
            };
            write!(f, "{before}{}", fact.text)?;
        }
        Ok(())
    }
}
