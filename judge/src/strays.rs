//! Events that nothing claims: which kinds of faults can be their cause, and whether anything is promised about
//! these. Start at [`Strays::excuse`].

mod denied;
mod ended;

use ended::alarms_about;

use std::collections::BTreeSet;

use observe::{
    Recording, Subject,
    promises::{ANY_COUNTER, Kind, Named, Style},
};
use platforms::{NodeName, PciAddress, PortNumber};
use scenarios::Window;
use terms::{Check, CheckKind, Severity};

use crate::{
    added,
    counters::{compared_over_a_restart, rate_of_another_clock},
    demands::polled,
    episodes::{Episodes, Happened, happened},
    fits::{JudgeContext, layer_of_check},
    kinds::Whom,
    owed::Rows,
    readings::Readings,
    reported_event::ReportedEvent,
};

/// How many polls an episode may lie back that is the cause of an event. Chosen: as many as a second apart are a minute, in
/// which a link that was disturbed is up again.
const EPISODE_POLLS: usize = 60;

/// What can be the cause of an event.
pub(crate) struct Strays<'a> {
    context: JudgeContext<'a>,
    recording: &'a Recording,
    readings: Readings<'a>,
    episodes: Episodes,
    rows: Rows<'a>,
}

/// Why an unclaimed event is no finding.
const NO_FIRST_POLL: &str = "no promise about `wire.first_poll`";

/// The same of the end of what was reported of a device that was added, whose healthy events are forbidden.
const ENDS_A_REPORT: &str = "the end of a fault of a device that was added";

/// How many ticks after its end a fault of the first poll can be the cause of an event. Chosen: as many as the expectations
/// of scenarios allow.
const AFTER_ITS_END: u64 = 2;

impl<'a> Strays<'a> {
    /// Those of a drill.
    pub(crate) fn of(context: &JudgeContext<'a>, recording: &'a Recording) -> Self {
        Self {
            context: *context,
            recording,
            readings: Readings::of(*context, recording.healing_from),
            episodes: Episodes::promised(context),
            rows: Rows::of(context),
        }
    }

    /// Why an event is not judged that came after others: a kind that can be its cause has no row. `None` if it is.
    pub(crate) fn excuse(
        &self,
        reported: &ReportedEvent<'_>,
        before: &[ReportedEvent<'_>],
    ) -> Option<String> {
        // What is healthy all the time does not recover, whatever is promised of its counters.
        if self.is_of_nobody(reported) || self.ends_nothing(reported, before) {
            return None;
        }
        if self.is_forbidden_of_added(reported) {
            let is_reported = alarms_about(reported, before).next().is_some();
            return is_reported.then(|| ENDS_A_REPORT.to_owned());
        }
        let counter = reported.event.codes.first();
        let unjudged = counter.and_then(|it| {
            rate_of_another_clock(&self.context, it)
                .or_else(|| compared_over_a_restart(&self.context, it, reported.tick))
        });
        if let Some(reason) = unjudged {
            return Some(reason.to_owned());
        }
        let changed = self.unpromised_name(reported);
        if let Some(reason) = changed.or_else(|| self.unpromised_move(reported)) {
            return Some(reason);
        }
        if self.denies_what_stands(reported) {
            return None;
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

    /// Why an event about a device that got another name is not judged; `None` if a row is about names, or the device
    /// kept its name.
    fn unpromised_name(&self, reported: &ReportedEvent<'_>) -> Option<String> {
        let reason = self.rows.unpromised_name()?;
        reported.event.subject.nic()?;
        let names = |pci: PciAddress| {
            let past = self.context.past(reported.node, reported.tick);
            past.filter_map(move |views| Some(&views.0.get(&pci)?.name))
        };
        let mut functions = self.functions(reported).into_iter();
        let is_renamed = functions.any(|pci| {
            let mut names = names(pci);
            let last = names.next();
            names.any(|name| Some(name) != last)
        });
        is_renamed.then_some(reason)
    }

    /// Why an event about a port, or its card, is not judged that showed another link layer before; `None` if a row is about
    /// such ports, or it did not.
    pub(crate) fn unpromised_move(&self, reported: &ReportedEvent<'_>) -> Option<String> {
        let reason = self.rows.unpromised(&Named::MovedLayer.into())?;
        let subject = &reported.event.subject;
        if matches!(subject, Subject::Node | Subject::Device(_)) {
            return None;
        }
        let changes = self.readings.layer_changes(reported.node).iter().copied();
        let mut changes = changes
            .filter(|(.., tick)| *tick <= reported.tick)
            .peekable();
        changes.peek()?;
        let functions = self.functions(reported);
        let is_its = |(pci, port, _): (PciAddress, PortNumber, u64)| {
            let number = subject.port();
            functions.contains(&pci) && number.is_none_or(|number| *number == port.to_string())
        };
        changes.any(is_its).then_some(reason)
    }

    /// Whether an event names what its node never had.
    pub(crate) fn is_of_nobody(&self, reported: &ReportedEvent<'_>) -> bool {
        self.context.is_of_nobody(reported.node, reported.event)
    }

    /// Whether an event is about nobody, and takes back nothing that was said of it.
    pub(crate) fn is_new_of_nobody(
        &self,
        reported: &ReportedEvent<'_>,
        before: &[ReportedEvent<'_>],
    ) -> bool {
        self.is_of_nobody(reported) && alarms_about(reported, before).next().is_none()
    }

    /// What a row forbids by which an event is wrong that came after others; `None` if no row says so.
    pub(crate) fn forbidden(
        &self,
        reported: &ReportedEvent<'_>,
        before: &[ReportedEvent<'_>],
    ) -> Option<&'static str> {
        if self.is_forbidden_of_added(reported) {
            return Some("nothing about what was added and is healthy, by the row of `hot_added`");
        }
        if self.denies_what_stands(reported) {
            return Some("nothing healthy about what is not, as every poll reads it then");
        }
        if reported.event.severity == Severity::Healthy || !self.rows.restates_less_after_reboots()
        {
            return None;
        }
        let reboots = self.episodes.on_node(reported.node);
        let reboots = reboots.filter(|(kind, _)| *kind == Named::Reboot);
        let ticks = reboots.map(|(_, from)| from);
        let booted = ticks.filter(|from| *from <= reported.tick).last()?;
        let mut alarms = alarms_about(reported, before);
        let is_older = alarms.any(|alarm| alarm.tick < booted);
        is_older.then_some("nothing that stood before the reboot, by the row of `reboot`")
    }

    /// Whether an event is a healthy one about what was added to a running node, of which the row says nothing is said.
    fn is_forbidden_of_added(&self, reported: &ReportedEvent<'_>) -> bool {
        let (node, tick) = (reported.node, reported.tick);
        let check = reported.event.check.as_deref();
        let layer = check.and_then(layer_of_check);
        if reported.event.severity != Severity::Healthy
            || reported.event.subject.nic().is_none()
            || !reported.event.codes.is_empty()
            || !self.rows.is_silent_about_added(layer)
        {
            return false;
        }
        let functions = self.functions(reported);
        let window = Window {
            from: tick,
            to: tick,
        };
        let found = (&self.readings, &self.episodes);
        let is_added =
            |pci: &PciAddress| added::is_added(found, self.recording, (node, *pci), window);
        !functions.is_empty() && functions.iter().all(is_added)
    }

    /// Whether any fault that could be the cause of an event stands or stood, so that it is not without a cause.
    pub(crate) fn has_cause(&self, reported: &ReportedEvent<'_>) -> bool {
        let is_caused = || !self.causes(reported).is_empty() || self.was_ever(reported);
        !self.is_of_nobody(reported) && is_caused()
    }

    /// Whether nothing happened to the subject of an event since a tick, as far as the truth knows: no counter of it was
    /// ever changed, and all polls after that tick read the same of it.
    pub(crate) fn is_as_it_was(&self, reported: &ReportedEvent<'_>, since: u64) -> bool {
        let is_unread = |kind: &Kind| match kind {
            Kind::Counter(_) => true,
            Kind::Named(named) => named.is_beside_states(),
        };
        let ticks = since.saturating_add(1)..=reported.tick;
        let read: BTreeSet<_> = ticks.map(|tick| self.faults(reported, tick)).collect();
        read.len() <= 1 && !self.happened_to(reported, |it| is_unread(&it.kind))
    }

    /// Whether something like this happened to the subject of an event, or to its whole node, until it came.
    fn happened_to(
        &self,
        reported: &ReportedEvent<'_>,
        is_meant: impl Fn(&Happened) -> bool,
    ) -> bool {
        let functions = self.functions(reported);
        let mut happened = happened(&self.context.truth.log, reported.node).into_iter();
        happened.any(|it| {
            let is_its = it.function.is_none_or(|pci| functions.contains(&pci));
            is_its && is_meant(&it) && it.tick <= reported.tick
        })
    }

    /// Whether the monitor promises to say what changes, and calls a connector or writes lines, which nobody asks for.
    pub(crate) fn are_changes_told(&self) -> bool {
        let promises = &self.context.descriptor.promises;
        let is_told = promises.style.is_some() || !promises.is_empty();
        let is_pushed = self.recording.protocol.facts().medium.is_pushed();
        is_told && is_pushed && promises.style.unwrap_or_default() == Style::Edge
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
        let past = self.past_kinds(reported).into_iter();
        let mut past = past.chain(self.of_first_poll(reported));
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
            .filter(|tick| !self.is_down(node, *tick))
            .flat_map(|tick| self.standing(reported, tick))
            .collect();
        if kinds.is_empty() && self.readings.is_any_ruled(node, reported.tick) {
            kinds.insert(Named::Unreadable.into());
        }
        kinds.extend(self.episode(reported).map(Kind::from));
        kinds.extend(self.of_first_poll(reported));
        // However long it lasted, what is left of an episode of the device may be reported at its end.
        let functions = self.functions(reported).into_iter();
        let causes = functions.filter_map(|pci| self.episodes.cause(node, pci, reported.tick));
        kinds.extend(causes.map(Kind::from));
        let ruled = self.readings.ruled_episode(node, reported.tick);
        kinds.extend(ruled.map(Kind::from));
        kinds
    }

    /// The first poll as a kind, if nothing is promised about it and what stood then can be the cause of an event.
    fn of_first_poll(&self, reported: &ReportedEvent<'_>) -> Option<Kind> {
        let kind = Kind::from(Named::FirstPoll);
        self.rows.unpromised(&kind)?;
        let first = self.readings.first_poll(self.recording, reported.node);
        let is_port = reported.event.subject.port().is_some();
        // Of a device or card only what is said of it as a whole: a port of it may be dark by design.
        let as_a_whole = [Named::GoneDevice, Named::Card].map(Kind::from);
        let stands_in = |tick: u64| {
            let standing = self.standing(reported, tick);
            let mut kinds = standing.iter();
            kinds.any(|kind| is_port || as_a_whole.contains(kind))
        };
        let mut ticks = first..=reported.tick;
        let end = ticks.find(|tick| !stands_in(*tick));
        let stands = match end {
            // It comes before the first poll, or nothing stood in that.
            Some(end) => end > first && reported.tick <= end.saturating_add(AFTER_ITS_END),
            None => first <= reported.tick,
        };
        stands.then_some(kind)
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
        // While the host boots nothing is polled, however long that takes.
        let polls = polled(self.recording, reported.node);
        let polls: Vec<u64> = polls.take_while(|tick| *tick <= reported.tick).collect();
        let back = polls.iter().rev().nth(EPISODE_POLLS);
        let from = back.copied().unwrap_or_default();
        let pcis = pcis.into_iter().map(Some).chain([None]);
        let mut found = pcis.map(|pci| {
            self.episodes
                .latest(reported.node, pci, from, reported.tick)
        });
        found.find_map(|episode| episode)
    }

    /// The kinds of what stands of the subject of an event in a tick.
    fn standing(&self, reported: &ReportedEvent<'_>, tick: u64) -> BTreeSet<Kind> {
        let faults = self.faults(reported, tick).into_iter();
        faults.map(|(_, kind)| kind).collect()
    }

    /// What stands of the subject of an event in a tick, of its ports, devices and cards.
    fn faults(&self, reported: &ReportedEvent<'_>, tick: u64) -> BTreeSet<(Whom, Kind)> {
        let Some(views) = self.readings.views(reported.node, tick) else {
            return BTreeSet::new();
        };
        // A card that falls behind is a fault of ports: to who speaks of the node they are what stands.
        let is_of_node = reported.event.subject == Subject::Node;
        let port = reported
            .event
            .subject
            .port()
            .and_then(|port| port.parse().ok());
        let mut faults = BTreeSet::new();
        for pci in self.functions(reported) {
            let ruled = self.readings.is_ruled(reported.node, pci, tick);
            faults.extend(ruled.map(|kind| (Whom::Device(pci), kind.into())));
            for views in views {
                let Some(function) = views.0.get(&pci) else {
                    continue;
                };
                if !function.listed {
                    faults.insert((Whom::Device(pci), Named::GoneDevice.into()));
                }
                let ports = function.ports.keys().copied();
                let meant = ports.chain(port.map(PortNumber));
                for port in meant.filter(|of| port.is_none_or(|port| of.0 == port)) {
                    let reading = self.readings.port(reported.node, (pci, port), views, tick);
                    let kinds = reading.state.into_iter().chain(reading.blind);
                    faults.extend(kinds.map(|kind| (Whom::Port(pci, port), kind.into())));
                }
                let cards = views.cards();
                let mut of_it = cards.iter().filter(|card| card.pci.card() == pci.card());
                if of_it.any(|card| views.falls_behind(card)) && port.is_none() && !is_of_node {
                    faults.insert((Whom::Card(pci.card()), Named::Card.into()));
                }
            }
        }
        faults
    }

    /// The functions that the subject of an event can mean: the node as a whole means all that are monitored.
    fn functions(&self, reported: &ReportedEvent<'_>) -> BTreeSet<PciAddress> {
        let (node, tick) = (reported.node, reported.tick);
        let name = match &reported.event.subject {
            Subject::Node | Subject::Other(_) => None,
            subject => subject.nic(),
        };
        let past = self.context.past(node, tick);
        let of_name = past.map(|views| {
            let meant = views.0.iter().filter(|(pci, view)| match name {
                Some(name) => view.name.as_str() == name || pci.card().is_called(name),
                None => view.monitored,
            });
            meant.map(|(pci, _)| *pci).collect::<BTreeSet<_>>()
        });
        let mut of_name = of_name.filter(|found| !found.is_empty());
        of_name.next().unwrap_or_default()
    }

    /// The kinds of all that stood of the subject of an event until it came.
    fn past_kinds(&self, reported: &ReportedEvent<'_>) -> BTreeSet<Kind> {
        let ticks = (0..=reported.tick).filter(|tick| !self.is_down(reported.node, *tick));
        ticks
            .flat_map(|tick| self.standing(reported, tick))
            .collect()
    }

    /// Whether any fault of the subject of an event was there before it came.
    fn was_ever(&self, reported: &ReportedEvent<'_>) -> bool {
        let mut ticks = (0..reported.tick).filter(|tick| !self.is_down(reported.node, *tick));
        ticks.any(|tick| !self.standing(reported, tick).is_empty())
    }

    /// Whether the host of a node is down in a tick because it reboots. Nothing is listed then, and nobody reads that.
    fn is_down(&self, node: &NodeName, tick: u64) -> bool {
        let log = &self.context.truth.log;
        let mut reboots = log.acts.iter().rev().filter(|act| act.reboots());
        let goes = reboots.find(|act| act.on.node() == Some(node) && act.tick <= tick);
        goes.is_some_and(|act| {
            let mut starts = log.starts.iter().filter(|start| start.node == *node);
            !starts.any(|start| (act.tick + 1..=tick).contains(&start.tick))
        })
    }
}
