//! Events that nothing claims: which kinds of faults can be their cause, and whether anything is promised about
//! these. Start at [`Strays::excuse`].

use std::collections::BTreeSet;

use observe::{
    Severity, Subject,
    promises::{ANY_COUNTER, Kind, Named},
};
use platforms::{PciAddress, PortNumber};
use proto::{Check, CheckKind};

use crate::{
    counters::{compared_over_a_restart, rate_of_another_clock},
    episodes::Episodes,
    fits::JudgeContext,
    owed::Rows,
    readings::Readings,
    reported_event::ReportedEvent,
};

/// How many ticks an episode may lie back that is the cause of an event. Chosen: a minute, in which a link that was
/// disturbed is up again.
const EPISODE_TICKS: u64 = 60;

/// What can be the cause of an event.
pub(crate) struct Strays<'a> {
    context: JudgeContext<'a>,
    readings: Readings<'a>,
    episodes: Episodes,
    rows: Rows<'a>,
}

/// Why an unclaimed event is no finding.
const NO_FIRST_POLL: &str = "no promise about `wire.first_poll`";

impl<'a> Strays<'a> {
    /// Those of a drill.
    pub(crate) fn of(context: &JudgeContext<'a>, healing_from: Option<u64>) -> Self {
        Self {
            context: *context,
            readings: Readings::of(*context, healing_from),
            episodes: Episodes::promised(context.story, &context.descriptor.promises),
            rows: Rows::of(context),
        }
    }

    /// Why an event is not judged: a kind that can be its cause has no row. `None` if it is.
    pub(crate) fn excuse(&self, reported: &ReportedEvent<'_>) -> Option<String> {
        let counter = reported.event.codes.first();
        let unjudged = counter.and_then(|it| {
            rate_of_another_clock(&self.context, it)
                .or_else(|| compared_over_a_restart(&self.context, it, reported.tick))
        });
        if let Some(reason) = unjudged {
            return Some(reason.to_owned());
        }
        if reported.event.severity == Severity::Healthy {
            return self.excuse_of_healthy(reported);
        }
        let causes = self.causes(reported);
        if causes.is_empty() && !self.was_ever(reported) {
            return None;
        }
        let mut causes = causes.into_iter();
        let unpromised = causes.find_map(|kind| self.rows.unpromised(&kind));
        unpromised.or_else(|| self.rows.are_none().then(|| "no promises".to_owned()))
    }

    /// Whether any fault that could be the cause of an event stands or stood, so that it is not without a cause.
    pub(crate) fn has_cause(&self, reported: &ReportedEvent<'_>) -> bool {
        !self.causes(reported).is_empty() || self.was_ever(reported)
    }

    /// Whether a fault of the subject of an event stands in a tick.
    pub(crate) fn stands(&self, reported: &ReportedEvent<'_>, tick: u64) -> bool {
        !self.standing(reported, tick).is_empty()
    }

    fn excuse_of_healthy(&self, reported: &ReportedEvent<'_>) -> Option<String> {
        if self.rows.wire().first_poll.is_none() {
            return Some(NO_FIRST_POLL.to_owned());
        }
        if let Some(kind) = self.by_check(reported) {
            return self.rows.unpromised(&kind);
        }
        let mut past = self.past_kinds(reported).into_iter();
        let episode = self.episode(reported).map(Kind::from);
        past.find_map(|kind| self.rows.unpromised(&kind))
            .or_else(|| self.rows.unpromised(&episode?))
    }

    /// The kinds that can be the cause of an event.
    fn causes(&self, reported: &ReportedEvent<'_>) -> BTreeSet<Kind> {
        if let Some(kind) = self.by_check(reported) {
            return [kind].into();
        }
        let node = reported.node;
        let first = reported.tick.saturating_sub(1);
        let mut kinds: BTreeSet<Kind> = (first..=reported.tick)
            .flat_map(|tick| self.standing(reported, tick))
            .collect();
        if kinds.is_empty() && self.readings.is_any_ruled(node, reported.tick) {
            kinds.insert(Named::Unreadable.into());
        }
        kinds.extend(self.episode(reported).map(Kind::from));
        // However long it lasted, what is left of an episode of the device may be reported at its end.
        let functions = self.functions(reported).into_iter();
        let causes = functions.filter_map(|pci| self.episodes.cause(node, pci, reported.tick));
        kinds.extend(causes.map(Kind::from));
        let ruled = self.readings.ruled_episode(node, reported.tick);
        kinds.extend(ruled.map(Kind::from));
        kinds
    }

    /// The kind of an event whose check has one only.
    fn by_check(&self, reported: &ReportedEvent<'_>) -> Option<Kind> {
        let check = reported.event.check.as_deref().and_then(Check::parse)?;
        match check.kind() {
            CheckKind::Degradation => {
                let code = reported.event.codes.first();
                let name = code.map_or(ANY_COUNTER, String::as_str);
                Some(Kind::Counter(name.to_owned()))
            }
            CheckKind::CharDevice => Some(Named::CharDevice.into()),
            CheckKind::State => None,
        }
    }

    fn episode(&self, reported: &ReportedEvent<'_>) -> Option<Named> {
        let pcis = self.functions(reported);
        let from = reported.tick.saturating_sub(EPISODE_TICKS);
        let pcis = pcis.into_iter().map(Some).chain([None]);
        let mut found = pcis.map(|pci| {
            self.episodes
                .latest(reported.node, pci, from, reported.tick)
        });
        found.find_map(|episode| episode)
    }

    /// The kinds of what stands of the subject of an event in a tick.
    fn standing(&self, reported: &ReportedEvent<'_>, tick: u64) -> BTreeSet<Kind> {
        let Some(views) = self.readings.views(reported.node, tick) else {
            return BTreeSet::new();
        };
        let port = reported
            .event
            .subject
            .port()
            .and_then(|port| port.parse().ok());
        let mut kinds = BTreeSet::new();
        for pci in self.functions(reported) {
            kinds.extend(
                self.readings
                    .is_ruled(reported.node, pci, tick)
                    .map(Kind::from),
            );
            for views in views {
                let Some(function) = views.0.get(&pci) else {
                    continue;
                };
                if !function.listed {
                    kinds.insert(Named::GoneDevice.into());
                }
                let ports = function.ports.keys().copied();
                let meant = ports.chain(port.map(PortNumber));
                for port in meant.filter(|of| port.is_none_or(|port| of.0 == port)) {
                    let reading = self.readings.port(reported.node, (pci, port), views, tick);
                    kinds.extend(reading.state.map(Kind::from));
                    kinds.extend(reading.blind.map(Kind::from));
                }
                let cards = views.cards();
                let mut of_it = cards.iter().filter(|card| card.pci.card() == pci.card());
                if of_it.any(|card| views.falls_behind(card)) && port.is_none() {
                    kinds.insert(Named::Card.into());
                }
            }
        }
        kinds
    }

    /// The functions that the subject of an event can mean.
    fn functions(&self, reported: &ReportedEvent<'_>) -> BTreeSet<PciAddress> {
        let (node, tick) = (reported.node, reported.tick);
        let name = match &reported.event.subject {
            Subject::Node | Subject::Other(_) => None,
            subject => subject.nic(),
        };
        let past = self.context.past(node, tick);
        let of_name = past.map(|views| {
            let meant = views.0.iter().filter(|(pci, view)| {
                name.is_none_or(|name| view.name.as_str() == name || pci.card().is_called(name))
            });
            meant.map(|(pci, _)| *pci).collect::<BTreeSet<_>>()
        });
        let mut of_name = of_name.filter(|found| !found.is_empty());
        of_name.next().unwrap_or_default()
    }

    /// The kinds of all that stood of the subject of an event until it came.
    fn past_kinds(&self, reported: &ReportedEvent<'_>) -> BTreeSet<Kind> {
        let ticks = 0..=reported.tick;
        ticks
            .flat_map(|tick| self.standing(reported, tick))
            .collect()
    }

    /// Whether any fault of the subject of an event was there before it came.
    fn was_ever(&self, reported: &ReportedEvent<'_>) -> bool {
        (0..reported.tick).any(|tick| !self.standing(reported, tick).is_empty())
    }
}
