//! Workloads in a world: the changes that they receive, and when.

use std::collections::BTreeMap;

use director::{RunningWorkloads, WorkloadError};
use fabric::{Action, DeviceAction, Fabric, FunctionRef, PortAction, Timing};
use lnet::{
    FaultEffect, FaultRule, LnetProfile, MsgStatus, NiPlan, NidPattern, NodePlan, Pace, Param,
    Patience, Request, RouteSpec, Side, StoragePlan, UlpEvent, UlpResult, Verb,
};
use mpib::{
    AgentAction, Counter, HostPlan, JobPlan, JobTraffic, MpibProfile, PerRail, Rail, RailMask,
    RailPlan, Retries, SupBandwidth,
};
use platforms::{NodeName, PciAddress, Platforms, PortNumber, PortRef, SlotRef};
use proptest::prelude::*;
use scenarios::{CounterOf, NiChange, Plan, WorkloadAction, WorkloadCounter};
use simfs::SimTime;
use workloads::{WorkloadCause, WorkloadOutcome, WorkloadStats};

const NODES: [&str; 2] = ["vm1", "vm2"];
/// The NICs of a `two-rail-vm`: SOUT, SUP, and two for storage.
const NICS: [&str; 4] = [
    "0000:09:00.0",
    "0000:4a:00.0",
    "0000:61:00.0",
    "0000:62:00.0",
];

fn slot(node: &str, nic: usize) -> SlotRef {
    let pci: PciAddress = NICS[nic].parse().expect("an address");
    SlotRef {
        node: node.into(),
        pci,
        port: PortNumber(1),
    }
}

fn world() -> Fabric {
    world_of(&NODES)
}

fn world_of(nodes: &[&str]) -> Fabric {
    let platform = Platforms::shipped();
    let platform = platform.get("two-rail-vm").expect("a shipped platform");
    let nodes = nodes.iter();
    let nodes = nodes.map(|node| (NodeName::from(*node), platform.clone()));
    Fabric::new(nodes.collect(), Timing::default())
}

fn port(node: &str, nic: usize) -> PortRef {
    PortRef {
        node: node.into(),
        device: format!("mlx5_{nic}").as_str().into(),
        port: PortNumber(1),
    }
}

/// A node's two interfaces for storage.
fn storage_node(node: &str) -> NodePlan {
    let nis = [2, 3].map(|nic| NiPlan {
        slot: slot(node, nic),
        port: port(node, nic),
        nid: format!("10.1.{}.{nic}@o2ib", &node[2..])
            .parse()
            .expect("a NID"),
        interface: format!("store{}", nic - 2),
    });
    NodePlan {
        name: node.into(),
        nis: nis.to_vec(),
        routing: false,
        discovery: true,
        routes: Vec::new(),
    }
}

/// A job of two hosts inside an island, and storage with two interfaces from `vm1` to `vm2`.
fn plans() -> BTreeMap<String, Plan> {
    let rail = |node: &str, nic: usize, last: u8| RailPlan {
        slot: slot(node, nic),
        port: port(node, nic),
        address: [10, if nic == 0 { 0 } else { 9 }, 1, last].into(),
        layer: platforms::LinkLayer::Ethernet,
        speed_mbps: 100_000,
    };
    let host = |(last, node): (u8, &str)| HostPlan {
        name: node.into(),
        rails: PerRail {
            sout: rail(node, 0, last),
            sup: rail(node, 1, last),
        },
        sout_gid: None,
        environment: BTreeMap::new(),
        first_share: Some(SupBandwidth::MAX),
    };
    let job = JobPlan {
        profile: MpibProfile::G1,
        hosts: (1..).zip(NODES).map(host).collect(),
        edges: vec![(0, 1), (1, 0)],
        traffic: JobTraffic::steady(),
        retries: Retries::Eight,
        timeout_exponent: mpib::ACK_TIMEOUT_EXPONENT,
        cts_queue_depth: mpib::CTS_QUEUE_DEPTH,
    };
    let storage = StoragePlan {
        profile: LnetProfile::V2_17,
        nodes: NODES.map(storage_node).to_vec(),
        clients: vec!["vm1".into()],
        server: "vm2".into(),
        patience: Patience::default(),
        traced: false,
    };
    BTreeMap::from([
        ("job".to_owned(), Plan::Job(job)),
        ("storage".to_owned(), Plan::Storage(storage)),
    ])
}

/// Performs these actions at these times in milliseconds, follows in strides, and returns the statistics
/// of both workloads at the end.
fn check(actions: &[(u64, Action)], stride_ms: u64, end_ms: u64) -> [WorkloadStats; 2] {
    let mut fabric = world();
    let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    let mut actions = actions.iter().peekable();
    for at in (0..=end_ms).step_by(usize::try_from(stride_ms).expect("a stride")) {
        while let Some((due, action)) = actions.next_if(|(due, _)| *due <= at) {
            fabric.advance(SimTime::from_ms(*due));
            fabric.act(action).expect("it is possible");
        }
        fabric.advance(SimTime::from_ms(at));
        running.follow(&fabric);
    }
    ["job", "storage"].map(|name| running.stats(name).expect("it runs"))
}

#[test]
fn without_a_fault_both_survive() {
    let [job, storage] = check(&[], 1000, 60_000);
    assert_eq!((job.outcome, job.retries), (WorkloadOutcome::Survived, 0));
    assert_eq!(
        (storage.outcome, storage.errors),
        (WorkloadOutcome::Survived, 0)
    );
    assert!(job.done > 1000 && storage.done >= 59, "{job:?} {storage:?}");
}

#[test]
fn a_cut_is_heard_at_its_own_instant_however_long_the_stride() {
    let cut = [(10_300, PortAction::Cut.on(slot("vm1", 1)))];
    let [job, storage] = check(&cut, 60_000, 60_000);
    // Eight tries of 4.294967296 s from the write that was posted at the instant of the cut.
    assert_eq!(
        job.failed_at,
        Some(SimTime::from_ns(10_300_000_000 + 8 * 4_294_967_296))
    );
    assert_eq!(
        (job.outcome, job.cause),
        (WorkloadOutcome::Failed, Some(WorkloadCause::RetryExceeded))
    );
    assert_eq!(
        storage.outcome,
        WorkloadOutcome::Survived,
        "it uses other ports"
    );
}

#[test]
fn a_device_that_is_gone_ends_a_job_at_once() {
    let function = FunctionRef {
        node: "vm2".into(),
        pci: slot("vm2", 1).pci,
    };
    let [job, _] = check(&[(10_300, DeviceAction::Remove.on(function))], 1000, 20_000);
    assert_eq!(job.failed_at, Some(SimTime::from_ms(10_300)));
    assert_eq!(job.cause, Some(WorkloadCause::DeviceGone));
}

#[test]
fn a_port_that_is_dark_at_the_start_leaves_a_job_without_a_connection() {
    let mut fabric = world();
    fabric
        .act(&PortAction::Cut.on(slot("vm1", 1)))
        .expect("it is possible");
    let running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    let job = running.stats("job").expect("it runs");
    assert_eq!(
        (job.cause, job.failed_at),
        (Some(WorkloadCause::NoConnection), Some(SimTime::ZERO))
    );
}

#[test]
fn an_interface_whose_port_is_dark_at_the_start_is_fatal_from_then_on() {
    let mut fabric = world();
    fabric
        .act(&PortAction::Cut.on(slot("vm1", 2)))
        .expect("it is possible");
    let running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    let fatal = |nic| {
        let ni = running.ni("storage", &"vm1".into(), &slot("vm1", nic));
        ni.expect("it is known").fatal
    };
    assert_eq!([2, 3].map(fatal), [Some(true), Some(false)]);
}

#[test]
fn an_interface_is_seen_by_its_own_node_and_by_its_peer() {
    let mut fabric = world();
    let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    fabric.advance(SimTime::from_secs(10));
    fabric
        .act(&PortAction::Cut.on(slot("vm1", 2)))
        .expect("it is possible");
    fabric.advance(SimTime::from_secs(20));
    running.follow(&fabric);
    let seen = |from: &str| {
        running
            .ni("storage", &from.into(), &slot("vm1", 2))
            .expect("it is known")
    };
    let own = seen("vm1");
    assert_eq!((own.up, own.fatal, own.health), (false, Some(true), 1000));
    let peers = seen("vm2");
    assert_eq!((peers.up, peers.fatal), (false, None));
    assert!(peers.health < 1000, "{peers:?}");
    assert_eq!(running.ni("job", &"vm1".into(), &slot("vm1", 2)), None);
}

/// `vm1` goes down at 10 s, and this port is cut at 20 s, before any follow.
fn cut_while_vm1_is_away(dark: &SlotRef) -> (Fabric, RunningWorkloads) {
    let mut fabric = world();
    let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    fabric.advance(SimTime::from_secs(10));
    running.node_goes(&"vm1".into(), &fabric);
    fabric.advance(SimTime::from_secs(20));
    fabric
        .act(&PortAction::Cut.on(dark.clone()))
        .expect("it is possible");
    (fabric, running)
}

#[test]
fn a_node_that_is_away_hears_nothing_and_finds_its_ports_as_they_are() {
    let (vm1, dark) = (NodeName::from("vm1"), slot("vm1", 2));
    let (mut fabric, mut running) = cut_while_vm1_is_away(&dark);
    running.follow(&fabric);
    let job = running.stats("job").expect("it runs");
    assert_eq!(
        (job.cause, job.failed_at),
        (Some(WorkloadCause::RankLost), Some(SimTime::from_secs(10)))
    );
    fabric.advance(SimTime::from_secs(50));
    running.node_returns(&vm1, &fabric);
    fabric.advance(SimTime::from_secs(60));
    running.follow(&fabric);
    let ni = |slot| running.ni("storage", &vm1, slot).expect("it is known");
    assert_eq!((ni(&dark).up, ni(&dark).fatal), (false, Some(true)));
    assert_eq!(
        (ni(&slot("vm1", 3)).up, ni(&slot("vm1", 3)).fatal),
        (true, Some(false))
    );
    let storage = running.stats("storage").expect("it runs");
    assert_eq!(storage.outcome, WorkloadOutcome::Degraded);
    assert!(storage.done > 10, "writes are answered again: {storage:?}");
}

/// A returning node gets the present state of its own ports only; changes of other ports are received as
/// usual.
#[test]
fn what_happens_elsewhere_while_a_node_returns_is_heard() {
    let dark = slot("vm2", 2);
    let (fabric, mut running) = cut_while_vm1_is_away(&dark);
    running.node_returns(&"vm1".into(), &fabric);
    let own = running.ni("storage", &"vm2".into(), &dark);
    let own = own.expect("it is known");
    assert_eq!((own.up, own.fatal), (false, Some(true)));
}

#[test]
fn storage_has_an_lnet_and_a_job_has_none() {
    let running = RunningWorkloads::start(&plans(), &world()).expect("they can be begun");
    let has_lnet = ["storage", "job", "none"].map(|name| running.lnet(name).is_some());
    assert_eq!(has_lnet, [true, false, false]);
}

/// Seven tries of 4.294967296 s, as its plan has it, from the write that was posted at the cut.
#[test]
fn a_job_tries_as_often_as_its_plan_says() {
    let mut plans = plans();
    if let Some(Plan::Job(job)) = plans.get_mut("job") {
        job.retries = Retries::Seven;
    }
    let mut fabric = world();
    let mut running = RunningWorkloads::start(&plans, &fabric).expect("they can be begun");
    fabric.advance(SimTime::from_secs(10));
    fabric
        .act(&PortAction::Cut.on(slot("vm1", 1)))
        .expect("it is possible");
    fabric.advance(SimTime::from_secs(60));
    running.follow(&fabric);
    let failed_at = running.stats("job").expect("it runs").failed_at;
    let tries = SimTime::from_ns(10_000_000_000 + 7 * 4_294_967_296);
    assert_eq!(failed_at, Some(tries));
}

/// Drops everything that a node sends.
fn rule(workload: &str, node: &str) -> WorkloadAction {
    WorkloadAction::Rule {
        workload: workload.to_owned(),
        node: node.into(),
        rule: Box::new(FaultRule {
            source: NidPattern::Any,
            destination: NidPattern::Any,
            kinds: [].into(),
            portal: None,
            via: None,
            pace: Pace::Every,
            effect: FaultEffect::Simulate(vec![MsgStatus::LocalDropped]),
        }),
    }
}

#[test]
fn a_rule_holds_until_it_is_ended() {
    let mut fabric = world();
    let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    let mut stats = |running: &mut RunningWorkloads, second| {
        fabric.advance(SimTime::from_secs(second));
        running.follow(&fabric);
        running.stats("storage").expect("it runs")
    };
    let before = stats(&mut running, 10);
    assert_eq!((before.errors, before.retries), (0, 0));
    running
        .act(&rule("storage", "vm1"), &world_at(10))
        .expect("it is possible");
    let under = stats(&mut running, 20);
    assert!(under.errors > 0 && under.retries > 0, "{under:?}");
    assert_eq!(under.done, before.done, "nothing gets through");
    let end = WorkloadAction::NoRules {
        workload: "storage".to_owned(),
        node: "vm1".into(),
    };
    running.act(&end, &world_at(20)).expect("it is possible");
    assert!(stats(&mut running, 40).done > under.done + 10);
}

/// The value of a counter of a node.
fn count(running: &RunningWorkloads, workload: &str, node: &str, of: CounterOf) -> Option<u64> {
    running.count(&WorkloadCounter {
        workload: workload.to_owned(),
        node: node.into(),
        of,
    })
}

fn followed_to(fabric: &mut Fabric, running: &mut RunningWorkloads, second: u64) {
    fabric.advance(SimTime::from_secs(second));
    running.follow(fabric);
}

/// Without retries nothing is sent again, although every second request fails.
#[test]
fn a_parameter_of_lnet_holds_from_the_step_on() {
    for (retries, resends) in [(None, true), (Some(0), false)] {
        let mut fabric = world();
        let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
        if let Some(value) = retries {
            let set = WorkloadAction::LnetParam {
                workload: "storage".to_owned(),
                node: "vm1".into(),
                param: Param::RetryCount,
                value,
            };
            running.act(&set, &fabric).expect("it is possible");
        }
        running
            .act(&rule("storage", "vm1"), &fabric)
            .expect("it is possible");
        followed_to(&mut fabric, &mut running, 20);
        let resent = count(
            &running,
            "storage",
            "vm1",
            CounterOf::Lnet("resend_count".to_owned()),
        );
        assert_eq!(resent > Some(0), resends, "{resent:?}");
    }
}

/// Of two equal interfaces the one with the lower value is taken, and one with less health is not.
#[test]
fn an_interface_is_changed_by_hand() {
    for (change, preferred) in [
        (NiChange::Priority(1), 3),
        (NiChange::Health(900), 3),
        (NiChange::Priority(0), 2),
    ] {
        let mut fabric = world();
        let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
        let mut change_of = |nic: usize, change| {
            let set = WorkloadAction::LnetNi {
                workload: "storage".to_owned(),
                node: "vm1".into(),
                side: Side::Local,
                nid: storage_node("vm1").nis[nic - 2].nid.clone(),
                change,
            };
            running.act(&set, &fabric).expect("it is possible");
        };
        change_of(2, change);
        if change == NiChange::Priority(0) {
            change_of(3, NiChange::Priority(1));
        }
        followed_to(&mut fabric, &mut running, 1);
        let sent = |nic| {
            let of = CounterOf::LnetNi(slot("vm1", nic), "sent_put".to_owned());
            count(&running, "storage", "vm1", of).expect("it is an interface")
        };
        let other = 5 - preferred;
        assert!(sent(preferred) > 0 && sent(other) == 0, "{change:?}");
    }
}

/// A GET and a PUT by hand are answered, and the layer above is told so; the traffic of the workload asks for no ACK.
#[test]
fn a_request_by_hand_is_sent_and_told() {
    let mut fabric = world();
    let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    let told = |running: &RunningWorkloads, event| {
        let of = CounterOf::LnetUlp(event, UlpResult::Ok);
        count(running, "storage", "vm1", of)
    };
    for (verb, event) in [(Verb::Get, UlpEvent::Reply), (Verb::PutAck, UlpEvent::Ack)] {
        assert_eq!(told(&running, event), Some(0), "{verb:?}");
        let request = Request {
            node: "vm1".into(),
            verb,
            source: None,
            destination: storage_node("vm2").nis[0].nid.clone(),
            length: 4096,
            portal: 0,
        };
        let workload = "storage".to_owned();
        let send = WorkloadAction::LnetSend { workload, request };
        running.act(&send, &fabric).expect("it is possible");
        let second = if verb == Verb::Get { 1 } else { 2 };
        followed_to(&mut fabric, &mut running, second);
        assert_eq!(told(&running, event), Some(1), "{verb:?}");
    }
    let away = CounterOf::LnetUlp(UlpEvent::Send, UlpResult::Ok);
    assert_eq!(count(&running, "storage", "vm9", away), None);
}

/// The route of `vm1` to `vm2` goes by `vm3`. The router is pinged once a minute; to a node without power there is no connection,
/// and the ping fails after the driver's timeout of 49 s.
#[test]
fn a_route_is_up_while_its_router_answers() {
    let mut plans = plans();
    let far = |ni: &NiPlan| ni.nid.to_string().replace("@o2ib", "@o2ib1");
    let Some(Plan::Storage(storage)) = plans.get_mut("storage") else {
        panic!("storage is among them");
    };
    let mut router = storage_node("vm3");
    router.routing = true;
    router.nis[1].nid = far(&router.nis[1]).parse().expect("a NID");
    for ni in &mut storage.nodes[1].nis {
        ni.nid = far(ni).parse().expect("a NID");
    }
    for (node, net, by) in [(0, "o2ib1", 0), (1, "o2ib", 1)] {
        storage.nodes[node].routes.push(RouteSpec {
            net: net.parse().expect("a net"),
            gateway: router.nis[by].nid.clone(),
            priority: 0,
            hops: 1,
        });
    }
    let gateway = router.nis[0].nid.clone();
    storage.nodes.push(router);
    let names = ["vm1", "vm2", "vm3"];
    let mut fabric = world_of(&names);
    let mut running = RunningWorkloads::start(&plans, &fabric).expect("they can be begun");
    let up = |running: &RunningWorkloads, node: &str| {
        count(
            running,
            "storage",
            node,
            CounterOf::LnetRoute(gateway.clone()),
        )
    };
    followed_to(&mut fabric, &mut running, 10);
    assert_eq!(up(&running, "vm1"), Some(1));
    assert_eq!(up(&running, "vm2"), None, "its route is by the other side");
    assert!(running.stats("storage").expect("it runs").done >= 10);
    running.node_goes(&"vm3".into(), &fabric);
    followed_to(&mut fabric, &mut running, 108);
    assert_eq!(up(&running, "vm1"), Some(1), "the ping may be answered yet");
    followed_to(&mut fabric, &mut running, 110);
    assert_eq!(up(&running, "vm1"), Some(0));
    running.node_goes(&"vm1".into(), &fabric);
    assert_eq!(up(&running, "vm1"), None, "LNet is not loaded");
}

/// A message of 1 MiB ten times a second on SUP, inside an island.
#[test]
fn a_job_counts_by_host_and_by_edge() {
    let mut fabric = world();
    let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    followed_to(&mut fabric, &mut running, 1);
    let of = |counter, to: Option<&str>| CounterOf::Mpib(counter, to.map(NodeName::from));
    let count = |of| count(&running, "job", "vm1", of);
    let sup = Counter::Messages(RailMask::SUP);
    assert_eq!(count(of(sup, None)), Some(11));
    assert_eq!(count(of(sup, Some("vm2"))), Some(11));
    assert_eq!(count(of(Counter::HintReads, None)), Some(11));
    assert!(count(of(Counter::Sent(Rail::Sup), None)) >= Some(11 << 20));
    assert_eq!(count(of(Counter::Sent(Rail::Sout), None)), Some(0));
    let logged = |text: &str| count(CounterOf::MpibLog(text.to_owned()));
    assert_eq!(
        logged("SUP (intra-island)"),
        Some(2),
        "as sender and as receiver"
    );
    assert_eq!(logged("SOUT (inter-island)"), Some(0));
}

#[test]
fn what_does_not_run_counts_nothing() {
    let fabric = world();
    let running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    let sends = || CounterOf::Lnet("send_count".to_owned());
    assert_eq!(count(&running, "job", "vm1", sends()), None);
    assert_eq!(count(&running, "storage", "vm9", sends()), None);
    let rail = CounterOf::LnetNi(slot("vm1", 0), "sent_put".to_owned());
    assert_eq!(count(&running, "storage", "vm1", rail), None);
    let reads = CounterOf::Mpib(Counter::HintReads, None);
    assert_eq!(count(&running, "storage", "vm1", reads), None);
}

/// When storage of two clients failed, and why, if their ports are cut at these times in seconds.
fn two_clients_cut(cuts: [(&str, u64); 2]) -> (Option<SimTime>, Option<WorkloadCause>) {
    let mut plans = plans();
    if let Some(Plan::Storage(storage)) = plans.get_mut("storage") {
        storage.nodes.push(storage_node("vm3"));
        storage.clients.push("vm3".into());
    }
    let mut fabric = world_of(&["vm1", "vm2", "vm3"]);
    let mut running = RunningWorkloads::start(&plans, &fabric).expect("they can be begun");
    for (node, second) in cuts {
        fabric.advance(SimTime::from_secs(second));
        for nic in [2, 3] {
            let cut = PortAction::Cut.on(slot(node, nic));
            fabric.act(&cut).expect("it is possible");
        }
    }
    fabric.advance(SimTime::from_secs(400));
    running.follow(&fabric);
    let stats = running.stats("storage").expect("it runs");
    (stats.failed_at, stats.cause)
}

/// Both have a write without an answer for `obd_timeout`, 100 s.
#[test]
fn storage_failed_when_the_first_of_its_clients_did() {
    for order in [["vm1", "vm3"], ["vm3", "vm1"]] {
        let (failed_at, cause) = two_clients_cut([(order[0], 10), (order[1], 50)]);
        let second = failed_at.expect("both failed").as_ms() / 1000;
        assert!((109..=112).contains(&second), "{order:?} {second}");
        assert_eq!(cause, Some(WorkloadCause::Unanswered), "{order:?}");
    }
}

/// The same world without a fault, at this time.
fn world_at(second: u64) -> Fabric {
    let mut fabric = world();
    fabric.advance(SimTime::from_secs(second));
    fabric
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let fabric = world();
    let mut running = RunningWorkloads::start(&plans(), &fabric).expect("they can be begun");
    let hint = |workload: &str, node: &str, to: &str| WorkloadAction::Agent {
        workload: workload.to_owned(),
        node: node.into(),
        action: AgentAction::Hint {
            to: to.into(),
            share: SupBandwidth::NONE,
        },
    };
    running.follow(&fabric);
    let before = format!("{running:?}");
    let mut refused = |action: WorkloadAction| {
        running
            .act(&action, &fabric)
            .expect_err("it makes no sense")
    };
    assert!(
        matches!(refused(rule("none", "vm1")), WorkloadError::NoWorkload(name) if name == "none")
    );
    assert!(matches!(
        refused(rule("job", "vm1")),
        WorkloadError::OtherKind(..)
    ));
    assert!(matches!(
        refused(hint("storage", "vm1", "vm2")),
        WorkloadError::OtherKind(..)
    ));
    assert!(matches!(
        refused(rule("storage", "vm9")),
        WorkloadError::NoSuchNode(..)
    ));
    assert!(matches!(
        refused(hint("job", "vm9", "vm2")),
        WorkloadError::NoSuchNode(..)
    ));
    assert!(matches!(
        refused(hint("job", "vm1", "vm1")),
        WorkloadError::NoHint(..)
    ));
    assert!(
        format!("{running:?}") == before,
        "a refused deed changed something"
    );
    running
        .act(&hint("job", "vm1", "vm2"), &fabric)
        .expect("the pair is connected");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The times of observation do not matter: the same faults give the same outcomes, to the
    /// nanosecond.
    #[test]
    fn the_stride_changes_nothing(
        faults in prop::collection::vec((0_u64..40_000, 0_usize..2, 0_usize..4, 100_u64..30_000), 0..6),
        stride_ms in 50_u64..7_000,
    ) {
        let mut actions = Vec::new();
        for (at, node, nic, lasts) in faults {
            let slot = slot(NODES[node], nic);
            actions.push((at, PortAction::Cut.on(slot.clone())));
            actions.push((at + lasts, PortAction::Mend.on(slot)));
        }
        actions.sort_by_key(|(at, _)| *at);
        // Both end at the same instant, which every stride reaches.
        let end_ms = 80_000 / stride_ms * stride_ms;
        prop_assert_eq!(check(&actions, stride_ms, end_ms), check(&actions, end_ms, end_ms));
    }
}
