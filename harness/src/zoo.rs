//! The zoo: deliberately wrong monitors, each of which a suite must catch.
//!
//! What each does wrong is in `checks`; here are their names and what each is modelled on.

use checks::Species;

/// A wrong monitor, for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Animal {
    /// Its name on the command line.
    pub name: &'static str,
    /// The bug it is modelled on.
    pub models: &'static str,
    /// Why its first 20 polls on a node without faults are right.
    pub why_right: &'static str,
}

/// Every one of them.
#[must_use]
pub fn animals() -> Vec<Animal> {
    let animal = |species: Species| Animal {
        name: species.name(),
        models: species.models(),
        why_right: species.why_right(),
    };
    Species::ALL.into_iter().map(animal).collect()
}
