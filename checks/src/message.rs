//! The message of every event, and its conversion to a `HealthEvent`.
//!
//! The texts are those of NVSentinel's nic-health-monitor (state checks), so that traces can be
//! compared; the texts of clears, and those of a first start, are defined here.

use proto::{Entity, HealthEvent, RecommendedAction};
use terms::LinkLayer;

use crate::chars::CharKind;
use crate::counters::count::Breach;
use crate::counters::{CounterId, Watched};
use crate::flags::Settings;
use crate::name::{AssignedRole, Card, DeviceName, PortNumber};
use crate::pending_clear::Subject;
use crate::prepared_event::PreparedEvent;
use crate::reading::{Reading, Severity};

/// The agent's name on the wire.
pub const AGENT: &str = "nic-health-monitor";
/// The component class on the wire.
pub const COMPONENT_CLASS: &str = "NIC";

fn port_word(layer: LinkLayer) -> &'static str {
    match layer {
        LinkLayer::InfiniBand => "Port",
        LinkLayer::Ethernet => "RoCE port",
    }
}

pub(crate) fn port_unhealthy(
    layer: LinkLayer,
    name: &DeviceName,
    number: PortNumber,
    reading: &Reading,
    operstate: Option<&str>,
) -> String {
    let word = port_word(layer);
    let Reading { state, phys } = reading;
    let rendered = format!("{word} {name} port {number}: state {state}, phys_state {phys}");
    match operstate {
        Some(operstate) => format!("{rendered}, operstate {operstate}"),
        None => rendered,
    }
}

pub(crate) fn port_healthy(layer: LinkLayer, name: &DeviceName, number: PortNumber) -> String {
    format!(
        "{} {name} port {number}: healthy (ACTIVE, LinkUp)",
        port_word(layer)
    )
}

/// What takes back a fault of a port that is unhealthy as it was before the fault.
pub(crate) fn port_as_before(
    layer: LinkLayer,
    name: &DeviceName,
    number: PortNumber,
    reading: &Reading,
) -> String {
    let rendered = port_unhealthy(layer, name, number, reading, None);
    format!("{rendered}, as before the fault: clearing")
}

pub(crate) fn port_gone(layer: LinkLayer, name: &DeviceName, number: PortNumber) -> String {
    format!(
        "{} {name} port {number} disappeared from sysfs",
        port_word(layer)
    )
}

pub(crate) fn port_unreadable(
    name: &DeviceName,
    number: PortNumber,
    cause: impl std::fmt::Display,
) -> String {
    format!("Port {name} port {number}: state unreadable ({cause})")
}

pub(crate) fn device_gone(layer: LinkLayer, name: &DeviceName) -> String {
    match layer {
        LinkLayer::InfiniBand => {
            format!("NIC {name} disappeared from /sys/class/infiniband/ - hardware failure")
        }
        LinkLayer::Ethernet => format!("RoCE device {name} disappeared from sysfs"),
    }
}

pub(crate) fn device_healthy(name: &DeviceName) -> String {
    format!("Device {name}: healthy (every port ACTIVE, LinkUp)")
}

pub(crate) fn device_back(name: &DeviceName) -> String {
    format!("Device {name} re-enumerated in sysfs")
}

pub(crate) fn card_below(card: &Card, role: AssignedRole, active: usize, mode: usize) -> String {
    format!("Card {card} ({role}) has {active} active ports, expected {mode} (peer mode)")
}

pub(crate) fn card_healthy(card: &Card, role: AssignedRole, active: usize, mode: usize) -> String {
    format!("Card {card} ({role}) healthy: {active} active ports meet peer mode {mode}")
}

pub(crate) fn card_exempt(card: &Card) -> String {
    format!("Card {card} exempt from peer comparison (management NIC sibling); clearing anomaly")
}

pub(crate) fn not_present(layer: LinkLayer, subject: &Subject) -> String {
    let who = match subject {
        Subject::Device(name) => format!("NIC {name}"),
        Subject::Port(name, number) => format!("{} {name} port {number}", port_word(layer)),
        Subject::Counter(name, number, id) => format!("Counter {id} on port {name} port {number}"),
        Subject::Char(kind, name, _) => format!("Character device {kind} of {name}"),
        Subject::Card(card) => format!("Card {card}"),
    };
    format!("{who} not present after reboot: clearing")
}

pub(crate) fn counter_breach(
    watched: &Watched,
    name: &DeviceName,
    number: PortNumber,
    breach: &Breach,
) -> String {
    let Breach { value, growth, .. } = breach;
    let row = watched.id.row();
    let rate = watched.threshold.rate(*growth, breach.elapsed_ns);
    let unit = watched.threshold.unit_word();
    format!(
        "Port {name} port {number}: {} - {} (value={value}, delta={growth}, rate={rate:.2}/{unit})",
        row.name, row.description
    )
}

pub(crate) fn counter_again(id: CounterId, name: &DeviceName, number: PortNumber) -> String {
    let row = id.row();
    format!(
        "Port {name} port {number}: {} - {} (re-asserting outstanding breach after baseline \
         reconciliation)",
        row.name, row.description
    )
}

pub(crate) fn counter_recovered(id: CounterId, name: &DeviceName, number: PortNumber) -> String {
    format!("Counter {id} recovered on port {name} port {number}")
}

/// The healthy event of a counter at its first reading, in the first boot or after a reboot.
pub(crate) fn counter_baseline(
    id: CounterId,
    name: &DeviceName,
    number: PortNumber,
    is_reboot: bool,
) -> String {
    let when = if is_reboot { " after reboot" } else { "" };
    format!("Counter {id} healthy{when} on port {name} port {number}")
}

pub(crate) fn counter_disabled(id: CounterId, name: &DeviceName) -> String {
    format!(
        "Counter {id} on {name} is no longer monitored (counter disabled or device out of \
         monitoring scope); clearing stale breach"
    )
}

pub(crate) fn char_missing(kind: CharKind, name: &DeviceName, port: Option<PortNumber>) -> String {
    match (kind, port) {
        (CharKind::Issm, Some(number)) => format!(
            "Device {name} port {number}: issm character device missing from \
             /sys/class/infiniband_mad (expected for an InfiniBand-mode port); pods cannot open \
             /dev/infiniband/issm*"
        ),
        (_, Some(number)) => format!(
            "Device {name} port {number}: {kind} character device missing from \
             /sys/class/infiniband_mad; pods cannot open /dev/infiniband/{kind}*"
        ),
        (_, None) => format!(
            "Device {name}: verbs character device ({kind}) missing from \
             /sys/class/infiniband_verbs; RDMA workloads cannot open /dev/infiniband/{kind}*"
        ),
    }
}

pub(crate) fn char_back(kind: CharKind, name: &DeviceName, port: Option<PortNumber>) -> String {
    match port {
        Some(number) => format!(
            "InfiniBand character device {kind} for device {name} port {number} is present again"
        ),
        None => format!("InfiniBand character device {kind} for device {name} is present again"),
    }
}

fn entities(subject: &Subject) -> Vec<Entity> {
    let entity = |entity_type: &str, entity_value: String| Entity {
        entity_type: entity_type.to_owned(),
        entity_value,
    };
    match subject {
        Subject::Device(name) | Subject::Char(_, name, None) => {
            vec![entity("NIC", name.to_string())]
        }
        Subject::Card(card) => vec![entity("NIC", card.to_string())],
        Subject::Port(name, number)
        | Subject::Counter(name, number, _)
        | Subject::Char(_, name, Some(number)) => vec![
            entity("NIC", name.to_string()),
            entity("NICPort", number.to_string()),
        ],
    }
}

/// What distinguishes faults of one entity and check.
fn error_code(subject: &Subject) -> Vec<String> {
    match subject {
        Subject::Counter(_, _, id) => vec![id.name().to_owned()],
        Subject::Char(kind, ..) => vec![kind.name().to_owned()],
        Subject::Device(_) | Subject::Port(..) | Subject::Card(_) => Vec::new(),
    }
}

/// The event for the wire.
pub(crate) fn event(settings: &Settings, prepared: &PreparedEvent, wall_ns: u64) -> HealthEvent {
    let is_fatal = prepared.severity == Some(Severity::Fatal);
    let action = if is_fatal {
        RecommendedAction::ReplaceVm
    } else {
        RecommendedAction::None
    };
    HealthEvent {
        version: proto::VERSION,
        agent: AGENT.to_owned(),
        component_class: COMPONENT_CLASS.to_owned(),
        check_name: prepared.check.name().to_owned(),
        is_fatal,
        is_healthy: prepared.severity.is_none(),
        message: prepared.message.clone(),
        recommended_action: action.into(),
        error_code: error_code(&prepared.subject),
        entities_impacted: entities(&prepared.subject),
        generated_timestamp: Some(proto::timestamp_from_ns(wall_ns)),
        node_name: settings.node_name.clone(),
        processing_strategy: settings.strategy.into(),
        ..HealthEvent::default()
    }
}
