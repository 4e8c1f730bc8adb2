//! The kinds of faults and episodes that a promise can be about: a closed list, each with what the
//! documents ask for it.
//!
//! A *condition* is a state of a subject that lasts: a port that is down, a device that is gone. An
//! *episode* is something that happens to a node or a device and changes how conditions are reported
//! during it: a reboot, the reload of a driver. Every fault of every scenario is of one condition, in
//! at most one episode. Start at [`Kind`]. A further kind is a variant and a row of [`TABLE`] here, and a row of
//! `documents.rs`; its fault is an entry of `director/src/log/occurrence.rs` and `log/act.rs`, and `judge/src/episodes.rs` names it.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// A kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One of the kinds that have a name of their own.
    Named(Named),
    /// Growth of a counter, by the counter's name. In a descriptor `counter.*` stands for all that have no
    /// row of their own.
    Counter(String),
}

/// A kind with a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A port that is `DOWN` in any physical state without a kind of its own (Sleep, Phy Test, LinkUp).
    Down,
    /// A port whose physical state is `Disabled`.
    Disabled,
    /// A port that is `DOWN` and `Polling`: a pulled cable.
    Polling,
    /// A port that is `DOWN` and `PortConfigurationTraining`.
    Training,
    /// A port that is `INIT`.
    Init,
    /// A port that is `ARMED`.
    Armed,
    /// A port whose physical state is `LinkErrorRecovery`.
    LinkErrorRecovery,
    /// A port in any other state that is not healthy, such as `ACTIVE` and `Polling`.
    OddState,
    /// A port that was healthy and stays unhealthy, without being fatal, for longer than the patience.
    Persists,
    /// A port that is up at a lower speed or width.
    Slow,
    /// A port that is missing in the folder of its device.
    GonePort,
    /// A device that the class folder does not list.
    GoneDevice,
    /// A port that shows another link layer than before.
    MovedLayer,
    /// A file or folder of a device that cannot be read.
    Unreadable,
    /// A read that gets no answer.
    Hang,
    /// A character device that is missing.
    CharDevice,
    /// A card with fewer healthy ports than its peers.
    Card,
    /// A port that goes down and up again within a minute.
    Flap,
    /// No subnet manager runs.
    SmGone,
    /// The driver of a device is unloaded and loaded again, or resets after a PCI error.
    DriverReload,
    /// A card is reset with its firmware.
    FirmwareReset,
    /// A device bears another name.
    Rename,
    /// A card is replaced by another one.
    Replaced,
    /// A device that the monitor did not know is there.
    HotAdded,
    /// The monitor's first poll on a node of which it has no old state.
    FirstPoll,
    /// The host reboots.
    Reboot,
    /// The monitor is restarted in the same boot.
    MonitorRestart,
    /// What the monitor has to monitor changes between two starts: filters, role, checks.
    ScopeChange,
    /// Metadata of the node, or its route table, are missing, wrong or changed.
    Metadata,
    /// The state file is missing, damaged, or cannot be written.
    StateFile,
    /// Calls are refused, lost or not answered.
    Connector,
}

/// Whether a kind is a state that lasts or something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KindOf {
    /// A state of a subject.
    Condition,
    /// Something that happens, in which conditions may be reported differently.
    Episode,
}

/// A row of the table of kinds.
struct Entry {
    kind: Named,
    word: &'static str,
    of: KindOf,
    title: &'static str,
    /// A scenario that shows what a monitor says about it.
    scenario: &'static str,
}

const fn condition(
    kind: Named,
    word: &'static str,
    title: &'static str,
    scenario: &'static str,
) -> Entry {
    Entry {
        kind,
        word,
        of: KindOf::Condition,
        title,
        scenario,
    }
}

const fn episode(
    kind: Named,
    word: &'static str,
    title: &'static str,
    scenario: &'static str,
) -> Entry {
    Entry {
        kind,
        word,
        of: KindOf::Episode,
        title,
        scenario,
    }
}

/// Every kind with a name of its own, in the order of the docs.
const TABLE: &[Entry] = &[
    condition(
        Named::Down,
        "down",
        "a port is `DOWN` in a physical state without a row of its own",
        "port/sleeping-and-phy-test",
    ),
    condition(
        Named::Disabled,
        "disabled",
        "a port's physical state is `Disabled`",
        "port/disabled-by-operator",
    ),
    condition(
        Named::Polling,
        "polling",
        "a port is `DOWN` and `Polling`: a pulled cable",
        "port/cable-pulled",
    ),
    condition(
        Named::Training,
        "training",
        "a port is `DOWN` and trains",
        "port/mended-through-slow-training",
    ),
    condition(
        Named::Init,
        "init",
        "a port is `INIT`",
        "port/stuck-in-init",
    ),
    condition(
        Named::Armed,
        "armed",
        "a port is `ARMED`",
        "port/stuck-in-armed-recovers",
    ),
    condition(
        Named::LinkErrorRecovery,
        "link_error_recovery",
        "a port's physical state is `LinkErrorRecovery`",
        "port/link-error-recovery-passes",
    ),
    condition(
        Named::OddState,
        "odd_state",
        "a port is in any other state that is not healthy",
        "port/states-outside-the-table",
    ),
    condition(
        Named::Persists,
        "persists",
        "a port that was healthy stays unhealthy and not fatal",
        "port/link-error-recovery-persists",
    ),
    condition(
        Named::Slow,
        "slow",
        "a port is up at a lower speed or width",
        "port/speed-drop-is-silent",
    ),
    condition(
        Named::GonePort,
        "gone_port",
        "a port is missing in the folder of its device",
        "device/port-missing-from-listing",
    ),
    condition(
        Named::GoneDevice,
        "gone_device",
        "the class folder does not list a device",
        "device/vanishes-and-returns",
    ),
    condition(
        Named::MovedLayer,
        "moved_layer",
        "a port shows another link layer than before",
        "device/moved-to-the-other-link-layer",
    ),
    condition(
        Named::Unreadable,
        "unreadable",
        "a file or folder of a device cannot be read",
        "read/state-fails-for-ever",
    ),
    condition(
        Named::Hang,
        "hang",
        "a read gets no answer",
        "read/hangs-beyond-the-patience",
    ),
    condition(
        Named::CharDevice,
        "char_device",
        "a character device is missing",
        "chardev/issm-missing",
    ),
    condition(
        Named::Card,
        "card",
        "a card has fewer healthy ports than its peers",
        "card/one-card-down-at-start",
    ),
    episode(
        Named::Flap,
        "flap",
        "a port goes down and comes up again, several times",
        "port/storm-of-flaps",
    ),
    episode(
        Named::SmGone,
        "sm_gone",
        "no subnet manager runs",
        "fabric/subnet-manager-stops",
    ),
    episode(
        Named::DriverReload,
        "driver_reload",
        "a device's driver is unloaded and loaded again, or recovers from a PCI error",
        "device/driver-reload-with-names-swapped",
    ),
    episode(
        Named::FirmwareReset,
        "firmware_reset",
        "a card is reset with its firmware",
        "device/firmware-reset",
    ),
    episode(
        Named::Rename,
        "rename",
        "a device bears another name",
        "device/renamed-while-a-fault-stands",
    ),
    episode(
        Named::Replaced,
        "replaced",
        "a card is replaced by another one",
        "device/replaced-in-its-slot",
    ),
    episode(
        Named::HotAdded,
        "hot_added",
        "a device is there that the monitor did not know",
        "device/hot-added-healthy",
    ),
    episode(
        Named::FirstPoll,
        "first_poll",
        "a first poll without old state",
        "card/one-card-down-at-start",
    ),
    episode(
        Named::Reboot,
        "reboot",
        "the host reboots",
        "reboot/still-broken-after-reboot",
    ),
    episode(
        Named::MonitorRestart,
        "monitor_restart",
        "the monitor is restarted in the same boot",
        "restart/says-nothing-twice",
    ),
    episode(
        Named::ScopeChange,
        "scope_change",
        "what is to be monitored changes: filters, roles, checks",
        "restart/scope-narrowed-and-widened",
    ),
    episode(
        Named::Metadata,
        "metadata",
        "metadata or the route table are missing, wrong or changed",
        "role/route-file-missing",
    ),
    episode(
        Named::StateFile,
        "state_file",
        "the state file is missing, damaged or read-only",
        "statefile/corrupt",
    ),
    episode(
        Named::Connector,
        "connector",
        "calls are refused, lost or not answered",
        "connector/refused-then-accepted",
    ),
];

/// Every word for a kind; `counter.NAME` stands for those of the counters.
const WORDS: &[&str] = &{
    let mut words = ["counter.NAME"; TABLE.len() + 1];
    let mut at = 0;
    while at < TABLE.len() {
        words[at] = TABLE[at].word;
        at += 1;
    }
    words
};

/// The word that begins the kind of a counter.
const COUNTER: &str = "counter.";

/// The word for all counters without a row of their own.
pub const ANY_COUNTER: &str = "*";

impl Kind {
    /// The kind that a word of a descriptor stands for.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        if let Some(counter) = word.strip_prefix(COUNTER) {
            return (!counter.is_empty()).then(|| Self::Counter(counter.to_owned()));
        }
        let entry = TABLE.iter().find(|entry| entry.word == word)?;
        Some(Self::Named(entry.kind))
    }

    /// A scenario that shows what a monitor says about it.
    #[must_use]
    pub fn scenario(&self) -> &'static str {
        match self {
            Self::Named(named) => named.entry().scenario,
            Self::Counter(_) => "counter/any-growth-of-a-fatal-counter",
        }
    }

    /// Whether it is a condition or an episode.
    #[must_use]
    pub fn of(&self) -> KindOf {
        match self {
            Self::Named(named) => named.entry().of,
            Self::Counter(_) => KindOf::Condition,
        }
    }

    /// Whether a key of its row decides about single events only, and so about nothing where alarms are judged. How severe
    /// an alarm is, and when it opens and closes, is of the row of what stands; that of an episode says whether it is reported
    /// at all, and how long a port on its way up is waited for.
    #[must_use]
    pub fn is_of_single_events(&self, key: &str) -> bool {
        let is = |meant: Named| *self == Self::Named(meant);
        let waits = is(Named::FirstPoll) || is(Named::HotAdded) || is(Named::Reboot);
        self.of() == KindOf::Episode
            && match key {
                "verdict" | "within" | "clears" => true,
                "after" => !waits,
                "restates" => !is(Named::MonitorRestart),
                _ => false,
            }
    }

    /// Every kind with a name of its own, as word and title, in the order of the docs.
    pub fn words() -> impl Iterator<Item = (&'static str, KindOf, &'static str)> {
        TABLE
            .iter()
            .map(|entry| (entry.word, entry.of, entry.title))
    }
}

impl Named {
    /// Whether no state of a port shows it: its speed, or a character device.
    #[must_use]
    pub fn is_beside_states(self) -> bool {
        matches!(self, Self::Slow | Self::CharDevice)
    }

    fn entry(self) -> &'static Entry {
        let mut entries = TABLE.iter();
        entries
            .find(|entry| entry.kind == self)
            .expect("every kind has a row in the table")
    }
}

impl From<Named> for Kind {
    fn from(named: Named) -> Self {
        Self::Named(named)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(named) => f.write_str(named.entry().word),
            Self::Counter(counter) => write!(f, "{COUNTER}{counter}"),
        }
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        Self::parse(&word).ok_or_else(|| de::Error::unknown_variant(&word, WORDS))
    }
}

impl JsonSchema for Kind {
    fn schema_name() -> Cow<'static, str> {
        "Kind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = Self::words().map(|(word, ..)| word).collect();
        json_schema!({
            "type": "string",
            "pattern": format!("^({}|counter\\.[a-z0-9_*]+)$", words.join("|")),
            "description": "A kind of fault or episode.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_from_the_word_that_it_is_printed_as() {
        let words = Kind::words().map(|(word, ..)| word);
        for word in words.chain(["counter.link_downed", "counter.*"]) {
            assert_eq!(Kind::parse(word).expect(word).to_string(), word);
        }
        for word in ["", "counter.", "Down", "cut"] {
            assert_eq!(Kind::parse(word), None, "{word}");
        }
    }
}
