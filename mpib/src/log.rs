//! The plugin's lines in NCCL's log.
//!
//! The lines at the start, of the classification and of suppressed queue pairs have the plugin's own
//! text (of three wordings in "Baseline: Isolated Path Separation", that of Step 4 is used). The two
//! warnings exist in the first generation, but their wording is not known and is chosen here.

use simfs::SimTime;

use super::{Gid, HostId, Parameters, PathClass};

/// The part of the plugin that writes a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speaker {
    /// The plugin's start.
    Init,
    /// The sending end, in `connect`.
    Connect,
    /// The receiving end, in `accept`.
    Accept,
}

/// One line of a rank's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Time since the drill's start.
    pub at: SimTime,
    /// The host of the rank.
    pub host: HostId,
    /// The part of the plugin.
    pub speaker: Speaker,
    /// The text, without NCCL's own prefix of host, process and rank.
    pub text: String,
}

/// The plugin has opened its devices.
pub(super) fn using(parameters: &Parameters, speed_mbps: u32) -> String {
    format!(
        "NET/MPIB : Using [0]{}:SOUT [1]{}:SUP speed={speed_mbps}; OOB {}",
        parameters.hca_sout, parameters.hca_sup, parameters.oob_interface
    )
}

/// An end has classified its connection; addresses in host order.
pub(super) fn classification(class: PathClass, source: u32, destination: u32) -> String {
    format!(
        "NET/MPIB : Path classification: {class} hintActive={} (sout_src={source:#010x} sout_dst={destination:#010x})",
        u8::from(class.is_hint_active())
    )
}

/// The second generation creates no queue pairs that could not reach a peer.
pub(super) fn suppressed(sup_queue_pairs: u8) -> String {
    format!("NET/MPIB : Inter-island vanilla: suppressing SUP QPs (nqpsSup {sup_queue_pairs} -> 0)")
}

/// The prefix was replaced. Like the plugin, it prints the value after the replacement.
pub(super) fn prefix_replaced(parameters: &Parameters) -> String {
    format!(
        "NET/MPIB : Invalid MPIB_ISLAND_PREFIX_LEN={}, using the default",
        parameters.island_prefix
    )
}

/// A SOUT GID has no IPv4 address and counts as 0.
pub(super) fn not_ipv4(gid: Gid) -> String {
    format!("NET/MPIB : SOUT GID {gid} is not IPv4-mapped")
}
