//! What the plugin writes to NCCL's log.
//!
//! The texts of the start, of the classification and of suppressed queue pairs are the plugin's own
//! ("Baseline: Isolated Path Separation", Step 4, wins over its other two wordings). The two warnings
//! exist in the first generation, but their wording is not known and is chosen here.

use simfs::SimTime;

use super::{Gid, HostId, Parameters, PathClass};

/// Who writes a line.
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
    /// Since the drill's start.
    pub at: SimTime,
    /// Whose rank.
    pub host: HostId,
    /// Which part of the plugin.
    pub speaker: Speaker,
    /// The text, without NCCL's own prefix of host, process and rank.
    pub text: String,
}

/// The plugin has its devices.
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

/// The second generation makes no queue pairs that could not reach anybody.
pub(super) fn suppressed(sup_queue_pairs: u8) -> String {
    format!("NET/MPIB : Inter-island vanilla: suppressing SUP QPs (nqpsSup {sup_queue_pairs} -> 0)")
}

/// The prefix was replaced. What is printed is the value after the replacement, as the plugin does.
pub(super) fn prefix_replaced(parameters: &Parameters) -> String {
    format!(
        "NET/MPIB : Invalid MPIB_ISLAND_PREFIX_LEN={}, using the default",
        parameters.island_prefix
    )
}

/// A SOUT GID carries no IPv4 address and counts as 0.
pub(super) fn not_ipv4(gid: Gid) -> String {
    format!("NET/MPIB : SOUT GID {gid} is not IPv4-mapped")
}
