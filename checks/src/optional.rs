//! The checks that run only where they are named.
//!
//! Each reads, remembers and judges for itself, in a module of its own; here is only who they are. The
//! states of ports and cards and the counters are left out: they run by default and judge together. A
//! further check is its module and an entry in each list here and in `poll`. Start with
//! [`OptionalMemory`]; how they look and judge is in [`poll`].

pub(crate) mod poll;

use serde::{Deserialize, Serialize};

use crate::chars::{CharChange, CharEntries, CharMemory, SeenChars};
use crate::standing::Standing;

/// What they saw in one poll; `None` of a check that does not run.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenOptional {
    pub(crate) chars: Option<SeenChars>,
}

/// What they remember.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OptionalMemory {
    pub(crate) chars: CharMemory,
}

/// What an accepted event of theirs changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OptionalChange {
    Char(CharChange),
}

/// What the state file holds of them.
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

    /// Remembers that the connector may have an event that it did not accept.
    pub(crate) fn doubt(&mut self, change: OptionalChange) {
        match change {
            OptionalChange::Char(change) => self.chars.doubt(&change),
        }
    }

    /// Nothing is known after a reboot but what stands.
    pub(crate) fn after_reboot(&mut self) {
        self.chars.after_reboot();
    }

    /// Every fault that stands, or may.
    pub(crate) fn standing(&self) -> impl Iterator<Item = Standing> + '_ {
        self.chars.standing()
    }

    /// What the state file holds of them.
    pub(crate) fn entries(&self) -> OptionalEntries {
        OptionalEntries {
            chars: CharEntries::of(&self.chars),
        }
    }
}

impl OptionalEntries {
    /// The memory from our own keys.
    pub(crate) fn restore(self) -> OptionalMemory {
        OptionalMemory {
            chars: self.chars.restore(),
        }
    }

    /// The memory of a monitor that knows the shared keys only.
    pub(crate) fn migrate(self) -> OptionalMemory {
        OptionalMemory {
            chars: self.chars.migrate(),
        }
    }
}
