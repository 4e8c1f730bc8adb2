//! Plays a row's steps.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use mpib::{
    Agent, AgentAction, Bytes, ConnectError, ConnectionId, Gid, HintMemory, Host, HostId, Isend,
    IslandPrefix, Job, JobTraffic, MpibProfile, Net, PathClass, Rail, RailChange, RailMask,
    RailState, Receive, Refusal, RequestId, Settings, SupBandwidth, Tag, eight_vms, mesh, ring,
};
use platforms::LinkLayer;
use simfs::SimTime;

use super::row::{Row, Step, World};

const TAG: Tag = Tag(1);

enum Under {
    Net(Box<Net>),
    Job(Box<Job>),
}

/// A world in which steps were played, and their results.
pub(crate) struct Stage {
    under: Under,
    pub(super) same_at: Vec<i32>,
    pub(super) starts: BTreeMap<String, Result<(), Refusal>>,
    pub(super) connections: Vec<Result<ConnectionId, ConnectError>>,
    pub(super) calls: Vec<Isend>,
    pub(super) received: Vec<RequestId>,
    pub(super) sent: Vec<RequestId>,
    pub(super) tests: Vec<String>,
}

impl Stage {
    pub(crate) fn new(row: &Row) -> Self {
        let profile = match row.profile.as_str() {
            "spec" => MpibProfile::Spec,
            "g1" => MpibProfile::G1,
            "g2" => MpibProfile::G2,
            other => panic!("no profile `{other}`"),
        };
        Self {
            under: Under::Net(Box::new(Net::new(
                hosts(&row.world),
                Settings::new(profile),
            ))),
            same_at: Vec::new(),
            starts: BTreeMap::new(),
            connections: Vec::new(),
            calls: Vec::new(),
            received: Vec::new(),
            sent: Vec::new(),
            tests: Vec::new(),
        }
    }

    pub(crate) fn play(&mut self, step: &Step) {
        match step {
            Step::Classify { pair, prefixes } => self.classify(pair, *prefixes),
            Step::Init(host) => self.init(host),
            Step::Connect { from, to } => self.connect(from, to),
            Step::ConnectToAll { from } => {
                for host in self.net().hosts().collect::<Vec<_>>() {
                    let to = self.net().host(host).name.to_string();
                    if to != *from {
                        self.connect(from, &to);
                    }
                }
            }
            Step::Hint { from, to, share } => {
                let (to, share) = (self.host(to), SupBandwidth::new(*share));
                self.agent(from, AgentAction::Hint { to, share });
            }
            Step::KillAgent(host) => self.agent(host, AgentAction::Dies),
            Step::KillAgentWriting { from, to } => {
                let to = self.host(to);
                self.agent(from, AgentAction::DiesWhileWriting { to });
            }
            Step::Receive { on, size } => self.receive(*on, *size),
            Step::Send { on, size } => self.send(*on, *size),
            Step::Message { on, sizes } => {
                for on in on {
                    for size in sizes {
                        self.message(*on, *size);
                    }
                }
            }
            Step::MessageOnAll { size } => {
                for on in 0..self.connections.len() {
                    if self.connections[on].is_ok() {
                        self.message(on, *size);
                    }
                }
            }
            Step::Test {} => self.test(),
            Step::Job {
                ring,
                mesh,
                size,
                pause_ms,
            } => self.job(ring, mesh, *size, *pause_ms),
            Step::Port {
                at_ms,
                host,
                rail,
                state,
            } => self.notify(*at_ms, host, rail, state),
            Step::Outage {
                at_ms,
                host,
                rail,
                length_ms,
            } => {
                self.notify(*at_ms, host, rail, "down");
                self.notify(at_ms + length_ms, host, rail, "up");
            }
            Step::UntilMs(ms) => match &mut self.under {
                Under::Net(net) => net.advance(SimTime::from_ms(*ms)),
                Under::Job(job) => job.advance(SimTime::from_ms(*ms)),
            },
        }
    }

    pub(super) fn net(&self) -> &Net {
        match &self.under {
            Under::Net(net) => net,
            Under::Job(job) => job.net(),
        }
    }

    pub(super) fn job_played(&self) -> &Job {
        match &self.under {
            Under::Net(_) => panic!("no step has started a job"),
            Under::Job(job) => job,
        }
    }

    pub(super) fn host(&self, name: &str) -> HostId {
        self.net()
            .host_named(name)
            .unwrap_or_else(|| panic!("no host `{name}`"))
    }

    /// The agent's host and the pair of addresses of a flow.
    pub(super) fn flow(&self, from: &str, to: &str) -> (HostId, u32, u32) {
        let bits = |name| self.net().host(self.host(name)).nics.sout.gid.ipv4_bits();
        (self.host(from), bits(from), bits(to))
    }

    fn net_mut(&mut self) -> &mut Net {
        match &mut self.under {
            Under::Net(net) => net,
            Under::Job(_) => panic!("a job starts, connects and sends by itself"),
        }
    }

    fn agent(&mut self, from: &str, action: AgentAction<HostId>) {
        let from = self.host(from);
        let bits = |host| self.net().host(host).nics.sout.gid.ipv4_bits();
        let source = bits(from);
        let pair = match action {
            AgentAction::Hint { to, .. } | AgentAction::DiesWhileWriting { to } => bits(to),
            AgentAction::Dies => source,
        };
        let done = match &mut self.under {
            Under::Job(job) => job.agent(from, action),
            Under::Net(net) => {
                let agent = net.agent_mut(from);
                match action {
                    AgentAction::Hint { share, .. } => agent.write(source, pair, share),
                    AgentAction::DiesWhileWriting { .. } => agent.kill_while_writing(source, pair),
                    AgentAction::Dies => {
                        agent.kill();
                        true
                    }
                }
            }
        };
        assert!(done, "a live agent");
    }

    fn classify(&mut self, pair: &[String; 2], [first, last]: [i32; 2]) {
        let [local, remote] = pair
            .each_ref()
            .map(|text| text.parse::<Ipv4Addr>().expect("an address").to_bits());
        self.same_at = (first..=last)
            .filter(|prefix| IslandPrefix::new(*prefix).class(local, remote) == PathClass::Intra)
            .collect();
    }

    fn init(&mut self, name: &str) {
        let host = self.host(name);
        let started = self.net_mut().init(host);
        self.starts.insert(name.to_owned(), started);
    }

    fn connect(&mut self, from: &str, to: &str) {
        for name in [from, to] {
            if !self.starts.contains_key(name) {
                self.init(name);
            }
        }
        let (from, to) = (self.host(from), self.host(to));
        let connected = self.net_mut().connect(from, to);
        self.connections.push(connected);
    }

    fn connection(&self, number: usize) -> ConnectionId {
        self.connections[number].expect("the connection was made")
    }

    fn receive(&mut self, on: usize, size: u64) {
        let (connection, size_max) = (self.connection(on), Bytes::new(size));
        let receive = Receive { tag: TAG, size_max };
        let request = self.net_mut().irecv(connection, &[receive]);
        self.received
            .push(request.expect("the connection is alive"));
    }

    fn send(&mut self, on: usize, size: u64) {
        let connection = self.connection(on);
        let called = self.net_mut().isend(connection, TAG, Bytes::new(size));
        let called = called.expect("the connection is alive");
        if let Isend::Request(request, _) = called {
            self.sent.push(request);
        }
        self.calls.push(called);
    }

    fn message(&mut self, on: usize, size: u64) {
        self.receive(on, size);
        self.send(on, size);
    }

    fn test(&mut self) {
        use mpib::Progress::{Done, Pending};
        let requests = [
            ("send", self.sent.clone()),
            ("receive", self.received.clone()),
        ];
        for (kind, requests) in requests {
            for request in requests {
                let rendered = match self
                    .net_mut()
                    .test(request)
                    .expect("it was not asked when done")
                {
                    Pending => format!("{kind} pending"),
                    Done(at) => format!("{kind} done at {} ms", at.as_ms()),
                };
                self.tests.push(rendered);
            }
        }
    }

    fn job(
        &mut self,
        around: &[String],
        among: &[String],
        size: Option<u64>,
        pause_ms: Option<[u64; 2]>,
    ) {
        let ids = |names: &[String]| -> Vec<HostId> {
            names.iter().map(|name| self.host(name)).collect()
        };
        let mut edges = ring(&ids(around));
        edges.extend(mesh(&ids(among)));
        let mut traffic = JobTraffic::steady();
        if let Some(size) = size {
            traffic = traffic.of(Bytes::new(size));
        }
        if let Some([from, to]) = pause_ms {
            traffic = traffic.paused(SimTime::from_ms(from), SimTime::from_ms(to));
        }
        let job = Job::start(self.net().clone(), &edges, traffic);
        self.connections = job
            .edges()
            .map(|(_, connection, _)| Ok(connection))
            .collect();
        self.under = Under::Job(Box::new(job));
    }

    fn notify(&mut self, at_ms: u64, host: &str, rail: &str, state: &str) {
        let change = RailChange {
            at: SimTime::from_ms(at_ms),
            host: self.host(host),
            rail: rail_named(rail),
            state: match state {
                "up" => RailState::Up,
                "down" => RailState::Down,
                "gone" => RailState::Gone,
                other => panic!("no state `{other}`"),
            },
        };
        match &mut self.under {
            Under::Net(net) => net.notify(change),
            Under::Job(job) => job.notify(change),
        }
    }
}

/// The mask of a call that returned a request.
pub(super) fn mask(called: &Isend) -> Option<RailMask> {
    match called {
        Isend::Request(_, mask) => Some(*mask),
        Isend::CallAgain | Isend::Spins => None,
    }
}

pub(super) fn rail_named(name: &str) -> Rail {
    let named = Rail::BOTH.into_iter().find(|rail| rail.to_string() == name);
    named.unwrap_or_else(|| panic!("no rail `{name}`"))
}

fn hosts(world: &World) -> Vec<Host> {
    let mut hosts = match world.hosts {
        None => eight_vms(),
        Some(count) => (1..=count).map(one_of_many).collect(),
    };
    for host in &mut hosts {
        for (name, value) in &world.environment {
            let environment = std::mem::take(&mut host.environment);
            host.environment = match value {
                Some(value) => environment.with(name, value),
                None => environment.without(name),
            };
        }
        match world.agents.get(host.name.as_str()).map(String::as_str) {
            None => {}
            Some("missing") => host.agent = Agent::missing(),
            Some("wrong-magic") => {
                let mut bytes = HintMemory::new().bytes().to_vec();
                bytes[0] ^= 1;
                host.agent = Agent::with_memory(&bytes);
            }
            Some(other) => panic!("no agent `{other}`"),
        }
        if let Some(gid) = world.gids.get(host.name.as_str()) {
            host.nics.sout.gid = Gid::new(gid.parse().expect("a GID"));
        }
        if world
            .infiniband_sup
            .iter()
            .any(|name| name == host.name.as_str())
        {
            host.nics.sup.link_layer = LinkLayer::InfiniBand;
        }
    }
    hosts
}

fn one_of_many(number: u16) -> Host {
    let [high, low] = number.to_be_bytes();
    let name = format!("vm{number}");
    Host::new(
        &name,
        Ipv4Addr::new(10, 0, high, low),
        Ipv4Addr::new(10, 9, high, low),
    )
}
