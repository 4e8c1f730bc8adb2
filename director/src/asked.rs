//! The parts of the world that a story's expectations are about; only these are recorded.

use std::collections::BTreeSet;

use platforms::{NodeName, SlotRef};
use scenarios::{Story, What};

use super::Interface;

/// The ports and interfaces that a story's expectations are about.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Ports whose link state is expected.
    pub(super) links: BTreeSet<SlotRef>,
    /// LNet interfaces whose state is expected.
    pub(super) interfaces: BTreeSet<Interface>,
    /// Nodes whose counters of LNet are expected, each after its workload.
    pub(super) lnet_stats: BTreeSet<(String, NodeName)>,
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
                What::LnetStat(is) => {
                    let of = (is.workload.clone(), is.node.clone());
                    asked.lnet_stats.insert(of);
                }
                _ => {}
            }
        }
        asked
    }
}
