//! Updates the metrics while the agent works, and returns them for `/metrics`.
//!
//! Metrics do not influence anything: no event, no state file and no log line depends on them.

use std::time::Duration;

use terms::{CheckKind, LinkLayer};

use super::Agent;
use crate::gids::GidPorts;
use crate::metrics::{Metrics, Worked};
use crate::name::{DeviceName, PortNumber};
use crate::pending_clear::Subject;
use crate::prepared_event::PreparedEvent;
use crate::reading::Severity;
use crate::schedule::Due;
use crate::scope::Reason;
use crate::snapshot::{Anchor, SeenPorts, SeenScope, Snapshot};

impl Agent {
    /// Everything counted since the start.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The last poll, including publishing, took the caller this much real time.
    pub fn took(&mut self, span: Duration) {
        if self.was_due.state {
            self.metrics.took(Worked::State, span);
        }
        if self.was_due.counters
            && self
                .checks
                .iter()
                .any(|c| c.kind() == CheckKind::Degradation)
        {
            self.metrics.took(Worked::Counter, span);
        }
    }

    /// The RoCE ports that are monitored and present, whose GIDs can be counted.
    #[must_use]
    pub fn gid_ports(&self) -> GidPorts {
        let slots = self.memory.slots.iter();
        let present = slots.filter(|(key, _)| self.samples.of(key).is_present());
        let mut ports: Vec<(DeviceName, PortNumber)> = present
            .flat_map(|(_, slot)| {
                let ports = slot.ports.iter();
                let roce = ports.filter(|(_, port)| port.layer == LinkLayer::Ethernet);
                roce.map(|(number, _)| (slot.name.clone(), *number))
            })
            .collect();
        ports.sort_unstable();
        GidPorts {
            node: self.settings.node_name.clone(),
            class_folder: self.discovery.config.sys_class_infiniband.clone(),
            ports,
        }
    }

    /// A listing was read: counts the devices, and those that are monitored.
    pub(super) fn count_devices(&mut self, snapshot: &Snapshot) {
        if snapshot.anchor != Anchor::Listed {
            return;
        }
        let is_read = |scope: &SeenScope| match scope {
            SeenScope::Out(reason) => !matches!(
                reason,
                Reason::Excluded | Reason::NotPinned | Reason::VirtualFunction
            ),
            SeenScope::In(_, ports) => matches!(ports, SeenPorts::Listed(_)),
            SeenScope::Unknown(_) => false,
        };
        let watched = snapshot.devices.iter();
        let watched = watched.filter(|seen| matches!(seen.scope, SeenScope::In(..)));
        self.metrics.monitored(watched.count() as u64);
        let devices = snapshot.devices.iter().filter(|seen| is_read(&seen.scope));
        let devices = devices.count() as u64;
        for check in &self.checks {
            if check.kind() == CheckKind::State {
                self.metrics.discovered(*check, devices);
            }
        }
    }

    /// A poll was judged: counts the faults that it found.
    pub(super) fn count_judged(&mut self, prepared_events: &[PreparedEvent], due: Due) {
        let faults = prepared_events.iter().filter_map(|prepared| {
            let fatal = prepared.severity? == Severity::Fatal;
            let (device, port) = match &prepared.subject {
                Subject::Device(name) => (name.to_string(), None),
                Subject::Port(name, number) => (name.to_string(), Some(number.to_string())),
                Subject::Char(_, name, number) => (
                    name.to_string(),
                    Some(number.map_or(0, |number| number.0).to_string()),
                ),
                Subject::Card(_) | Subject::Counter(..) => return None,
            };
            Some((prepared.check, device, port, fatal))
        });
        if due.state {
            self.metrics.found(faults);
        }
        if !due.counters {
            return;
        }
        let breaches = prepared_events.iter().filter_map(|prepared| {
            let Subject::Counter(name, number, id) = &prepared.subject else {
                return None;
            };
            let fatal = prepared.severity? == Severity::Fatal;
            let (device, port) = (name.to_string(), number.to_string());
            Some((id.to_string(), device, port, fatal))
        });
        self.metrics.breached(breaches);
        let saturated = self
            .saturated
            .iter()
            .map(|(id, name, number)| (id.to_string(), name.to_string(), number.to_string()));
        self.metrics.saturated(saturated.collect());
    }
}
