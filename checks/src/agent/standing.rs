//! Queries: which faults are reported and not cleared, and which devices are monitored. Start with
//! [`Agent::standing`].

use super::Agent;
use crate::pending_clear::Subject;
use crate::reading::Severity;
use crate::standing::Standing;

impl Agent {
    /// Every fault that was accepted and whose clear was not, in order.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        let mut standing = Vec::new();
        for slot in self.memory.slots.values() {
            standing.extend(slot.gone.keys().map(|layer| Standing {
                check: layer.state_check(),
                entity: slot.name.to_string(),
                fatal: true,
            }));
            for (number, port) in &slot.ports {
                standing.extend(port.standing().map(|severity| Standing {
                    check: port.layer.state_check(),
                    entity: format!("{}/{number}", slot.name),
                    fatal: severity == Severity::Fatal,
                }));
            }
        }
        for ((layer, card), kept) in &self.memory.cards {
            standing.extend(kept.fault.iter().map(|_| Standing {
                check: layer.state_check(),
                entity: card.to_string(),
                fatal: true,
            }));
        }
        standing.extend(
            self.memory
                .pending_clears
                .iter()
                .map(|pending_clear| Standing {
                    check: pending_clear.check,
                    entity: match &pending_clear.subject {
                        Subject::Device(name) => name.to_string(),
                        Subject::Port(name, number) => format!("{name}/{number}"),
                        Subject::Card(card) => card.to_string(),
                        Subject::Counter(name, number, id) => format!("{name}/{number}/{id}"),
                        Subject::Char(kind, name, _) => format!("{name}/{kind}"),
                    },
                    fatal: true,
                }),
        );
        for device in self.memory.counters.devices.values() {
            standing.extend(device.faults().filter_map(|(layer, subject)| {
                let Subject::Counter(name, number, id) = subject else {
                    return None;
                };
                Some(Standing {
                    check: layer.degradation_check(),
                    entity: format!("{name}/{number}/{id}"),
                    fatal: id.row().is_fatal,
                })
            }));
        }
        standing.extend(self.memory.optional.standing());
        standing.sort();
        standing
    }

    /// The names of the devices that are monitored now, in order.
    #[must_use]
    pub fn monitored(&self) -> Vec<String> {
        let slots = self.memory.slots.iter();
        let mut names: Vec<String> = slots
            .filter(|(key, _)| self.samples.of(key).is_present())
            .map(|(_, slot)| slot.name.to_string())
            .collect();
        names.sort();
        names
    }
}
