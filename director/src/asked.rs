//! What of the world a story asks about: what nobody asks is not kept.

use std::collections::BTreeSet;

use platforms::SlotRef;
use scenarios::{Story, What};

use super::Interface;

/// The ports and interfaces that a story asks about.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// The ports whose links.
    pub(super) links: BTreeSet<SlotRef>,
    /// The LNet interfaces.
    pub(super) interfaces: BTreeSet<Interface>,
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
                _ => {}
            }
        }
        asked
    }
}
