//! The rows of a monitor beside those of the documents. Start at [`Rows`].

use std::time::Duration;

use observe::promises::{
    ANY_COUNTER, Clears, Kind, KnownBy, Lasting, Meanwhile, Named, Promises, Restates, Row, Says,
    Wire, documents_row,
};
use platforms::LinkLayer;

use crate::{fits::JudgeContext, kinds::Kinds};

/// The rows of a monitor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    promises: &'a Promises,
    tick: Duration,
}

/// What holds for the kinds of a demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// What the documents ask.
    AsAsked,
    /// Nothing may be said.
    Silent,
    /// This instead of what the documents ask.
    Instead {
        /// The documents' row.
        documents: Box<Says>,
        /// The monitor's.
        promised: Box<Says>,
    },
    /// Nothing, because there is no row.
    Unpromised(String),
}

impl<'a> Rows<'a> {
    /// The rows of the monitor under test.
    pub(crate) fn of(context: &JudgeContext<'a>) -> Self {
        Self {
            promises: &context.descriptor.promises,
            tick: Duration::from_nanos(context.story.ticks.interval().as_ns()),
        }
    }

    /// What it promises about the wire.
    pub(crate) fn wire(&self) -> Wire {
        self.promises.wire.clone().unwrap_or_default()
    }

    /// Whether it promises nothing about any kind.
    pub(crate) fn are_none(&self) -> bool {
        self.promises.is_empty()
    }

    /// The documents' row of a kind on a layer, and the monitor's with what it leaves out; `None` if it has none.
    pub(crate) fn pair(&self, kind: &Kind, layer: Option<LinkLayer>) -> Option<(Row, Row)> {
        let documents = documents_row(kind);
        let promised = match self.promises.row(kind, None)? {
            Row::Usual => documents.clone(),
            row => row.over(&documents),
        };
        let on = |row: Row| match layer {
            Some(layer) => row.on(layer),
            None => row,
        };
        Some((on(documents), on(promised)))
    }

    /// Which faults that stand are reported again after a restart, for a monitor that begins anew after one;
    /// `None` for one that remembers.
    pub(crate) fn begins_anew(&self) -> Option<Restates> {
        match self.promises.row(&Named::MonitorRestart.into(), None)? {
            Row::Says(says) => says.restates,
            Row::Silent | Row::Usual => None,
        }
    }

    /// Whether a first poll, or the first one after a reboot, waits neither for ports on their way up nor for what cannot be
    /// read.
    pub(crate) fn judges_at_once(&self, poll: Named, layer: Option<LinkLayer>) -> bool {
        let pair = self.pair(&poll.into(), layer);
        !self.promises.leaves_open(&poll.into())
            && pair.is_some_and(|(documents, own)| self.after(&own) < self.after(&documents))
    }

    /// Whether faults follow a device to another name. Without a row about names nothing says so, nor does a silent one, or
    /// one by which devices are known by their names.
    pub(crate) fn follow_renames(&self) -> bool {
        match self.promises.row(&Named::Rename.into(), None) {
            None | Some(Row::Silent) => false,
            Some(Row::Says(says)) => says.known_by != Some(KnownBy::Name),
            Some(Row::Usual) => true,
        }
    }

    /// Why nothing is judged of a device that got another name; `None` if a row says what becomes of it. A silent row owes
    /// no more than none: who says nothing of names speaks of whatever has the name.
    pub(crate) fn unpromised_name(&self) -> Option<String> {
        let kind = Kind::from(Named::Rename);
        match self.promises.row(&kind, None) {
            Some(Row::Silent) => Some(format!("`{kind}` is silent, by promise")),
            _ => self.unpromised(&kind),
        }
    }

    /// Whether nothing is said of what was added and is healthy.
    pub(crate) fn is_silent_about_added(&self, layer: Option<LinkLayer>) -> bool {
        match self.pair(&Named::HotAdded.into(), layer) {
            Some((_, Row::Says(says))) => says.healthy == Some(Meanwhile::Silent),
            Some((_, Row::Silent)) => true,
            Some((_, Row::Usual)) | None => false,
        }
    }

    /// Whether a fault that stood before a reboot may not be reported again after it, where no peers are evidence of it.
    pub(crate) fn restates_less_after_reboots(&self) -> bool {
        let row = self.pair(&Named::Reboot.into(), None);
        matches!(row, Some((_, Row::Says(says))) if restates(&says) != Restates::All)
    }

    /// Whether every kind has the documents' row.
    pub(crate) fn are_the_documents(&self) -> bool {
        self.are_all() && !self.differ()
    }

    /// Whether any row is not that of the documents.
    pub(crate) fn differ(&self) -> bool {
        Kind::words().any(|(word, ..)| {
            let kind = Kind::parse(word).expect("it is of the table");
            self.pair(&kind, None)
                .is_some_and(|(documents, promised)| documents != promised)
        })
    }

    /// How long a fault must have stood by a row before it is reported, in ticks.
    pub(crate) fn after(&self, row: &Row) -> u64 {
        match row {
            Row::Says(says) => self.ticks(says.after.unwrap_or(Lasting::NOTHING)),
            Row::Silent | Row::Usual => 0,
        }
    }

    /// Whether every kind has a row.
    pub(crate) fn are_all(&self) -> bool {
        let any_counter = Kind::Counter(ANY_COUNTER.to_owned());
        let named = Kind::words().filter_map(|(word, ..)| Kind::parse(word));
        let mut kinds = named.chain([any_counter]);
        kinds.all(|kind| self.unpromised(&kind).is_none())
    }

    /// Why nothing about a kind is judged; `None` if it has a row, and is judged by it.
    pub(crate) fn unpromised(&self, kind: &Kind) -> Option<String> {
        let is_open = self.promises.leaves_open(kind);
        is_open.then(|| match self.promises.row(kind, None) {
            None => format!("no promise about `{kind}`"),
            Some(_) => format!("`{kind}` is silent, by promise"),
        })
    }

    /// Why a refusal to start is not judged; `None` if the monitor depends on the metadata.
    pub(crate) fn unpromised_refusal(&self) -> Option<String> {
        let is_promised = self.promises.needs_topology();
        (!is_promised).then(|| format!("no promise about `{}`", Kind::from(Named::Metadata)))
    }

    /// What holds for a condition in an episode.
    pub(crate) fn hold(&self, kinds: &Kinds) -> Holds {
        if kinds.episode == Some(Named::Rename)
            && let Some(reason) = self.unpromised_name()
        {
            return Holds::Unpromised(reason);
        }
        let episode = kinds.episode.map(Kind::from);
        let mut pairs = [None, None];
        for (pair, kind) in pairs.iter_mut().zip([&kinds.condition, &episode]) {
            let Some(kind) = kind else { continue };
            if let Some(reason) = self.unpromised(kind) {
                return Holds::Unpromised(reason);
            }
            *pair = self.pair(kind, kinds.layer);
        }
        let equal = |(documents, promised): &(Row, Row)| documents == promised;
        if pairs.iter().flatten().all(equal) {
            return Holds::AsAsked;
        }
        if pairs
            .iter()
            .flatten()
            .any(|(documents, promised)| *promised == Row::Silent && *documents != Row::Silent)
        {
            return Holds::Silent;
        }
        let waits = match kinds.condition {
            Some(Kind::Named(Named::Card)) => kinds.is_waiting,
            ref kind => kind.as_ref().is_some_and(is_on_its_way),
        };
        let [condition, episode] = pairs;
        let says = |pair: &Option<(Row, Row)>, promised: bool| match pair {
            Some((documents, own)) => match if promised { own } else { documents } {
                Row::Says(says) => (**says).clone(),
                Row::Silent | Row::Usual => Says::default(),
            },
            None => Says::default(),
        };
        let both = |promised| {
            let (under, mut over) = (says(&condition, promised), says(&episode, promised));
            let is_patience = match kinds.episode {
                Some(Named::FirstPoll | Named::HotAdded) => waits,
                Some(Named::Reboot) => waits && kinds.waited,
                _ => true,
            };
            if !is_patience {
                over.after = None;
            }
            Box::new(Says {
                verdict: over.verdict.or(under.verdict),
                subject: over.subject.or(under.subject),
                after: over.after.or(under.after),
                within: over.within.or(under.within),
                clears: over.clears.or(under.clears),
                when: over.when.or(under.when),
                restates: over.restates.or(under.restates),
                ports: over.ports.or(under.ports),
                back: over.back.or(under.back),
                class_folder: over.class_folder.or(under.class_folder),
                garbled: over.garbled.or(under.garbled),
                unreadable: over.unreadable.or(under.unreadable),
                levels: over.levels.or(under.levels),
                known_by: over.known_by.or(under.known_by),
                healthy: over.healthy.or(under.healthy),
                over_restart: over.over_restart.or(under.over_restart),
                infiniband: None,
                ethernet: None,
            })
        };
        Holds::Instead {
            documents: both(false),
            promised: both(true),
        }
    }

    /// A length of time in ticks.
    pub(crate) fn ticks(&self, lasting: Lasting) -> u64 {
        lasting.ticks(self.tick)
    }

    /// How much later than the documents ask a fault is due, in ticks.
    pub(crate) fn later(&self, documents: &Says, promised: &Says) -> i64 {
        let ticks = |says: &Says| {
            let ticks = self.ticks(says.after.unwrap_or(Lasting::NOTHING));
            i64::try_from(ticks).unwrap_or(i64::MAX)
        };
        ticks(promised).saturating_sub(ticks(documents))
    }
}

/// How a fault is taken back.
pub(crate) fn clears(says: &Says) -> Clears {
    says.clears.unwrap_or(Clears::Healed(None))
}

/// Which faults that stand are reported again.
pub(crate) fn restates(says: &Says) -> Restates {
    says.restates.unwrap_or(Restates::All)
}

/// Whether a first poll may wait for what is of this kind.
pub(crate) fn is_on_its_way(kind: &Kind) -> bool {
    let waits = [Named::Polling, Named::Training, Named::Init, Named::Armed];
    matches!(kind, Kind::Named(named) if waits.contains(named))
}
