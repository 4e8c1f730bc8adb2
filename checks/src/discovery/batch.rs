//! Batches of requests that are kept from poll to poll: most polls read what the poll before read,
//! so a batch is made again only if it is made of something else. Start with [`Batch::of`].

use std::sync::Arc;

use crate::counters::target::Target;
use crate::hands::Request;
use crate::name::{DeviceName, PortNumber};

/// Requests, and what they are made of.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    pub(crate) of: Vec<T>,
    pub(crate) requests: Vec<Request>,
}

impl<T> Default for Batch<T> {
    fn default() -> Batch<T> {
        Batch {
            of: Vec::new(),
            requests: Vec::new(),
        }
    }
}

impl<T: PartialEq> Batch<T> {
    /// The batch that is made of `of`: the kept one, or a new one, which is kept from then on.
    pub(super) fn of(
        kept: &mut Arc<Batch<T>>,
        of: Vec<T>,
        make: impl FnOnce(&[T]) -> Vec<Request>,
    ) -> Arc<Batch<T>> {
        if kept.of != of {
            let requests = make(&of);
            *kept = Arc::new(Batch { of, requests });
        }
        Arc::clone(kept)
    }
}

/// The batches of a poll.
#[derive(Debug, Clone, Default)]
pub(super) struct Batches {
    /// The link of each listed device.
    pub(super) links: Arc<Batch<DeviceName>>,
    /// The ports of each device that is monitored or may be.
    pub(super) ports: Arc<Batch<DeviceName>>,
    /// The state files of each port.
    pub(super) states: Arc<Batch<(DeviceName, PortNumber)>>,
    /// The interfaces of each device whose interface counters are read.
    pub(super) interfaces: Arc<Batch<DeviceName>>,
    /// The counters of each port.
    pub(super) counters: Arc<Batch<Target>>,
}
