//! Wrong decisions about character devices.

use checks::Policy;

use crate::mutant::{Mutant, mutant};

pub(crate) const MUTANTS: &[Mutant] = &[
    mutant!(
        decides,
        CharDeviceMissedOnce,
        "char-device-missed-once",
        "no debounce: udev makes devices anew, and each time the machine is condemned"
    ),
    mutant!(
        decides,
        UnreadableEntryIsAMissingDevice,
        "unreadable-entry-is-a-missing-device",
        "an error of one folder, and every port of the machine is condemned in its third poll"
    ),
];

/// Reports a character device that is missing in one poll.
#[derive(Debug, Default)]
struct CharDeviceMissedOnce;

impl Policy for CharDeviceMissedOnce {
    fn char_device_misses(&self, _: u32) -> u32 {
        1
    }
}

/// Treats an unreadable entry of a character device as missing.
#[derive(Debug, Default)]
struct UnreadableEntryIsAMissingDevice;

impl Policy for UnreadableEntryIsAMissingDevice {
    fn takes_unreadable_entry_for_missing(&self) -> bool {
        true
    }
}
