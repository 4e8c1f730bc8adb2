//! Every word of the language with its meaning, for pages that list them.
//!
//! It is generated from the tables that the parser uses.

use crate::keys::{KeyRow, Keys, MapForm};
use crate::row::Row;
use crate::{cluster_keys, expectations, fitness, frame, handle, step, verbs, workload, world};

/// The part of a scenario's or a world's file in which a word is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// A key of the file.
    File,
    /// A key of `platforms:`.
    Platforms,
    /// A key of `platforms: { with: … }`.
    With,
    /// A key of `cluster:`.
    Cluster,
    /// A key of a workload `lnet` in `workloads:`.
    Lnet,
    /// A key of a workload `mpib` in `workloads:`.
    Mpib,
    /// A key of a handle in `let:`.
    Handle,
    /// A key of a step in `timeline:`.
    Step,
    /// A key of `in_poll:`.
    Moment,
    /// A verb of `do:` and `given:`.
    StepAction,
    /// A qualifier that every verb of `do:` takes.
    ActionQualifier,
    /// A word of `expect:`.
    Expectation,
    /// A qualifier that every word of `expect:` takes.
    ExpectationQualifier,
    /// A qualifier that every word of `expect:` about an event takes.
    EventQualifier,
    /// A key of a world's file.
    World,
    /// A key of a node of a world.
    WorldNode,
    /// A key of a rail of a node.
    WorldRail,
    /// A key of a cable of a world.
    Cable,
}

impl WordKind {
    /// Every kind, in the order in which the reference lists them.
    pub const ALL: [Self; 18] = [
        Self::File,
        Self::Platforms,
        Self::With,
        Self::Cluster,
        Self::Lnet,
        Self::Mpib,
        Self::Handle,
        Self::Step,
        Self::Moment,
        Self::StepAction,
        Self::ActionQualifier,
        Self::Expectation,
        Self::ExpectationQualifier,
        Self::EventQualifier,
        Self::World,
        Self::WorldNode,
        Self::WorldRail,
        Self::Cable,
    ];

    /// A heading for words of this kind.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::File => "keys of a scenario",
            Self::Platforms => "keys of `platforms`",
            Self::With => "keys of `with`",
            Self::Cluster => "keys of `cluster`",
            Self::Lnet => "keys of a workload `lnet`",
            Self::Mpib => "keys of a workload `mpib`",
            Self::Handle => "keys of a handle",
            Self::Step => "keys of a step",
            Self::Moment => "keys of `in_poll`",
            Self::StepAction => "actions",
            Self::ActionQualifier => "qualifiers of every action",
            Self::Expectation => "expectations",
            Self::ExpectationQualifier => "qualifiers of every expectation",
            Self::EventQualifier => "qualifiers of every expected event",
            Self::World => "keys of a world",
            Self::WorldNode => "keys of a node of a world",
            Self::WorldRail => "keys of a rail of a node",
            Self::Cable => "keys of a cable",
        }
    }

    fn words(self) -> Vec<Word> {
        let keys = match self {
            Self::StepAction => return Word::of_rows(self, &verbs::verbs()),
            Self::Expectation => return Word::of_rows(self, &expectations::expectations()),
            Self::File => frame::keys(MapForm::default()),
            Self::Platforms => fitness::keys().form(),
            Self::With => fitness::with().form(),
            Self::Cluster => cluster_keys::cluster_keys().form(),
            Self::Lnet => workload::lnet_keys().form(),
            Self::Mpib => workload::mpib_keys().form(),
            Self::Handle => handle::keys().form(),
            Self::Step => step::keys().form(),
            Self::Moment => step::moment_keys().form(),
            Self::ActionQualifier => verbs::qualifiers().form(),
            Self::ExpectationQualifier => expectations::qualifiers().form(),
            Self::EventQualifier => expectations::of_event().form(),
            Self::World => world::keys().form(),
            Self::WorldNode => world::node_keys().form(),
            Self::WorldRail => world::rail_keys().form(),
            Self::Cable => world::cable_keys().form(),
        };
        let word = |row| Word::of_key(self, row);
        keys.rows.into_iter().map(word).collect()
    }
}

/// A word of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// Where it is used.
    pub kind: WordKind,
    /// The kind of its value, such as `ports` or `a time`; `None` if it takes none.
    pub takes: Option<String>,
    /// The words that it accepts, each with its meaning.
    pub choices: Vec<(&'static str, &'static str)>,
    /// The keys that may stand beside it.
    pub keys: Vec<KeyWord>,
    /// What it means, whether it is required, and its default.
    pub text: String,
    /// An example line; `None` for plain keys and for words that are not implemented.
    pub example: Option<&'static str>,
    /// Whether it is implemented; a planned word is rejected by name.
    pub built: bool,
}

/// A key beside a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyWord {
    /// The key.
    pub word: &'static str,
    /// The kind of its value.
    pub takes: String,
    /// What it means, whether it is required, and its default.
    pub text: String,
}

/// Every word of the language, in the order of [`WordKind::ALL`].
#[must_use]
pub fn vocabulary() -> Vec<Word> {
    WordKind::ALL
        .into_iter()
        .flat_map(WordKind::words)
        .collect()
}

impl Word {
    fn of_key(kind: WordKind, row: KeyRow) -> Self {
        Self {
            word: row.name,
            kind,
            text: row.described(),
            takes: row.takes,
            choices: row.choices,
            keys: Vec::new(),
            example: None,
            built: true,
        }
    }

    fn of_rows<T>(kind: WordKind, rows: &[&'static dyn Row<T>]) -> Vec<Self> {
        let word = |row: &&'static dyn Row<T>| {
            let entry = row.entry();
            Self {
                word: entry.name,
                kind,
                takes: row.takes(),
                choices: row.choices(),
                keys: row
                    .keys(MapForm::default())
                    .rows
                    .into_iter()
                    .map(KeyWord::of)
                    .collect(),
                text: entry.text.to_owned(),
                example: entry.example,
                built: entry.example.is_some(),
            }
        };
        rows.iter().map(word).collect()
    }
}

impl KeyWord {
    fn of(row: KeyRow) -> Self {
        Self {
            word: row.name,
            text: row.described(),
            takes: row.takes.unwrap_or_else(|| "nothing".to_owned()),
        }
    }
}
