//! Whether another mask would have saved a job that died of an outage, and until when.
//!
//! A message's mask is decided when it is posted. A write that is lost stays on its queue pair, so a
//! hint helps only if it is there before that post; and it moves data only, because the rail of
//! clear-to-send follows from the class of the path.

use simfs::SimTime;

use super::event::{NetEventKind, QueuePairId};
use super::{Death, FailureCause, Job, Rail, ShareSource, Side};

/// The chance that a job had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescue {
    /// A hint that gives all to the other rail, written before this instant, would have kept the data off it.
    Before(SimTime),
    /// None: clear-to-send uses the rail, whatever the mask.
    ClearToSend(Rail),
    /// None: the mask was fixed when the connection was made, and no hint is read.
    Fixed(Rail),
}

impl Job {
    /// The chance that the job had; `None` unless it died of a write that was never acknowledged.
    ///
    /// All connections with a lost write count, because any of them ends the job.
    #[must_use]
    pub fn rescue(&self) -> Option<Rescue> {
        let cause = self.failure()?.cause;
        let FailureCause::Network(Death::RetryExceeded { .. }) = cause else {
            return None;
        };
        let mut before = SimTime::MAX;
        let mut fixed = None;
        for (queue_pair, rail, at) in self.lost() {
            let net = self.net();
            let [sender, receiver] =
                [Side::Send, Side::Receive].map(|side| net.path(queue_pair.connection, side));
            if receiver.cts_rail() == rail {
                return Some(Rescue::ClearToSend(rail));
            }
            if let ShareSource::Cached(_) = sender.share() {
                fixed = Some(Rescue::Fixed(rail));
            }
            before = before.min(at);
        }
        fixed.or(Some(Rescue::Before(before)))
    }

    /// The first writes that still waited on their queue pairs when the job failed.
    fn lost(&self) -> Vec<(QueuePairId, Rail, SimTime)> {
        let mut lost: Vec<(QueuePairId, Rail, SimTime)> = Vec::new();
        let end = self.failure().map_or(SimTime::MAX, |failure| failure.at);
        for event in self.net().events().iter().filter(|event| event.at <= end) {
            match event.kind {
                NetEventKind::Post {
                    queue_pair,
                    behind: 0,
                    ..
                } => lost.push((queue_pair, event.rail, event.at)),
                NetEventKind::Acknowledged { queue_pair, .. } => {
                    lost.retain(|(waiting, ..)| *waiting != queue_pair);
                }
                _ => {}
            }
        }
        lost
    }
}
