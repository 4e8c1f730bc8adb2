//! Arbitrary stories: worlds, parameters and fault scripts for the laws.

use std::collections::BTreeMap;

use lnet::{
    FaultEffect, Lnet, LnetProfile, MessageId, MsgStatus, Nid, Notice, Pace, Param, PortEvent,
    Request, Trouble, Verb, Wire, WorkloadEvent,
};
use platforms::NodeName;
use proptest::{collection::vec, prelude::*};
use simfs::SimTime;

use crate::stage;

/// A world: flat, with this many rails of each net per node, or with a router.
#[derive(Clone, Debug)]
pub(crate) enum World {
    Flat(Vec<(usize, usize, bool)>),
    Routed(&'static str),
}

/// An action on it.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Send {
        from: usize,
        to: usize,
        verb: Verb,
        source: Option<usize>,
        count: usize,
    },
    Port {
        ni: usize,
        event: PortEvent,
    },
    Wire {
        from: usize,
        to: usize,
        wire: Wire,
    },
    Rule {
        node: usize,
        pace: Pace,
        effect: FaultEffect,
    },
    ClearRules {
        node: usize,
    },
    Health {
        ni: usize,
        value: u16,
    },
    Load {
        node: usize,
        loaded: bool,
    },
}

/// A world, its parameters, and the actions with their delays.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) profile: LnetProfile,
    pub(crate) world: World,
    pub(crate) sensitivity: u16,
    pub(crate) retry_count: u32,
    pub(crate) timeout_s: u32,
    pub(crate) interval_s: u32,
    pub(crate) limit_s: u32,
    pub(crate) acts: Vec<(u64, Act)>,
}

/// What a story may contain.
#[derive(Clone, Copy)]
pub(crate) struct With {
    pub(crate) faults: bool,
    pub(crate) reloads: bool,
    pub(crate) sets: bool,
}

impl With {
    pub(crate) const ALL: Self = Self {
        faults: true,
        reloads: true,
        sets: true,
    };
    pub(crate) const NO_RELOADS: Self = Self {
        faults: true,
        reloads: false,
        sets: true,
    };
    pub(crate) const NO_SETS: Self = Self {
        faults: true,
        reloads: true,
        sets: false,
    };
    pub(crate) const SENDS_ONLY: Self = Self {
        faults: false,
        reloads: false,
        sets: false,
    };
}

fn world() -> impl Strategy<Value = World> {
    prop_oneof![
        4 => vec((1..=3_usize, 0..=2_usize, prop::bool::weighted(0.8)), 2..=3).prop_map(World::Flat),
        1 => prop::sample::select(vec!["routed", "routed-mr"]).prop_map(World::Routed),
    ]
}

fn failing() -> impl Strategy<Value = MsgStatus> {
    prop::sample::select(MsgStatus::ALL[1..].to_vec())
}

fn pace() -> impl Strategy<Value = Pace> {
    prop_oneof![
        Just(Pace::Every),
        (1..=4_u32).prop_map(Pace::OneIn),
        (1..=5_u32).prop_map(Pace::EverySecs),
        (1..=5_u32).prop_map(Pace::RandomlyEverySecs),
    ]
}

fn effect() -> impl Strategy<Value = FaultEffect> {
    prop_oneof![
        4 => vec(failing(), 1..=3).prop_map(FaultEffect::Simulate),
        1 => Just(FaultEffect::Drop),
        1 => (1..=90_u64).prop_map(|s| FaultEffect::Delay(SimTime::from_secs(s))),
    ]
}

fn wire() -> impl Strategy<Value = Wire> {
    prop_oneof![
        1 => Just(Wire::Carries),
        1 => (1..=90_000_u64).prop_map(|ms| Wire::Delays(SimTime::from_ms(ms))),
        3 => prop::sample::select(Trouble::ALL.to_vec()).prop_map(Wire::Fails),
    ]
}

fn act(with: With) -> BoxedStrategy<Act> {
    let any = 0..64_usize;
    let verb = prop::sample::select(vec![Verb::Put, Verb::PutAck, Verb::Get]);
    let send = (
        any.clone(),
        any.clone(),
        verb,
        prop::option::weighted(0.2, any.clone()),
        1..=12_usize,
    )
        .prop_map(|(from, to, verb, source, count)| Act::Send {
            from,
            to,
            verb,
            source,
            count,
        });
    if !with.faults {
        // A given source may have no route, which is an error of the caller.
        let free = send.prop_map(|act| match act {
            Act::Send {
                from,
                to,
                verb,
                count,
                ..
            } => Act::Send {
                from,
                to,
                verb,
                source: None,
                count,
            },
            other => other,
        });
        return free.boxed();
    }
    let events = vec![
        PortEvent::Active,
        PortEvent::Active,
        PortEvent::Error,
        PortEvent::Lost,
        PortEvent::Gone,
    ];
    let event = prop::sample::select(events);
    let port = (any.clone(), event).prop_map(|(ni, event)| Act::Port { ni, event });
    let wires = (any.clone(), any.clone(), wire()).prop_map(|(from, to, wire)| Act::Wire {
        from,
        to,
        wire,
    });
    let rule = (any.clone(), pace(), effect()).prop_map(|(node, pace, effect)| Act::Rule {
        node,
        pace,
        effect,
    });
    let clear = any.clone().prop_map(|node| Act::ClearRules { node });
    let health = (any.clone(), 0..=1000_u16).prop_map(|(ni, value)| Act::Health { ni, value });
    let load = (any, prop::bool::ANY).prop_map(|(node, loaded)| Act::Load { node, loaded });
    let (sets, reloads) = (u32::from(with.sets), u32::from(with.reloads));
    // A weight of 0 excludes a kind of action.
    prop_oneof![
        6 => send,
        3 => port,
        1 => wires,
        2 => rule,
        1 => clear,
        sets => health,
        reloads => load,
    ]
    .boxed()
}

/// Any story of a profile.
pub(crate) fn story(with: With) -> impl Strategy<Value = Story> {
    let sensitivity = prop_oneof![
        Just(0_u16),
        Just(1),
        Just(100),
        Just(300),
        Just(1000),
        0..=1000_u16
    ];
    (
        (prop::sample::select(LnetProfile::ALL.to_vec()), world()),
        sensitivity,
        0..=5_u32,
        6..=60_u32,
        1..=20_u32,
        prop::option::of(1..=30_u32),
        vec((0..=2500_u64, act(with)), 1..=30),
    )
        .prop_map(
            |((profile, world), sensitivity, retries, timeout_s, interval_s, limit, acts)| {
                let retry_count = if sensitivity == 0 { 0 } else { retries };
                let limit_s = limit.unwrap_or(0);
                Story {
                    profile,
                    world,
                    sensitivity,
                    retry_count,
                    timeout_s,
                    interval_s,
                    limit_s,
                    acts,
                }
            },
        )
}

/// A story in progress.
pub(crate) struct Playing {
    pub(crate) lnet: Lnet,
    /// Every interface: its node and its name.
    pub(crate) nis: Vec<(NodeName, Nid)>,
    pub(crate) names: Vec<NodeName>,
    /// When each request was sent, and by whom.
    pub(crate) requests: BTreeMap<MessageId, NodeName>,
}

impl Story {
    /// The world, with the story's parameters on every node.
    pub(crate) fn begin(&self) -> Playing {
        let specs = match &self.world {
            World::Routed(name) => stage::specs(name, self.profile),
            World::Flat(nodes) => {
                let flat = nodes
                    .iter()
                    .zip(["A", "B", "C"])
                    .map(|((ib, tcp, discovery), end)| {
                        let low = end.to_lowercase();
                        let ib = (1..=*ib).map(|rail| (format!("{low}{rail}"), "o2ib"));
                        let tcp = (1..=*tcp).map(|rail| (format!("{low}{rail}t"), "tcp"));
                        let nis: Vec<(String, &str)> = ib.chain(tcp).collect();
                        let nis: Vec<(&str, &str)> =
                            nis.iter().map(|(a, n)| (a.as_str(), *n)).collect();
                        let mut spec = stage::node(end, self.profile, &nis);
                        spec.discovery = *discovery;
                        spec
                    });
                flat.collect()
            }
        };
        let names: Vec<NodeName> = specs.iter().map(|spec| spec.name.clone()).collect();
        let nis = specs.iter().flat_map(|spec| {
            spec.nis
                .iter()
                .map(|ni| (spec.name.clone(), ni.nid.clone()))
        });
        let nis = nis.collect();
        let mut playing = Playing {
            lnet: stage::lnet(specs),
            nis,
            names,
            requests: BTreeMap::new(),
        };
        for name in playing.names.clone() {
            playing.tune(self, &name);
        }
        playing
    }
}

impl Playing {
    fn tune(&mut self, story: &Story, name: &NodeName) {
        for (param, value) in [
            (Param::RetryCount, 0),
            (Param::TransactionTimeout, story.timeout_s),
            (Param::HealthSensitivity, u32::from(story.sensitivity)),
            (Param::RetryCount, story.retry_count),
            (Param::MaxRecoveryPingInterval, story.interval_s),
            (Param::RecoveryLimit, story.limit_s),
        ] {
            self.lnet.set(name, param, i64::from(value)).unwrap();
        }
    }

    /// The port of an interface.
    fn port(&self, ni: usize) -> platforms::PortRef {
        let (node, nid) = &self.nis[ni % self.nis.len()];
        stage::port(node.as_str(), nid.to_string().split('@').next().unwrap())
    }

    /// Performs one action; the requests that it sends are recorded.
    pub(crate) fn act(&mut self, story: &Story, act: &Act) -> Vec<MessageId> {
        let node = |at: usize| self.names[at % self.names.len()].clone();
        let mut sent = Vec::new();
        match act {
            Act::Send {
                from,
                to,
                verb,
                source,
                count,
            } => {
                let name = node(*from);
                let own: Vec<&Nid> = self
                    .nis
                    .iter()
                    .filter(|ni| ni.0 == name)
                    .map(|ni| &ni.1)
                    .collect();
                let others: Vec<&Nid> = self
                    .nis
                    .iter()
                    .filter(|ni| ni.0 != name)
                    .map(|ni| &ni.1)
                    .collect();
                let reached = |nid: &&Nid| self.lnet.node(&name).unwrap().peer_ni(nid).is_some();
                let others: Vec<&Nid> = others.into_iter().filter(reached).collect();
                let destination = others[to % others.len()].clone();
                let source = source.map(|at| own[at % own.len()].clone());
                for _ in 0..*count {
                    let request = Request {
                        node: name.clone(),
                        verb: *verb,
                        source: source.clone(),
                        destination: destination.clone(),
                        length: 4096,
                        portal: 12,
                    };
                    // A node without LNet sends nothing.
                    if let Ok(id) = self.lnet.send(request) {
                        self.requests.insert(id, name.clone());
                        sent.push(id);
                    }
                }
            }
            Act::Port { ni, event } => {
                let port = self.port(*ni);
                self.lnet
                    .notify(Notice::Port {
                        port,
                        event: *event,
                    })
                    .unwrap();
            }
            Act::Wire { from, to, wire } => {
                let (from, to) = (self.port(*from), self.port(*to));
                self.lnet
                    .notify(Notice::Wire {
                        from,
                        to,
                        wire: *wire,
                    })
                    .unwrap();
            }
            Act::Rule {
                node: at,
                pace,
                effect,
            } => {
                let spec = stage::rule(*pace, effect.clone());
                // Rejected only if the node's LNet is not loaded.
                let _ = self.lnet.add_rule(&node(*at), spec);
            }
            Act::ClearRules { node: at } => {
                let _ = self.lnet.clear_rules(&node(*at));
            }
            Act::Health { ni, value } => {
                let (name, nid) = self.nis[ni % self.nis.len()].clone();
                let side = lnet::Side::Local;
                let _ = self.lnet.set_health(&name, side, &nid, *value);
            }
            Act::Load { node: at, loaded } => {
                let name = node(*at);
                let was = self.lnet.node(&name).unwrap().is_loaded();
                self.lnet
                    .notify(Notice::Node {
                        node: name.clone(),
                        loaded: *loaded,
                    })
                    .unwrap();
                if *loaded && !was {
                    self.tune(story, &name);
                }
            }
        }
        sent
    }
}

/// Observes a story in progress.
type Watch<'a> = dyn FnMut(&Playing, &[WorkloadEvent]) -> Result<(), TestCaseError> + 'a;

/// Plays a story, and calls `watch` at every whole second and after every action.
pub(crate) fn play(
    story: &Story,
    tail_s: u64,
    mut watch: impl FnMut(&Playing, &[WorkloadEvent]) -> Result<(), TestCaseError>,
) -> Result<Playing, TestCaseError> {
    let mut playing = story.begin();
    let mut at = SimTime::ZERO;
    let seconds = |playing: &mut Playing, to: SimTime, watch: &mut Watch<'_>| {
        loop {
            let next = SimTime::from_secs(playing.lnet.now().as_ms() / 1000 + 1).min(to);
            let happened = playing.lnet.advance(next);
            watch(playing, &happened)?;
            if next == to {
                return Ok::<(), TestCaseError>(());
            }
        }
    };
    for (after_ms, act) in &story.acts {
        at += SimTime::from_ms(*after_ms);
        seconds(&mut playing, at, &mut watch)?;
        playing.act(story, act);
        let happened = playing.lnet.advance(at);
        watch(&playing, &happened)?;
    }
    seconds(&mut playing, at + SimTime::from_secs(tail_s), &mut watch)?;
    Ok(playing)
}
