//! Wrong decisions about devices and ports that disappear, return, or are renamed.

use checks::Policy;

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        BlindAfterRename,
        "blind-after-rename",
        "devices kept by name, so that a function under a new name is nobody"
    ),
    mutant!(
        decides,
        ClearsOverADeadSibling,
        "clears-over-a-dead-sibling",
        "a device-level clear that also takes back what stands of the port that is still dark"
    ),
    mutant!(
        decides,
        DebouncesOnePollShort,
        "debounces-one-poll-short",
        "a debounce that is off by one: the first miss is counted twice"
    ),
    mutant!(
        decides,
        EmptyPortsAreLostPorts,
        "empty-ports-are-lost-ports",
        "a driver on its way in or out, caught between two steps"
    ),
    mutant!(
        decides,
        LayerErrorIsALostPort,
        "layer-error-is-a-lost-port",
        "a port sorted out of its check by an error, and so reported as disappeared (field bug B26)"
    ),
    mutant!(
        decides,
        ListErrorIsADisappearance,
        "list-error-is-a-disappearance",
        "a listing that fails reported as a hardware failure (field bug B05)"
    ),
    mutant!(
        decides,
        LostPortNeverReturns,
        "lost-port-never-returns",
        "a port's disappearance without a recovery (field bug B25)"
    ),
    mutant!(
        decides,
        MissingFolderIsEveryNic,
        "missing-folder-is-every-nic",
        "a driver that is being loaded: eighteen fatal events in one poll"
    ),
    mutant!(
        decides,
        NeverBack,
        "never-back",
        "a disappearance without a recovery, so that the node stays condemned (field bug B08)"
    ),
];

/// Does not follow a device to a new name.
#[derive(Debug, Default)]
struct BlindAfterRename;

impl Policy for BlindAfterRename {
    fn follows_renames(&self) -> bool {
        false
    }
}

/// Reports that a device is back when one of its ports is healthy.
#[derive(Debug, Default)]
struct ClearsOverADeadSibling;

impl Policy for ClearsOverADeadSibling {
    fn is_back(&self, _: usize, healthy: usize, _: usize) -> bool {
        healthy > 0
    }
}

/// Counts one missed poll too many.
#[derive(Debug, Default)]
struct DebouncesOnePollShort;

impl Policy for DebouncesOnePollShort {
    fn is_gone(&self, misses: u32, polls: u32) -> bool {
        misses + 1 >= polls
    }
}

/// Accepts an empty `ports` at once.
#[derive(Debug, Default)]
struct EmptyPortsAreLostPorts;

impl Policy for EmptyPortsAreLostPorts {
    fn doubts_empty_ports(&self) -> bool {
        false
    }
}

/// Treats a port whose `link_layer` cannot be read as missing.
#[derive(Debug, Default)]
struct LayerErrorIsALostPort;

impl Policy for LayerErrorIsALostPort {
    fn takes_unreadable_layer_for_loss(&self) -> bool {
        true
    }
}

/// Treats a device whose `ports` cannot be listed as gone.
#[derive(Debug, Default)]
struct ListErrorIsADisappearance;

impl Policy for ListErrorIsADisappearance {
    fn takes_list_error_for_absence(&self) -> bool {
        true
    }
}

/// Forgets that a port was missing as soon as it is listed again.
#[derive(Debug, Default)]
struct LostPortNeverReturns;

impl Policy for LostPortNeverReturns {
    fn remembers_lost_ports(&self) -> bool {
        false
    }
}

/// Treats a missing class folder as the disappearance of every NIC.
#[derive(Debug, Default)]
struct MissingFolderIsEveryNic;

impl Policy for MissingFolderIsEveryNic {
    fn waits_for_class_folder(&self) -> bool {
        false
    }
}

/// Never reports that a device that was gone is back.
#[derive(Debug, Default)]
struct NeverBack;

impl Policy for NeverBack {
    fn is_back(&self, _: usize, _: usize, _: usize) -> bool {
        false
    }
}
