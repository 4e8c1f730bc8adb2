//! Matches the memory of counters with a snapshot: devices with new names, and what left the scope.
//!
//! This happens before counters are judged ([`CounterMemory::recognise`]). New names, and whatever
//! left the scope, add pending clears under the old name. A device that is merely absent keeps its
//! faults. The state checks have their own code for this (`recognise`, `absence`).

use std::collections::BTreeSet;

use terms::Check;

use super::remembered::{CounterMemory, DeviceCounts, PortCounts};
use super::threshold::Watched;
use crate::message;
use crate::name::{DeviceName, PortNumber, SlotKey};
use crate::pending_clear::{PendingClear, Subject};
use crate::policy::Policy;
use crate::scope::Reason;
use crate::snapshot::{Blind, Seen, SeenPort, SeenPorts, SeenScope, Snapshot};

/// The result of matching.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recognised {
    /// The key of each device, by its index in the snapshot; `None` if nothing is known of it.
    pub(crate) keys: Vec<Option<SlotKey>>,
    /// Clears under old names and for old scopes.
    pub(crate) pending_clears: Vec<PendingClear>,
}

/// The inputs of matching.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ruler<'a> {
    pub(crate) watched: &'a [Watched],
    /// The checks that run.
    pub(crate) checks: &'a [Check],
    pub(crate) patience_ns: u64,
    pub(crate) policy: &'a dyn Policy,
}

impl CounterMemory {
    /// Matches the memory with a snapshot, and returns the pending clears.
    pub(crate) fn recognise(&mut self, snapshot: &Snapshot, ruler: &Ruler<'_>) -> Recognised {
        let mut pending_clears = Vec::new();
        let mut keys = Vec::with_capacity(snapshot.devices.len());
        let mut here: BTreeSet<SlotKey> = BTreeSet::new();
        let mut has_unreadable = false;
        for seen in &snapshot.devices {
            has_unreadable |= is_unreadable(&seen.scope);
            let key = self.find(seen, &here);
            keys.push(key.clone().or_else(|| new_key(seen, &here)));
            let Some(key) = key else {
                here.extend(keys.last().cloned().flatten());
                continue;
            };
            here.insert(key.clone());
            match &seen.scope {
                SeenScope::Out(reason)
                    if reason.is_management() && ruler.policy.counts_management_nics() => {}
                SeenScope::Out(reason) => {
                    if let Some(device) = self.devices.remove(&key) {
                        pending_clears.extend(device.faults().map(|(layer, subject)| {
                            left(layer.degradation_check(), &device.name, subject, reason)
                        }));
                    }
                }
                SeenScope::Unknown(_) | SeenScope::In(_, SeenPorts::Blind(_)) => {}
                SeenScope::In(_, SeenPorts::Listed(ports)) => {
                    let key = self.rekey(key, seen);
                    here.insert(key.clone());
                    keys.pop();
                    keys.push(Some(key.clone()));
                    self.rename(&key, &seen.name, &mut pending_clears);
                    if let Some(device) = self.devices.get_mut(&key) {
                        keep_ports(device, ports, &mut pending_clears);
                    }
                }
            }
        }
        self.stop_checks(ruler.checks, &mut pending_clears);
        self.disable(ruler.watched, &mut pending_clears);
        self.settle_reboot(snapshot, &here, has_unreadable, ruler, &mut pending_clears);
        Recognised {
            keys,
            pending_clears,
        }
    }

    /// The entry of a listed device; a second device of one function is identified by its name.
    fn find(&self, seen: &Seen, here: &BTreeSet<SlotKey>) -> Option<SlotKey> {
        let by_name = SlotKey::Name(seen.name.clone());
        let key = seen.facts.as_ref().map(|facts| &facts.key);
        match key {
            Some(key) if !here.contains(key) && self.devices.contains_key(key) => Some(key.clone()),
            _ if self.devices.contains_key(&by_name) => Some(by_name),
            Some(SlotKey::Function(_)) => None,
            _ => {
                let named = |(_, device): &(&SlotKey, &DeviceCounts)| device.name == seen.name;
                let mut known = self.devices.iter().filter(|(key, _)| !here.contains(*key));
                known.find(named).map(|(key, _)| key.clone())
            }
        }
    }

    /// Gives an entry that was identified by its name the function that can be read now.
    fn rekey(&mut self, key: SlotKey, seen: &Seen) -> SlotKey {
        let Some(facts) = &seen.facts else {
            return key;
        };
        let goes_by_name = matches!(key, SlotKey::Name(_)) && facts.function.is_some();
        if goes_by_name
            && !self.devices.contains_key(&facts.key)
            && let Some(device) = self.devices.remove(&key)
        {
            self.devices.insert(facts.key.clone(), device);
            return facts.key.clone();
        }
        key
    }

    /// Renames a device: reported faults are cleared under the old name and reported again under
    /// the new one.
    fn rename(&mut self, key: &SlotKey, name: &DeviceName, pending_clears: &mut Vec<PendingClear>) {
        let Some(device) = self.devices.get_mut(key) else {
            return;
        };
        if device.name == *name {
            return;
        }
        let old = std::mem::replace(&mut device.name, name.clone());
        for (number, port) in &mut device.ports {
            for (id, count) in &mut port.counts {
                let was_pending = count.outstanding;
                if count.rename() {
                    pending_clears.push(PendingClear {
                        check: port.layer.degradation_check(),
                        subject: Subject::Counter(old.clone(), *number, *id),
                        message: format!("NIC {old} is now {name}: clearing"),
                    });
                    // In a new boot the counter is healthy until it grows.
                    if was_pending {
                        count.pending = None;
                    }
                }
            }
        }
    }

    /// Forgets ports whose check no longer runs, also those of absent devices.
    fn stop_checks(&mut self, checks: &[Check], pending_clears: &mut Vec<PendingClear>) {
        for device in self.devices.values_mut() {
            let name = &device.name;
            device.ports.retain(|number, port| {
                let check = port.layer.degradation_check();
                let runs = checks.contains(&check);
                if !runs {
                    let reason = Reason::CheckOff(check);
                    leave_port(name, *number, port, &reason, pending_clears);
                }
                runs
            });
        }
    }

    /// Forgets counters that are no longer configured.
    fn disable(&mut self, watched: &[Watched], pending_clears: &mut Vec<PendingClear>) {
        for device in self.devices.values_mut() {
            let name = &device.name;
            for (number, port) in &mut device.ports {
                let layer = port.layer;
                port.counts.retain(|id, count| {
                    let is_watched = watched.iter().any(|watched| watched.id == *id);
                    if !is_watched && count.said_since_ns.is_some() {
                        pending_clears.push(PendingClear {
                            check: layer.degradation_check(),
                            subject: Subject::Counter(name.clone(), *number, *id),
                            message: message::counter_disabled(*id, name),
                        });
                    }
                    is_watched
                });
            }
        }
    }

    /// After a reboot, the faults of absent devices are cleared if at least as many devices are
    /// present as the old state contained; otherwise they remain. Devices that cannot be read are
    /// waited for, at most for the patience.
    fn settle_reboot(
        &mut self,
        snapshot: &Snapshot,
        here: &BTreeSet<SlotKey>,
        has_unreadable: bool,
        ruler: &Ruler<'_>,
        pending_clears: &mut Vec<PendingClear>,
    ) {
        let Some(reboot) = &mut self.reboot else {
            return;
        };
        let now_ns = snapshot.clocks.boot_ns;
        let since_ns = *reboot.since_ns.get_or_insert(now_ns);
        if has_unreadable && now_ns.saturating_sub(since_ns) <= ruler.patience_ns {
            return;
        }
        let present = snapshot.devices.iter();
        let present = present.filter(|seen| matches!(seen.scope, SeenScope::In(..)));
        if present.count() >= reboot.known {
            self.devices.retain(|key, device| {
                if here.contains(key) {
                    return true;
                }
                pending_clears.extend(device.faults().map(|(layer, subject)| PendingClear {
                    check: layer.degradation_check(),
                    message: message::not_present(layer, &subject),
                    subject,
                }));
                false
            });
        }
        self.reboot = None;
    }
}

/// Whether the device cannot be read, remembered or not.
fn is_unreadable(scope: &SeenScope) -> bool {
    matches!(
        scope,
        SeenScope::Unknown(Blind::Unreadable(_))
            | SeenScope::In(_, SeenPorts::Blind(Blind::Unreadable(_)))
    )
}

/// The key of a device that is not remembered.
fn new_key(seen: &Seen, here: &BTreeSet<SlotKey>) -> Option<SlotKey> {
    let facts = seen.facts.as_ref()?;
    Some(if here.contains(&facts.key) {
        SlotKey::Name(seen.name.clone())
    } else {
        facts.key.clone()
    })
}

/// The clearing of a fault whose device, port or check left the scope.
fn left(check: Check, name: &DeviceName, subject: Subject, reason: &Reason) -> PendingClear {
    PendingClear {
        check,
        subject,
        message: format!("NIC {name} no longer monitored ({reason}): clearing"),
    }
}

/// Forgets ports that are no longer watched, or that have another layer now.
fn keep_ports(
    device: &mut DeviceCounts,
    ports: &[SeenPort],
    pending_clears: &mut Vec<PendingClear>,
) {
    let name = device.name.clone();
    device.ports.retain(|number, port| {
        let seen = ports.iter().find(|seen| seen.number == *number);
        let reason = match seen {
            Some(seen) if seen.out.is_some() => seen.out.clone(),
            Some(seen) => seen
                .layer
                .filter(|layer| *layer != port.layer)
                .map(Reason::LayerIsNow),
            None => None,
        };
        let Some(reason) = reason else {
            return true;
        };
        leave_port(&name, *number, port, &reason, pending_clears);
        false
    });
}

/// Adds a pending clear for every fault of a port that is no longer watched.
fn leave_port(
    name: &DeviceName,
    number: PortNumber,
    port: &PortCounts,
    reason: &Reason,
    pending_clears: &mut Vec<PendingClear>,
) {
    let standing = port
        .counts
        .iter()
        .filter(|(_, c)| c.said_since_ns.is_some());
    pending_clears.extend(standing.map(|(id, _)| {
        let subject = Subject::Counter(name.clone(), number, *id);
        left(port.layer.degradation_check(), name, subject, reason)
    }));
}
