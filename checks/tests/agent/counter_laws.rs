//! Laws of counters that hold under every script of growth, resets, failed reads and restarts.

use std::collections::BTreeMap;

use checks::ReadError;
use proptest::prelude::*;

use crate::world::{ANCHOR, Connector, Rig, brief, nic};

const COUNTERS: [&str; 4] = [
    "counters/link_downed",
    "counters/symbol_error",
    "counters/link_error_recovery",
    "hw_counters/roce_slow_restart",
];
const DEVICES: usize = 2;

/// One thing that happens between two polls, to a counter of a device.
#[derive(Debug, Clone)]
enum Act {
    Add(usize, usize, u64),
    Reset(usize, usize),
    Set(usize, usize, u64),
    Break(usize, usize, ReadError),
    Garble(usize, usize),
    Mend,
    Connector(Connector),
    Wait(u64),
    Kill,
    Rename(usize),
}

fn acts(kinds: &'static [u8]) -> impl Strategy<Value = Act> {
    let place = || (0..DEVICES, 0..COUNTERS.len());
    let error = prop::sample::select(vec![ReadError::EIO, ReadError::ENOENT, ReadError::TimedOut]);
    let connector = prop::sample::select(vec![
        Connector::Accepts,
        Connector::Accepts,
        Connector::Refuses(3),
        Connector::Missing,
    ]);
    let growth = prop_oneof![1..4_u64, 8..14_u64, 50..200_u64];
    let all: Vec<(u8, BoxedStrategy<Act>)> = vec![
        (
            b'a',
            (place(), growth)
                .prop_map(|((d, c), n)| Act::Add(d, c, n))
                .boxed(),
        ),
        (b'r', place().prop_map(|(d, c)| Act::Reset(d, c)).boxed()),
        (
            b's',
            (place(), any::<u64>())
                .prop_map(|((d, c), n)| Act::Set(d, c, n))
                .boxed(),
        ),
        (
            b'e',
            (place(), error)
                .prop_map(|((d, c), e)| Act::Break(d, c, e))
                .boxed(),
        ),
        (b'e', place().prop_map(|(d, c)| Act::Garble(d, c)).boxed()),
        (b'm', Just(Act::Mend).boxed()),
        (b'c', connector.prop_map(Act::Connector).boxed()),
        (b'w', (1..90_u64).prop_map(Act::Wait).boxed()),
        (b'k', Just(Act::Kill).boxed()),
        (b'n', (0..DEVICES).prop_map(Act::Rename).boxed()),
    ];
    let weighted = all
        .into_iter()
        .filter(move |(kind, _)| kinds.contains(kind));
    let weight = |kind: u8| if kind == b'a' { 6 } else { 2 };
    prop::strategy::Union::new_weighted(weighted.map(|(kind, s)| (weight(kind), s)).collect())
}

fn script(kinds: &'static [u8]) -> impl Strategy<Value = Vec<Vec<Act>>> {
    prop::collection::vec(prop::collection::vec(acts(kinds), 0..4), 0..20)
}

type Key = (String, Vec<String>);

struct Play {
    rig: Rig,
    names: Vec<String>,
    values: BTreeMap<(usize, usize), u64>,
    garbled: Vec<(usize, usize)>,
    ledger: BTreeMap<Key, bool>,
    calls_read: usize,
    said: Vec<String>,
    twice: Vec<String>,
    kills: bool,
    renames: usize,
    /// By how many milliseconds each poll is late, one after the other.
    late_ms: Vec<u64>,
    polls: usize,
}

impl Play {
    fn new(kills: bool) -> Play {
        let nics = [nic(0), nic(1).ethernet()];
        let mut rig = Rig::new(&nics);
        rig.args = [
            "--checks=InfiniBandDegradationCheck,EthernetDegradationCheck",
            // As drills pass it: every poll of the script reads the counters.
            "--counter-polling-interval=1ms",
        ]
        .map(str::to_owned)
        .to_vec();
        let mut play = Play {
            rig,
            names: nics.iter().map(|nic| nic.name.clone()).collect(),
            values: BTreeMap::new(),
            garbled: Vec::new(),
            ledger: BTreeMap::new(),
            calls_read: 0,
            said: Vec::new(),
            twice: Vec::new(),
            kills,
            renames: 0,
            late_ms: vec![0],
            polls: 0,
        };
        for device in 0..DEVICES {
            for counter in 0..COUNTERS.len() {
                play.values.insert((device, counter), 100);
            }
        }
        play
    }

    fn path(&self, device: usize, counter: usize) -> String {
        format!(
            "{ANCHOR}/{}/ports/1/{}",
            self.names[device], COUNTERS[counter]
        )
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Add(d, c, by) => *self.values.get_mut(&(*d, *c)).unwrap() += by,
            Act::Reset(d, c) => *self.values.get_mut(&(*d, *c)).unwrap() = 0,
            Act::Set(d, c, to) => *self.values.get_mut(&(*d, *c)).unwrap() = *to,
            Act::Break(d, c, error) => {
                let path = self.path(*d, *c);
                self.rig.world.errors.insert(path, *error);
            }
            Act::Garble(d, c) => self.garbled.push((*d, *c)),
            Act::Mend => {
                self.rig.world.errors.clear();
                self.garbled.clear();
            }
            Act::Connector(connector) => self.rig.connector = connector.clone(),
            Act::Wait(seconds) => self.rig.wait(*seconds),
            Act::Kill => self.rig.kill(),
            Act::Rename(device) => {
                self.renames += 1;
                self.rig.world.drop_device(&self.names[*device]);
                self.names[*device] = format!("mlx5_{}", 10 + self.renames);
                let nic = nic(u32::try_from(*device).unwrap()).named(&self.names[*device]);
                let nic = if *device == 1 { nic.ethernet() } else { nic };
                self.rig.world.put_device(&nic);
            }
        }
    }

    fn poll(&mut self) {
        for ((device, counter), value) in &self.values {
            let is_garbled = self.garbled.contains(&(*device, *counter));
            let text = if is_garbled {
                "N/A (no PMA)".to_owned()
            } else {
                value.to_string()
            };
            self.rig.world.put(&self.path(*device, *counter), &text);
        }
        let late_ns = self.late_ms[self.polls % self.late_ms.len()] * 1_000_000;
        self.polls += 1;
        self.rig.world.boot_ns += late_ns;
        let said = self.rig.poll();
        self.rig.world.boot_ns -= late_ns;
        for (_, events) in &self.rig.calls[self.calls_read..] {
            for event in events {
                let entities: Vec<&str> = event
                    .entities_impacted
                    .iter()
                    .map(|e| e.entity_value.as_str())
                    .collect();
                let key = (entities.join("/"), event.error_code.clone());
                if event.is_healthy {
                    self.ledger.remove(&key);
                } else if self.ledger.insert(key, event.is_fatal).is_some() {
                    self.twice.push(event.message.clone());
                }
            }
        }
        self.calls_read = self.rig.calls.len();
        self.said.extend(said);
        if self.kills {
            self.rig.kill();
        }
    }

    fn standing(&mut self) -> BTreeMap<Key, bool> {
        let agent = self.rig.agent.as_ref().unwrap();
        let rendered = agent.standing().into_iter().map(|fault| {
            let (entity, code) = fault.entity.rsplit_once('/').unwrap();
            ((entity.to_owned(), vec![code.to_owned()]), fault.fatal)
        });
        rendered.collect()
    }
}

fn play(script: &[Vec<Act>], kills: bool) -> Play {
    play_late(script, kills, vec![0])
}

fn play_late(script: &[Vec<Act>], kills: bool, late_ms: Vec<u64>) -> Play {
    let mut play = Play::new(kills);
    play.late_ms = late_ms;
    play.poll();
    for acts in script {
        for act in acts {
            play.act(act);
        }
        play.poll();
    }
    play
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_breach_is_said_once_until_its_reset(script in script(b"aremwckn")) {
        prop_assert_eq!(play(&script, false).twice, Vec::<String>::new());
    }

    /// Whatever is polled each second: the same counters breach in the same polls, and none else.
    #[test]
    fn a_late_timer_changes_nothing_that_is_said(
        script in script(b"arckn"),
        late_ms in prop::collection::vec(0_u64..=20, 1..30),
    ) {
        let (exact, late) = (play(&script, false).said, play_late(&script, false, late_ms).said);
        prop_assert_eq!(brief(&exact), brief(&late));
    }

    #[test]
    fn a_kill_between_any_two_polls_changes_nothing_that_is_said(script in script(b"arsemwcn")) {
        prop_assert_eq!(play(&script, false).said, play(&script, true).said);
    }

    #[test]
    fn without_growth_nothing_is_unhealthy(script in script(b"rremwckn")) {
        let play = play(&script, false);
        let faults: Vec<&String> = play.said.iter().filter(|line| !line.starts_with('h')).collect();
        prop_assert_eq!(faults, Vec::<&String>::new());
    }

    #[test]
    fn the_agent_knows_what_stands_and_a_reset_clears_it(script in script(b"aremwckn")) {
        let mut play = play(&script, false);
        play.act(&Act::Mend);
        play.act(&Act::Connector(Connector::Accepts));
        play.poll();
        let known = play.standing();
        prop_assert_eq!(&known, &play.ledger);
        for value in play.values.values_mut() {
            *value = 0;
        }
        play.poll();
        play.poll();
        prop_assert_eq!(&play.ledger, &BTreeMap::new());
        prop_assert_eq!(play.standing(), BTreeMap::new());
    }

    #[test]
    fn any_value_of_any_width_is_no_panic(script in script(b"semwkn")) {
        let _ = play(&script, false);
    }
}
