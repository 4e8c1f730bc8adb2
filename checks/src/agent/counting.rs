//! What the agent counts of itself while it works, and hands out for `/metrics`.
//!
//! Counting judges nothing: no event, no state file and no log line depends on it.

use std::time::Duration;

use proto::CheckKind;

use super::Agent;
use crate::debt::Subject;
use crate::figures::{Figures, Worked};
use crate::gids::GidPorts;
use crate::name::{DeviceName, LinkLayer, PortNumber};
use crate::reading::Severity;
use crate::saying::Saying;
use crate::schedule::Due;
use crate::scope::Reason;
use crate::sight::{Anchor, SeenPorts, SeenScope, Sight};

impl Agent {
    /// Everything counted since the start.
    #[must_use]
    pub fn figures(&self) -> &Figures {
        &self.figures
    }

    /// The last poll, publishing included, took the hands this much real time.
    pub fn took(&mut self, span: Duration) {
        if self.was_due.state {
            self.figures.took(Worked::State, span);
        }
        if self.was_due.counters
            && self
                .checks
                .iter()
                .any(|c| c.kind() == CheckKind::Degradation)
        {
            self.figures.took(Worked::Counter, span);
        }
    }

    /// The RoCE ports that are monitored and present now, for whoever counts their GIDs.
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
            class_folder: self.eyes.config.sys_class_infiniband.clone(),
            ports,
        }
    }

    /// A listing was seen: how many devices there are, and how many are watched.
    pub(super) fn count_devices(&mut self, sight: &Sight) {
        if sight.anchor != Anchor::Listed {
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
        let watched = sight.devices.iter();
        let watched = watched.filter(|seen| matches!(seen.scope, SeenScope::In(..)));
        self.figures.monitored(watched.count() as u64);
        let devices = sight.devices.iter().filter(|seen| is_read(&seen.scope));
        let devices = devices.count() as u64;
        for check in &self.checks {
            if check.kind() == CheckKind::State {
                self.figures.discovered(*check, devices);
            }
        }
    }

    /// A poll was judged: what was found.
    pub(super) fn count_judged(&mut self, sayings: &[Saying], due: Due) {
        let faults = sayings.iter().filter_map(|saying| {
            let fatal = saying.severity? == Severity::Fatal;
            let (device, port) = match &saying.subject {
                Subject::Device(name) => (name.to_string(), None),
                Subject::Port(name, number) => (name.to_string(), Some(number.to_string())),
                Subject::Char(_, name, number) => (
                    name.to_string(),
                    Some(number.map_or(0, |number| number.0).to_string()),
                ),
                Subject::Card(_) | Subject::Counter(..) => return None,
            };
            Some((saying.check, device, port, fatal))
        });
        if due.state {
            self.figures.found(faults);
        }
        if !due.counters {
            return;
        }
        let breaches = sayings.iter().filter_map(|saying| {
            let Subject::Counter(name, number, id) = &saying.subject else {
                return None;
            };
            let fatal = saying.severity? == Severity::Fatal;
            let (device, port) = (name.to_string(), number.to_string());
            Some((id.to_string(), device, port, fatal))
        });
        self.figures.breached(breaches);
        let saturated = self
            .saturated
            .iter()
            .map(|(id, name, number)| (id.to_string(), name.to_string(), number.to_string()));
        self.figures.saturated(saturated.collect());
    }
}
