//! Arbitrary networks and scripts of faults, and a way to play them and look.

use std::collections::{BTreeMap, BTreeSet};

use fabric::{
    Timing,
    opa::{
        Deed, EndRef, ErrorInfo, FirmwareReport, Layout, LinkDownReason, LinkInitReason, Network,
        PortErrorAction, Profile, Socket,
    },
};
use platforms::NodeName;
use proptest::prelude::*;
use simfs::SimTime;

/// So long after the last one, the nth kind of deed at the nth end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) after_ms: u64,
    pub(crate) kind: usize,
    pub(crate) end: usize,
    pub(crate) number: usize,
    pub(crate) says: bool,
}

pub(crate) const KINDS: usize = 28;

pub(crate) fn lines() -> impl Strategy<Value = Vec<Line>> {
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
pub(crate) fn mixed() -> Layout {
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

pub(crate) fn network(profile: Profile, quiet_ms: u64) -> Network {
    let network = Network::new(&mixed(), profile, Timing::default()).expect("a layout");
    network.quiet_for(SimTime::from_ms(quiet_ms))
}

pub(crate) fn reasons() -> Vec<LinkDownReason> {
    LinkDownReason::all().skip(1).collect()
}

pub(crate) fn deed(network: &Network, line: &Line) -> Deed {
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
            info: ErrorInfo {
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
        26 => Deed::Report {
            end,
            report: FirmwareReport::HostRequested,
        },
        _ if line.says => Deed::StartManager {
            keeps_logs: line.number.is_multiple_of(3),
        },
        _ => Deed::StopManager,
    }
}

/// What a script did at a look: nothing but let time pass, or a deed.
pub(crate) type Done<'a> = Option<&'a Deed>;

/// Plays a script, and looks after each deed and on the way to the next.
pub(crate) fn play(
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

/// Lets time pass and looks on the way: while a link that just went down would train, wait in Init,
/// and be armed; then at the end.
fn wait(network: &mut Network, to: SimTime, look: &mut impl FnMut(&Network, &Network, Done)) {
    let mut until = |network: &mut Network, next: SimTime| {
        if network.now() < next {
            let before = network.clone();
            network.advance(next);
            look(&before, network, None);
        }
    };
    let start = network.now();
    for ms in [60, 160, 260] {
        until(network, to.min(start + SimTime::from_ms(ms)));
    }
    until(network, to);
}

/// Everything that can be asked of a network.
pub(crate) fn told(network: &Network) -> String {
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

/// The ends that do something to their links by a deed.
pub(crate) fn initiators(network: &Network, deed: &Deed) -> Vec<EndRef> {
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

pub(crate) fn alive(network: &Network, end: &EndRef) -> bool {
    network.local(end).is_ok_and(|info| info.is_some())
}
