//! Storage on the ports of a fabric: its interfaces as each side sees them, what it hears of, and its figures.

use fabric::{Action, Fabric, PortAction, Timing};
use lnet::{
    FaultEffect, LnetProfile, MsgStatus, NiPlan, NiView, NodePlan, Pace, Patience, StoragePlan,
    StorageWorkload,
};
use platforms::{NodeName, PciAddress, Platforms, PortNumber, PortRef, SlotRef};
use rstest::rstest;
use simfs::SimTime;
use workloads::{Running, Workload, WorkloadCause, WorkloadOutcome, WorkloadStats};

use crate::stage;

/// The two storage NICs of a `two-rail-vm`.
const NICS: [&str; 2] = ["0000:61:00.0", "0000:62:00.0"];

fn slot(node: &str, nic: usize) -> SlotRef {
    let pci: PciAddress = NICS[nic].parse().expect("an address");
    SlotRef {
        node: node.into(),
        pci,
        port: PortNumber(1),
    }
}

fn node((number, name): (usize, &str)) -> NodePlan {
    let ni = |nic: usize| NiPlan {
        slot: slot(name, nic),
        port: PortRef {
            node: name.into(),
            device: format!("mlx5_{}", nic + 2).as_str().into(),
            port: PortNumber(1),
        },
        nid: format!("10.1.{number}.{nic}@o2ib").parse().expect("a NID"),
        interface: format!("store{nic}"),
    };
    NodePlan {
        name: name.into(),
        nis: vec![ni(0), ni(1)],
        routing: false,
        discovery: true,
        routes: Vec::new(),
    }
}

/// `vm1` and `vm2` write to `vm3`, each with two interfaces.
fn plan() -> StoragePlan {
    StoragePlan {
        profile: LnetProfile::V2_17,
        nodes: ["vm1", "vm2", "vm3"]
            .into_iter()
            .enumerate()
            .map(node)
            .collect(),
        clients: vec!["vm1".into(), "vm2".into()],
        server: "vm3".into(),
        patience: Patience::default(),
        traced: false,
    }
}

struct Stage {
    fabric: Fabric,
    running: Running<StorageWorkload>,
}

impl Stage {
    /// The storage, started after these actions.
    fn after(actions: &[Action]) -> Self {
        let platform = Platforms::shipped();
        let platform = platform.get("two-rail-vm").expect("a shipped platform");
        let nodes = ["vm1", "vm2", "vm3"].map(|node| (NodeName::from(node), platform.clone()));
        let mut fabric = Fabric::new(nodes.into(), Timing::default());
        for action in actions {
            fabric.act(action).expect("it is possible");
        }
        let storage = StorageWorkload::start(&plan(), &fabric).expect("LNet takes it");
        let running = Running::start([("storage".to_owned(), storage)].into(), &fabric);
        Self { fabric, running }
    }

    fn act(&mut self, action: &Action) {
        self.fabric.act(action).expect("it is possible");
    }

    fn to(&mut self, second: u64) -> &mut Self {
        self.fabric.advance(SimTime::from_secs(second));
        self.running.follow(&self.fabric);
        self
    }

    fn storage(&self) -> &StorageWorkload {
        self.running.get("storage").expect("it runs")
    }

    fn stats(&self) -> WorkloadStats {
        self.storage().stats()
    }

    /// The interface of `node` in the view of `seen_from`.
    fn ni(&self, seen_from: &str, node: &str, nic: usize) -> NiView {
        let ni = self.storage().ni(&seen_from.into(), &slot(node, nic));
        ni.expect("it is known")
    }

    /// Every message that a node sends fails from now on.
    fn break_node(&mut self, node: &str) {
        let effect = FaultEffect::Simulate(vec![MsgStatus::LocalDropped]);
        let rule = stage::rule(Pace::Every, effect);
        let storage = self
            .running
            .get_mut("storage", &self.fabric)
            .expect("it runs");
        storage
            .lnet_mut()
            .add_rule(&node.into(), rule)
            .expect("it is possible");
    }
}

fn cut(node: &str, nic: usize) -> Action {
    PortAction::Cut.on(slot(node, nic))
}

#[test]
fn both_clients_are_in_the_figures() {
    let mut stage = Stage::after(&[]);
    let stats = stage.to(60).stats();
    assert_eq!(
        (stats.outcome, stats.errors, stats.retries),
        (WorkloadOutcome::Survived, 0, 0)
    );
    assert_eq!(
        stats.done,
        2 * 60,
        "a write a second from 0 s on, each; those of 60 s are not answered yet"
    );
    assert_eq!(stage.storage().ports().count(), 6);
}

#[test]
fn an_interface_has_a_view_for_its_own_node_and_for_others() {
    let mut stage = Stage::after(&[]);
    stage.to(5).act(&cut("vm1", 0));
    stage.to(9);
    let own = stage.ni("vm1", "vm1", 0);
    assert_eq!((own.up, own.fatal, own.health), (false, Some(true), 1000));
    let other = stage.ni("vm1", "vm1", 1);
    assert_eq!((other.up, other.fatal), (true, Some(false)));
    let at_the_server = stage.ni("vm3", "vm1", 0);
    assert_eq!(
        (at_the_server.up, at_the_server.fatal),
        (false, None),
        "it is told"
    );
    assert!(stage.ni("vm3", "vm1", 1).up);
    let stats = |seen_from: &str, node: &str| {
        let stats = stage.storage().ni_stats(&seen_from.into(), &slot(node, 1));
        stats.expect("it is known").sent.total()
    };
    assert!(stats("vm1", "vm1") > 0 && stats("vm3", "vm1") > 0);
    assert!(stage.storage().ni(&"vm9".into(), &slot("vm1", 0)).is_none());
    assert!(
        stage
            .storage()
            .ni_stats(&"vm1".into(), &slot("vm9", 0))
            .is_none()
    );
}

#[test]
fn a_port_that_is_dark_at_the_start_is_fatal_and_the_others_are_not() {
    let stage = Stage::after(&[cut("vm1", 0)]);
    let fatal = |nic| stage.ni("vm1", "vm1", nic).fatal;
    assert_eq!([0, 1].map(fatal), [Some(true), Some(false)]);
}

/// The first client's writes fail from 10 s on, the second's from 20 s on; 100 s without an answer are too long.
#[test]
fn storage_has_failed_when_its_first_client_has() {
    for (first, second) in [("vm1", "vm2"), ("vm2", "vm1")] {
        let mut stage = Stage::after(&[]);
        let before = stage.to(10).stats();
        stage.break_node(first);
        stage.to(20).break_node(second);
        let one = stage.to(60).stats();
        assert_eq!(one.outcome, WorkloadOutcome::Degraded);
        assert!(one.errors > 20 && one.retries > 10, "{one:?}");
        assert_eq!(one.done, before.done + 10, "the second's until 20 s");
        let stats = stage.to(400).stats();
        assert_eq!(
            (stats.outcome, stats.cause),
            (WorkloadOutcome::Failed, Some(WorkloadCause::Unanswered))
        );
        let at = stats.failed_at.expect("it failed").as_ms();
        assert!((110_000..=111_000).contains(&at), "{first}: {at}");
    }
}

/// Ninety seconds are less than the hundred for which a write may have no answer.
#[rstest]
#[case(100, WorkloadOutcome::Degraded)]
#[case(300, WorkloadOutcome::Failed)]
fn a_node_that_goes_is_back_with_its_interfaces(
    #[case] back: u64,
    #[case] outcome: WorkloadOutcome,
) {
    let mut stage = Stage::after(&[]);
    stage.to(10);
    let vm1 = NodeName::from("vm1");
    let is_loaded = |stage: &Stage| {
        let node = stage.storage().lnet().node(&"vm1".into());
        node.is_some_and(lnet::Node::is_loaded)
    };
    stage.running.node_goes(&vm1, &stage.fabric);
    stage.to(back);
    assert!(!is_loaded(&stage));
    let other = stage.ni("vm3", "vm2", 0);
    assert!(other.up, "the other client stays");
    stage.running.node_returns(&vm1, &stage.fabric);
    stage.to(back + 60);
    assert!(is_loaded(&stage));
    for nic in [0, 1] {
        let ni = stage.ni("vm1", "vm1", nic);
        assert_eq!((ni.up, ni.fatal), (true, Some(false)), "its ports carry");
    }
    assert_eq!(stage.stats().outcome, outcome);
}
