//! The kernel-log monitor: converts kernel messages about a node's NICs to health events.
//!
//! Every matching line is an event, without suppression of repetitions. Patterns are tried in order and
//! the first match is used; the soft lockup, which needs two lines, is tried first. The only recovery is a
//! reboot's. Reading the journal and its polls of 15 s are up to the caller. Start at
//! [`KernelLogMonitor`].
//! Source: NVSentinel, syslog-health-monitor; "Syslog Detection & Correlation".

mod lockup;
mod pattern;
mod pci;

use std::collections::BTreeMap;

use proto::{Entity, HealthEvent, ProcessingStrategy, RecommendedAction, VERSION};

use crate::stamp::Stamp;
use lockup::Lockup;

pub use lockup::LOCKUP_LINES;
pub(crate) use pattern::LOCKUP;
pub use pattern::{Pattern, PatternSet};
pub use pci::pci_address;

/// The agent's name on the wire.
pub const AGENT: &str = "syslog-health-monitor";
/// The check's name on the wire.
pub const CHECK: &str = "SysLogsNICDriverError";

/// The behaviour of the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLogProfile {
    /// The patterns.
    pub patterns: PatternSet,
    /// The class of the healthy event after a reboot. The faults are of class `NIC`.
    pub recovery_class: &'static str,
    /// The processing strategy of its events.
    pub strategy: ProcessingStrategy,
}

impl KernelLogProfile {
    /// As deployed since 2026-07: its healthy event has class `GPU`, so it clears the node condition but
    /// not the cordon.
    pub const DEPLOYED: Self = Self {
        patterns: PatternSet::Deployed,
        recovery_class: "GPU",
        strategy: ProcessingStrategy::ExecuteRemediation,
    };
    /// As first designed: two of its four patterns match no message of a kernel, and a transmit watchdog
    /// is fatal.
    pub const FIRST: Self = Self {
        patterns: PatternSet::First,
        recovery_class: "GPU",
        strategy: ProcessingStrategy::ExecuteRemediation,
    };
    /// As it should be: its healthy event clears what it reported.
    pub const MENDED: Self = Self {
        patterns: PatternSet::Deployed,
        recovery_class: "NIC",
        strategy: ProcessingStrategy::ExecuteRemediation,
    };
}

/// The NIC of each PCI function with the driver `mlx5_core`: the RDMA device's name, or otherwise the
/// interface's.
pub type Functions = BTreeMap<String, String>;

/// The monitor of one node.
#[derive(Clone, Debug)]
pub struct KernelLogMonitor {
    node: String,
    profile: KernelLogProfile,
    lockup: Lockup,
}

impl KernelLogMonitor {
    /// A monitor with every pattern of its profile enabled; as shipped, none is.
    #[must_use]
    pub fn new(node: &str, profile: KernelLogProfile) -> Self {
        Self {
            node: node.to_owned(),
            profile,
            lockup: Lockup::default(),
        }
    }

    /// Processes one line; returns its event, if there is one.
    pub fn line(&mut self, at: Stamp, line: &str, functions: &Functions) -> Option<HealthEvent> {
        if self.profile.patterns == PatternSet::Deployed
            && let Some(seen) = self.lockup.line(at, line)
        {
            let mut event = self.event(at, Some(LOCKUP), true, seen.message());
            event.metadata = seen.metadata();
            return Some(event);
        }
        let mut patterns = self.profile.patterns.patterns().iter();
        let found = patterns.find(|pattern| pattern.matches(line, functions))?;
        let mut event = self.event(at, Some(found.name), found.is_fatal, line.to_owned());
        let nic = pci_address(line).and_then(|address| functions.get(address));
        event.entities_impacted = nic.into_iter().map(|nic| nic_entity(nic)).collect();
        Some(event)
    }

    /// Handles a reboot of the node: returns the healthy event that ends all faults of this check.
    #[must_use]
    pub fn rebooted(&mut self, at: Stamp) -> HealthEvent {
        self.lockup = Lockup::default();
        let mut event = self.event(at, None, false, "No Health Failures".to_owned());
        event.is_healthy = true;
        event.component_class = self.profile.recovery_class.to_owned();
        event
    }

    fn event(&self, at: Stamp, code: Option<&str>, is_fatal: bool, message: String) -> HealthEvent {
        let action = if is_fatal {
            RecommendedAction::ReplaceVm
        } else {
            RecommendedAction::None
        };
        HealthEvent {
            version: VERSION,
            agent: AGENT.to_owned(),
            component_class: "NIC".to_owned(),
            check_name: CHECK.to_owned(),
            is_fatal,
            message,
            recommended_action: action.into(),
            error_code: code.map(str::to_owned).into_iter().collect(),
            generated_timestamp: Some(at.to_wire()),
            node_name: self.node.clone(),
            processing_strategy: self.profile.strategy.into(),
            ..HealthEvent::default()
        }
    }
}

fn nic_entity(nic: &str) -> Entity {
    Entity {
        entity_type: "NIC".to_owned(),
        entity_value: nic.to_owned(),
    }
}
