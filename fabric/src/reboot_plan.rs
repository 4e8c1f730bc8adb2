//! Parameters of a reboot.

use std::collections::BTreeMap;

use platforms::{DeviceName, PciAddress, SlotRef};
use simfs::SimTime;

/// How a node reboots, and what changes meanwhile. The default is an orderly reboot in no time that
/// changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebootPlan {
    /// Time from going down to being up again; its ports train in the last part of it.
    pub takes: SimTime,
    /// Whether it loses power or crashes, so that its ports announce nothing.
    pub loses_power: bool,
    /// Ports whose faults end while the node is down.
    pub mend: Vec<SlotRef>,
    /// Functions that are missing afterwards.
    pub remove: Vec<PciAddress>,
    /// Functions that were missing before and are present afterwards.
    pub restore: Vec<PciAddress>,
    /// Functions replaced by new hardware (new GUIDs and firmware).
    pub replace: Vec<PciAddress>,
    /// New names after the reboot.
    pub names: BTreeMap<PciAddress, DeviceName>,
    /// Whether counters keep their values (`true`) or restart at zero (`false`).
    pub keep_counters: bool,
    /// Whether the boot id stays the same; by default it changes.
    pub same_boot_id: bool,
}
