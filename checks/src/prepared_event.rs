//! One event to be: what is said of whom, and what its acceptance changes.

use proto::Check;

use crate::memory::Effect;
use crate::name::PortNumber;
use crate::pending_clear::Subject;
use crate::reading::Severity;

/// One event to be, and what its acceptance changes.
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
    /// Where it stands in its batch: clearings of old names first, then device by device, each
    /// before its ports, then cards.
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
