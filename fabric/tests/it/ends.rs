//! Laws of both ends of a link, over arbitrary networks and scripts of faults.
//!
//! They are those of the link model: what pairs can show, when they change, what is told and
//! counted. Scripts leave out Set(PortInfo) by hand, for whoever sends one does the subnet manager's
//! work; the laws about a single initiator play one fault on a network at rest.

use std::collections::BTreeMap;

use fabric::{
    Timing,
    opa::{
        Deed, EndRef, Initiative, KernelEventKind, Layout, LinkDownReason, Logical, Network, Pair,
        Physical, Profile,
    },
};
use platforms::NodeName;
use proptest::prelude::*;
use simfs::SimTime;

use crate::ends_world::{Line, alive, deed, initiators, lines, network, play, reasons, told};

fn pair(network: &Network, end: &EndRef) -> Option<Pair> {
    network.record(end).map(|record| record.shown())
}

fn logical(network: &Network, end: &EndRef) -> Logical {
    network.states(end).expect("the end is there").0
}

/// What must be so at every instant.
fn always(network: &Network) {
    for end in network.ends() {
        let (logical, physical) = network.states(end).expect("the end is there");
        // PO9
        assert_eq!(
            logical != Logical::Down,
            physical == Physical::LinkUp,
            "{end}"
        );
        // PO14
        assert_eq!(Logical::by_shown(logical.shown()), Some(logical));
        assert_eq!(Physical::by_shown(physical.shown()), Some(physical));
        let beyond = [Physical::Offline, Physical::Test].contains(&physical);
        assert_eq!(physical.shown().word() == "<unknown>", beyond);
        // PO8
        let log = network.log_of(end);
        assert!(log.len() <= 8);
        let Some(record) = network.record(end) else {
            continue;
        };
        for pair in [record.shown(), record.latest()] {
            for reason in [pair.local, pair.neighbour] {
                // PO1
                assert_eq!(LinkDownReason::by_code(reason.code()), Some(reason));
            }
            // PO2
            assert!(
                ![36, 49, 50, 51, 54].contains(&pair.neighbour.code()),
                "{end}"
            );
        }
        // PO4
        if logical >= Logical::Armed {
            assert_eq!(record.shown(), Pair::CLEAR, "{end}");
            let other = network.neighbour(end).expect("an armed port has a cable");
            assert_eq!(pair(network, &other), Some(Pair::CLEAR), "{other}");
        }
        // PO15
        let offline = record.offline().code();
        assert!([0, 1, 2, 3, 4, 6, 8, 9, 10, 12, 13, 15].contains(&offline));
    }
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![Just(Profile::Spec), Just(Profile::Hfi1)]
}

proptest! {
    #![proptest_config(cases(128))]

    /// PO1, PO2, PO4, PO8 (length), PO9, PO14, PO15 (values).
    #[test]
    fn pairs_states_and_logs_are_always_well_formed(
        (profile, quiet_ms, lines) in (profile(), prop_oneof![Just(0_u64), 1_u64..60], lines())
    ) {
        play(network(profile, quiet_ms), &lines, |_, after, _| always(after));
    }

    /// PO3: but for a port that lost power or its driver in between.
    #[test]
    fn a_pair_changes_from_clear_and_back_by_arming_only((profile, lines) in (profile(), lines())) {
        play(network(profile, 0), &lines, |before, after, done| {
            for end in after.ends() {
                let (Some(was), Some(is)) = (pair(before, end), pair(after, end)) else { continue };
                let started = matches!(done, Some(Deed::Load(node) | Deed::PowerOn(node)) if *node == end.node);
                if was == is || started {
                    continue;
                }
                let armed = after.walk(end)[before.walk(end).len()..]
                    .iter()
                    .any(|step| step.logical == Logical::Armed);
                assert!(was.is_clear() || armed, "{end}: {was:?} became {is:?} by {done:?}");
            }
        });
    }

    /// PO7: what an end heard, its neighbour did since that end was last cleared.
    #[test]
    fn an_end_hears_only_of_what_its_neighbour_did((profile, lines) in (profile(), lines())) {
        let mut said: BTreeMap<EndRef, bool> = BTreeMap::new();
        play(network(profile, 0), &lines, |_, after, done| {
            if let Some(deed) = done {
                for end in initiators(after, deed) {
                    if let Some(other) = after.neighbour(&end) {
                        said.insert(other, true);
                    }
                }
            }
            for end in after.ends() {
                match pair(after, end) {
                    Some(pair) if pair.neighbour.is_some() => {
                        assert_eq!(said.get(end), Some(&true), "{end} heard {pair:?}");
                    }
                    _ if logical(after, end) >= Logical::Armed => {
                        said.remove(end);
                    }
                    _ => {}
                }
            }
        });
    }

    /// PO8: of one port, entries come in the order of time, and one for each cycle at most.
    #[test]
    fn a_log_grows_once_for_each_time_that_its_port_was_armed((profile, lines) in (profile(), lines())) {
        let mut last: BTreeMap<EndRef, u64> = BTreeMap::new();
        let mut since_armed: BTreeMap<EndRef, u32> = BTreeMap::new();
        play(network(profile, 0), &lines, |before, after, done| {
            if matches!(done, Some(Deed::StartManager { keeps_logs: false })) {
                since_armed.clear();
            }
            for end in after.ends() {
                let (was, is) = (before.log_of(end), after.log_of(end));
                let walked = &after.walk(end)[before.walk(end).len()..];
                let fresh: Vec<u64> = is
                    .entries()
                    .iter()
                    .filter(|entry| !entry.is_empty() && !was.entries().contains(entry))
                    .map(|entry| entry.at_s)
                    .collect();
                for at_s in fresh {
                    let latest = last.insert(end.clone(), at_s).unwrap_or(0);
                    assert!(at_s >= latest, "{end}: {at_s} after {latest}");
                    let count = since_armed.entry(end.clone()).or_default();
                    *count += 1;
                    assert!(*count <= 1, "{end} is written twice");
                }
                let armed = walked.iter().any(|step| step.logical == Logical::Armed);
                if armed || logical(after, end) >= Logical::Armed {
                    since_armed.remove(end);
                }
            }
        });
    }

    /// PO10, PO11: the way up has no short cuts, needs the subnet manager, and is told.
    #[test]
    fn a_port_is_active_only_after_init_and_armed_and_its_kernel_tells(
        (profile, lines) in (profile(), lines())
    ) {
        let mut runs = true;
        let mut left: BTreeMap<EndRef, usize> = BTreeMap::new();
        let last = play(network(profile, 0), &lines, |before, after, done| {
            for end in after.ends() {
                let mut was = logical(before, end);
                for step in &after.walk(end)[before.walk(end).len()..] {
                    match step.logical {
                        Logical::Active => {
                            assert_eq!(was, Logical::Armed, "{end}");
                            assert!(runs, "{end} is active without a subnet manager");
                        }
                        Logical::Armed => assert!(was == Logical::Init && runs, "{end}"),
                        Logical::Init => assert_eq!(was, Logical::Down, "{end}"),
                        // A kernel whose device is gone in that instant tells of that instead.
                        Logical::Down if was != Logical::Down => {
                            let dead = matches!(
                                done,
                                Some(Deed::PowerOff(node) | Deed::DeviceFatal(node)) if *node == end.node
                            );
                            *left.entry(end.clone()).or_default() += usize::from(!dead);
                        }
                        Logical::Down => {}
                    }
                    was = step.logical;
                }
            }
            match done {
                Some(Deed::StopManager) => runs = false,
                Some(Deed::StartManager { .. }) => runs = true,
                _ => {}
            }
        });
        for end in last.ends().filter(|end| end.node.to_string().starts_with('h')) {
            let told = |kind| {
                last.events().iter().filter(|event| event.end == *end && event.kind == kind).count()
            };
            let activated = last.walk(end).iter().filter(|step| step.logical == Logical::Active).count();
            prop_assert_eq!(told(KernelEventKind::PortErr), left.get(end).copied().unwrap_or(0));
            prop_assert_eq!(told(KernelEventKind::PortActive), activated);
        }
    }

    /// PO12: who lost power remembers nothing.
    #[test]
    fn a_node_that_lost_power_is_back_with_clear_pairs((profile, lines) in (profile(), lines())) {
        play(network(profile, 0), &lines, |_, after, done| {
            if let Some(Deed::PowerOn(node)) = done {
                for end in after.ends().filter(|end| end.node == *node) {
                    let record = after.record(end).expect("the node is on");
                    assert_eq!((record.shown(), record.latest()), (Pair::CLEAR, Pair::CLEAR));
                }
            }
        });
    }

    /// PO13: driver's count and the kernel's field.
    #[test]
    fn a_count_of_links_lost_never_falls_and_its_field_stops((profile, lines) in (profile(), lines())) {
        play(network(profile, 0), &lines, |before, after, _| {
            for end in after.ends() {
                let count = after.link_downed(end);
                assert!(count >= before.link_downed(end));
                assert_eq!(u32::from(after.link_downed_shown(end)), count.min(255));
            }
        });
    }

    /// PO15: taking a module out, and disabling, never raise a reason that is there.
    #[test]
    fn a_reason_for_being_offline_is_only_lowered_by_removal_and_disabling(
        (profile, lines) in (profile(), lines())
    ) {
        play(network(profile, 5), &lines, |before, after, done| {
            let Some(Deed::ModuleOut(end) | Deed::Disable(end)) = done else { return };
            let code = |network: &Network| network.record(end).map(|record| record.offline().code());
            if let (Some(was), Some(is)) = (code(before), code(after)) {
                assert!(is != 0 || !alive(after, end), "{end} is offline without a reason");
                assert!(was == 0 || is <= was, "{end}: {was} became {is}");
            }
        });
    }

    /// PO17: but for what an hfi1 notes for itself.
    #[test]
    fn a_link_that_never_was_up_changes_no_pair((profile, lines) in (profile(), lines())) {
        play(network(profile, 0), &lines, |before, after, done| {
            for end in after.ends().filter(|end| logical(before, end) == Logical::Down) {
                let started = matches!(done, Some(Deed::Load(node) | Deed::PowerOn(node)) if *node == end.node);
                let walked = &after.walk(end)[before.walk(end).len()..];
                if walked.iter().any(|step| step.logical > Logical::Down) || started {
                    continue;
                }
                if let (Some(was), Some(is)) = (pair(before, end), pair(after, end)) {
                    assert_eq!(was, is, "{end} by {done:?}");
                }
            }
        });
    }

    /// The same script gives the same network, in one step or in many.
    #[test]
    fn looking_in_between_changes_nothing((profile, lines) in (profile(), lines())) {
        let watched = play(network(profile, 3), &lines, |_, _, _| ());
        let mut straight = network(profile, 3);
        for line in &lines {
            straight.advance(straight.now() + SimTime::from_ms(line.after_ms));
            let deed = deed(&straight, line);
            let _ = straight.act(&deed);
        }
        straight.advance(straight.now() + SimTime::from_ms(11_000));
        straight.advance(SimTime::ZERO);
        prop_assert_eq!(told(&straight), told(&watched));
    }

    /// PO16: by the document, what happens at one of two hosts happens at the other when they are
    /// swapped.
    #[test]
    fn swapping_both_ends_swaps_what_they_show(lines in lines()) {
        let swapped = |end: &EndRef| EndRef::new(if end.node == NodeName::from("a") { "b" } else { "a" }, end.port.0);
        let mut one = Network::new(&Layout::two_hosts(), Profile::Spec, Timing::default()).expect("a layout");
        let mut other = one.clone();
        for line in &lines {
            let to = one.now() + SimTime::from_ms(line.after_ms);
            one.advance(to);
            other.advance(to);
            let here = Line { end: line.end % 2, ..*line };
            let there = Line { end: 1 - here.end, ..here };
            let (here, there) = (deed(&one, &here), deed(&other, &there));
            prop_assert_eq!(one.act(&here).is_ok(), other.act(&there).is_ok(), "{:?}", here);
            for end in one.ends() {
                let mirrored = swapped(end);
                prop_assert_eq!(one.record(end), other.record(&mirrored));
                prop_assert_eq!(one.states(end), other.states(&mirrored));
                prop_assert_eq!(one.walk(end), other.walk(&mirrored));
                prop_assert_eq!(one.log_of(end), other.log_of(&mirrored));
            }
        }
    }

    /// PO5, PO6: one initiator on a network at rest, by the document.
    #[test]
    fn a_single_initiator_is_heard_or_unknown((end, number, says) in (0..8_usize, 0..49_usize, any::<bool>())) {
        let mut network = network(Profile::Spec, 0);
        let up: Vec<EndRef> = network.ends().filter(|end| logical(&network, end) == Logical::Active).cloned().collect();
        let a = up[end % up.len()].clone();
        let b = network.neighbour(&a).expect("an active port has a cable");
        let reason = reasons()[number];
        network.act(&Deed::Initiate { end: a.clone(), reason, says }).expect("possible");
        let (local, heard) = (pair(&network, &a).expect("on"), pair(&network, &b).expect("on"));
        if says && reason.may_be_neighbours() {
            prop_assert_eq!((local.codes(), heard.codes()), ((reason.code(), 0), (0, reason.code())));
        } else {
            prop_assert_eq!(heard.codes(), (36, 0));
            prop_assert_eq!(local.neighbour, LinkDownReason::NONE);
        }
        // Every other link is as it was.
        for end in network.ends().filter(|end| ![&a, &b].contains(end)) {
            prop_assert_eq!(pair(&network, end), Some(Pair::CLEAR));
        }
    }
}

#[test]
fn an_end_that_never_will_be_up_has_nothing_to_say() {
    for code in [36, 49, 50, 51, 54] {
        let reason = LinkDownReason::by_code(code).expect("defined");
        let own = Initiative::of(reason, true);
        assert_eq!(own.local.code(), 36);
        assert_eq!(own.message, None);
    }
}
