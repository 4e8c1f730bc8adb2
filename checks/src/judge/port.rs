//! The rules for one port: severity table, patience, first judgement, and what was reported before.
//!
//! The worst severity reported since the last healthy event is remembered. An event is sent when
//! the severity rises, or when the port is healthy again after a reported fault or with a pending
//! baseline.

use terms::LinkLayer;

use crate::absence::Measure;
use crate::memory::{Effect, Judged, Port, Slot};
use crate::message;
use crate::name::{AssignedRole, DeviceName, PortNumber, SlotKey};
use crate::peers::{Peers, Standing};
use crate::pending_clear::Subject;
use crate::prepared_event::PreparedEvent;
use crate::reading::{Reading, Severity};
use crate::sample::{DeviceSample, PortSample};

/// Finds the events of a slot's ports on one layer.
pub(super) fn judge_ports(
    key: &SlotKey,
    slot: &mut Slot,
    here: &DeviceSample,
    layer: LinkLayer,
    peers: &Peers,
    measure: &Measure<'_>,
    prepared_events: &mut Vec<PreparedEvent>,
) {
    let is_pinned = slot.role == AssignedRole::Pinned;
    let mut standing = None;
    // What peers say depends on the slot, not on its ports.
    let mut ports = std::mem::take(&mut slot.ports);
    for (&number, port) in ports.iter_mut().filter(|(_, port)| port.layer == layer) {
        if port.judged.is_open_to_peers() && here.is_unhealthy(number, port) {
            let of_card = *standing.get_or_insert_with(|| {
                if is_pinned {
                    None
                } else {
                    peers.standing(key, slot, layer)
                }
            });
            judge_first(port, is_pinned, of_card, measure);
        }
        let sample = here.port(number);
        let is_sick = here.is_unhealthy(number, port);
        port.by_design &= !is_sick || worst_of(port, measure).is_none();
        prepared_events.extend(judge_one(key, &slot.name, number, port, sample, measure));
    }
    slot.ports = ports;
}

/// Makes the first judgement of an unhealthy port, as far as this poll allows.
fn judge_first(port: &mut Port, is_pinned: bool, of_card: Option<Standing>, measure: &Measure<'_>) {
    let Some(reading) = &port.reading else {
        return;
    };
    let by_table = measure.policy.severity(port.layer, reading);
    if let Judged::Quiet(quiet) = port.judged {
        if by_table <= quiet {
            return;
        }
        port.judged = Judged::Pending;
    }
    if is_pinned || (port.again.is_some() && !port.by_design) {
        port.judged = Judged::Open;
        return;
    }
    if reading.may_be_training() && !is_over(port.unhealthy_since_ns, measure) {
        return;
    }
    if port.judged == Judged::Returning {
        port.judged = Judged::Open;
        return;
    }
    port.judged = match of_card {
        Some(Standing::Below { .. }) if by_table.is_none() && measure.policy.names_its_port() => {
            Judged::Condemned
        }
        Some(Standing::Below { .. }) => Judged::Open,
        Some(Standing::Unready) => Judged::Pending,
        Some(Standing::Meets { .. } | Standing::NoEvidence { .. } | Standing::Exempt) | None => {
            Judged::Quiet(by_table)
        }
    };
}

/// Whether a patience that began at this time is over.
fn is_over(since_ns: Option<u64>, measure: &Measure<'_>) -> bool {
    let waited_ns = since_ns.map(|since_ns| measure.now_ns.saturating_sub(since_ns));
    waited_ns.is_some_and(|waited_ns| measure.policy.is_over(waited_ns, measure.patience_ns))
}

fn judge_one(
    key: &SlotKey,
    name: &DeviceName,
    number: PortNumber,
    port: &Port,
    sample: &PortSample,
    measure: &Measure<'_>,
) -> Option<PreparedEvent> {
    let layer = port.layer;
    let (worst, message) = match sample {
        PortSample::Held => return None,
        PortSample::Missing => (
            Some(Severity::Fatal),
            message::port_gone(layer, name, number),
        ),
        PortSample::Unreadable(cause) => {
            let worst = if measure.policy.takes_unreadable_for_dead() {
                Some(Severity::Fatal)
            } else {
                let is_quiet = matches!(port.judged, Judged::Quiet(_));
                let is_due = !is_quiet && is_over(port.unreadable_since_ns, measure);
                is_due.then_some(Severity::NonFatal)
            };
            (worst, message::port_unreadable(name, number, cause))
        }
        PortSample::Read { operstate } => {
            let reading = port.reading.as_ref()?;
            if reading.is_healthy() {
                let is_event = port.standing().is_some() || port.pending;
                return is_event.then(|| healthy(key, name, number, layer));
            }
            let again = port.again.filter(|_| !port.by_design);
            let worst = worst_of(port, measure).max(again);
            if worst.is_none() && port.is_as_before() {
                return Some(taken_back(key, name, number, port, reading));
            }
            let operstate = operstate.as_deref();
            let rendered = message::port_unhealthy(layer, name, number, reading, operstate);
            (worst, rendered)
        }
    };
    let worst = worst?;
    let is_rise = measure.policy.is_rise(port.said, worst);
    is_rise.then(|| PreparedEvent {
        check: layer.state_check(),
        severity: Some(worst),
        message,
        subject: Subject::Port(name.clone(), number),
        effect: Effect::PortEntry(key.clone(), number, worst),
    })
}

/// The severity of an unhealthy port now, by the table, its own history and the peers of its card.
fn worst_of(port: &Port, measure: &Measure<'_>) -> Option<Severity> {
    let reading = port.reading.as_ref()?;
    match port.judged {
        Judged::Open => {}
        Judged::Condemned => return Some(Severity::Fatal),
        Judged::Pending | Judged::Returning | Judged::Quiet(_) => return None,
    }
    let escalates = measure.policy.escalates(port.layer);
    if port.was_healthy && escalates && is_over(port.unhealthy_since_ns, measure) {
        return Some(Severity::Fatal);
    }
    measure.policy.severity(port.layer, reading)
}

/// The event that takes back what was said of a port while it was lost from sight. It is unhealthy
/// as before, when nothing was said of it.
pub(crate) fn taken_back(
    key: &SlotKey,
    name: &DeviceName,
    number: PortNumber,
    port: &Port,
    reading: &Reading,
) -> PreparedEvent {
    PreparedEvent {
        check: port.layer.state_check(),
        severity: None,
        message: message::port_as_before(port.layer, name, number, reading),
        subject: Subject::Port(name.clone(), number),
        effect: Effect::PortTakenBack(key.clone(), number),
    }
}

/// The healthy event of a port.
pub(crate) fn healthy(
    key: &SlotKey,
    name: &DeviceName,
    number: PortNumber,
    layer: LinkLayer,
) -> PreparedEvent {
    PreparedEvent {
        check: layer.state_check(),
        severity: None,
        message: message::port_healthy(layer, name, number),
        subject: Subject::Port(name.clone(), number),
        effect: Effect::PortHealthy(key.clone(), number),
    }
}
