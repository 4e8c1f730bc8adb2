//! The parts of the world that a story's expectations are about; only these are recorded.

use std::collections::BTreeSet;

use platforms::SlotRef;
use scenarios::{Story, What, WorkloadCounter};

use super::Interface;

/// The ports and interfaces that a story's expectations are about.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Ports whose link state is expected.
    pub(super) links: BTreeSet<SlotRef>,
    /// LNet interfaces whose state is expected.
    pub(super) interfaces: BTreeSet<Interface>,
    /// Counters of workloads whose value is expected.
    pub(super) counters: BTreeSet<WorkloadCounter>,
}

impl Asked {
    pub(super) fn by(story: &Story) -> Self {
        let mut asked = Self::default();
        for expectation in &story.expectations {
            match &expectation.what {
                What::Link { slot, .. } => {
                    asked.links.insert(slot.clone());
                }
                What::Lnet(is) => {
                    asked.interfaces.insert(Interface::of(is));
                }
                What::Count(is) => {
                    asked.counters.insert(is.counter.clone());
                }
                _ => {}
            }
        }
        asked
    }
}
