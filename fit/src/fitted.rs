//! What was found about a monitor: its promises with their evidence. Start at [`Fitted`].

use std::collections::BTreeMap;

use observe::{
    Descriptor, Promises,
    promises::{Kind, Row},
};

use crate::evidence::{Evidence, Mark};

/// A deviation that a person can accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// A pattern of the ids of its findings in a run of the suite.
    pub id: String,
    /// What it is, as a sentence about the monitor without a subject.
    pub what: String,
    /// Where it was seen.
    pub evidence: Evidence,
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
    /// What was seen and no key describes.
    pub unfound: Vec<String>,
    /// Why a drill was not played, or tells nothing.
    pub unasked: Vec<String>,
    /// Keys that stand as the documents have them, because no drill told their values apart.
    pub untold: Vec<String>,
}

impl Fitted {
    /// Adds a row, and the promise that it is.
    pub(crate) fn add(&mut self, kind: Kind, found: FittedRow) {
        match &found.row {
            Some(row) => self.promises.rows.insert(kind.clone(), row.clone()),
            None => self.promises.rows.remove(&kind),
        };
        self.rows.insert(kind, found);
    }
}

/// A descriptor with other promises.
pub(crate) fn promising(descriptor: &Descriptor, promises: Promises) -> Descriptor {
    Descriptor {
        promises,
        ..descriptor.clone()
    }
}
