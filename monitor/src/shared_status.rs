//! The state shared between the polling loop and the HTTP server: the last metrics, and whether the
//! loop is alive. The loop writes without waiting; the server reads the last values.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use checks::{Agent, Family, GidPorts, Metrics};

use crate::alive::{Alive, Stale};

/// What the server answers from.
#[derive(Debug)]
pub(crate) struct SharedStatus(Mutex<Shown>);

#[derive(Debug)]
struct Shown {
    metrics: Metrics,
    gid_ports: GidPorts,
    alive: Alive,
}

impl SharedStatus {
    /// The state of an agent before its first poll.
    pub(crate) fn new(agent: &Agent) -> SharedStatus {
        SharedStatus(Mutex::new(Shown {
            metrics: agent.metrics().clone(),
            gid_ports: agent.gid_ports(),
            alive: Alive::new(agent.interval(), Instant::now()),
        }))
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A poll finished.
    pub(crate) fn polled(&self, agent: &Agent) {
        let mut shown = self.shown();
        shown.metrics.clone_from(agent.metrics());
        shown.gid_ports = agent.gid_ports();
        shown.alive.polled(Instant::now());
    }

    /// An attempt to publish begins.
    pub(crate) fn publishes(&self) {
        self.shown().alive.publishes(Instant::now());
    }

    /// An attempt failed, and the next one follows after a wait.
    pub(crate) fn retries_after(&self, wait: Duration, agent: &Agent) {
        let mut shown = self.shown();
        shown.metrics.clone_from(agent.metrics());
        shown.alive.retries_after(wait, Instant::now());
    }

    /// All metrics of the agent.
    pub(crate) fn families(&self) -> Vec<Family> {
        self.shown().metrics.families()
    }

    /// The ports whose GIDs are counted.
    pub(crate) fn gid_ports(&self) -> GidPorts {
        self.shown().gid_ports.clone()
    }

    /// Whether the loop is stuck.
    pub(crate) fn stale(&self) -> Option<Stale> {
        self.shown().alive.stale(Instant::now())
    }
}
