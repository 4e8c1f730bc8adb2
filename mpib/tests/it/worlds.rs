//! Arbitrary worlds and fault scripts for the laws.
//!
//! A world is two to six hosts in up to three subnets, one environment for all (but for the prefix length of one host, where
//! a test draws it), a job over arbitrary edges; a script is ports, hints and agents changing at arbitrary times of its
//! first minute.

use std::net::Ipv4Addr;

use mpib::{
    Agent, AgentAction, Bytes, Edge, Environment, Host, HostId, Job, JobTraffic, Mode, MpibProfile,
    Net, Rail, RailChange, RailState, Retries, Settings, SupBandwidth,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use simfs::SimTime;

/// Scripts end here; sends go on to [`TRAFFIC_ENDS`].
pub(crate) const SCRIPT_ENDS: SimTime = SimTime::from_secs(60);
/// From here on nothing is sent.
pub(crate) const TRAFFIC_ENDS: SimTime = SimTime::from_secs(70);
/// Every message is delivered or failed by now.
pub(crate) const END: SimTime = SimTime::from_secs(120);

/// A job before it starts.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) profile: MpibProfile,
    pub(crate) mode: Mode,
    pub(crate) prefix: u8,
    /// A host whose prefix length is another, as nothing checks that all agree.
    pub(crate) odd_prefix: Option<(HostId, u8)>,
    pub(crate) retries: Retries,
    pub(crate) first_share: u32,
    pub(crate) size: u64,
    pub(crate) in_flight: u8,
    /// Whether a message needs those before it that come to its sender.
    pub(crate) dependent: bool,
    /// The third and the fourth byte of each host's addresses.
    pub(crate) hosts: Vec<(u8, u8)>,
    pub(crate) edges: Vec<Edge>,
}

/// An action on a world.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Port(HostId, Rail, RailState),
    Hint(Edge, u32),
    Kill(HostId),
    KillWriting(Edge),
}

pub(crate) type Script = Vec<(SimTime, Fault)>;

impl World {
    pub(crate) fn start(&self) -> Job {
        let mode = if self.mode == Mode::Vanilla { "0" } else { "1" };
        let environment = |index: usize| {
            let odd = self.odd_prefix;
            let odd = odd.filter(|(host, _)| usize::from(host.number()) == index);
            let prefix = odd.map_or(self.prefix, |(_, prefix)| prefix);
            Environment::baseline()
                .with("MPIB_MODE", mode)
                .with("MPIB_ISLAND_PREFIX_LEN", &prefix.to_string())
        };
        let host = |(index, (subnet, number)): (usize, &(u8, u8))| {
            let sout = Ipv4Addr::new(10, 0, *subnet, *number);
            let sup = Ipv4Addr::new(10, 9, *subnet, *number);
            Host {
                environment: environment(index),
                agent: Agent::running(SupBandwidth::new(self.first_share)),
                ..Host::new(&format!("vm{}", index + 1), sout, sup)
            }
        };
        let hosts = self.hosts.iter().enumerate().map(host).collect();
        let settings = Settings {
            retries: self.retries,
            ..Settings::new(self.profile)
        };
        let traffic = JobTraffic {
            size: Bytes::new(self.size),
            in_flight: self.in_flight,
            dependent: self.dependent,
            period: SimTime::from_secs(1),
            ..JobTraffic::steady()
        };
        let traffic = traffic.paused(TRAFFIC_ENDS, SimTime::MAX);
        Job::start(Net::new(hosts, settings), &self.edges, traffic)
    }

    /// Plays a script to the end.
    pub(crate) fn play(&self, script: &[(SimTime, Fault)]) -> Job {
        let mut job = self.start();
        for (at, fault) in script {
            act(&mut job, *at, *fault);
        }
        job.advance(END);
        job
    }
}

/// Performs one action on a job.
pub(crate) fn act(job: &mut Job, at: SimTime, fault: Fault) {
    if let Fault::Port(host, rail, state) = fault {
        job.notify(RailChange {
            at,
            host,
            rail,
            state,
        });
        return;
    }
    job.advance(at);
    let (host, action) = match fault {
        Fault::Port(..) => unreachable!("told above"),
        Fault::Hint(edge, share) => {
            let share = SupBandwidth::new(share);
            (edge.from, AgentAction::Hint { to: edge.to, share })
        }
        Fault::Kill(host) => (host, AgentAction::Dies),
        Fault::KillWriting(edge) => (edge.from, AgentAction::DiesWhileWriting { to: edge.to }),
    };
    job.agent(host, action);
}

pub(crate) fn share() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        Just(u32::MAX),
        1_u32..2048,
        16_777_210_u32..33_554_440,
        any::<u32>(),
    ]
}

pub(crate) fn size() -> impl Strategy<Value = u64> {
    prop_oneof![
        0_u64..=300,
        Just(1000),
        Just(4096),
        Just(1 << 20),
        Just((1 << 20) + 1),
        0_u64..(1 << 30),
    ]
}

pub(crate) fn world(profiles: &'static [MpibProfile]) -> impl Strategy<Value = World> {
    let hosts = prop::collection::btree_set((0_u8..3, 1_u8..20), 2..=6);
    let ends = prop::collection::vec((any::<Index>(), any::<Index>()), 1..=6);
    let ways = (
        select(profiles),
        select(vec![Mode::Vanilla, Mode::Advanced]),
        select(vec![Retries::Seven, Retries::Eight]),
    );
    let numbers = (22_u8..=32, share(), size());
    (ways, numbers, hosts, ends).prop_map(
        |((profile, mode, retries), (prefix, first_share, size), hosts, ends)| {
            let count = hosts.len();
            let id = |index: usize| HostId::new(u16::try_from(index).expect("few hosts"));
            let edges = ends.iter().map(|(from, step)| {
                let from = from.index(count);
                let to = (from + 1 + step.index(count - 1)) % count;
                Edge {
                    from: id(from),
                    to: id(to),
                }
            });
            World {
                profile,
                mode,
                prefix,
                odd_prefix: None,
                retries,
                first_share,
                size,
                in_flight: 1,
                dependent: false,
                edges: edges.collect(),
                hosts: hosts.into_iter().collect(),
            }
        },
    )
}

/// Which faults a script may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kinds {
    /// Ports up and down, hints, and agents that die between writes.
    Mild,
    /// Also devices that disappear and agents that die during a write.
    All,
}

/// A world and a script for it, in order of time. Every port is up again at the end of the script,
/// unless its device has disappeared.
pub(crate) fn story(
    profiles: &'static [MpibProfile],
    kinds: Kinds,
) -> impl Strategy<Value = (World, Script)> {
    let step = (
        1_u64..60_000,
        any::<Index>(),
        any::<bool>(),
        0_u8..9,
        share(),
    );
    let steps = prop::collection::vec(step, 0..10);
    (world(profiles), steps).prop_map(move |(world, steps)| {
        let mut script: Script = Vec::new();
        for (at_ms, index, is_sup, kind, share) in steps {
            let rail = if is_sup { Rail::Sup } else { Rail::Sout };
            let host = index.index(world.hosts.len());
            let host = HostId::new(u16::try_from(host).expect("few hosts"));
            let edge = *index.get(&world.edges);
            let fault = match kind {
                0..=2 => Fault::Port(host, rail, RailState::Down),
                3 | 4 => Fault::Port(host, rail, RailState::Up),
                5 => Fault::Kill(host),
                6 if kinds == Kinds::All => Fault::KillWriting(edge),
                7 if kinds == Kinds::All => Fault::Port(host, rail, RailState::Gone),
                _ => Fault::Hint(edge, share),
            };
            script.push((SimTime::from_ms(at_ms), fault));
        }
        script.sort_by_key(|(at, _)| *at);
        for host in 0..world.hosts.len() {
            let host = HostId::new(u16::try_from(host).expect("few hosts"));
            for rail in Rail::BOTH {
                script.push((SCRIPT_ENDS, Fault::Port(host, rail, RailState::Up)));
            }
        }
        (world, script)
    })
}
