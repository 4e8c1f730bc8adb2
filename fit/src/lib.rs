//! What a monitor does, learned from the recordings of an interview: its promises, each with its evidence.
//!
//! The interview is a fixed set of short drills (`suite/interview/`); `harness` plays them. A promise about a state
//! that lasts is read off the times at which the state stood and was reported. A promise about an episode is the first
//! of a few rows under which the judge finds nothing wrong. What the judge still finds under all promises is *suspect*:
//! it is no promise, but a deviation that a person can accept. Start at [`fit`], then [`page()`].

use std::collections::BTreeMap;

use director::Truth;
use observe::{
    Descriptor, Promises, Recording,
    promises::{Kind, LostPublish, Row},
};
use scenarios::Story;

mod answers;
mod conditions;
mod counters;
mod episodes;
mod evidence;
mod heard;
mod nature;
mod page;
mod suspects;
mod wire;
mod wiring;
mod words;

pub use evidence::{Evidence, Mark};
pub use page::{head_without_promises, page};
pub use suspects::Suspect;
pub use wiring::{Wiring, wiring};

/// A drill of the interview, as it was played.
#[derive(Clone, Copy, Debug)]
pub struct Drill<'a> {
    /// The drill.
    pub story: &'a Story,
    /// The true state of its world.
    pub truth: &'a Truth,
    /// What its monitor did.
    pub recording: &'a Recording,
}

impl Drill<'_> {
    /// Its name, as `scenario@platform`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}@{}", self.story.name, self.story.world)
    }

    /// Whether it asks about this subject: a kind's word, `wire`, `scope`.
    fn asks(&self, subject: &str) -> bool {
        self.subjects().any(|asked| asked == subject)
    }

    /// What it asks about.
    fn subjects(&self) -> impl Iterator<Item = &str> {
        let covers = self.story.covers.iter();
        covers.filter_map(|clause| clause.strip_prefix("fit/"))
    }
}

/// A row that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedRow {
    /// The row; `None` if nothing can be promised.
    pub row: Option<Row>,
    /// How far it can be trusted.
    pub mark: Mark,
    /// Why.
    pub evidence: Vec<Evidence>,
}

/// What was found about a monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fitted {
    /// Its promises.
    pub promises: Promises,
    /// Its rows with their evidence, those without a promise too.
    pub rows: BTreeMap<Kind, FittedRow>,
    /// Evidence of what is no row, by its key, such as `scope` or `wire.calls`.
    pub keys: BTreeMap<&'static str, Vec<Evidence>>,
    /// What no promise can cover.
    pub suspects: Vec<Suspect>,
    /// Why a drill was not played, or tells nothing.
    pub unasked: Vec<String>,
}

/// Learns the promises of a monitor from the drills of an interview.
#[must_use]
pub fn fit(descriptor: &Descriptor, drills: &[Drill<'_>]) -> Fitted {
    let mut fitted = Fitted::default();
    let (ended, broken): (Vec<Drill<'_>>, Vec<Drill<'_>>) = drills
        .iter()
        .partition(|drill| drill.recording.broken.is_none());
    for drill in &broken {
        let broken = drill.recording.broken.as_ref();
        let how = broken.map_or("", suspects::how_it_broke);
        fitted.unasked.push(format!("{}: {how}", drill.name()));
    }
    wire::fit(&ended, &mut fitted);
    nature::fit(descriptor, &ended, &mut fitted);
    fitted.promises.lost_publish = Some(LostPublish::Kept);
    conditions::fit(descriptor, &ended, &mut fitted);
    counters::fit(descriptor, &ended, &mut fitted);
    episodes::fit(descriptor, &ended, &mut fitted);
    suspects::fit(descriptor, drills, &mut fitted);
    fitted
}

impl Fitted {
    /// Adds a row, and the promise that it is.
    fn add(&mut self, kind: Kind, found: FittedRow) {
        match &found.row {
            Some(row) => self.promises.rows.insert(kind.clone(), row.clone()),
            None => self.promises.rows.remove(&kind),
        };
        self.rows.insert(kind, found);
    }
}

/// A descriptor with other promises.
fn promising(descriptor: &Descriptor, promises: Promises) -> Descriptor {
    Descriptor {
        promises,
        ..descriptor.clone()
    }
}
