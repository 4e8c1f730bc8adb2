//! What waits for a source that cannot be read, such as the boot id or the route table, where the documents let it wait
//! and the monitor takes the source for missing, or the other way round. Start at [`Translator::due_by_source`].

use observe::promises::{Kind, Named, Row, WhileUnreadable};
use platforms::PciAddress;
use scenarios::{About, FileRef, What, Window};
use terms::Severity;

use super::{Fate, GRACE, translator::Translator};
use crate::{
    demands::{Demand, polled},
    kinds::Kinds,
};

impl<'a> Translator<'_, 'a> {
    /// When a fault is due that a source decides about; `None` if none does.
    pub(super) fn due_by_source(&self, demand: &Demand<'a>, kinds: &Kinds) -> Option<Window> {
        let begins = kinds.begins?;
        let from = demand.window.from;
        // The documents wait for the boot id; a baseline in spite of it does not.
        if self.takes_for_missing(Named::Reboot)
            && self.is_ruled_by(&demand.node, begins, is_boot_id)
            && begins < from
        {
            let mut next = polled(self.recording, &demand.node).skip_while(|poll| *poll < begins);
            let due = next.next()?;
            return Some(Window {
                from: due,
                to: due + GRACE,
            });
        }
        // The documents know the role from before; without its NUMA node a device has none.
        let pci = match &demand.pattern.about {
            About::Port(slot) => slot.pci,
            _ => return None,
        };
        let of_role = |file: &FileRef| is_numa_node(file, pci);
        if self.takes_for_missing(Named::Metadata) && self.is_ruled_by(&demand.node, from, of_role)
        {
            let mut later = polled(self.recording, &demand.node).skip_while(|poll| *poll < from);
            let due = later.find(|tick| !self.is_ruled_by(&demand.node, *tick, of_role))?;
            return Some(Window {
                from: due,
                to: due + GRACE,
            });
        }
        None
    }

    /// When a demand is due of a monitor that compares no cards while a device cannot be read, if its time is such a poll;
    /// its fate if cards can never be compared after it, or the fault, or its end, does not stand any more then.
    pub(super) fn compared_later(
        &self,
        demand: &Demand<'a>,
        kinds: &Kinds,
    ) -> Option<Result<Window, Fate>> {
        let is_fault = demand.pattern.tone != Severity::Healthy;
        let of_peers = kinds.episode == Some(Named::FirstPoll) && is_fault;
        let pci = match &demand.pattern.about {
            About::Card(_, pci) => *pci,
            About::Port(slot) if of_peers && demand.pattern.counter.is_none() => slot.pci,
            _ => return None,
        };
        let row = self.rows.pair(&Named::Card.into(), None);
        let waits = Some(WhileUnreadable::Waits);
        if !matches!(row, Some((_, Row::Says(says))) if says.unreadable == waits) {
            return None;
        }
        let (node, from) = (&demand.node, demand.window.from);
        let is_blind = |tick| {
            let views = self.readings.views(node, tick);
            let mut all = views.into_iter().flat_map(|[views, _]| views.0.keys());
            all.any(|pci| self.readings.is_ruled(node, *pci, tick).is_some())
        };
        if !is_blind(from) {
            return None;
        }
        let due = self.first_complete(node, from);
        let stands = self.readings.views(node, due).is_some_and(|[views, _]| {
            let cards = views.cards();
            let mut of_it = cards.iter().filter(|card| card.pci.card() == pci.card());
            of_it.any(|card| views.falls_behind(card) == is_fault)
        });
        let window = Window {
            from: due,
            to: due + GRACE,
        };
        let is_due = stands && !is_blind(due);
        Some(is_due.then_some(window).ok_or(Fate::Free))
    }

    /// The poll in which the events of a first poll come, which the documents let wait for a source; `None` if they do
    /// not, or if this monitor waits too.
    pub(super) fn baseline_by_source(&self, demand: &Demand<'a>) -> Option<u64> {
        let is_baseline = matches!(
            demand.expectation.map(|of| &of.what),
            Some(What::Baseline { .. })
        );
        if !is_baseline || !self.takes_for_missing(Named::Metadata) {
            return None;
        }
        let first = polled(self.recording, &demand.node).next()?;
        let is_ruled = self.is_ruled_by(&demand.node, first, is_route_table);
        (first < demand.window.from && is_ruled).then_some(first)
    }

    /// Whether the route table cannot be read in a poll, so that the device with the default route is not known.
    pub(super) fn lacks_routes(&self, node: &platforms::NodeName, tick: u64) -> bool {
        self.takes_for_missing(Named::Metadata) && self.is_ruled_by(node, tick, is_route_table)
    }

    fn takes_for_missing(&self, episode: Named) -> bool {
        let pair = self.rows.pair(&Kind::Named(episode), None);
        let missing = Some(WhileUnreadable::Missing);
        matches!(pair, Some((_, Row::Says(says))) if says.unreadable == missing)
    }

    fn is_ruled_by(
        &self,
        node: &platforms::NodeName,
        tick: u64,
        meant: impl Fn(&FileRef) -> bool,
    ) -> bool {
        self.readings.is_file_ruled(node, tick, meant)
    }
}

fn is_boot_id(file: &FileRef) -> bool {
    matches!(file, FileRef::Path(path) if path == "proc/sys/kernel/random/boot_id")
}

fn is_route_table(file: &FileRef) -> bool {
    matches!(file, FileRef::Path(path) if path == "proc/net/route")
}

fn is_numa_node(file: &FileRef, pci: PciAddress) -> bool {
    matches!(file, FileRef::Device(_, of, below) if *of == pci && below.ends_with("numa_node"))
}
