//! Kubernetes events, which non-fatal health events become.
//!
//! They change no condition and cordon no node. An API server deletes an event an hour after it was
//! last seen, so they are kept for an hour. Sources: NVSentinel, platform-connectors, Kubernetes
//! connector; Kubernetes, kube-apiserver, `--event-ttl`.

use std::{collections::BTreeMap, time::Duration};

use proto::HealthEvent;

use crate::{entry::entry_of, stamp::Stamp};

/// How long an API server keeps an event that is not seen again, by default.
pub(crate) const EVENT_TTL: Duration = Duration::from_secs(3600);

/// What two sightings of one event have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubeEventKey {
    /// The check's name; the event's `type`.
    pub check: String,
    /// The entry, as a condition would have it.
    pub message: String,
}

impl KubeEventKey {
    /// `InfiniBandDegradationCheckIsNotHealthy`.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("{}IsNotHealthy", self.check)
    }
}

/// The sightings of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sightings {
    /// The agent that reported it first; the event's `source`.
    pub source: String,
    /// The number of sightings.
    pub count: u32,
    /// The last sighting.
    pub last: Stamp,
}

/// The Kubernetes events of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeEvents {
    seen: BTreeMap<KubeEventKey, Sightings>,
    latest: Stamp,
}

impl KubeEvents {
    /// Adds a non-fatal unhealthy event; any other is ignored.
    pub fn take(&mut self, event: &HealthEvent) -> Option<(KubeEventKey, u32)> {
        if event.is_healthy || event.is_fatal {
            return None;
        }
        let stamp = Stamp::of(event.generated_timestamp.as_ref());
        self.forget_before(stamp);
        let key = KubeEventKey {
            check: event.check_name.clone(),
            message: entry_of(event),
        };
        let seen = self.seen.entry(key.clone()).or_insert_with(|| Sightings {
            source: event.agent.clone(),
            count: 0,
            last: stamp,
        });
        seen.count = seen.count.saturating_add(1);
        seen.last = seen.last.max(stamp);
        Some((key, seen.count))
    }

    fn forget_before(&mut self, stamp: Stamp) {
        if stamp > self.latest {
            self.latest = stamp;
            let oldest = stamp.before(EVENT_TTL);
            self.seen.retain(|_, sightings| sightings.last >= oldest);
        }
    }

    /// All events.
    pub fn iter(&self) -> impl Iterator<Item = (&KubeEventKey, &Sightings)> {
        self.seen.iter()
    }
}
