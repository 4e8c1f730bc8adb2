//! What ought to be said of counters after a poll.
//!
//! A counter that was not read in this poll keeps what is known of it, and says nothing.

use super::count::{Stamp, Word};
use super::remembered::{DeviceCounts, PortCounts};
use super::tally::Saturated;
use super::target::Target;
use super::threshold::Watched;
use super::watch::Ruler;
use crate::debt::Subject;
use crate::memory::{Effect, Memory};
use crate::message;
use crate::name::{DeviceName, SlotKey};
use crate::note::{Level, Note};
use crate::reading::Severity;
use crate::saying::Saying;
use crate::sight::{Sight, Unread};

/// What the counters of a poll make.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) sayings: Vec<Saying>,
    pub(crate) notes: Vec<Note>,
}

/// Keeps what was read of counters and says what it makes an event.
pub(crate) fn judge(
    memory: &mut Memory,
    sight: &Sight,
    ruler: &Ruler<'_>,
    saturated: &mut Saturated,
) -> Judged {
    let recognised = memory.counters.recognise(sight, ruler);
    for debt in recognised.debts {
        memory.owe(debt.check, debt.subject, debt.message);
    }
    repeat_what_is_overshadowed(memory);
    let mut judged = Judged::default();
    let Some(seen) = &sight.counts else {
        return judged;
    };
    let owed = memory.blind || memory.counters.is_reborn;
    let now = Stamp {
        boot_ns: sight.clocks.boot_ns,
        wall_ns: sight.clocks.wall_ns,
    };
    for target in &seen.targets {
        let Some(key) = recognised.keys.get(target.device).cloned().flatten() else {
            continue;
        };
        let name = &sight.devices[target.device].name;
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
            note_saturation(watched, value, name, target, saturated, &mut judged.notes);
            let is_new = !port.counts.contains_key(&watched.id);
            let count = port.counts.entry(watched.id).or_default();
            count.owed |= is_new && owed;
            if has_moved && watched.id.row().place.is_net() && count.seed.is_some() {
                count.begin_anew(value, now);
            }
            count.see(value, now, watched.threshold, ruler.policy);
            if let Some(word) = count.word() {
                judged
                    .sayings
                    .push(say(watched, word, &key, name, target, now));
            }
        }
    }
    judged
}

/// Keeps which counters stand at the maximum of their field; each is told when it gets there.
fn note_saturation(
    watched: &Watched,
    value: u64,
    name: &DeviceName,
    target: &Target,
    saturated: &mut Saturated,
    notes: &mut Vec<Note>,
) {
    let is_saturated = value == watched.id.row().max;
    if !is_saturated && saturated.is_empty() {
        return;
    }
    let counter = (watched.id, name.clone(), target.number);
    if !is_saturated {
        saturated.remove(&counter);
    } else if saturated.insert(counter) {
        let note = Note::new(
            Level::Warn,
            "counter stands at the maximum of its field: growth cannot be seen until it is reset",
        );
        let note = note.with("counter", watched.id).with("device", name);
        notes.push(note.with("port", target.number).with("value", value));
    }
}

fn say(
    watched: &Watched,
    word: Word,
    key: &SlotKey,
    name: &DeviceName,
    target: &Target,
    now: Stamp,
) -> Saying {
    let (id, number) = (watched.id, target.number);
    let is_healthy = matches!(word, Word::Recovered | Word::Baseline);
    let severity = if id.row().is_fatal {
        Severity::Fatal
    } else {
        Severity::NonFatal
    };
    Saying {
        check: target.layer.degradation_check(),
        severity: (!is_healthy).then_some(severity),
        message: match word {
            Word::Breach(breach) => message::counter_breach(watched, name, number, &breach),
            Word::Again => message::counter_again(id, name, number),
            Word::Recovered => message::counter_recovered(id, name, number),
            Word::Baseline => message::counter_baseline(id, name, number),
        },
        subject: Subject::Counter(name.clone(), number, id),
        effect: if is_healthy {
            Effect::CounterHealthy(key.clone(), number, id)
        } else {
            Effect::CounterSaid(key.clone(), number, id, now.wall_ns)
        },
    }
}

/// A clearing under a name takes with it, at the connector, what stands of whoever bears the name
/// now: that is said again, after it.
fn repeat_what_is_overshadowed(memory: &mut Memory) {
    for debt in &memory.debts {
        let Subject::Counter(name, number, id) = &debt.subject else {
            continue;
        };
        let devices = memory.counters.devices.values_mut();
        for device in devices.filter(|device| device.name == *name) {
            let port = device.ports.get_mut(number);
            let port = port.filter(|port| port.layer.degradation_check() == debt.check);
            if let Some(count) = port.and_then(|port| port.counts.get_mut(id)) {
                count.overshadow();
            }
        }
    }
}
