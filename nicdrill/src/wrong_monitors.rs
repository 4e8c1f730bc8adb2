//! The zoo: deliberately wrong monitors, each of which a suite must catch.
//!
//! What each does wrong is in `checks`; here are their names, what each is modelled on, and its
//! story as a scenario that can be played. Hunting them with a suite is the command's work.

use checks::Species;
use scenarios::{Scenario, ScenarioError};

/// Polls for which every wrong monitor is right in its own story.
pub(crate) const RIGHT_POLLS: u64 = 20;

/// A wrong monitor, for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// The bug it is modelled on.
    pub(crate) models: &'static str,
    /// A scenario, as YAML, in which it is right for [`RIGHT_POLLS`] polls, and then wrong.
    pub(crate) story: &'static str,
}

impl Mutant {
    /// Its story, read.
    ///
    /// # Errors
    /// If the text is no scenario: a fault of ours.
    pub(crate) fn scenario(&self) -> Result<Scenario, ScenarioError> {
        scenarios::read(&format!("zoo/{}.yaml", self.name), self.story)
    }
}

/// Every one of them, in order of name.
#[must_use]
pub(crate) fn mutants() -> Vec<Mutant> {
    let mutant = |species: &Species| Mutant {
        name: species.name(),
        models: species.models(),
        story: species.story(),
    };
    Species::all().iter().map(mutant).collect()
}
