//! Where a wrong monitor may turn off: one table of questions, and the right answer to each.
//!
//! The right monitor gets the answers as constants. A species answers one question otherwise.

use std::collections::BTreeSet;
#[cfg(feature = "zoo")]
use std::fmt;

use proto::HealthEvent;

use crate::agent::{Outcome, Refusal};
use crate::config::Config;
use crate::counters::Threshold;
use crate::counters::count::{Count, Stamp};
use crate::hands::{Answer, Clocks, ReadError};
use crate::memory::{Effect, Memory, Slot};
use crate::metadata::Metadata;
use crate::name::{Card, DeviceName, LinkLayer, Role, SlotKey};
use crate::reading::{PortState, Reading, Severity};
use crate::route::Route;
use crate::sample::{DeviceSample, Samples};
use crate::saying::Saying;
use crate::scope::{Placement, Reason};
use crate::sight::{SeenPorts, Unread};

/// What a species tells of itself.
#[cfg(feature = "zoo")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    /// On a command line: lower case, with hyphens.
    pub(crate) name: &'static str,
    /// The bug it is modelled on.
    pub(crate) models: &'static str,
    /// A scenario in which it is right for 20 polls, and then wrong.
    pub(crate) story: &'static str,
}

#[cfg(feature = "zoo")]
impl fmt::Debug for dyn Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about().name)
    }
}

/// Asked by the agent wherever a wrong monitor would turn off; the right one never does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hooks {
    #[cfg(feature = "zoo")]
    wrong: Option<&'static dyn Wrong>,
    #[cfg(feature = "zoo")]
    polls: u64,
}

#[cfg(feature = "zoo")]
impl Hooks {
    pub(crate) fn of(wrong: &'static dyn Wrong) -> Hooks {
        Hooks {
            wrong: Some(wrong),
            polls: 0,
        }
    }

    /// One poll more.
    pub(crate) fn poll(&mut self) {
        self.polls += 1;
    }

    /// Polls so far, the present one included; 0 for the right monitor, which does not count.
    pub(crate) fn polls(self) -> u64 {
        self.polls
    }
}

#[cfg(not(feature = "zoo"))]
#[expect(
    clippy::unused_self,
    reason = "the hooks of the right monitor are constants"
)]
impl Hooks {
    pub(crate) fn poll(&mut self) {}

    pub(crate) fn polls(self) -> u64 {
        0
    }
}

macro_rules! hooks {
    ($($(#[$doc:meta])* fn $hook:ident($($name:ident: $type:ty),* $(,)?) $(-> $answer:ty)? = $right:expr;)*) => {
        /// What a wrong monitor answers; unless it says otherwise, what the right one does.
        #[cfg(feature = "zoo")]
        pub(crate) trait Wrong: Sync {
            /// What it is.
            fn about(&self) -> About;

            $($(#[$doc])* fn $hook(&self, $($name: $type),*) $(-> $answer)? {
                $(let _ = &$name;)*
                $right
            })*
        }

        #[cfg(feature = "zoo")]
        impl Hooks {
            $($(#[$doc])* pub(crate) fn $hook(self, $($name: $type),*) $(-> $answer)? {
                if let Some(wrong) = self.wrong {
                    return wrong.$hook($($name),*);
                }
                $right
            })*
        }

        #[cfg(not(feature = "zoo"))]
        impl Hooks {
            $($(#[$doc])* pub(crate) fn $hook(self, $($name: $type),*) $(-> $answer)? {
                $(let _ = &$name;)*
                $right
            })*
        }
    };
}

hooks! {
    // Starting.

    /// The configuration, or why it is none.
    fn config(config: Result<Config, Refusal>) -> Result<Config, Refusal> = config;
    /// Is metadata needed to start?
    fn needs_metadata() -> bool = true;
    /// The old state, if one could be read; whether there was a file.
    fn old_state(old: Option<Memory>, is_there: bool) -> Option<Memory> = old;
    /// Are unreadable devices waited for on the very first poll?
    fn waits_at_first() -> bool = true;
    /// Is the old state of the boot that runs now?
    fn is_same_boot(old: Option<&str>, now: Option<&str>) -> bool = now.is_some() && old == now;
    /// What an old state of this boot becomes as it is loaded.
    fn after_load(memory: &mut Memory) = {};

    // Looking.

    /// The clocks of a poll.
    fn clocks(clocks: Clocks) -> Clocks = clocks;
    /// How a look at `physfn` went.
    fn physfn(answer: Result<Answer, ReadError>) -> Result<Answer, ReadError> = answer;
    /// Is `sriov_totalvfs` taken for the mark of a physical function?
    fn wants_totalvfs() -> bool = false;
    /// Is a device whose name is not the driver's own one of ours?
    fn is_ours(is_ours: bool) -> bool = is_ours;
    /// The route table as it is used.
    fn route(route: Route) -> Route = route;
    /// Is the device behind the default route left out?
    fn obeys_the_route() -> bool = true;
    /// Where a device is placed by its NUMA node, topology and type.
    fn placement(
        placement: Placement,
        metadata: &Metadata,
        name: &DeviceName,
        numa_node: i64,
    ) -> Placement = placement;
    /// The text of `state`.
    fn port_state(bytes: &[u8]) -> Option<PortState> = PortState::parse(bytes);
    /// What was read of a port.
    fn reading(reading: Reading) -> Reading = reading;

    // Recognising.

    /// Is an excluded device seen to be there?
    fn sees_the_excluded() -> bool = true;
    /// Is a renamed device not looked at?
    fn is_blind_to(memory: &Memory, key: &SlotKey, name: &DeviceName) -> bool = false;
    /// After a device was followed to its name.
    fn renamed(memory: &mut Memory) = {};
    /// Are ports that cannot be listed taken for a device that is gone?
    fn is_gone_with(ports: &SeenPorts) -> bool = false;
    /// Before the readings of a device are kept.
    fn before_reading(memory: &mut Memory, key: &SlotKey, ports: &SeenPorts) = {};
    /// After the readings of a device were kept.
    fn after_reading(
        memory: &mut Memory,
        samples: &mut Samples,
        key: &SlotKey,
        ports: &SeenPorts,
    ) = {};

    // Absence.

    /// Are so many polls without a device enough?
    fn is_gone(misses: u32, polls: u32) -> bool = misses >= polls;
    /// Are as many devices here after a reboot as before it?
    fn is_complete(present: usize, known: usize) -> bool = present >= known;
    /// Is a missing class folder given patience?
    fn waits_for_the_folder() -> bool = true;

    // Peers.

    /// The cards that a card is compared with are those of this role.
    fn group(role: Role) -> Role = role;
    /// The number of active ports that is expected of each card of a group.
    fn mode(counts: &[usize]) -> Option<usize> = crate::peers::mode::mode(counts);
    /// Has the card a management function?
    fn is_exempt(exempt: &BTreeSet<Card>, card: &Card) -> bool = exempt.contains(card);

    // Judging.

    /// How bad a reading is.
    fn severity(layer: LinkLayer, reading: &Reading) -> Option<Severity> =
        crate::reading::severity(layer, reading);
    /// Is the patience over?
    fn is_over(waited_ns: u64, patience_ns: u64) -> bool = waited_ns > patience_ns;
    /// Does a fault of that layer escalate with time?
    fn escalates(layer: LinkLayer) -> bool = true;
    /// Is an unreadable port a dead one?
    fn takes_unreadable_for_dead() -> bool = false;
    /// Is a fault that bad an event, after that was said?
    fn is_rise(said: Option<Severity>, now: Severity) -> bool = Some(now) > said;
    /// Is a device that was gone back?
    fn is_back(slot: &Slot, here: &DeviceSample, layer: LinkLayer, is_back: bool) -> bool = is_back;
    /// What is said in the first poll after a reboot.
    fn reborn(memory: &Memory, samples: &Samples, sayings: &mut Vec<Saying>) = {};
    /// What is said, before the clearings of old names join it.
    fn sayings(polls: u64, memory: &mut Memory, samples: &Samples, sayings: &mut Vec<Saying>) = {};
    /// What is said, in its order.
    fn order(sayings: &mut [Saying]) = {};

    // Counters.

    /// Are the counters of a device read that is left out for that reason?
    fn counts_the_left_out(reason: &Reason) -> bool = false;
    /// What a counter's file told.
    fn counter_value(value: Result<u64, Unread>) -> Result<u64, Unread> = value;
    /// A counter takes a reading.
    fn see(count: &mut Count, value: u64, now: Stamp, threshold: Threshold) =
        count.see(value, now, threshold);

    // Character devices.

    /// Can nothing be said of a kind of character device in this poll?
    fn is_blind_to_char(is_blind: bool) -> bool = is_blind;
    /// Polls in a row without a character device until it is missing.
    fn char_misses(polls: u32) -> u32 = polls;

    // Delivering.

    /// The event as it goes to the wire; the present boot time is given.
    fn event(memory: &Memory, boot_ns: u64, saying: &Saying, event: &mut HealthEvent) = {};
    /// What is saved: the memory, besides which this was not accepted yet.
    fn saved(memory: &Memory, pending: Vec<Effect>) -> Memory = memory.clone();
    /// Is a save due before anything is published?
    fn saves_first() -> bool = false;
    /// Is a save due after each batch that was accepted?
    fn saves_each() -> bool = true;
    /// How a save went.
    fn save_result(result: Result<(), ReadError>) -> Result<(), ReadError> = result;
    /// How an attempt to publish went.
    fn outcome(outcome: Outcome) -> Outcome = outcome;
    /// Is a batch that was not accepted taken for said?
    fn commits_unheard(outcome: &Outcome) -> bool = false;
    /// Is a batch remembered that was accepted at this attempt?
    fn remembers(attempt: u32) -> bool = true;
    /// Is a batch that the connector may have kept in mind?
    fn keeps_doubt() -> bool = true;
    /// Is the rest of a poll still delivered after a batch was given up?
    fn delivers_the_rest() -> bool = true;
}
