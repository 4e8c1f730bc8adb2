//! Healthy events about what is not healthy. Start at [`Strays::denied`].

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
    /// The kind of what stands of the very port or device that an event calls healthy, by all readings of this poll and the
    /// one before, if a row says that it is reported; `None` if nothing does, or if an episode lies back so little that the
    /// event may be left of it.
    pub(crate) fn denied(&self, reported: &ReportedEvent<'_>) -> Option<Named> {
        let (node, tick, event) = (reported.node, reported.tick, reported.event);
        if event.severity != Severity::Healthy
            || !event.codes.is_empty()
            || !self.are_changes_told()
            || self.episode(reported).is_some()
        {
            return None;
        }
        let port = match &event.subject {
            Subject::Port { port, .. } => Some(PortNumber(port.parse().ok()?)),
            Subject::Device(_) => None,
            Subject::Node | Subject::Card(_) | Subject::Other(_) => return None,
        };
        let functions = self.functions(reported);
        let ticks = tick.saturating_sub(1)..=tick;
        let mut kinds = ticks.flat_map(|tick| {
            let all = functions.iter();
            all.map(move |pci| self.stands_throughout(node, (*pci, port), tick))
        });
        let first = kinds.next()??;
        kinds.all(|kind| kind.is_some()).then_some(first)
    }

    /// The kind of what stands of a port, or of a device if there is no port, from the start of a tick to its end.
    fn stands_throughout(
        &self,
        node: &NodeName,
        of: (PciAddress, Option<PortNumber>),
        tick: u64,
    ) -> Option<Named> {
        let all = self.readings.views(node, tick)?;
        let [start, end] = all.map(|views| self.reported_kind(node, of, views, tick));
        start.filter(|_| end.is_some())
    }

    /// The kind of what is read, if a row says that it is reported.
    fn reported_kind(
        &self,
        node: &NodeName,
        (pci, port): (PciAddress, Option<PortNumber>),
        views: &NodeView,
        tick: u64,
    ) -> Option<Named> {
        let function = views.0.get(&pci)?;
        let is_said = |kind: Named, layer: Option<LinkLayer>| {
            let rows = self.rows.pair(&Kind::from(kind), layer);
            matches!(rows, Some((_, Row::Says(_)))).then_some(kind)
        };
        let Some(port) = port else {
            let is_gone = !function.listed;
            return is_said(Named::GoneDevice, None).filter(|_| is_gone);
        };
        let layer = Some(function.ports.get(&port)?.layer);
        let reading = self.readings.port(node, (pci, port), views, tick);
        let kind = reading.state.filter(|kind| {
            let is_read = reading.blind.is_none() && *kind != Named::GoneDevice;
            is_read && tone_of(reading, layer).is_some()
        })?;
        is_said(kind, layer)
    }
}
