//! What the monitor decides, one method for each decision; the default is the right answer.
//!
//! The agent asks its policy wherever a monitor could plausibly decide otherwise. [`Right`] keeps every
//! default. A wrong monitor differs in one answer; none is defined in this crate. What a wrong
//! monitor does to events that are already made is a [`Publisher`](crate::Publisher).

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::agent::Outcome;
use crate::counters::Threshold;
use crate::hands::Clocks;
use crate::name::{Card, LinkLayer, Role};
use crate::reading::{self, PortState, Reading, Severity};
use crate::{peers, scope};

/// The policy of the reference monitor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Right;

impl Policy for Right {}

/// The decisions of a monitor.
pub trait Policy: Debug {
    // Starting.

    /// Whether a configuration that is not valid ends the start. Otherwise the defaults are used.
    fn refuses_invalid_config(&self) -> bool {
        true
    }

    /// Whether `nicInclusionRegexOverride` is used.
    fn reads_inclusion_override(&self) -> bool {
        true
    }

    /// Whether the GPU metadata is needed to start.
    fn needs_metadata(&self) -> bool {
        true
    }

    /// Whether a state file that cannot be read counts as one that holds nothing. Otherwise it
    /// counts as absent, and a baseline is sent.
    fn takes_broken_state_for_empty(&self) -> bool {
        false
    }

    /// Whether devices that cannot be read are waited for before the first baseline.
    fn waits_at_first(&self) -> bool {
        true
    }

    /// Whether the state file, written in boot `old`, is of the present boot `now`. `None` is a boot
    /// id that could not be read.
    fn is_same_boot(&self, old: Option<&str>, now: Option<&str>) -> bool {
        now.is_some() && old == now
    }

    /// Whether a restart in the same boot keeps what was reported of ports and devices.
    fn restores_reported(&self) -> bool {
        true
    }

    /// Whether a restart in the same boot keeps since when ports are unhealthy.
    fn restores_patience(&self) -> bool {
        true
    }

    /// Whether a restart in the same boot keeps the values that counters are measured from.
    fn restores_counters(&self) -> bool {
        true
    }

    /// Whether the first poll after a restart in the same boot reports what changed meanwhile.
    /// Otherwise it is remembered as reported.
    fn reports_changes_while_away(&self) -> bool {
        true
    }

    // Discovery.

    /// The clocks of a poll; asked once a poll.
    fn clocks(&self, clocks: Clocks) -> Clocks {
        clocks
    }

    /// Whether a device with `device/physfn` is a virtual function, which is not monitored.
    fn skips_virtual_functions(&self) -> bool {
        true
    }

    /// Whether a device without `device/sriov_totalvfs` is not monitored either.
    fn requires_totalvfs(&self) -> bool {
        false
    }

    /// Whether a device whose name is not the driver's own is monitored. `is_nvidia` is what its
    /// driver, or its vendor, says.
    fn is_ours(&self, is_nvidia: bool) -> bool {
        is_nvidia
    }

    /// Whether a route table that cannot be read counts as one without a default route.
    fn takes_unreadable_route_for_none(&self) -> bool {
        false
    }

    /// Whether the device behind the default route is not monitored.
    fn skips_default_route(&self) -> bool {
        true
    }

    /// Whether a NIC on `numa_node`, -1 if unknown, is near one of the GPUs on `gpu_nodes`.
    fn is_near_gpu(&self, numa_node: i64, gpu_nodes: &BTreeSet<i64>) -> bool {
        gpu_nodes.contains(&numa_node)
    }

    /// Whether an `hca_type` is that of a `BlueField`.
    fn is_bluefield(&self, hca_type: &str) -> bool {
        scope::is_bluefield(hca_type)
    }

    /// The bytes of a port's `state`; `None` if the kernel does not write that.
    fn port_state(&self, bytes: &[u8]) -> Option<PortState> {
        PortState::parse(bytes)
    }

    /// Both states of a port as they are judged. Asked once a poll for each port of which both
    /// files could be read.
    fn reading(&self, reading: Reading) -> Reading {
        reading
    }

    /// Whether a device that becomes excluded leaves the scope. Otherwise it counts as vanished.
    fn sees_excluded(&self) -> bool {
        true
    }

    /// Whether a device is followed to a new name by its PCI function.
    fn follows_renames(&self) -> bool {
        true
    }

    /// Whether a device whose `ports` cannot be listed counts as vanished.
    fn takes_list_error_for_absence(&self) -> bool {
        false
    }

    /// Whether an empty `ports` is believed only in the second poll in a row.
    fn doubts_empty_ports(&self) -> bool {
        true
    }

    /// Whether the reported loss of a port is remembered when the port is listed again.
    fn remembers_lost_ports(&self) -> bool {
        true
    }

    /// Whether a port of which `link_layer` cannot be read counts as lost.
    fn takes_unreadable_layer_for_loss(&self) -> bool {
        false
    }

    // Absence.

    /// Whether `misses` polls in a row without a device are a disappearance; `polls` is the setting.
    fn is_gone(&self, misses: u32, polls: u32) -> bool {
        misses >= polls
    }

    /// Whether enough devices are `present` after a reboot, of those `known` before it, for the
    /// faults of absent ones to be cleared.
    fn is_complete(&self, present: usize, known: usize) -> bool {
        present >= known
    }

    /// Whether a missing class folder is waited for.
    fn waits_for_class_folder(&self) -> bool {
        true
    }

    // Peers.

    /// The role whose cards a card of that role is compared with.
    fn peer_group(&self, role: Role) -> Role {
        role
    }

    /// The number of active ports that is expected of each card of a group, given those that they
    /// have; `None` without evidence.
    fn expected_ports(&self, active: &[usize]) -> Option<usize> {
        peers::mode::mode(active)
    }

    /// Whether a card is not compared. `management` are the cards with a management function.
    fn is_exempt(&self, management: &BTreeSet<Card>, card: &Card) -> bool {
        management.contains(card)
    }

    // Judging ports and devices.

    /// The severity of a port's reading; `None` for no event.
    fn severity(&self, layer: LinkLayer, reading: &Reading) -> Option<Severity> {
        reading::severity(layer, reading)
    }

    /// Whether the patience is over; both in nanoseconds of the boot clock.
    fn is_over(&self, waited_ns: u64, patience_ns: u64) -> bool {
        waited_ns > patience_ns
    }

    /// Whether a fault of that layer becomes fatal when the patience is over.
    fn escalates(&self, _layer: LinkLayer) -> bool {
        true
    }

    /// Whether a port that cannot be read is reported as fatal at once.
    fn takes_unreadable_for_dead(&self) -> bool {
        false
    }

    /// Whether a poll in which some port cannot be read is judged at all.
    fn judges_beside_unreadable(&self) -> bool {
        true
    }

    /// Whether a port keeps its pending baseline while it cannot be read.
    fn owes_baseline_to_unreadable(&self) -> bool {
        true
    }

    /// Whether a fault is reported, after `reported` was the worst since the last healthy event.
    fn is_rise(&self, reported: Option<Severity>, now: Severity) -> bool {
        Some(now) > reported
    }

    /// Whether a recovery is reported after a fault that was not.
    fn reports_every_recovery(&self) -> bool {
        false
    }

    /// Whether a device that was gone is back: `healthy` of its `ports` are healthy, and `quiet` are
    /// unhealthy as they were when it went, with nothing reported.
    fn is_back(&self, ports: usize, healthy: usize, quiet: usize) -> bool {
        ports > 0 && healthy + quiet == ports
    }

    // Counters.

    /// Whether the counters of management NICs are read.
    fn counts_management_nics(&self) -> bool {
        false
    }

    /// Whether a counter that cannot be read counts as 0.
    fn takes_unreadable_counter_for_zero(&self) -> bool {
        false
    }

    /// The threshold that a counter is held to; `configured` is the configuration's.
    fn threshold(&self, configured: Threshold) -> Threshold {
        configured
    }

    /// Whether a counter's first value is growth. Otherwise growth is measured from it.
    fn counts_from_zero(&self) -> bool {
        false
    }

    /// Whether a reported counter has recovered with the reading `now`, after the reading `before`.
    fn has_recovered(&self, before: u64, now: u64) -> bool {
        now < before
    }

    // Character devices.

    /// Whether an entry of a character device that cannot be read counts as missing.
    fn takes_unreadable_entry_for_missing(&self) -> bool {
        false
    }

    /// Polls in a row without a character device that make a fault; `polls` is the usual number.
    fn char_device_misses(&self, polls: u32) -> u32 {
        polls
    }

    // Delivery and state file.

    /// Whether a batch may be tried again at once after that outcome.
    fn is_retryable(&self, outcome: &Outcome) -> bool {
        outcome.is_retryable()
    }

    /// Whether a batch counts as reported although its last attempt ended so.
    fn remembers_unaccepted(&self, _outcome: &Outcome) -> bool {
        false
    }

    /// Whether a batch counts as reported that was accepted at that attempt; the first is 1.
    fn remembers(&self, _attempt: u32) -> bool {
        true
    }

    /// Whether it is remembered that the connector may have a batch that it did not accept.
    fn keeps_doubt(&self) -> bool {
        true
    }

    /// Whether a poll's other batches are still sent after one was given up.
    fn delivers_the_rest(&self) -> bool {
        true
    }

    /// Whether a poll's events are saved as reported before they are sent.
    fn saves_before_publishing(&self) -> bool {
        false
    }

    /// Whether the state is saved after each batch that was accepted. Otherwise once a poll.
    fn saves_each(&self) -> bool {
        true
    }

    /// Whether a save counts as done whatever the disk says.
    fn trusts_disk(&self) -> bool {
        false
    }
}
