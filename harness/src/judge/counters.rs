//! What a first poll says of counters: a healthy event for each that is watched and can be read.
//!
//! The names are written here a second time, apart from the monitor's, so that a counter which the
//! monitor forgot is missed. Source: NVSentinel, chart of the nic-health-monitor (the twelve) and
//! `pkg/config/config.go` (the others). What a counter says later is the story's. Start at
//! [`baseline`].

use platforms::{LinkLayer, NodeName, PciAddress, SlotRef};
use scenarios::{ChecksRun, Deed, MonitorDeed, Story};

use crate::director::FunctionFace;

/// Counters of the port that are watched unless a configuration says otherwise.
const WATCHED: [&str; 11] = [
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_ack_timeout_err",
    "local_link_integrity_errors",
    "port_rcv_errors",
    "port_xmit_discards",
    "rnr_nak_retry_err",
    "roce_slow_restart",
    "symbol_error",
    "symbol_error_fatal",
];

/// The net device's counter that is watched beside them, on Ethernet.
const CARRIER_CHANGES: &str = "carrier_changes";

/// The others that a configuration may name.
const OTHERS: [&str; 13] = [
    "implied_nak_seq_err",
    "out_of_sequence",
    "packet_seq_err",
    "port_rcv_discards",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_wait",
    "req_transport_retries_exceeded",
    "rx_crc_errors",
    "rx_errors",
    "rx_missed_errors",
    "tx_carrier_errors",
    "tx_errors",
];

/// A counter's file, where its name is not the file's: two counters read one file.
const SYMBOL_ERROR_FATAL: (&str, &str) = ("symbol_error_fatal", "symbol_error");

/// The counters of a function that a first poll may call healthy: each port's that can be read.
pub(super) fn baseline(
    story: &Story,
    node: &NodeName,
    pci: PciAddress,
    function: &FunctionFace,
) -> Vec<(SlotRef, &'static str)> {
    if !matches!(story.checks, ChecksRun::Counters | ChecksRun::All) {
        return Vec::new();
    }
    let chosen = are_chosen(story);
    let listed = function.ports.iter().filter(|(_, face)| face.listed);
    let mut told = Vec::new();
    for (nth, (port, face)) in listed.enumerate() {
        // The net device's counters are told of the first port.
        let net = face.layer == LinkLayer::Ethernet && function.netdev.is_some() && nth == 0;
        let others = OTHERS.into_iter().filter(|_| chosen);
        let carrier = net.then_some(CARRIER_CHANGES);
        for counter in WATCHED.into_iter().chain(others).chain(carrier) {
            let (alias, file) = SYMBOL_ERROR_FATAL;
            let file = if counter == alias { file } else { counter };
            if function.unreadable.contains(&(*port, file.into())) {
                continue;
            }
            let slot = SlotRef {
                node: node.clone(),
                pci,
                port: *port,
            };
            told.push((slot, counter));
        }
    }
    told
}

/// Whether the operator's configuration says which counters are watched, at the start or later;
/// then the story says which of them are healthy at first.
pub(super) fn are_chosen(story: &Story) -> bool {
    let steps = story.given.iter().chain(&story.steps);
    let later = steps
        .flat_map(|step| &step.deeds)
        .filter_map(|deed| match deed {
            Deed::Monitor(_, MonitorDeed::Restart { config, .. }) => config.as_deref(),
            _ => None,
        });
    std::iter::once(story.config.as_str())
        .chain(later)
        .any(|config| config.contains("counterDetection"))
}
