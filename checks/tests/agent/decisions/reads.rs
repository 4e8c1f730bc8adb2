//! What a poll reads: constant facts once, counters when they are due, nothing that no check needs.

use std::cell::RefCell;

use checks::{Answer, Clocks, Hands, ReadError, Request};

use super::nics;
use crate::world::{ANCHOR, DISABLED, INIT, Nic, POLLING, Rig, World, brief, nic};

/// A world that records which paths were requested.
struct Watched<'a> {
    world: &'a World,
    paths: RefCell<Vec<String>>,
}

impl Hands for Watched<'_> {
    fn fetch(&self, requests: &[Request]) -> Vec<Result<Answer, ReadError>> {
        let paths = requests.iter().map(|request| request.path().to_owned());
        self.paths.borrow_mut().extend(paths);
        self.world.fetch(requests)
    }

    fn clocks(&self) -> Result<Clocks, ReadError> {
        self.world.clocks()
    }
}

/// What the next poll would read below the class folder, in order.
fn reads(rig: &mut Rig) -> Vec<String> {
    rig.tick();
    let watched = Watched {
        world: &rig.world,
        paths: RefCell::default(),
    };
    let _ = rig.agent.as_ref().unwrap().poll(&watched);
    let below = format!("{ANCHOR}/");
    let paths = watched.paths.into_inner().into_iter();
    paths
        .filter_map(|path| path.strip_prefix(&below).map(str::to_owned))
        .collect()
}

fn steady(names: &[&str]) -> Vec<String> {
    let of = |rest: &'static str| names.iter().map(move |name| format!("{name}{rest}"));
    let files = names.iter().flat_map(|name| {
        ["state", "phys_state", "link_layer"].map(|file| format!("{name}/ports/1/{file}"))
    });
    of("").chain(of("/ports")).chain(files).collect()
}

#[test]
fn a_steady_poll_reads_links_ports_and_states_and_no_more() {
    let mut rig = Rig::started(&nics(2));
    rig.poll();
    assert_eq!(reads(&mut rig), steady(&["mlx5_0", "mlx5_1"]));
}

#[test]
fn facts_are_read_again_for_whom_the_identity_changed_and_once() {
    let mut rig = Rig::started(&nics(3));
    for name in ["mlx5_0", "mlx5_1"] {
        rig.world.drop_device(name);
    }
    rig.world.put_device(&nic(0).named("mlx5_1"));
    rig.world.put_device(&nic(1).named("mlx5_0"));
    let first = reads(&mut rig);
    let is_asked = |path: &str| first.iter().any(|read| read == path);
    assert!(is_asked("mlx5_0/device/physfn") && is_asked("mlx5_1/device/physfn"));
    assert!(!is_asked("mlx5_2/device/physfn"), "{first:?}");
    rig.poll();
    assert_eq!(reads(&mut rig), steady(&["mlx5_0", "mlx5_1", "mlx5_2"]));
}

#[test]
fn a_device_that_returns_is_looked_at_anew() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
    rig.world.put_device(&nic(1).numa(7));
    assert_eq!(
        rig.poll(),
        ["h mlx5_1: NIC mlx5_1 no longer monitored (management: no GPU on NUMA node 7): clearing"]
    );
}

fn counting(args: &[&str], nics: &[Nic]) -> Rig {
    let mut rig = Rig::new(nics);
    rig.args = args.iter().map(|arg| (*arg).to_owned()).collect();
    rig.poll();
    rig
}

#[test]
fn counters_are_read_when_they_are_due_and_once_a_poll() {
    let args = [
        "--checks=InfiniBandStateCheck,InfiniBandDegradationCheck",
        "--counter-polling-interval=3s",
    ];
    let mut rig = counting(&args, &nics(1));
    rig.poll();
    assert_eq!(reads(&mut rig), steady(&["mlx5_0"]), "not due");
    rig.wait(5);
    let due = reads(&mut rig);
    let of = |counter: &str| {
        let path = format!("mlx5_0/ports/1/{counter}");
        due.iter().filter(|read| **read == path).count()
    };
    assert_eq!(of("counters/link_downed"), 1, "{due:?}");
    assert_eq!(of("counters/symbol_error"), 1, "for two counters");
    assert_eq!(of("hw_counters/rnr_nak_retry_err"), 1);
    assert!(!due.iter().any(|read| read.contains("carrier_changes")));
}

#[test]
fn no_counter_is_read_of_a_layer_whose_check_is_off() {
    let args = ["--checks=InfiniBandStateCheck,EthernetStateCheck,EthernetDegradationCheck"];
    let mut rig = counting(&args, &[nic(0), nic(1).ethernet()]);
    let counters = |name: &str, reads: &[String]| {
        let below = format!("{name}/ports/1/counters/");
        reads.iter().filter(|read| read.starts_with(&below)).count()
    };
    let all = reads(&mut rig);
    assert_eq!(counters("mlx5_0", &all), 0, "{all:?}");
    assert!(counters("mlx5_1", &all) > 0, "{all:?}");
}

/// Whether the next poll would read the interface of that device.
fn asks_for_operstate(rig: &mut Rig, name: &str) -> bool {
    let path = format!("{name}/device/net");
    reads(rig).contains(&path)
}

#[test]
fn operstate_is_read_while_a_roce_port_may_still_be_spoken_of() {
    let roce = nic(0).ethernet().interface("eth0");
    let mut rig = Rig::started(&[roce.clone(), nic(1).ethernet()]);
    assert!(!asks_for_operstate(&mut rig, "mlx5_0"), "it is healthy");
    rig.world.set("mlx5_0", 1, DISABLED);
    assert!(asks_for_operstate(&mut rig, "mlx5_0"));
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    assert!(!asks_for_operstate(&mut rig, "mlx5_0"), "the worst is said");
    rig.world.drop_device("mlx5_0");
    rig.world.put_device(&roce.named("mlx5_7"));
    rig.world.set("mlx5_7", 1, DISABLED);
    assert!(asks_for_operstate(&mut rig, "mlx5_7"), "not of this name");
}

#[test]
fn operstate_is_read_while_the_patience_runs_and_joins_the_escalation() {
    let mut rig = Rig::started(&[nic(0).ethernet().interface("eth0"), nic(1).ethernet()]);
    rig.world.set("mlx5_0", 1, INIT);
    assert!(rig.polls(31).is_empty());
    assert!(asks_for_operstate(&mut rig, "mlx5_0"));
    assert_eq!(
        rig.poll(),
        ["F mlx5_0/1: RoCE port mlx5_0 port 1: state INIT, phys_state LinkUp, operstate down"]
    );
}

#[test]
fn operstate_of_a_quiet_port_is_read_when_its_reading_changed() {
    let mut rig = Rig::new(&[nic(0).ethernet().interface("eth0")]);
    rig.world.set("mlx5_0", 1, DISABLED);
    assert!(rig.polls(3).is_empty());
    assert!(!asks_for_operstate(&mut rig, "mlx5_0"));
    rig.world.set("mlx5_0", 1, POLLING);
    assert!(asks_for_operstate(&mut rig, "mlx5_0"));
}
