//! Devices that are added to a running node: a monitor sees them first in a poll that is neither its first one nor the first
//! one after something happened to the monitor. Start at [`is_added`].

use observe::{Recording, promises::Named};
use platforms::{NodeName, PciAddress};
use scenarios::Window;

use crate::{demands::polled, episodes::Episodes, readings::Readings};

/// Whether a function was added to a running node, and a monitor that reports it in these ticks still knows it as such: one
/// that was restarted since, or whose host was, begins anew.
pub(crate) fn is_added(
    (readings, episodes): (&Readings<'_>, &Episodes),
    recording: &Recording,
    (node, pci): (&NodeName, PciAddress),
    window: Window,
) -> bool {
    let Some(seen) = seen_first((readings, episodes), recording, (node, pci)) else {
        return false;
    };
    seen <= window.to && is_calm(episodes, node, seen.saturating_add(1), window.from)
}

/// The poll that lists a function first which was added; `None` if it was not, or if it is one of a first poll.
fn seen_first(
    (readings, episodes): (&Readings<'_>, &Episodes),
    recording: &Recording,
    (node, pci): (&NodeName, PciAddress),
) -> Option<u64> {
    if !episodes.adds(node, pci) {
        return None;
    }
    let is_listed = |tick: &u64| {
        let views = readings.views(node, *tick);
        let function = views.and_then(|[views, _]| views.0.get(&pci));
        function.is_some_and(|view| view.listed)
    };
    let seen = polled(recording, node).find(is_listed)?;
    let last = polled(recording, node)
        .take_while(|poll| *poll < seen)
        .last()?;
    let is_later = seen > readings.first_poll(recording, node);
    (is_later && is_calm(episodes, node, last + 1, seen)).then_some(seen)
}

/// Whether nothing happened to the monitor of a node in these ticks after which it begins anew.
fn is_calm(episodes: &Episodes, node: &NodeName, from: u64, to: u64) -> bool {
    let latest = episodes.latest_of_monitor(node, from, to);
    matches!(latest, None | Some(Named::Connector | Named::Rename))
}
