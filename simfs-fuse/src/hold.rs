//! Held requests, and the folders that the kernel keeps locked meanwhile.

use std::collections::BTreeMap;

use simfs::{NodeId, Stale};

use crate::{
    HoldId,
    request::{Pending, Why},
};

/// A held request.
pub(crate) struct Held {
    pub(crate) why: Why,
    pub(crate) pending: Pending,
    /// Whether the observer was notified that the process is stuck.
    pub(crate) reported_stuck: bool,
}

/// All held requests.
#[derive(Default)]
pub(crate) struct Holds {
    next: u64,
    held: BTreeMap<HoldId, Held>,
    locked: BTreeMap<NodeId, u64>,
    deferred: Vec<Stale>,
}

impl Holds {
    pub(crate) fn add(&mut self, why: Why, pending: Pending) -> HoldId {
        self.next += 1;
        let id = HoldId(self.next);
        self.held.insert(
            id,
            Held {
                why,
                pending,
                reported_stuck: false,
            },
        );
        id
    }

    pub(crate) fn take(&mut self, id: HoldId) -> Option<Held> {
        self.held.remove(&id)
    }

    pub(crate) fn take_all(&mut self) -> Vec<Held> {
        std::mem::take(&mut self.held).into_values().collect()
    }

    pub(crate) fn ids(&self) -> Vec<HoldId> {
        self.held.keys().copied().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The held requests with their waiting threads.
    pub(crate) fn waiting(&mut self) -> impl Iterator<Item = (HoldId, &mut Held)> {
        self.held.iter_mut().map(|(id, held)| (*id, held))
    }

    /// Records a request that locks these folders.
    pub(crate) fn lock(&mut self, folders: &[NodeId]) {
        for folder in folders {
            *self.locked.entry(*folder).or_default() += 1;
        }
    }

    /// Records that a request which locked these folders was answered. Returns the invalidations
    /// that were deferred because of it.
    pub(crate) fn unlock(&mut self, folders: &[NodeId]) -> Vec<Stale> {
        for folder in folders {
            if let Some(count) = self.locked.get_mut(folder) {
                *count -= 1;
                if *count == 0 {
                    self.locked.remove(folder);
                }
            }
        }
        let deferred = std::mem::take(&mut self.deferred);
        self.notifiable(deferred)
    }

    /// The invalidations that can be sent now; the others are deferred until their folder is
    /// unlocked.
    pub(crate) fn notifiable(&mut self, stale: Vec<Stale>) -> Vec<Stale> {
        let (later, now) = stale
            .into_iter()
            .partition(|stale| matches!(stale, Stale::Entry { parent, .. } if self.locked.contains_key(parent)));
        self.deferred.append(&mut { later });
        now
    }
}
