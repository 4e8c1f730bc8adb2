//! Finds the events about counters after a poll.
//!
//! A counter that was not read in this poll keeps its memory and gives no event.

use super::count::{Stamp, Word};
use super::remembered::{DeviceCounts, PortCounts};
use super::tally::Saturated;
use super::target::Target;
use super::threshold::Watched;
use super::watch::Ruler;
use crate::log_record::{Level, LogRecord};
use crate::memory::{Effect, Memory};
use crate::message;
use crate::name::{DeviceName, SlotKey};
use crate::pending_clear::Subject;
use crate::prepared_event::PreparedEvent;
use crate::reading::Severity;
use crate::snapshot::{Snapshot, Unread};

/// The events about counters of a poll.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) prepared_events: Vec<PreparedEvent>,
    pub(crate) records: Vec<LogRecord>,
}

/// Stores what was read of counters and returns the events.
pub(crate) fn judge(
    memory: &mut Memory,
    snapshot: &Snapshot,
    ruler: &Ruler<'_>,
    saturated: &mut Saturated,
) -> Judged {
    let recognised = memory.counters.recognise(snapshot, ruler);
    for pending_clear in recognised.pending_clears {
        memory.owe(
            pending_clear.check,
            pending_clear.subject,
            pending_clear.message,
        );
    }
    repeat_what_is_overshadowed(memory);
    let mut judged = Judged::default();
    let Some(seen) = &snapshot.counts else {
        return judged;
    };
    let is_reboot = memory.counters.is_reborn;
    let outstanding = memory.blind || is_reboot;
    let now = Stamp {
        boot_ns: snapshot.clocks.boot_ns,
        wall_ns: snapshot.clocks.wall_ns,
    };
    for target in &seen.reads.of {
        let Some(key) = recognised.keys.get(target.device).cloned().flatten() else {
            continue;
        };
        let name = &snapshot.devices[target.device].name;
        let device = memory.counters.devices.entry(key.clone());
        let device = device.or_insert_with(|| DeviceCounts::new(name.clone()));
        let port = device.ports.entry(target.number);
        let port = port.or_insert_with(|| PortCounts::new(target.layer));
        let has_moved = port.interface != target.interface && target.interface.is_some();
        if has_moved {
            port.interface.clone_from(&target.interface);
        }
        for (watched, place) in &target.shape.counters {
            let value = seen.values.get(target.first + place).copied();
            let value = match value {
                Some(Ok(value)) => value,
                Some(Err(Unread::Held)) if ruler.policy.takes_unreadable_counter_for_zero() => 0,
                _ => continue,
            };
            log_saturation(watched, value, name, target, saturated, &mut judged.records);
            let is_new = !port.counts.contains_key(&watched.id);
            let count = port.counts.entry(watched.id).or_default();
            count.outstanding |= is_new && outstanding;
            if has_moved && watched.id.row().place.is_net() && count.seed.is_some() {
                count.begin_anew(value, now);
            }
            count.see(value, now, watched.threshold, ruler.policy);
            if let Some(word) = count.word() {
                judged
                    .prepared_events
                    .push(say(watched, word, &key, name, target, now, is_reboot));
            }
        }
    }
    judged
}

/// Records which counters are at the maximum of their field; each is logged when it reaches it.
fn log_saturation(
    watched: &Watched,
    value: u64,
    name: &DeviceName,
    target: &Target,
    saturated: &mut Saturated,
    records: &mut Vec<LogRecord>,
) {
    let is_saturated = value == watched.id.row().max;
    if !is_saturated && saturated.is_empty() {
        return;
    }
    let counter = (watched.id, name.clone(), target.number);
    if !is_saturated {
        saturated.remove(&counter);
    } else if saturated.insert(counter) {
        let record = LogRecord::new(
            Level::Warn,
            "counter stands at the maximum of its field: growth cannot be seen until it is reset",
        );
        let record = record.with("counter", watched.id).with("device", name);
        records.push(record.with("port", target.number).with("value", value));
    }
}

fn say(
    watched: &Watched,
    word: Word,
    key: &SlotKey,
    name: &DeviceName,
    target: &Target,
    now: Stamp,
    is_reboot: bool,
) -> PreparedEvent {
    let (id, number) = (watched.id, target.number);
    let is_healthy = matches!(word, Word::Recovered | Word::Baseline);
    let severity = if id.row().is_fatal {
        Severity::Fatal
    } else {
        Severity::NonFatal
    };
    PreparedEvent {
        check: target.layer.degradation_check(),
        severity: (!is_healthy).then_some(severity),
        message: match word {
            Word::Breach(breach) => message::counter_breach(watched, name, number, &breach),
            Word::Again => message::counter_again(id, name, number),
            Word::Recovered => message::counter_recovered(id, name, number),
            Word::Baseline => message::counter_baseline(id, name, number, is_reboot),
        },
        subject: Subject::Counter(name.clone(), number, id),
        effect: if is_healthy {
            Effect::CounterHealthy(key.clone(), number, id)
        } else {
            Effect::CounterEntry(key.clone(), number, id, now.wall_ns)
        },
    }
}

/// At the connector, a clear under a name also clears the faults of the device that has this name
/// now. These faults are reported again after the clear.
fn repeat_what_is_overshadowed(memory: &mut Memory) {
    for pending_clear in &memory.pending_clears {
        let Subject::Counter(name, number, id) = &pending_clear.subject else {
            continue;
        };
        let devices = memory.counters.devices.values_mut();
        for device in devices.filter(|device| device.name == *name) {
            let port = device.ports.get_mut(number);
            let port = port.filter(|port| port.layer.degradation_check() == pending_clear.check);
            if let Some(count) = port.and_then(|port| port.counts.get_mut(id)) {
                count.overshadow();
            }
        }
    }
}
