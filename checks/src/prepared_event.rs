//! An event before it is sent: its entity and text, and what changes in memory when it is accepted.

use terms::Check;

use crate::memory::Effect;
use crate::name::PortNumber;
use crate::pending_clear::Subject;
use crate::reading::Severity;

/// An event before it is sent.
#[derive(Debug, Clone)]
pub(crate) struct PreparedEvent {
    pub(crate) check: Check,
    /// `None` for a healthy event.
    pub(crate) severity: Option<Severity>,
    pub(crate) message: String,
    pub(crate) subject: Subject,
    pub(crate) effect: Effect,
}

impl PreparedEvent {
    /// Its position in the batch: clears of old names first, then device by device, each before its
    /// ports, then cards.
    pub(crate) fn order(&self) -> (u8, &str, Option<PortNumber>) {
        let class = if matches!(self.effect, Effect::Paid(_)) {
            0
        } else {
            2
        };
        match &self.subject {
            Subject::Device(name) => (class, name.as_str(), None),
            Subject::Port(name, number) | Subject::Counter(name, number, _) => {
                (class, name.as_str(), Some(*number))
            }
            Subject::Char(_, name, port) => (class, name.as_str(), *port),
            Subject::Card(card) => (class + 1, card.as_str(), None),
        }
    }
}
