//! `on = "enter"`: the events that have a property which their group's latest earlier event had not.
//!
//! Earlier is by timestamp, and by arrival among equal timestamps. A group of which nothing is known
//! has not the property: so the first event of a stream that begins with a fault enters it ("NIC Health
//! Monitor: Link State Detection", 6.4, counts the first DOWN of its diagram).

use std::collections::VecDeque;

use crate::stamp::Stamp;

/// The number of events kept per group and alternative, so that late events find their predecessor.
/// Chosen.
const KEPT: usize = 16;

/// The latest events of a group in order of arrival, and whether they had the property.
#[derive(Clone, Debug, Default)]
pub(super) struct Passage(VecDeque<(Stamp, bool)>);

impl Passage {
    /// Adds an event; returns whether it enters the property.
    pub(super) fn take(&mut self, at: Stamp, has: bool) -> bool {
        let earlier = self.0.iter().filter(|(seen, _)| *seen <= at);
        let before = earlier.max_by_key(|(seen, _)| *seen);
        let had = before.is_some_and(|(_, had)| *had);
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back((at, has));
        has && !had
    }

    /// Size in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.capacity() * size_of::<(Stamp, bool)>()
    }
}
