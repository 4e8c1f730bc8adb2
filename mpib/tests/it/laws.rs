//! The laws of arithmetic, classes, hints and slots, over arbitrary values.

use std::collections::{BTreeMap, BTreeSet};

use mpib::{
    Agent, Bytes, FlowId, HintMemory, HintReader, HintSlot, HintWriter, IslandPrefix, MpibProfile,
    PathClass, Rail, RailMask, Split, SupBandwidth, Unregistered,
};
use proptest::prelude::*;

use crate::worlds::{share, size};

fn class(local: u32, remote: u32, prefix: i32) -> PathClass {
    IslandPrefix::new(prefix).class(local, remote)
}

/// Three addresses that differ in few bits, so that prefixes matter.
fn addresses() -> impl Strategy<Value = [u32; 3]> {
    let near = (0_u32..32, any::<bool>()).prop_map(|(bit, is_set)| u32::from(is_set) << bit);
    (any::<u32>(), near.clone(), near).prop_map(|(first, a, b)| [first, first ^ a, first ^ b])
}

fn split(profile: MpibProfile, class: PathClass, share: u32, size: u64) -> Split {
    Split::new(profile, class, SupBandwidth::new(share), Bytes::new(size))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pm1_a_class_is_an_equivalence([a, b, c] in addresses(), prefix in -5_i32..40) {
        let is_same = |x, y| class(x, y, prefix) == PathClass::Intra;
        prop_assert!(is_same(a, a));
        prop_assert_eq!(is_same(a, b), is_same(b, a));
        prop_assert!(!(is_same(a, b) && is_same(b, c)) || is_same(a, c));
    }

    #[test]
    fn pm2_a_longer_prefix_never_joins([a, b, _] in addresses(), one in 1_i32..=32, other in 1_i32..=32) {
        let (shorter, longer) = (one.min(other), one.max(other));
        if class(a, b, shorter) == PathClass::Inter {
            prop_assert_eq!(class(a, b, longer), PathClass::Inter);
        }
    }

    #[test]
    fn pm3_a_length_outside_its_range_is_24([a, b, _] in addresses(), prefix in prop_oneof![any::<i32>(), -3_i32..40]) {
        if !(1..=32).contains(&prefix) {
            prop_assert_eq!(class(a, b, prefix), class(a, b, 24));
        } else {
            let kept = (a ^ b).checked_shr(32 - prefix.unsigned_abs()).unwrap_or(0);
            prop_assert_eq!(class(a, b, prefix) == PathClass::Intra, kept == 0);
        }
    }

    #[test]
    fn pm4_the_parts_of_a_message_add_up(share in share(), size in prop_oneof![size(), any::<u64>()], is_intra in any::<bool>()) {
        let class = if is_intra { PathClass::Intra } else { PathClass::Inter };
        for profile in [MpibProfile::Spec, MpibProfile::G1, MpibProfile::G2] {
            let split = split(profile, class, share, size);
            let (sout, sup) = (split.on(Rail::Sout).get(), split.on(Rail::Sup).get());
            prop_assert_eq!(u128::from(sout) + u128::from(sup), u128::from(size));
            let mask = split.mask();
            if size == 0 {
                prop_assert_eq!(mask, RailMask::SOUT);
            } else {
                prop_assert_eq!(mask.has(Rail::Sout), sout > 0);
                prop_assert_eq!(mask.has(Rail::Sup), sup > 0);
            }
            match profile {
                MpibProfile::Spec => prop_assert!(sout == 0 || sup == 0, "one rail, all bytes"),
                MpibProfile::G1 | MpibProfile::G2 => prop_assert_eq!(sup % 128, 0),
            }
        }
    }

    #[test]
    fn pm6_more_hint_is_never_less_sup_up_to_2_to_the_24(one in 0_u32..=1 << 24, other in 0_u32..=1 << 24, size in size()) {
        let sup = |share| split(MpibProfile::G1, PathClass::Intra, share, size).on(Rail::Sup);
        prop_assert!(sup(one.min(other)) <= sup(one.max(other)));
    }

    /// `turns` states who acts next: the agent, which writes one value after another and may stop
    /// half way, or the plugin.
    #[test]
    fn pm8_a_read_returns_a_value_that_was_written(
        values in prop::collection::vec(any::<u32>(), 1..6),
        turns in prop::collection::vec(any::<bool>(), 0..60),
    ) {
        let slot = HintSlot::new(0);
        let mut memory = HintMemory::new();
        memory.write(slot, SupBandwidth::new(values[0]));
        let mut pending = values[1..].iter().map(|value| HintWriter::new(slot, SupBandwidth::new(*value)));
        let mut writer = pending.next();
        let mut reader = HintReader::new(slot);
        for is_agent in turns {
            if is_agent {
                if let Some(writing) = &mut writer && !writing.step(&mut memory) {
                    writer = pending.next();
                }
            } else if let Some(read) = reader.step(&memory) {
                prop_assert!(values.contains(&read.get()), "{} was never written", read.get());
                reader = HintReader::new(slot);
            }
        }
        // There are no writes from here on: a new reader returns if and only if no writer is stuck.
        let is_stuck = !memory.sequence(slot).is_multiple_of(2);
        let mut reader = HintReader::new(slot);
        let read = (0..1000).find_map(|_| reader.step(&memory));
        prop_assert_eq!(read.is_none(), is_stuck);
        prop_assert_eq!(memory.read(slot), read);
    }

    /// Ends register and deregister; the model is a set of pairs and a map of the registered ends.
    #[test]
    fn pm12_slots_are_the_distinct_pairs_ever_registered(
        steps in prop::collection::vec((prop::bool::weighted(0.9), 0_u16..1000, 0_u32..40, 0_u32..40), 0..500),
    ) {
        let mut agent = Agent::running(SupBandwidth::MAX);
        let mut ever: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut live: BTreeMap<u16, (u32, u32)> = BTreeMap::new();
        for (is_register, counter, source, destination) in steps {
            let flow = FlowId::new(9, counter);
            let pair = (source, destination);
            if is_register {
                let is_live = live.contains_key(&counter);
                let expected = if is_live {
                    Err(Unregistered::Invalid)
                } else if ever.contains(&pair) || ever.len() < 256 {
                    ever.insert(pair);
                    live.insert(counter, pair);
                    Ok(())
                } else {
                    Err(Unregistered::NoFreeSlots)
                };
                prop_assert_eq!(agent.register(flow, source, destination).map(|_| ()), expected);
            } else {
                let expected = live.remove(&counter).map(|_| ()).ok_or(Unregistered::Invalid);
                prop_assert_eq!(agent.deregister(flow), expected);
            }
            prop_assert_eq!(usize::from(agent.slots()), ever.len());
            prop_assert!(agent.slots() <= 256);
        }
        for pair in ever {
            let users = live.values().filter(|live| **live == pair).count();
            prop_assert_eq!(agent.users(pair.0, pair.1), u32::try_from(users).ok());
        }
    }
}
