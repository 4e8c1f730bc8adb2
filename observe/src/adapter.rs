//! What the harness and the judge need to know of a protocol: its facts, and how its part of a descriptor turns what a
//! monitor emits into observations.
//!
//! They know the medium, and never which protocol it is. Start at [`Adapter`].

use std::collections::BTreeSet;

use files::Problem;
use terms::EventField;

use crate::{Delivery, Observation, PageForm, RunEnd, Series, Subject, promises::Wire};

/// How the reports of a monitor arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Calls of a connector, which can refuse or be away.
    Calls,
    /// Its own output, which nobody answers.
    Output,
    /// The end of each run of a program.
    RunEnds,
    /// Files that a collector looks at.
    Files,
    /// A page that it is asked for.
    Page,
    /// Such pages, of which all of a drill together say something.
    KeptPages,
}

impl Medium {
    /// Whether a monitor reports by itself. The others are run, read or scraped, again and again.
    #[must_use]
    pub fn is_pushed(self) -> bool {
        matches!(self, Self::Calls | Self::Output)
    }
}

/// What is known of a protocol, whatever a descriptor says.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// How the reports of a monitor arrive.
    pub medium: Medium,
    /// The part of a descriptor that belongs to it, if it needs one.
    pub part: Option<Part>,
    /// What is seen of a monitor that says nothing; `{polls}` stands for the number of polls.
    pub silence: &'static str,
}

/// The part of a descriptor that belongs to one protocol.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its key.
    pub key: &'static str,
    /// The shortest thing that is needed.
    pub example: &'static str,
    /// The key in it that says what words, codes or values mean.
    pub meanings: &'static str,
    /// What to look at if a monitor says nothing; `{ends}` stands for how its runs ended.
    pub silence_hint: &'static str,
}

/// The part of a descriptor that belongs to its protocol: what is wrong with it, how the monitor is started and asked, and
/// what it says. A method about another medium than its own says nothing.
pub trait Adapter {
    /// What is wrong with it.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// Whether the program is run again and again although its medium would let it poll.
    fn is_run(&self) -> bool {
        false
    }

    /// The path and the form of the page that it is asked for.
    fn page(&self) -> Option<(&str, PageForm)> {
        None
    }

    /// Whether a monitor that polls may say nothing, although every cable is pulled.
    fn may_be_silent(&self) -> bool {
        false
    }

    /// What a line of its output says; `None` if it is only a line.
    fn line_says(&self, _: &str) -> Option<Delivery> {
        None
    }

    /// What a run says by its end and its output, and what it takes back: of the subjects that earlier runs had a fault of,
    /// those that it does not name. The set has these subjects, and then those of this run. A run that says that nothing is
    /// known changes nothing. `None` if a run says nothing by its end.
    fn run_says(&self, _: RunEnd, _: &str, _: &mut BTreeSet<Subject>) -> Option<Delivery> {
        None
    }

    /// What the series say that the collector of its files shows.
    fn files_say(&self, _: &[Series]) -> Delivery {
        Delivery::default()
    }

    /// What the text of a page says, by itself.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn page_says(&self, _: &str) -> Result<Delivery, String> {
        Ok(Delivery::default())
    }
}

/// The contract that a monitor's calls are checked against.
#[derive(Clone, Copy, Debug)]
pub struct Contract<'a> {
    /// The node of the monitor.
    pub node: &'a str,
    /// The names of the checks that run, as the monitor has them.
    pub checks: &'a [&'a str],
    /// The processing strategies that are allowed, by their names on the wire.
    pub strategies: &'a [&'a str],
    /// What the monitor promises; `None` if it promises nothing about the wire.
    pub wire: Option<&'a Wire>,
}

/// A violation of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach<'c> {
    /// The field that violates it.
    pub field: EventField,
    /// The description.
    pub what: String,
    /// The observation that violates it; `None` for the call as a whole.
    pub observation: Option<&'c Observation>,
}
