//! Finds the events about character devices after a poll.

use std::collections::{BTreeMap, BTreeSet};

use terms::{Check, LinkLayer};

use super::{CharChange, CharDevice, CharKind, Node, NodeMemory};
use crate::memory::{Effect, Memory};
use crate::message;
use crate::name::{DeviceName, SlotKey};
use crate::optional::OptionalChange;
use crate::pending_clear::Subject;
use crate::policy::Policy;
use crate::prepared_event::PreparedEvent;
use crate::reading::Severity;
use crate::scope::Reason;
use crate::snapshot::{SeenPort, SeenPorts, SeenScope, Snapshot};

/// Polls in a row without a character device until it is missing (NVSentinel, `charDevMissThreshold`).
const MISSES_MAX: u32 = 3;

/// Stores what was read of character devices and returns the events. If the check does not run, its
/// reported faults are cleared.
pub(crate) fn judge(
    memory: &mut Memory,
    snapshot: &Snapshot,
    policy: &dyn Policy,
) -> Vec<PreparedEvent> {
    let mut prepared_events = Vec::new();
    let Some(seen) = &snapshot.optional.chars else {
        let off = Reason::CheckOff(Check::InfiniBandCharDevice);
        for (_, device) in std::mem::take(&mut memory.optional.chars).devices {
            for node in standing(&device) {
                owe(memory, &device.name, node, &off);
            }
        }
        return prepared_events;
    };
    for device in &snapshot.devices {
        let Some(key) = device.facts.as_ref().map(|facts| facts.key.clone()) else {
            continue;
        };
        memory.optional.chars.adopt(&key, &device.name);
        match &device.scope {
            SeenScope::Out(reason) => {
                if let Some(left) = memory.optional.chars.devices.remove(&key) {
                    for node in standing(&left) {
                        owe(memory, &left.name, node, reason);
                    }
                }
            }
            SeenScope::In(_, SeenPorts::Listed(ports)) => {
                let is_ours = |port: &&SeenPort| port.out.is_none();
                let ports: Vec<_> = ports.iter().filter(is_ours).collect();
                if ports.iter().any(|port| port.layer.is_none()) {
                    continue;
                }
                let mut expected: BTreeSet<Node> = BTreeSet::new();
                for port in ports
                    .iter()
                    .filter(|p| p.layer == Some(LinkLayer::InfiniBand))
                {
                    expected.insert((CharKind::Issm, Some(port.number)));
                    expected.insert((CharKind::Umad, Some(port.number)));
                    expected.insert((CharKind::Uverbs, None));
                }
                follow(memory, &key, &device.name, &expected);
                for node in expected {
                    if seen.here.contains(&(device.name.clone(), node)) {
                        prepared_events.extend(here(memory, &key, &device.name, node));
                    } else if !seen.blind.contains(&node.0)
                        || policy.takes_unreadable_entry_for_missing()
                    {
                        let most = policy.char_device_misses(MISSES_MAX);
                        prepared_events.extend(missing(memory, &key, &device.name, node, most));
                    }
                }
            }
            SeenScope::In(_, SeenPorts::Blind(_)) | SeenScope::Unknown(_) => {}
        }
    }
    prepared_events
}

fn standing(device: &CharDevice) -> Vec<Node> {
    let nodes = device.nodes.iter().filter(|(_, node)| node.said);
    nodes.map(|(node, _)| *node).collect()
}

fn owe(memory: &mut Memory, name: &DeviceName, (kind, port): Node, reason: &Reason) {
    let message = format!("NIC {name} no longer monitored ({reason}): clearing");
    let subject = Subject::Char(kind, name.clone(), port);
    memory.owe(Check::InfiniBandCharDevice, subject, message);
}

/// Renames a device, and forgets character devices that are no longer expected of it.
fn follow(memory: &mut Memory, key: &SlotKey, name: &DeviceName, expected: &BTreeSet<Node>) {
    let Some(device) = memory.optional.chars.devices.get_mut(key) else {
        return;
    };
    let mut pending_clears = Vec::new();
    if device.name != *name {
        let old = std::mem::replace(&mut device.name, name.clone());
        for (node, kept) in device.nodes.iter_mut().filter(|(_, kept)| kept.said) {
            (kept.said, kept.again) = (false, true);
            pending_clears.push((
                old.clone(),
                *node,
                format!("NIC {old} is now {name}: clearing"),
            ));
        }
    }
    let layer = Reason::LayerIsNow(LinkLayer::Ethernet);
    device.nodes.retain(|node, kept| {
        let is_expected = expected.contains(node);
        if !is_expected && kept.said {
            let message = format!("NIC {name} no longer monitored ({layer}): clearing");
            pending_clears.push((name.clone(), *node, message));
        }
        is_expected
    });
    for (name, (kind, port), message) in pending_clears {
        let subject = Subject::Char(kind, name, port);
        memory.owe(Check::InfiniBandCharDevice, subject, message);
    }
}

fn here(
    memory: &mut Memory,
    key: &SlotKey,
    name: &DeviceName,
    node: Node,
) -> Option<PreparedEvent> {
    let device = memory.optional.chars.devices.get_mut(key)?;
    let kept = device.nodes.get_mut(&node)?;
    if !kept.said {
        device.nodes.remove(&node);
        return None;
    }
    let (kind, port) = node;
    Some(PreparedEvent {
        check: Check::InfiniBandCharDevice,
        severity: None,
        message: message::char_back(kind, name, port),
        subject: Subject::Char(kind, name.clone(), port),
        effect: Effect::Optional(OptionalChange::Char(CharChange::Healthy(key.clone(), node))),
    })
}

fn missing(
    memory: &mut Memory,
    key: &SlotKey,
    name: &DeviceName,
    node: Node,
    most: u32,
) -> Option<PreparedEvent> {
    let device = memory.optional.chars.devices.entry(key.clone());
    let device = device.or_insert_with(|| CharDevice {
        name: name.clone(),
        nodes: BTreeMap::new(),
    });
    let kept: &mut NodeMemory = device.nodes.entry(node).or_default();
    kept.misses = (kept.misses + 1).min(most);
    let is_due = kept.again || (kept.misses == most && !kept.said);
    let (kind, port) = node;
    is_due.then(|| PreparedEvent {
        check: Check::InfiniBandCharDevice,
        severity: Some(Severity::Fatal),
        message: message::char_missing(kind, name, port),
        subject: Subject::Char(kind, name.clone(), port),
        effect: Effect::Optional(OptionalChange::Char(CharChange::Reported(
            key.clone(),
            node,
        ))),
    })
}
