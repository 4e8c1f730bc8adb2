//! How a node reboots, as whoever wants it says.

use std::collections::BTreeMap;

use platforms::{DeviceName, PciAddress, SlotRef};
use simfs::SimTime;

/// How a node reboots, and what changes on the way; by default in good order, in no time, nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RebootPlan {
    /// From going down to being up again; its ports train in the last part of it.
    pub takes: SimTime,
    /// It lost power or crashed, so that its ports announce nothing.
    pub loses_power: bool,
    /// Ports whose trouble ends while the node is down.
    pub mend: Vec<SlotRef>,
    /// Functions that are not there afterwards.
    pub remove: Vec<PciAddress>,
    /// Functions that were out before and are back afterwards.
    pub restore: Vec<PciAddress>,
    /// Functions exchanged for new hardware (new GUIDs and firmware).
    pub replace: Vec<PciAddress>,
    /// Names after the reboot, where they change.
    pub names: BTreeMap<PciAddress, DeviceName>,
    /// Counters survive (`true`) or start at zero (`false`).
    pub keep_counters: bool,
    /// The boot id stays unreadable or the same only if a story says so; by default it changes.
    pub same_boot_id: bool,
}
