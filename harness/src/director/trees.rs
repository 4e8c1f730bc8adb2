//! Trees of machines at rest, rendered once and cloned for every drill that begins with one.
//!
//! A clone shares its nodes with the original until an edit changes them. Left out: what a story adds
//! before the first poll (`show.rs`). Start at [`Trees::of`].

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use platforms::Machine;
use simfs::Fs;

use super::files::{CLASS_INFINIBAND, WRITABLE};

/// How many trees are kept. Chosen: more than there are platforms and variants.
const TREES_MAX: usize = 64;

/// The trees that were rendered so far; its clones share them.
#[derive(Clone, Default)]
pub struct Trees(Arc<Mutex<Vec<(Machine, Fs)>>>);

impl Trees {
    /// The tree of a machine in full, with its names, its anchor and its writable folder.
    #[must_use]
    pub fn of(&self, machine: &Machine) -> Fs {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What was asked for last stands last, so that it is found first and goes last.
        if let Some(place) = known.iter().rposition(|(at_rest, _)| at_rest == machine) {
            known[place..].rotate_left(1);
            return known[known.len() - 1].1.clone();
        }
        let fs = rendered(machine);
        if known.len() == TREES_MAX {
            known.remove(0);
        }
        known.push((machine.clone(), fs.clone()));
        fs
    }
}

impl fmt::Debug for Trees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trees").finish_non_exhaustive()
    }
}

fn rendered(machine: &Machine) -> Fs {
    let mut fs = Fs::new();
    for folder in [CLASS_INFINIBAND, "sys/class/net", "sys/bus/pci/devices"] {
        fs.alias_folder(folder);
    }
    fs.apply(&platforms::render(machine));
    fs.set_anchor(CLASS_INFINIBAND);
    fs.set_writable(WRITABLE);
    fs
}
