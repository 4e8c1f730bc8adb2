//! When the connector does not accept, as far as it is foreseen.
//!
//! A drill decides it call by call; this is known before it is played. Start at [`Outages::of`].

use std::time::Duration;

use director::{Log, Socket};
use observe::RealTime;
use platforms::NodeName;
use scenarios::Story;
use simfs::SimTime;

/// The outages of a story's connectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outages {
    /// The largest number of polls of one node in which a call is not accepted. Each refused call counts as a poll,
    /// so a story that counts its refusals in calls may have fewer.
    pub(crate) refused: u64,
    /// The largest number of polls of one node in which its socket is missing.
    pub(crate) missing: u64,
    /// The first time at which a monitor is started while nothing listens.
    pub(crate) blind_start: Option<SimTime>,
}

impl Outages {
    /// The longest time that a monitor waits because of them.
    pub(crate) fn waits(&self, real_time: &RealTime) -> Duration {
        real_time.waits(self.refused, self.missing)
    }

    /// The outages of a story.
    pub(crate) fn of(story: &Story) -> Self {
        let log = Log::foreseen(story);
        let last = story.ticks.last_until(story.until);
        let lasting = |node: &NodeName, tick: u64| {
            let mut all = log.outages.iter();
            all.find(|outage| outage.node == *node && outage.lasts_in(tick))
        };
        let mut outages = Self::default();
        for node in &story.monitors {
            let all = (0..=last).filter_map(|tick| lasting(node, tick));
            let (missing, refused): (Vec<_>, Vec<_>) =
                all.partition(|outage| outage.socket == Socket::Absent);
            outages.missing = outages.missing.max(missing.len() as u64);
            outages.refused = outages.refused.max(refused.len() as u64);
        }
        let first = story.monitors.iter().map(|node| (0, node));
        let later = log.starts.iter().map(|start| (start.tick, &start.node));
        let starts = first.chain(later).filter(|(tick, _)| *tick <= last);
        let blind = starts.filter(|(tick, node)| {
            let outage = lasting(node, *tick);
            outage.is_some_and(|outage| outage.socket != Socket::Listening)
        });
        let tick = blind.map(|(tick, _)| tick).min();
        outages.blind_start = tick.map(|tick| story.ticks.at(tick));
        outages
    }
}
