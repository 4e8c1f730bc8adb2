//! The ports of a device as they were read: which have a cable at rest.
//!
//! A platform is a machine at rest, and a node may be captured amid an incident. Only a port that shows
//! what its driver shows without a cable is taken for one without; every other one has a cable, and
//! what is unusual about it is told.

use super::snapshot::Snapshot;
use crate::{Driver, LinkCondition, PhysState, PortState};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadPort {
    /// Its number, from 1.
    pub(super) number: u8,
    /// Whether it has a cable at rest.
    pub(super) cable: Cable,
    /// The text of `rate`; `None` if it could not be read.
    pub(super) rate: Option<String>,
    /// The text of `link_layer`; `None` if it could not be read.
    pub(super) link_layer: Option<String>,
    state: Option<String>,
    phys_state: Option<String>,
}

/// Whether a port has a cable at rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cable {
    /// It is ACTIVE.
    In,
    /// It is DOWN with the physical state that its driver shows without a cable.
    Out,
    /// Neither: taken for a port with a cable. The text is what was read.
    Assumed(String),
}

impl ReadPort {
    /// The ports of a device, in the order of their numbers.
    pub(super) fn all(snapshot: &Snapshot, device: &str) -> Vec<Self> {
        let folder = format!("infiniband/{device}/ports");
        let numbers = snapshot.names(&folder).into_iter();
        let mut numbers: Vec<u8> = numbers.filter_map(|it| it.parse().ok()).collect();
        numbers.sort_unstable();
        let port = |number: u8| {
            let text = |key: &str| {
                let text = snapshot.text(&format!("{folder}/{number}/{key}"));
                text.filter(|it| !it.is_empty()).map(str::to_owned)
            };
            Self {
                number,
                cable: Cable::In,
                rate: text("rate"),
                link_layer: text("link_layer"),
                state: text("state"),
                phys_state: text("phys_state"),
            }
        };
        numbers.into_iter().map(port).collect()
    }

    /// Decides whether it has a cable, by what its driver shows.
    pub(super) fn judge(&mut self, driver: &Driver) {
        let without = driver.view(LinkCondition::Polling);
        let state = self.state.as_deref();
        let phys_state = self.phys_state.as_deref();
        let is = |text: Option<&str>, wanted: &str| text.is_none_or(|it| it == wanted);
        let is_active = state == Some(&PortState::ACTIVE.to_string())
            && is(phys_state, &PhysState::LINK_UP.to_string());
        let is_out = state == Some(&without.state.to_string())
            && phys_state == Some(&without.phys_state.to_string());
        self.cable = if is_active {
            Cable::In
        } else if is_out {
            Cable::Out
        } else {
            let text = |key: &str, text: Option<&str>| match text {
                Some(text) => format!("{key} {text}"),
                None => format!("{key} unread"),
            };
            Cable::Assumed(format!(
                "{}, {}",
                text("state", state),
                text("phys_state", phys_state)
            ))
        };
    }

    /// Whether its rate is that of a link: a port that is DOWN shows another one.
    pub(super) fn has_a_links_rate(&self) -> bool {
        let down = PortState::DOWN.to_string();
        !matches!(&self.cable, Cable::Assumed(_)) || self.state.as_deref() != Some(&down)
    }
}
