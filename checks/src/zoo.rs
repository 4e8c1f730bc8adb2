//! Deliberately wrong monitors: each differs from the right one by one branch.
//!
//! The agent asks the hooks here at the places where a wrong monitor would turn off; without the
//! feature `zoo` every hook is a constant. A species is right for its first 20 polls on a node where
//! nothing goes wrong, so a smoke test does not catch it; a suite must. Each is modelled on a bug that
//! shipped.

#[cfg(feature = "zoo")]
use std::fmt;

use crate::judge::Saying;
#[cfg(feature = "zoo")]
use crate::judge::port;
#[cfg(feature = "zoo")]
use crate::memory::{Effect, Subject};
use crate::memory::{Memory, SlotKey};
#[cfg(feature = "zoo")]
use crate::message;
use crate::name::DeviceName;
#[cfg(feature = "zoo")]
use crate::reading::Severity;

/// Polls for which even the restless species behave.
#[cfg(feature = "zoo")]
const GRACE_POLLS: u64 = 20;

/// A wrong monitor.
#[cfg(feature = "zoo")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Species {
    /// Stops reporting faults.
    Deaf,
    /// Reports a fault of a healthy port.
    CryingWolf,
    /// Forgets at a restart what it has said.
    Forgetful,
    /// Reports a standing fault at every poll.
    DoubleReporter,
    /// Remembers what it said before anyone accepted it.
    LosesOnFailedPublish,
    /// Takes an unreadable file for a dead port.
    FatalOnUnreadable,
    /// Loses sight of a device that was renamed.
    BlindAfterRename,
    /// Declares every port healthy after a reboot.
    HealthyOnReboot,
}

#[cfg(feature = "zoo")]
impl Species {
    /// Every species.
    pub const ALL: [Species; 8] = [
        Species::Deaf,
        Species::CryingWolf,
        Species::Forgetful,
        Species::DoubleReporter,
        Species::LosesOnFailedPublish,
        Species::FatalOnUnreadable,
        Species::BlindAfterRename,
        Species::HealthyOnReboot,
    ];

    /// The name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Species::Deaf => "deaf",
            Species::CryingWolf => "crying-wolf",
            Species::Forgetful => "forgetful",
            Species::DoubleReporter => "double-reporter",
            Species::LosesOnFailedPublish => "loses-on-failed-publish",
            Species::FatalOnUnreadable => "fatal-on-unreadable",
            Species::BlindAfterRename => "blind-after-rename",
            Species::HealthyOnReboot => "healthy-on-reboot",
        }
    }

    /// The species of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Species> {
        Species::ALL
            .into_iter()
            .find(|species| species.name() == name)
    }

    /// The bug it is modelled on.
    #[must_use]
    pub fn models(self) -> &'static str {
        match self {
            Species::Deaf => {
                "a polling loop that freezes on its first readings while it looks alive"
            }
            Species::CryingWolf => "a singleton port that is down by design, reported fatal",
            Species::Forgetful => "a state file that holds readings and not what was said of them",
            Species::DoubleReporter => {
                "an unhealthy port compared with healthy instead of with before"
            }
            Species::LosesOnFailedPublish => {
                "state advanced before the publish; the event is never sent"
            }
            Species::FatalOnUnreadable => {
                "an error of one read taken for an empty value, hence a fault"
            }
            Species::BlindAfterRename => {
                "devices kept by name, so a function under a new name is nobody"
            }
            Species::HealthyOnReboot => {
                "baselines sent for every known port without reading it first"
            }
        }
    }

    /// Why its first 20 polls on a node without faults are right.
    #[must_use]
    pub fn why_right(self) -> &'static str {
        match self {
            Species::Deaf => "it still hears for its first 20 polls",
            Species::CryingWolf => "it cries from its 21st poll on",
            Species::Forgetful => "nothing is forgotten before a restart",
            Species::DoubleReporter => "nothing is reported twice before something is reported",
            Species::LosesOnFailedPublish => "nothing is lost while every publish is accepted",
            Species::FatalOnUnreadable => "every file can be read",
            Species::BlindAfterRename => "no device is renamed",
            Species::HealthyOnReboot => "the host is not rebooted",
        }
    }
}

#[cfg(feature = "zoo")]
impl fmt::Display for Species {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a wrong monitor turns off; the right one never does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hooks {
    #[cfg(feature = "zoo")]
    species: Option<Species>,
    #[cfg(feature = "zoo")]
    polls: u64,
}

#[cfg(not(feature = "zoo"))]
#[expect(
    clippy::unused_self,
    reason = "the hooks of the right monitor are constants"
)]
impl Hooks {
    pub(crate) fn poll(&mut self) {}

    pub(crate) fn after_load(&self, _: &mut Memory) {}

    pub(crate) fn deafen(&self, _: &mut Vec<Saying>) {}

    pub(crate) fn distort(&self, _: &Memory, _: bool, _: &mut Vec<Saying>) {}

    pub(crate) fn says_again(&self) -> bool {
        false
    }

    pub(crate) fn commits_unheard(&self) -> bool {
        false
    }

    pub(crate) fn takes_unreadable_for_dead(&self) -> bool {
        false
    }

    pub(crate) fn is_blind_to(&self, _: &Memory, _: &SlotKey, _: &DeviceName) -> bool {
        false
    }
}

#[cfg(feature = "zoo")]
impl Hooks {
    pub(crate) fn of(species: Species) -> Hooks {
        Hooks {
            species: Some(species),
            polls: 0,
        }
    }

    fn is(&self, species: Species) -> bool {
        self.species == Some(species)
    }

    pub(crate) fn poll(&mut self) {
        self.polls += 1;
    }

    /// Forgetful: what was said is dropped as the state file is loaded.
    pub(crate) fn after_load(&self, memory: &mut Memory) {
        if self.is(Species::Forgetful) {
            for slot in memory.slots.values_mut() {
                slot.gone.clear();
                for port in slot.ports.values_mut() {
                    port.said = None;
                }
            }
        }
    }

    /// Deaf: no fault is an event.
    pub(crate) fn deafen(&self, sayings: &mut Vec<Saying>) {
        if self.is(Species::Deaf) && self.polls > GRACE_POLLS {
            sayings.retain(|saying| saying.severity.is_none());
        }
    }

    /// Crying wolf: a healthy port is a fault. Healthy on reboot: the baseline does not look.
    pub(crate) fn distort(&self, memory: &Memory, is_reborn: bool, sayings: &mut Vec<Saying>) {
        if self.is(Species::CryingWolf) && self.polls == GRACE_POLLS + 1 {
            cry_wolf(memory, sayings);
        }
        if self.is(Species::HealthyOnReboot) && is_reborn {
            declare_healthy(memory, sayings);
        }
    }

    /// Double reporter: a fault that was said is said again.
    pub(crate) fn says_again(&self) -> bool {
        self.is(Species::DoubleReporter)
    }

    /// Loses on failed publish: given up counts as accepted.
    pub(crate) fn commits_unheard(&self) -> bool {
        self.is(Species::LosesOnFailedPublish)
    }

    /// Fatal on unreadable: no patience, and the wrong severity.
    pub(crate) fn takes_unreadable_for_dead(&self) -> bool {
        self.is(Species::FatalOnUnreadable)
    }

    /// Blind after rename: a slot under another name is not looked at.
    pub(crate) fn is_blind_to(&self, memory: &Memory, key: &SlotKey, name: &DeviceName) -> bool {
        let is_renamed = memory.slots.get(key).is_some_and(|slot| slot.name != *name);
        self.is(Species::BlindAfterRename) && is_renamed
    }
}

#[cfg(feature = "zoo")]
fn declare_healthy(memory: &Memory, sayings: &mut Vec<Saying>) {
    sayings.retain(|saying| saying.severity.is_none());
    for (key, slot) in &memory.slots {
        for (number, port) in &slot.ports {
            if port.is_unhealthy_now() {
                sayings.push(port::healthy(key, &slot.name, *number, port.layer));
            }
        }
    }
}

#[cfg(feature = "zoo")]
fn cry_wolf(memory: &Memory, sayings: &mut Vec<Saying>) {
    let Some((key, slot)) = memory.slots.first_key_value() else {
        return;
    };
    let Some((number, port)) = slot.ports.first_key_value() else {
        return;
    };
    let Some(reading) = &port.reading else {
        return;
    };
    sayings.push(Saying {
        check: port.layer.state_check(),
        severity: Some(Severity::Fatal),
        message: message::port_unhealthy(port.layer, &slot.name, *number, reading, None),
        subject: Subject::Port(slot.name.clone(), *number),
        effect: Effect::PortSaid(key.clone(), *number, Severity::Fatal),
    });
}
