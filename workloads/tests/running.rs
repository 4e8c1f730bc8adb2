//! The changes that a workload receives about its ports and nodes, and when.

use std::collections::BTreeMap;

use fabric::{Carriage, CarriageChange, Fabric, PortAction, Timing};
use platforms::{NodeName, PciAddress, Platforms, PortNumber, SlotRef};
use simfs::SimTime;
use workloads::{Running, Workload, WorkloadCause, WorkloadOutcome, WorkloadStats};

/// Records what it receives.
#[derive(Debug)]
struct Recorder {
    ports: Vec<SlotRef>,
    heard: Vec<String>,
}

impl Workload for Recorder {
    fn ports(&self) -> impl Iterator<Item = &SlotRef> {
        self.ports.iter()
    }

    fn port_changed(&mut self, slot: &SlotRef, change: CarriageChange) {
        let (node, at) = (&slot.node, change.at.as_ms());
        self.heard
            .push(format!("{at} {node} {:?}", change.carriage));
    }

    fn advance(&mut self, to: SimTime) {
        self.heard.push(format!("to {}", to.as_ms()));
    }

    fn node_goes(&mut self, node: &NodeName, at: SimTime) {
        self.heard.push(format!("{} {node} goes", at.as_ms()));
    }

    fn node_returns(&mut self, node: &NodeName, fabric: &Fabric) {
        let of_node = self.ports.iter().filter(|slot| slot.node == *node);
        let carries = of_node.map(|slot| fabric.carriage(slot) == Some(Carriage::Data));
        let carries: Vec<bool> = carries.collect();
        self.heard.push(format!("{node} returns {carries:?}"));
    }

    fn stats(&self) -> WorkloadStats {
        WorkloadStats {
            done: self.heard.len() as u64,
            ..WorkloadStats::default()
        }
    }
}

fn slot(node: &str) -> SlotRef {
    SlotRef {
        node: node.into(),
        pci: "0000:09:00.0".parse::<PciAddress>().expect("an address"),
        port: PortNumber(1),
    }
}

/// Two nodes, and a workload on a port of each.
fn world() -> (Fabric, Running<Recorder>) {
    let platforms = Platforms::shipped();
    let platform = platforms.get("two-rail-vm").expect("a shipped platform");
    let nodes = ["vm1", "vm2"].map(|node| (NodeName::from(node), platform.clone()));
    let fabric = Fabric::new(nodes.into(), Timing::default());
    let recorder = Recorder {
        ports: ["vm1", "vm2"].map(slot).into(),
        heard: Vec::new(),
    };
    let running = Running::start(BTreeMap::from([("job".to_owned(), recorder)]), &fabric);
    (fabric, running)
}

fn cut(fabric: &mut Fabric, at_ms: u64, node: &str) {
    fabric.advance(SimTime::from_ms(at_ms));
    fabric
        .act(&PortAction::Cut.on(slot(node)))
        .expect("it is possible");
}

fn heard(running: &Running<Recorder>) -> Vec<&str> {
    let recorder = running.get("job").expect("it runs");
    recorder.heard.iter().map(String::as_str).collect()
}

#[test]
fn a_change_is_heard_once_at_its_own_instant_in_the_order_of_time() {
    let (mut fabric, mut running) = world();
    cut(&mut fabric, 300, "vm2");
    cut(&mut fabric, 700, "vm1");
    fabric.advance(SimTime::from_secs(1));
    running.follow(&fabric);
    running.follow(&fabric);
    assert_eq!(
        heard(&running),
        ["300 vm2 Nothing", "700 vm1 Nothing", "to 1000", "to 1000"]
    );
    assert_eq!(
        running
            .get("job")
            .map(Workload::stats)
            .map(|stats| stats.done),
        Some(4)
    );
}

#[test]
fn what_was_so_at_the_start_is_no_change() {
    let (mut fabric, _) = world();
    cut(&mut fabric, 300, "vm1");
    let recorder = Recorder {
        ports: vec![slot("vm1")],
        heard: Vec::new(),
    };
    let mut running = Running::start(BTreeMap::from([("job".to_owned(), recorder)]), &fabric);
    running.follow(&fabric);
    assert_eq!(heard(&running), ["to 300"]);
}

#[test]
fn a_node_that_is_away_hears_nothing_and_finds_its_ports_as_they_are() {
    let (mut fabric, mut running) = world();
    running.node_goes(&"vm1".into(), &fabric);
    cut(&mut fabric, 300, "vm1");
    cut(&mut fabric, 400, "vm2");
    running.node_returns(&"vm1".into(), &fabric);
    assert_eq!(
        heard(&running),
        [
            "to 0",
            "0 vm1 goes",
            "400 vm2 Nothing",
            "to 400",
            "vm1 returns [false]"
        ]
    );
}

#[test]
fn who_acts_on_a_workload_finds_it_at_the_present_time() {
    let (mut fabric, mut running) = world();
    cut(&mut fabric, 300, "vm1");
    let job = running.get_mut("job", &fabric).expect("it runs");
    assert_eq!(job.heard, ["300 vm1 Nothing", "to 300"]);
    assert!(running.get_mut("storage", &fabric).is_none());
}

/// So that what is done at the start applies to its first actions.
#[test]
fn who_acts_on_a_workload_at_its_start_finds_that_it_has_done_nothing() {
    let (mut fabric, mut running) = world();
    let job = running.get_mut("job", &fabric).expect("it runs");
    assert_eq!(job.heard, Vec::<String>::new());
    running.follow(&fabric);
    assert_eq!(heard(&running), ["to 0"]);
    fabric.advance(SimTime::from_ms(10));
    let job = running.get_mut("job", &fabric).expect("it runs");
    assert_eq!(job.heard, ["to 0", "to 10"]);
}

#[test]
fn an_outcome_and_its_cause_are_told_by_their_words() {
    let words = WorkloadOutcome::ALL.map(|outcome| outcome.to_string());
    assert_eq!(words, ["survived", "degraded", "failed"]);
    let words = WorkloadCause::ALL.map(|cause| cause.to_string());
    let expected = [
        "WC 12",
        "send queue full",
        "device gone",
        "rank lost",
        "hung",
        "no connection",
        "evicted",
        "unanswered",
    ];
    assert_eq!(words, expected);
}
