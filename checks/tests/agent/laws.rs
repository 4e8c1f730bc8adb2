//! Laws that hold in every small world under every script of faults.
//!
//! A ledger simulates the connector: it keeps the faults that follow from the accepted events.

use std::collections::{BTreeMap, BTreeSet};

use checks::ReadError;
use proptest::prelude::*;

use crate::world::{ANCHOR, Connector, DISABLED, INIT, Nic, POLLING, Rig, UP, nic};

/// One thing that happens between two polls.
#[derive(Debug, Clone)]
enum Act {
    Set(usize, u32, usize),
    Drop(usize),
    Back(usize),
    Rename(usize),
    Swap(usize, usize),
    Break(usize, usize, ReadError),
    Mend,
    Connector(Connector),
    Reboot,
    Wait(u64),
}

const PAIRS: [(&str, &str); 6] = [
    UP,
    DISABLED,
    POLLING,
    INIT,
    ("4: ACTIVE", "6: LinkErrorRecovery"),
    ("9: <unknown>", "3: Disabled"),
];
const BREAKABLE: [&str; 5] = [
    "",
    "/ports",
    "/ports/1/state",
    "/ports/1/phys_state",
    "/ports/1/link_layer",
];

fn acts(kinds: &'static [u8]) -> impl Strategy<Value = Act> {
    let errors = prop::sample::select(vec![
        ReadError::EIO,
        ReadError::EACCES,
        ReadError::ENOTDIR,
        ReadError::TimedOut,
    ]);
    let set = (0..5_usize, 1..3_u32, 0..PAIRS.len()).prop_map(|(d, p, s)| Act::Set(d, p, s));
    let broken = (0..5_usize, 0..BREAKABLE.len(), errors).prop_map(|(d, p, e)| Act::Break(d, p, e));
    let connector = prop::sample::select(vec![
        Connector::Accepts,
        Connector::Accepts,
        Connector::Refuses(3),
        Connector::Refuses(14),
        Connector::Missing,
    ]);
    let all: Vec<(u8, BoxedStrategy<Act>)> = vec![
        (b's', set.boxed()),
        (b'd', (0..5_usize).prop_map(Act::Drop).boxed()),
        (b'b', (0..5_usize).prop_map(Act::Back).boxed()),
        (b'n', (0..5_usize).prop_map(Act::Rename).boxed()),
        (
            b'n',
            (0..5_usize, 0..5_usize)
                .prop_map(|(one, other)| Act::Swap(one, other))
                .boxed(),
        ),
        (b'e', broken.boxed()),
        (b'm', Just(Act::Mend).boxed()),
        (b'c', connector.prop_map(Act::Connector).boxed()),
        (b'l', Just(Act::Connector(Connector::LosesReply)).boxed()),
        (b'r', Just(Act::Reboot).boxed()),
        (b'w', (1..6_u64).prop_map(Act::Wait).boxed()),
    ];
    let weighted = all
        .into_iter()
        .filter(move |(kind, _)| kinds.contains(kind));
    prop::strategy::Union::new_weighted(
        weighted
            .map(|(kind, strategy)| (if kind == b's' { 6 } else { 2 }, strategy))
            .collect(),
    )
}

/// Devices that must never appear in an event, beside those that are monitored.
fn nics() -> impl Strategy<Value = Vec<Nic>> {
    // Cards with different numbers of ports are a fault of the node, from its first poll on.
    (prop::collection::vec(any::<bool>(), 1..5), 1..3_u32).prop_map(|(layers, ports)| {
        let mut nics: Vec<Nic> = layers
            .into_iter()
            .enumerate()
            .map(|(index, ethernet)| {
                let nic = nic(u32::try_from(index).unwrap()).ports(ports);
                if ethernet { nic.ethernet() } else { nic }
            })
            .collect();
        nics.push(nic(20).vf());
        nics.push(nic(21).numa(7));
        nics
    })
}

struct Play {
    rig: Rig,
    nics: Vec<Nic>,
    /// The present name of each device.
    names: Vec<String>,
    present: Vec<bool>,
    /// Devices that took another's name since the last poll. None of them goes before the next poll: the monitor
    /// would report it under a name that a device which is there bears.
    swapped: BTreeSet<usize>,
    said: Vec<String>,
    ledger: BTreeMap<(String, String), bool>,
    calls_read: usize,
    twice: Vec<String>,
    restarts: bool,
    renames: usize,
}

impl Play {
    fn new(nics: &[Nic], restarts: bool) -> Play {
        let mut rig = Rig::new(nics);
        rig.args = vec!["--escalate-after=3s".to_owned()];
        Play {
            rig,
            nics: nics.to_vec(),
            names: nics.iter().map(|nic| nic.name.clone()).collect(),
            present: vec![true; nics.len()],
            swapped: BTreeSet::new(),
            said: Vec::new(),
            ledger: BTreeMap::new(),
            calls_read: 0,
            twice: Vec::new(),
            restarts,
            renames: 0,
        }
    }

    fn act(&mut self, act: &Act) {
        let count = self.nics.len();
        match act {
            Act::Set(device, port, pair) => {
                let device = device % count;
                if self.present[device] && *port <= self.nics[device].ports {
                    self.rig.world.set(&self.names[device], *port, PAIRS[*pair]);
                }
            }
            Act::Drop(device) => {
                let device = device % count;
                if !self.swapped.contains(&device) {
                    self.rig.world.drop_device(&self.names[device]);
                    self.present[device] = false;
                }
            }
            Act::Back(device) => self.bring_back(device % count),
            Act::Rename(device) => {
                let device = device % count;
                if self.present[device] {
                    self.renames += 1;
                    self.rig.world.drop_device(&self.names[device]);
                    self.names[device] = format!("mlx5_{}", 100 + self.renames);
                    self.present[device] = false;
                    self.bring_back(device);
                }
            }
            Act::Swap(one, other) => self.swap(one % count, other % count),
            Act::Break(device, path, error) => {
                let device = device % count;
                let name = &self.names[device];
                if BREAKABLE[*path].is_empty() && self.swapped.contains(&device) {
                    return;
                }
                let path = format!("{ANCHOR}/{name}{}", BREAKABLE[*path]);
                self.rig.world.errors.insert(path, *error);
            }
            Act::Mend => self.rig.world.errors.clear(),
            Act::Connector(connector) => self.rig.connector = connector.clone(),
            Act::Reboot => self.rig.reboot(),
            Act::Wait(seconds) => self.rig.wait(*seconds),
        }
    }

    /// Two present devices leave and return healthy, each under the other's name. Not if the entry of one cannot
    /// be read: then the monitor cannot see which function it is, and the faults of two functions stand under one
    /// name until it can.
    fn swap(&mut self, one: usize, other: usize) {
        if one == other || !self.present[one] || !self.present[other] {
            return;
        }
        let is_broken = |device: usize| {
            let entry = format!("{ANCHOR}/{}", self.names[device]);
            self.rig.world.errors.contains_key(&entry)
        };
        if is_broken(one) || is_broken(other) {
            return;
        }
        for device in [one, other] {
            self.rig.world.drop_device(&self.names[device]);
            self.present[device] = false;
        }
        self.names.swap(one, other);
        self.swapped.extend([one, other]);
        self.bring_back(one);
        self.bring_back(other);
    }

    fn bring_back(&mut self, device: usize) {
        if !self.present[device] {
            let nic = self.nics[device].clone().named(&self.names[device]);
            self.rig.world.put_device(&nic);
            self.present[device] = true;
        }
    }

    fn poll(&mut self) -> Vec<String> {
        self.swapped.clear();
        let said = self.rig.poll();
        for (check, events) in &self.rig.calls[self.calls_read..] {
            for event in events {
                let rendered = crate::world::rendered(event);
                let entity =
                    crate::world::brief(std::slice::from_ref(&rendered))[0][2..].to_owned();
                let key = (check.clone(), entity);
                if event.is_healthy {
                    self.ledger.remove(&key);
                    continue;
                }
                let stood = self.ledger.insert(key, event.is_fatal);
                if stood.is_some_and(|was_fatal| was_fatal || !event.is_fatal) {
                    self.twice.push(rendered);
                }
            }
        }
        self.calls_read = self.rig.calls.len();
        self.said.extend(said.iter().cloned());
        if self.restarts {
            self.rig.stop();
        }
        said
    }

    fn heal(&mut self) {
        self.rig.world.errors.clear();
        self.rig.connector = Connector::Accepts;
        for device in 0..self.nics.len() {
            self.bring_back(device);
            for port in 1..=self.nics[device].ports {
                self.rig.world.set(&self.names[device], port, UP);
            }
        }
    }
}

fn play(nics: &[Nic], script: &[Vec<Act>], restarts: bool) -> Play {
    let mut play = Play::new(nics, restarts);
    play.poll();
    for acts in script {
        for act in acts {
            play.act(act);
        }
        play.poll();
    }
    play
}

fn script(kinds: &'static [u8]) -> impl Strategy<Value = Vec<Vec<Act>>> {
    prop::collection::vec(prop::collection::vec(acts(kinds), 0..3), 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_fault_is_cleared_once_the_world_is_healed(
        nics in nics(), script in script(b"sdbnemclrw"),
    ) {
        let mut play = play(&nics, &script, false);
        play.heal();
        for _ in 0..3 {
            play.poll();
        }
        prop_assert_eq!(&play.ledger, &BTreeMap::new());
        prop_assert_eq!(play.rig.agent.as_ref().unwrap().standing(), vec![]);
    }

    #[test]
    fn no_fault_is_said_twice_in_one_boot(nics in nics(), script in script(b"sdbnemcw")) {
        let play = play(&nics, &script, false);
        prop_assert_eq!(play.twice, Vec::<String>::new());
    }

    #[test]
    fn the_agent_knows_what_stands_at_the_connector(
        nics in nics(), script in script(b"sdbemcw"),
    ) {
        let play = play(&nics, &script, false);
        let agent = play.rig.agent.as_ref().unwrap();
        let known: BTreeMap<(String, String), bool> = agent
            .standing()
            .into_iter()
            .map(|fault| ((fault.check.name().to_owned(), fault.entity), fault.fatal))
            .collect();
        prop_assert_eq!(known, play.ledger);
    }

    #[test]
    fn a_world_that_stands_still_grows_silent(nics in nics(), script in script(b"sdbnemrw")) {
        let mut play = play(&nics, &script, false);
        for _ in 0..10 {
            play.poll();
        }
        let said: Vec<String> = (0..5).flat_map(|_| play.poll()).collect();
        prop_assert_eq!(said, Vec::<String>::new());
    }

    #[test]
    fn an_unreadable_path_never_produces_a_fatal(nics in nics(), script in script(b"emw")) {
        let play = play(&nics, &script, false);
        let fatal: Vec<&String> = play.said.iter().filter(|line| line.starts_with('F')).collect();
        prop_assert_eq!(fatal, Vec::<&String>::new());
    }

    #[test]
    fn virtual_and_management_devices_never_appear(
        nics in nics(), script in script(b"sdbemcrw"),
    ) {
        let play = play(&nics, &script, false);
        let spoken = play.said.iter().find(|line| ["mlx5_20", "mlx5_21"].iter().any(|name| line.contains(name)));
        prop_assert_eq!(spoken, None);
    }

    #[test]
    fn a_restart_between_any_two_polls_changes_nothing_that_is_said(
        nics in nics(), script in script(b"sdbnmcw"),
    ) {
        let without = play(&nics, &script, false);
        let with = play(&nics, &script, true);
        prop_assert_eq!(without.said, with.said);
    }

    #[test]
    fn the_same_bytes_say_the_same(nics in nics(), script in script(b"sdbnemcrw")) {
        let one = play(&nics, &script, false);
        let other = play(&nics, &script, false);
        prop_assert_eq!(one.rig.calls, other.rig.calls);
        prop_assert_eq!(one.rig.disk, other.rig.disk);
    }

    #[test]
    fn arbitrary_state_files_are_no_panic(text in "\\PC{0,60}", cut in 0..2000_usize) {
        let mut rig = Rig::started(&[nic(0), nic(1)]);
        rig.stop();
        let mut bytes = rig.disk.take().unwrap();
        bytes.truncate(cut);
        bytes.extend_from_slice(text.as_bytes());
        rig.disk = Some(bytes);
        rig.polls(2);
    }
}
