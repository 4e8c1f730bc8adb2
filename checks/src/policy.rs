//! The decisions of the monitor, one method for each; the default is the right decision.
//!
//! The agent calls its policy wherever a wrong monitor could plausibly decide otherwise. [`Right`]
//! keeps every default. A wrong monitor overrides one method; none is defined in this crate. A wrong
//! monitor that alters finished events does so in a [`Publisher`](crate::Publisher).

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use terms::LinkLayer;

use crate::agent::Outcome;
use crate::counters::Threshold;
use crate::hands::Clocks;
use crate::name::{AssignedRole, Card};
use crate::reading::{self, PortState, Reading, Severity};
use crate::{peers, scope};

/// The policy of the reference monitor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Right;

impl Policy for Right {}

/// The decisions of a monitor.
pub trait Policy: Debug {
    // Starting.

    /// Whether the monitor refuses to start with an invalid configuration. Otherwise it uses the
    /// defaults.
    fn refuses_invalid_config(&self) -> bool {
        true
    }

    /// Whether `nicInclusionRegexOverride` is used.
    fn reads_inclusion_override(&self) -> bool {
        true
    }

    /// Whether the monitor refuses to start without the GPU metadata.
    fn needs_metadata(&self) -> bool {
        true
    }

    /// Whether a state file that cannot be read counts as an empty one. Otherwise it counts as
    /// absent, and a baseline is sent.
    fn takes_broken_state_for_empty(&self) -> bool {
        false
    }

    /// Whether the first baseline waits for devices that cannot be read.
    fn waits_at_first(&self) -> bool {
        true
    }

    /// Whether the state file, written in boot `old`, belongs to the present boot `now`. `None` is a
    /// boot id that could not be read.
    fn is_same_boot(&self, old: Option<&str>, now: Option<&str>) -> bool {
        now.is_some() && old == now
    }

    /// Whether a restart in the same boot keeps what was reported about ports and devices.
    fn restores_reported(&self) -> bool {
        true
    }

    /// Whether a restart in the same boot keeps the times since which ports have been unhealthy.
    fn restores_patience(&self) -> bool {
        true
    }

    /// Whether a restart in the same boot keeps the values from which the growth of counters is
    /// measured.
    fn restores_counters(&self) -> bool {
        true
    }

    /// Whether the first poll after a restart in the same boot reports what changed meanwhile.
    /// Otherwise the changes count as reported.
    fn reports_changes_while_away(&self) -> bool {
        true
    }

    // Discovery.

    /// The clocks of a poll; called once per poll.
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

    /// Whether a device is monitored whose name is not the driver's default name. `is_nvidia` is
    /// true if its driver is `mlx5_core` or, where that cannot be read, its vendor is NVIDIA.
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

    /// Parses the bytes of a port's `state`; `None` if the kernel does not write such a text.
    fn port_state(&self, bytes: &[u8]) -> Option<PortState> {
        PortState::parse(bytes)
    }

    /// The reading of a port that is judged. Called once per poll for each port of which both state
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

    /// Whether an empty `ports` is accepted only in the second poll in a row.
    fn doubts_empty_ports(&self) -> bool {
        true
    }

    /// Whether the reported loss of a port is remembered when the port is listed again.
    fn remembers_lost_ports(&self) -> bool {
        true
    }

    /// Whether a port whose `link_layer` cannot be read counts as lost.
    fn takes_unreadable_layer_for_loss(&self) -> bool {
        false
    }

    // Absence.

    /// Whether `misses` polls in a row without a device are a disappearance; `polls` is the value of
    /// `--disappearance-polls`.
    fn is_gone(&self, misses: u32, polls: u32) -> bool {
        misses >= polls
    }

    /// Whether the faults of absent devices are cleared after a reboot: `present` is the number of
    /// devices that are present, `known` the number before the reboot.
    fn is_complete(&self, present: usize, known: usize) -> bool {
        present >= known
    }

    /// Whether a missing class folder is reported only after the patience.
    fn waits_for_class_folder(&self) -> bool {
        true
    }

    // Peers.

    /// The role with whose cards a card of `role` is compared.
    fn peer_group(&self, role: AssignedRole) -> AssignedRole {
        role
    }

    /// The number of active ports that is expected of each card of a group; `active` has the number
    /// of each card. `None` means no evidence.
    fn expected_ports(&self, active: &[usize]) -> Option<usize> {
        peers::mode::mode(active)
    }

    /// Whether a first poll in which the peers of a card decide reports the port too, where the
    /// severity table is silent.
    fn names_its_port(&self) -> bool {
        true
    }

    /// Whether a card is not compared. `management` has the cards with a management function.
    fn is_exempt(&self, management: &BTreeSet<Card>, card: &Card) -> bool {
        management.contains(card)
    }

    // Judging ports and devices.

    /// The severity of a port's reading; `None` for no event.
    fn severity(&self, layer: LinkLayer, reading: &Reading) -> Option<Severity> {
        reading::severity(layer, reading)
    }

    /// Whether the patience is over; both values are nanoseconds of boot time.
    fn is_over(&self, waited_ns: u64, patience_ns: u64) -> bool {
        waited_ns > patience_ns
    }

    /// Whether a fault of that layer becomes fatal when the patience is over.
    fn escalates(&self, _layer: LinkLayer) -> bool {
        true
    }

    /// Whether a port that cannot be read is reported as a fatal fault at once.
    fn takes_unreadable_for_dead(&self) -> bool {
        false
    }

    /// Whether a poll is judged although some port cannot be read.
    fn judges_beside_unreadable(&self) -> bool {
        true
    }

    /// Whether a port keeps its pending baseline while it cannot be read.
    fn owes_baseline_to_unreadable(&self) -> bool {
        true
    }

    /// Whether a fault of severity `now` is reported; `reported` is the worst severity reported since
    /// the last healthy event.
    fn is_rise(&self, reported: Option<Severity>, now: Severity) -> bool {
        Some(now) > reported
    }

    /// Whether a recovery is reported although its fault was not.
    fn reports_every_recovery(&self) -> bool {
        false
    }

    /// Whether a device that had disappeared is back: of its `ports`, `healthy` are healthy, and
    /// `quiet` are unhealthy and already were, without a report, when it disappeared.
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

    /// The interval of the counter checks; `state` is that of the state checks, `configured` that of
    /// `--counter-polling-interval`.
    fn counter_interval(&self, _state: Duration, configured: Duration) -> Duration {
        configured
    }

    /// By how much a window may be shorter than its unit; `tolerance` is the right duration.
    fn window_tolerance(&self, tolerance: Duration) -> Duration {
        tolerance
    }

    /// The threshold of a counter; `configured` is that of the configuration.
    fn threshold(&self, configured: Threshold) -> Threshold {
        configured
    }

    /// Whether a counter's first value counts as growth. Otherwise growth is measured from it.
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

    /// After how many polls in a row without a character device it is reported; `polls` is the right
    /// number.
    fn char_device_misses(&self, polls: u32) -> u32 {
        polls
    }

    // Delivery and state file.

    /// Whether a batch may be sent again at once after this outcome.
    fn is_retryable(&self, outcome: &Outcome) -> bool {
        outcome.is_retryable()
    }

    /// Whether a batch counts as reported although its last attempt had this outcome.
    fn remembers_unaccepted(&self, _outcome: &Outcome) -> bool {
        false
    }

    /// Whether a batch counts as reported that was accepted at this attempt, counted from 1.
    fn remembers(&self, _attempt: u32) -> bool {
        true
    }

    /// Whether the monitor remembers that the connector may have a batch although it did not accept
    /// it.
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

    /// Whether the state is saved after each accepted batch. Otherwise it is saved once per poll.
    fn saves_each(&self) -> bool {
        true
    }

    /// Whether a save counts as done even if it failed.
    fn trusts_disk(&self) -> bool {
        false
    }
}
