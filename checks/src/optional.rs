//! The optional checks: those that run only if `--checks` names them.
//!
//! Each reads, remembers and judges in a module of its own; this file lists them. The checks of
//! states and counters are not here, because they run by default and share memory. A further
//! optional check is a module, and an entry in each list here and in `poll`. Start with
//! [`OptionalMemory`]; reading and judging are in [`poll`].

pub(crate) mod poll;

use serde::{Deserialize, Serialize};

use crate::chars::{CharChange, CharEntries, CharMemory, SeenChars};
use crate::standing::Standing;

/// What they read in one poll; `None` for a check that does not run.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenOptional {
    pub(crate) chars: Option<SeenChars>,
}

/// What they remember.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OptionalMemory {
    pub(crate) chars: CharMemory,
}

/// The change of memory when one of their events is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OptionalChange {
    Char(CharChange),
}

/// Their part of the state file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OptionalEntries {
    #[serde(flatten)]
    chars: CharEntries,
}

impl OptionalMemory {
    /// Remembers that an event was accepted.
    pub(crate) fn apply(&mut self, change: OptionalChange) {
        match change {
            OptionalChange::Char(change) => self.chars.apply(&change),
        }
    }

    /// Remembers that the connector may have an event although it did not accept it.
    pub(crate) fn doubt(&mut self, change: OptionalChange) {
        match change {
            OptionalChange::Char(change) => self.chars.doubt(&change),
        }
    }

    /// After a reboot only reported faults are kept.
    pub(crate) fn after_reboot(&mut self) {
        self.chars.after_reboot();
    }

    /// Every fault that was reported, or may have been.
    pub(crate) fn standing(&self) -> impl Iterator<Item = Standing> + '_ {
        self.chars.standing()
    }

    /// Their part of the state file.
    pub(crate) fn entries(&self) -> OptionalEntries {
        OptionalEntries {
            chars: CharEntries::of(&self.chars),
        }
    }
}

impl OptionalEntries {
    /// The memory from the keys that only this monitor writes.
    pub(crate) fn restore(self) -> OptionalMemory {
        OptionalMemory {
            chars: self.chars.restore(),
        }
    }

    /// The memory from the keys that NVSentinel's monitor shares.
    pub(crate) fn migrate(self) -> OptionalMemory {
        OptionalMemory {
            chars: self.chars.migrate(),
        }
    }
}
