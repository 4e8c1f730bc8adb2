//! What this monitor owes: the documents' demands, translated by the difference between its rows and the
//! documents' rows.
//!
//! Where they are equal, a demand stays as it is. Start at [`Owed`].

mod baselines;
mod beyond;
mod cards;
mod consequences;
mod delivery;
mod due;
mod first_sights;
mod moved;
mod names;
mod restated;
mod rows;
mod sources;
mod told_before;
mod translator;
mod true_faults;
mod waited;

use observe::Recording;
use platforms::NodeName;
use scenarios::{About, Expectation};
use terms::Severity;

use crate::{
    demands::Demand, episodes::Episodes, fits::JudgeContext, kinds, kinds::Kinds,
    readings::Readings,
};

pub(crate) use consequences::{Instead, moved};
pub(crate) use rows::{Rows, is_on_its_way};

/// How many polls after its time a report that only the truth asks for may come. Chosen: as scenarios allow where they state
/// `within: 1 poll`.
const GRACE: u64 = 1;

/// What a monitor owes in a drill.
#[derive(Debug)]
pub(crate) struct Owed<'a> {
    /// What must come, in no order.
    pub(crate) demands: Vec<Demand<'a>>,
    /// What the documents ask, and what became of it.
    pub(crate) documents: Vec<Translated<'a>>,
    /// The rows of the monitor.
    rows: Rows<'a>,
    /// Names of devices and cards that their bearers gave up, with their nodes and the first poll without them: what was
    /// reported of them stays.
    pub(crate) left_behind: Vec<(NodeName, String, u64)>,
}

/// A demand of the documents, and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Translated<'a> {
    pub(crate) demand: Demand<'a>,
    pub(crate) kinds: Kinds,
    /// What became of it.
    pub(crate) fate: Fate,
}

/// What became of a demand of the documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is owed, so much later and in this tone.
    Owed {
        /// In ticks.
        later: i64,
        /// Its severity.
        tone: Severity,
        /// Whom it names, if that is another subject.
        about: Option<About>,
    },
    /// It is not owed, and must not come.
    Silent,
    /// It is not owed, and may come.
    Free,
    /// Nothing is promised about it.
    NotJudged(String),
}

impl<'a> Owed<'a> {
    /// What a monitor owes where the documents make these demands.
    pub(crate) fn of(
        documents: Vec<Demand<'a>>,
        context: &JudgeContext<'a>,
        recording: &Recording,
    ) -> Self {
        let readings = Readings::of(*context, recording.healing_from);
        let episodes = Episodes::promised(context);
        let kinds = kinds::kinds(&documents, context, &readings, &episodes, recording);
        let translator = translator::Translator {
            context,
            rows: Rows::of(context),
            readings: &readings,
            episodes: &episodes,
            recording,
            delivery: delivery::Delivery::of(context, recording),
        };
        let (translated, mut demands) = translator.translate(documents, kinds);
        translator.beyond(&translated, &mut demands);
        Self {
            demands,
            documents: translated,
            rows: Rows::of(context),
            left_behind: translator.left_behind(),
        }
    }

    /// Why nothing about an expectation is judged on a node; `None` if something is.
    pub(crate) fn not_judged(&self, expectation: &Expectation, node: &NodeName) -> Option<&str> {
        let of_it = || {
            let all = self.documents.iter();
            all.filter(|it| {
                let same = |of: &Expectation| std::ptr::eq(of, expectation);
                it.demand.node == *node && it.demand.expectation.is_some_and(same)
            })
        };
        let reason = |it: &'_ Translated<'a>| matches!(it.fate, Fate::NotJudged(_));
        if !of_it().all(reason) {
            return None;
        }
        of_it().find_map(|it| match &it.fate {
            Fate::NotJudged(reason) => Some(reason.as_str()),
            _ => None,
        })
    }
}
