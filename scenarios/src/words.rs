//! The vocabulary: every word of the language with its meaning, in one table.
//!
//! The parser reads by this table, the documentation is checked against it and the help texts are
//! printed from it: a word exists in all three or in none. What a word does is not here; that is
//! [`crate::Deed`] and [`crate::What`].

mod deeds;
mod expectations;
mod file;
mod world;

pub(crate) use deeds::{DEED_QUALIFIERS, DEEDS};
pub(crate) use expectations::{EVENT_QUALIFIERS, EXPECTATION_QUALIFIERS, EXPECTATIONS};
pub(crate) use file::{
    CLUSTER, END_IS, FILE, HANDLE, HEAL, IN_POLL, MESSAGE, PLATFORMS, REBOOT, ROLES_OF_WITH, STEP,
    WITH,
};

pub(crate) use world::{CABLE, LNET, MPIB, WORLD, WORLD_NODE, WORLD_RAIL};

/// In which part of a scenario, or of a world, a word stands.
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
    Deed,
    /// A qualifier that every verb of `do:` takes.
    DeedQualifier,
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
    /// Every kind, in the order in which the language is told.
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
        Self::Deed,
        Self::DeedQualifier,
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
            Self::Deed => "deeds",
            Self::DeedQualifier => "qualifiers of every deed",
            Self::Expectation => "expectations",
            Self::ExpectationQualifier => "qualifiers of every expectation",
            Self::EventQualifier => "qualifiers of every expected event",
            Self::World => "keys of a world",
            Self::WorldNode => "keys of a node of a world",
            Self::WorldRail => "keys of a rail of a node",
            Self::Cable => "keys of a cable",
        }
    }
}

/// A word of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// Where it stands.
    pub kind: WordKind,
    /// What it takes, such as `ports` or `a time`.
    pub takes: &'static str,
    /// The words it takes, each with its meaning, where it takes words.
    pub choices: &'static [(&'static str, &'static str)],
    /// The keys that may stand beside it.
    pub keys: &'static [KeyWord],
    /// What it means, in one sentence or two.
    pub text: &'static str,
    /// A line of a scenario that uses it; empty for plain keys.
    pub example: &'static str,
    /// Whether this build does it; a planned word is refused by name.
    pub built: bool,
}

/// A key that stands beside a word, or within a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyWord {
    /// The key.
    pub word: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// What it means.
    pub text: &'static str,
}

/// Every word of the language, in the order of [`WordKind::ALL`].
#[must_use]
pub fn vocabulary() -> Vec<Word> {
    let plain = |kind: WordKind, keys: &'static [KeyWord]| {
        keys.iter().map(move |key| Word {
            word: key.word,
            kind,
            takes: key.takes,
            choices: &[],
            keys: &[],
            text: key.text,
            example: "",
            built: true,
        })
    };
    let mut words: Vec<Word> = FILE.to_vec();
    words.extend(plain(WordKind::Platforms, PLATFORMS));
    words.extend(plain(WordKind::With, WITH));
    words.extend(plain(WordKind::Cluster, CLUSTER));
    words.extend(plain(WordKind::Lnet, LNET));
    words.extend(plain(WordKind::Mpib, MPIB));
    words.extend(HANDLE);
    words.extend(STEP);
    words.extend(plain(WordKind::Moment, IN_POLL));
    words.extend(DEEDS);
    words.extend(plain(WordKind::DeedQualifier, DEED_QUALIFIERS));
    words.extend(EXPECTATIONS);
    words.extend(plain(
        WordKind::ExpectationQualifier,
        EXPECTATION_QUALIFIERS,
    ));
    words.extend(plain(WordKind::EventQualifier, EVENT_QUALIFIERS));
    words.extend(plain(WordKind::World, WORLD));
    words.extend(plain(WordKind::WorldNode, WORLD_NODE));
    words.extend(plain(WordKind::WorldRail, WORLD_RAIL));
    words.extend(plain(WordKind::Cable, CABLE));
    words
}

const fn key(word: &'static str, takes: &'static str, text: &'static str) -> KeyWord {
    KeyWord { word, takes, text }
}

const fn word(
    kind: WordKind,
    word: &'static str,
    takes: &'static str,
    text: &'static str,
    example: &'static str,
) -> Word {
    Word {
        word,
        kind,
        takes,
        choices: &[],
        keys: &[],
        text,
        example,
        built: true,
    }
}

impl Word {
    const fn keys(self, keys: &'static [KeyWord]) -> Self {
        Self { keys, ..self }
    }

    const fn choices(self, choices: &'static [(&'static str, &'static str)]) -> Self {
        Self { choices, ..self }
    }

    const fn planned(self) -> Self {
        Self {
            built: false,
            ..self
        }
    }
}
