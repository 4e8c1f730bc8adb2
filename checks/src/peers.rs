//! Evidence of peers: the comparison of the cards of one role and layer (`lsd 4.3`).
//!
//! A card whose functions have different roles is compared in each of them, with its functions of
//! that role. A function that is not in the topology has a guessed role, and is compared in that of
//! its card's other functions. A group of one card, a tie for the mode, and a mode of zero give no evidence. A card
//! with a management function, or with a device that could not be read, is neither judged nor
//! counted.

pub(crate) mod mode;

use std::collections::{BTreeMap, BTreeSet};

use terms::LinkLayer;

use crate::absence::Measure;
use crate::memory::{Judged, Memory, Slot};
use crate::name::{AssignedRole, Card, SlotKey};
use crate::recognise::{Surroundings, ports_of};
use crate::sample::{DeviceSample, PortSample, Presence, Samples};

/// The functions of one role and layer of a card.
pub(crate) type CardKey = (LinkLayer, Card, AssignedRole);

/// A card in one role and layer in the present poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CardView {
    /// The role that defines its group.
    group: AssignedRole,
    /// Healthy ports.
    pub(crate) active: usize,
    /// At least one of its ports is still within the patience before its first judgement.
    pub(crate) is_waiting: bool,
    /// Ports that were healthy in this boot and are not any more.
    pub(crate) lost: usize,
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

/// A card in one of its roles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InRole {
    pub(crate) role: AssignedRole,
    pub(crate) standing: Standing,
    /// At least one of its ports is still within the patience before its first judgement.
    pub(crate) is_waiting: bool,
    lost: usize,
}

impl InRole {
    /// Whether it is below its peers only because of ports that were healthy in this boot.
    pub(crate) fn fell_later(&self) -> bool {
        matches!(self.standing, Standing::Below { active, mode } if active + self.lost >= mode)
    }
}

/// All cards of the present poll.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peers {
    cards: BTreeMap<CardKey, CardView>,
    modes: BTreeMap<(LinkLayer, AssignedRole), Option<usize>>,
    /// The roles in which devices are compared whose own role is a guess.
    in_role: BTreeMap<(SlotKey, LinkLayer), AssignedRole>,
}

impl Peers {
    pub(crate) fn of(
        memory: &Memory,
        samples: &Samples,
        around: &Surroundings,
        measure: &Measure<'_>,
    ) -> Peers {
        let policy = measure.policy;
        let in_role = roles_of_siblings(memory, samples, around);
        let mut cards: BTreeMap<CardKey, CardView> = BTreeMap::new();
        for (key, slot) in &memory.slots {
            let here = samples.of(key);
            let is_held = here.presence == Presence::Absent && !slot.stale && slot.gone.is_empty();
            if slot.role == AssignedRole::Pinned || !(here.is_present() || is_held) {
                continue;
            }
            let card = slot.card();
            for layer in slot.layers() {
                let role = in_role
                    .get(&(key.clone(), layer))
                    .copied()
                    .unwrap_or(slot.role);
                let view = cards
                    .entry((layer, card.clone(), role))
                    .or_insert_with(|| CardView {
                        group: policy.peer_group(role),
                        active: 0,
                        is_waiting: false,
                        lost: 0,
                        is_ready: !around.unready.contains(&card),
                        is_exempt: policy.is_exempt(&around.exempt, &card),
                    });
                view.is_ready &= here.presence == Presence::Present { readable: true };
                add_ports(view, slot, here, layer, measure);
            }
        }
        let unready = cards.iter().filter(|(_, view)| !view.is_ready);
        let unready: BTreeSet<(LinkLayer, Card)> = unready
            .map(|((layer, card, _), _)| (*layer, card.clone()))
            .collect();
        for ((layer, card, _), view) in &mut cards {
            view.is_ready &= !unready.contains(&(*layer, card.clone()));
        }
        let mut counts: BTreeMap<(LinkLayer, AssignedRole), Vec<usize>> = BTreeMap::new();
        for ((layer, ..), view) in &cards {
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
        Peers {
            cards,
            modes,
            in_role,
        }
    }

    /// The result for the card of a device, in the role in which the device is compared; `None` if no
    /// such device is listed.
    pub(crate) fn standing(
        &self,
        key: &SlotKey,
        slot: &Slot,
        layer: LinkLayer,
    ) -> Option<Standing> {
        let role = self.in_role.get(&(key.clone(), layer)).copied();
        let view = self
            .cards
            .get(&(layer, slot.card(), role.unwrap_or(slot.role)))?;
        Some(self.of_view(layer, view))
    }

    /// The results for a card in each of its roles.
    pub(crate) fn of_card(&self, (layer, card): &(LinkLayer, Card)) -> Vec<InRole> {
        let views = self
            .cards
            .iter()
            .filter(|((of, name, _), _)| of == layer && name == card);
        let in_role = |((.., role), view): (&CardKey, &CardView)| InRole {
            role: *role,
            standing: self.of_view(*layer, view),
            is_waiting: view.is_waiting,
            lost: view.lost,
        };
        views.map(in_role).collect()
    }

    fn of_view(&self, layer: LinkLayer, view: &CardView) -> Standing {
        let active = view.active;
        if view.is_exempt {
            Standing::Exempt
        } else if !view.is_ready {
            Standing::Unready
        } else {
            let group = (layer, view.group);
            match self.modes.get(&group).copied().flatten() {
                Some(mode) if active < mode => Standing::Below { active, mode },
                Some(mode) => Standing::Meets { active, mode },
                None => Standing::NoEvidence { active },
            }
        }
    }
}

/// The roles in which devices are compared that are not in the topology: those of their cards' first
/// functions that are. A missing row says nothing of a function, and its card is one piece.
fn roles_of_siblings(
    memory: &Memory,
    samples: &Samples,
    around: &Surroundings,
) -> BTreeMap<(SlotKey, LinkLayer), AssignedRole> {
    let mut roles = BTreeMap::new();
    if around.guessed.is_empty() {
        return roles;
    }
    for (key, slot) in around
        .guessed
        .iter()
        .filter_map(|key| Some((key, memory.slots.get(key)?)))
    {
        let card = slot.card();
        let siblings = memory.slots.iter().filter(|(other, sibling)| {
            !around.guessed.contains(other)
                && samples.of(other).is_present()
                && sibling.is_of(&card)
        });
        for (_, sibling) in siblings {
            for layer in sibling.layers() {
                roles.entry((key.clone(), layer)).or_insert(sibling.role);
            }
        }
    }
    roles
}

fn add_ports(
    view: &mut CardView,
    slot: &Slot,
    here: &DeviceSample,
    layer: LinkLayer,
    measure: &Measure<'_>,
) {
    for (number, port) in ports_of(slot, layer) {
        let is_healthy = here.is_healthy(number, port);
        view.active += usize::from(is_healthy);
        view.lost += usize::from(!is_healthy && port.was_healthy);
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
