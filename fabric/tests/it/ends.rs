//! Laws of both ends of a link, over arbitrary networks and scripts of faults.
//!
//! They are those of the link model: what pairs can show, when they change, what is told and
//! counted. Scripts leave out Set(PortInfo) by hand, for whoever sends one does the subnet manager's
//! work; the laws about a single initiator play one fault on a network at rest.

use std::collections::{BTreeMap, BTreeSet};

use fabric::{
    Timing,
    ends::{
        Deed, EndRef, Initiative, KernelEventKind, Layout, LinkDownReason, LinkInitReason, Logical,
        Network, Pair, Physical, PortErrorAction, Profile, Socket,
    },
};
use platforms::NodeName;
use proptest::prelude::*;
use simfs::SimTime;

/// So long after the last one, the nth kind of deed at the nth end.
#[derive(Clone, Copy, Debug)]
struct Line {
    after_ms: u64,
    kind: usize,
    end: usize,
    number: usize,
    says: bool,
}

const KINDS: usize = 27;

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let after = prop_oneof![
        3 => Just(0_u64),
        4 => 1_u64..400,
        2 => 400_u64..15_000,
    ];
    let line = (after, 0..KINDS, 0..16_usize, 0..600_usize, any::<bool>());
    let line = line.prop_map(|(after_ms, kind, end, number, says)| Line {
        after_ms,
        kind,
        end,
        number,
        says,
    });
    prop::collection::vec(line, 1..16)
}

/// Hosts on a switch of many ports, a pair of hosts cabled to each other, two switches, ports
/// without a cable or a module.
fn mixed() -> Layout {
    let node = |name: &str| NodeName::from(name);
    let (sw1, sw2) = (node("sw1"), node("sw2"));
    let cables = [
        (("h1", 1), ("sw1", 1)),
        (("h2", 1), ("sw1", 2)),
        (("h2", 2), ("sw2", 1)),
        (("sw1", 8), ("sw2", 8)),
        (("h3", 1), ("h4", 1)),
        (("h5", 1), ("sw1", 3)),
    ];
    Layout {
        hosts: BTreeMap::from([
            (node("h1"), 1),
            (node("h2"), 2),
            (node("h3"), 1),
            (node("h4"), 2),
            (node("h5"), 1),
        ]),
        switches: BTreeMap::from([(sw1, 8), (sw2, 8)]),
        cables: cables
            .map(|((one, port), (other, other_port))| {
                (EndRef::new(one, port), EndRef::new(other, other_port))
            })
            .to_vec(),
        sockets: BTreeMap::from([
            (EndRef::new("sw1", 8), Socket::Fixed),
            (EndRef::new("sw2", 8), Socket::Fixed),
            (EndRef::new("h4", 2), Socket::Disconnected),
        ]),
        empty: BTreeSet::from([EndRef::new("h5", 1), EndRef::new("sw1", 8)]),
        off: BTreeSet::new(),
    }
}

fn network(profile: Profile, quiet_ms: u64) -> Network {
    let network = Network::new(&mixed(), profile, Timing::default()).expect("a layout");
    network.quiet_for(SimTime::from_ms(quiet_ms))
}

fn reasons() -> Vec<LinkDownReason> {
    LinkDownReason::all().skip(1).collect()
}

fn deed(network: &Network, line: &Line) -> Deed {
    let cabled: Vec<EndRef> = network
        .ends()
        .filter(|end| network.neighbour(end).is_some() || end.node == NodeName::from("h4"))
        .cloned()
        .collect();
    let end = cabled[line.end % cabled.len()].clone();
    let node = end.node.clone();
    let all = reasons();
    let reason = all[line.number % all.len()];
    let other = all[line.number / 7 % all.len()];
    match line.kind {
        0 | 1 => Deed::Pull(end),
        2 | 3 => Deed::Plug(end),
        4 => Deed::ModuleOut(end),
        5 => Deed::ModuleIn(end),
        6 | 7 => Deed::Initiate {
            end,
            reason,
            says: line.says,
        },
        8 => Deed::InitiateBoth {
            end,
            reason,
            says: line.says,
            other,
            other_says: line.number.is_multiple_of(2),
        },
        9 => Deed::Relent { end, reason },
        10 => Deed::Hear {
            end,
            message: if line.says {
                reason
            } else {
                LinkDownReason::NONE
            },
        },
        11 => Deed::BreakTraining(end),
        12 => Deed::PacketError {
            end,
            reason: all[line.number % 32],
        },
        13 => Deed::Errors {
            end,
            info: fabric::ends::ErrorInfo {
                fm_config: u8::try_from(line.number % 11).ok(),
                receive: u8::try_from(line.number % 17).ok(),
            },
        },
        14 => Deed::BufferOverrun(end),
        15 => Deed::ErrorAction {
            end,
            action: PortErrorAction(u32::from(line.says) * 0x5555_5555),
        },
        16 => Deed::Bounce(end),
        17 => Deed::Disable(end),
        18 => Deed::Enable(end),
        19 => Deed::Overheat(end),
        20 => Deed::Unload(node),
        21 => Deed::Load(node),
        22 => Deed::PowerOff(node),
        23 => Deed::PowerOn(node),
        24 if line.says => Deed::DeviceFatal(node),
        24 => Deed::Release(end),
        25 => Deed::Quarantine {
            end,
            reason: LinkInitReason::QUARANTINED,
        },
        _ if line.says => Deed::StartManager {
            keeps_logs: line.number.is_multiple_of(3),
        },
        _ => Deed::StopManager,
    }
}

/// What a script did at a look: nothing but let time pass, or a deed.
type Done<'a> = Option<&'a Deed>;

/// Plays a script in steps of at most 50 ms, and looks after each step and each deed.
fn play(
    mut network: Network,
    lines: &[Line],
    mut look: impl FnMut(&Network, &Network, Done),
) -> Network {
    for line in lines {
        let to = network.now() + SimTime::from_ms(line.after_ms);
        wait(&mut network, to, &mut look);
        let before = network.clone();
        let deed = deed(&network, line);
        // What is refused changes nothing but the log of a refusal, and no script has one of those.
        let done = network.act(&deed).is_ok();
        if !done {
            assert_eq!(told(&before), told(&network), "refused, and yet: {deed:?}");
        }
        look(&before, &network, Some(&deed).filter(|_| done));
    }
    let end = network.now() + SimTime::from_ms(11_000);
    wait(&mut network, end, &mut look);
    network
}

/// Lets time pass and looks on the way: every 50 ms for longer than a walk takes, then at the end.
fn wait(network: &mut Network, to: SimTime, look: &mut impl FnMut(&Network, &Network, Done)) {
    let mut until = |network: &mut Network, next: SimTime| {
        if network.now() < next {
            let before = network.clone();
            network.advance(next);
            look(&before, network, None);
        }
    };
    for _ in 0..8 {
        let next = network.now() + SimTime::from_ms(50);
        until(network, next.min(to));
    }
    until(network, to);
}

/// Everything that can be asked of a network.
fn told(network: &Network) -> String {
    let ends = network.ends().map(|end| {
        format!(
            "{end} {:?} {:?} {:?} {:?} {}",
            network.record(end),
            network.local(end),
            network.query(end),
            network.walk(end),
            network.link_downed(end)
        )
    });
    let logs = network.ends().map(|end| network.kernel_log(&end.node));
    format!(
        "{:?} {:?} {:?} {:?}",
        ends.collect::<Vec<_>>(),
        logs.collect::<Vec<_>>(),
        network.events(),
        network.notices()
    )
}

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
    #![proptest_config(cases(256))]

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

/// The ends that do something to their links by a deed.
fn initiators(network: &Network, deed: &Deed) -> Vec<EndRef> {
    let of = |node: &NodeName| {
        let ends = network.ends().filter(|end| end.node == *node);
        ends.cloned().collect()
    };
    match deed {
        Deed::Initiate { end, .. }
        | Deed::PacketError { end, .. }
        | Deed::Errors { end, .. }
        | Deed::BufferOverrun(end)
        | Deed::Bounce(end)
        | Deed::Disable(end)
        | Deed::Overheat(end) => vec![end.clone()],
        Deed::InitiateBoth { end, .. } => {
            let other = network.neighbour(end);
            std::iter::once(end.clone()).chain(other).collect()
        }
        Deed::Hear { end, .. } => network.neighbour(end).into_iter().collect(),
        Deed::Unload(node) => of(node),
        _ => Vec::new(),
    }
}

fn alive(network: &Network, end: &EndRef) -> bool {
    network.local(end).is_ok_and(|info| info.is_some())
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
