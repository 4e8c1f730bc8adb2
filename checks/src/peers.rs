//! Evidence of peers: the comparison of the cards of one role and layer (`lsd 4.3`).
//!
//! A group of one card, a tie for the mode, and a mode of zero give no evidence. A card with a
//! management function, or with a device that could not be read, is neither judged nor counted.

pub(crate) mod mode;

use std::collections::BTreeMap;

use crate::absence::Measure;
use crate::memory::{Judged, Memory, Slot};
use crate::name::{Card, LinkLayer, Role};
use crate::recognise::{Surroundings, ports_of};
use crate::sample::{DeviceSample, PortSample, Presence, Samples};

/// A card of one layer in the present poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardView {
    pub(crate) role: Role,
    /// The role that defines its group.
    group: Role,
    /// Healthy ports.
    pub(crate) active: usize,
    /// At least one of its ports is still within the patience before its first judgement.
    pub(crate) is_waiting: bool,
    /// Every port of it could be read.
    pub(crate) is_ready: bool,
    pub(crate) is_exempt: bool,
}

/// The result of comparing a card with its peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Below { active: usize, mode: usize },
    Meets { active: usize, mode: usize },
    NoEvidence { active: usize },
    Exempt,
    Unready,
}

/// All cards of the present poll.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peers {
    pub(crate) cards: BTreeMap<(LinkLayer, Card), CardView>,
    modes: BTreeMap<(LinkLayer, Role), Option<usize>>,
}

impl Peers {
    pub(crate) fn of(
        memory: &Memory,
        samples: &Samples,
        around: &Surroundings,
        measure: &Measure<'_>,
    ) -> Peers {
        let policy = measure.policy;
        let mut cards: BTreeMap<(LinkLayer, Card), CardView> = BTreeMap::new();
        for (key, slot) in &memory.slots {
            let here = samples.of(key);
            let is_held = here.presence == Presence::Absent && !slot.stale && slot.gone.is_empty();
            if slot.role == Role::Pinned || !(here.is_present() || is_held) {
                continue;
            }
            let card = slot.card();
            for layer in slot.layers() {
                let view = cards
                    .entry((layer, card.clone()))
                    .or_insert_with(|| CardView {
                        role: slot.role,
                        group: policy.peer_group(slot.role),
                        active: 0,
                        is_waiting: false,
                        is_ready: !around.unready.contains(&card),
                        is_exempt: policy.is_exempt(&around.exempt, &card),
                    });
                view.is_ready &= here.presence == Presence::Present { readable: true };
                add_ports(view, slot, here, layer, measure);
            }
        }
        let mut counts: BTreeMap<(LinkLayer, Role), Vec<usize>> = BTreeMap::new();
        for ((layer, _), view) in &cards {
            if view.is_ready && !view.is_exempt {
                counts
                    .entry((*layer, view.group))
                    .or_default()
                    .push(view.active);
            }
        }
        let modes = counts
            .into_iter()
            .map(|(group, counts)| (group, policy.expected_ports(&counts)))
            .collect();
        Peers { cards, modes }
    }

    /// The result for a card; `None` if none of its devices is listed.
    pub(crate) fn standing(&self, key: &(LinkLayer, Card)) -> Option<Standing> {
        let view = self.cards.get(key)?;
        let active = view.active;
        Some(if view.is_exempt {
            Standing::Exempt
        } else if !view.is_ready {
            Standing::Unready
        } else {
            let group = (key.0, view.group);
            match self.modes.get(&group).copied().flatten() {
                Some(mode) if active < mode => Standing::Below { active, mode },
                Some(mode) => Standing::Meets { active, mode },
                None => Standing::NoEvidence { active },
            }
        })
    }
}

fn add_ports(
    view: &mut CardView,
    slot: &Slot,
    here: &DeviceSample,
    layer: LinkLayer,
    measure: &Measure<'_>,
) {
    for (number, port) in ports_of(slot, layer) {
        view.active += usize::from(here.is_healthy(number, port));
        view.is_ready &= match here.port(number) {
            PortSample::Read { .. } | PortSample::Missing => true,
            PortSample::Held | PortSample::Unreadable(_) => false,
        };
        let may_train = port
            .reading
            .as_ref()
            .is_some_and(crate::reading::Reading::may_be_training);
        let since_ns = port.unhealthy_since_ns.unwrap_or(measure.now_ns);
        view.is_waiting |= here.is_unhealthy(number, port)
            && port.judged == Judged::Pending
            && may_train
            && measure.now_ns.saturating_sub(since_ns) <= measure.patience_ns;
    }
}
