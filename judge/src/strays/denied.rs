//! Healthy events about what is not healthy. Start at [`Strays::denies_what_stands`].

use director::NodeView;
use observe::{
    Subject,
    promises::{Kind, Named, Row},
};
use platforms::{LinkLayer, NodeName, PciAddress, PortNumber};
use terms::Severity;

use super::Strays;
use crate::{intervals::tone_of, reported_event::ReportedEvent};

impl Strays<'_> {
    /// Whether an event calls the very port or device healthy of which all readings of this poll and the one before show a
    /// fault that a row says is reported. Not if an episode lies back so little that the event may be left of it.
    pub(crate) fn denies_what_stands(&self, reported: &ReportedEvent<'_>) -> bool {
        let (tick, event) = (reported.tick, reported.event);
        if event.severity != Severity::Healthy
            || !event.codes.is_empty()
            || !self.are_changes_told()
            || self.episode(reported).is_some()
        {
            return false;
        }
        let port = match &event.subject {
            Subject::Port { port, .. } => match port.parse() {
                Ok(number) => Some(PortNumber(number)),
                Err(_) => return false,
            },
            Subject::Device(_) => None,
            Subject::Node | Subject::Card(_) | Subject::Other(_) => return false,
        };
        let stands = |pci: PciAddress, tick: u64| {
            let all = self.readings.views(reported.node, tick);
            all.is_some_and(|all| {
                let mut all = all.into_iter();
                all.all(|views| self.is_said(reported.node, (pci, port), views, tick))
            })
        };
        let functions = self.functions(reported);
        let mut ticks = tick.saturating_sub(1)..=tick;
        !functions.is_empty() && ticks.all(|tick| functions.iter().all(|pci| stands(*pci, tick)))
    }

    /// Whether a fault is read of a port, or of a device if there is no port, that a row says is reported.
    fn is_said(
        &self,
        node: &NodeName,
        (pci, port): (PciAddress, Option<PortNumber>),
        views: &NodeView,
        tick: u64,
    ) -> bool {
        let Some(function) = views.0.get(&pci) else {
            return false;
        };
        let has_row = |kind: Named, layer: Option<LinkLayer>| {
            let rows = self.rows.pair(&Kind::from(kind), layer);
            matches!(rows, Some((_, Row::Says(_))))
        };
        let Some(port) = port else {
            return !function.listed && has_row(Named::GoneDevice, None);
        };
        let layer = function.ports.get(&port).map(|view| view.layer);
        let reading = self.readings.port(node, (pci, port), views, tick);
        layer.is_some()
            && reading.blind.is_none()
            && tone_of(reading, layer).is_some()
            && reading
                .state
                .is_some_and(|kind| kind != Named::GoneDevice && has_row(kind, layer))
    }
}
