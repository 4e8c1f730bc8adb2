//! A job on the ports of a fabric: what it was started with, and what it hears of.

use std::collections::BTreeMap;

use fabric::{Action, DeviceAction, Fabric, FunctionRef, PortAction, Timing};
use mpib::{
    ACK_TIMEOUT_EXPONENT, AgentAction, AgentError, HostPlan, JobPlan, JobTraffic, JobWorkload,
    MpibProfile, PerRail, RailPlan, Retries, SupBandwidth,
};
use platforms::{LinkLayer, NodeName, PciAddress, Platforms, PortNumber, PortRef, SlotRef};
use rstest::rstest;
use simfs::SimTime;
use workloads::{Running, Workload, WorkloadCause, WorkloadOutcome, WorkloadStats};

/// SOUT and SUP of a `two-rail-vm`.
const NICS: [&str; 2] = ["0000:09:00.0", "0000:4a:00.0"];
const TRY_NS: u64 = 4_294_967_296;
const CUT_MS: u64 = 10_000;

fn slot(node: &str, nic: usize) -> SlotRef {
    let pci: PciAddress = NICS[nic].parse().expect("an address");
    SlotRef {
        node: node.into(),
        pci,
        port: PortNumber(1),
    }
}

fn plan() -> JobPlan {
    let rail = |node: &str, nic: usize, last: u8| RailPlan {
        slot: slot(node, nic),
        port: PortRef {
            node: node.into(),
            device: format!("mlx5_{nic}").as_str().into(),
            port: PortNumber(1),
        },
        address: [10, if nic == 0 { 0 } else { 9 }, 1, last].into(),
        layer: LinkLayer::Ethernet,
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
    JobPlan {
        profile: MpibProfile::G1,
        // vm3 is a host of the job and has no rank.
        hosts: (1..).zip(["vm1", "vm2", "vm3"]).map(host).collect(),
        edges: vec![(0, 1)],
        traffic: JobTraffic::steady(),
        retries: Retries::Eight,
        timeout_exponent: ACK_TIMEOUT_EXPONENT,
        cts_queue_depth: mpib::CTS_QUEUE_DEPTH,
    }
}

fn world() -> Fabric {
    let platform = Platforms::shipped();
    let platform = platform.get("two-rail-vm").expect("a shipped platform");
    let nodes = ["vm1", "vm2", "vm3"].map(|node| (NodeName::from(node), platform.clone()));
    Fabric::new(nodes.into(), Timing::default())
}

/// The job at the end of a minute in which an action was taken at [`CUT_MS`].
fn check(plan: &JobPlan, action: Option<Action>) -> (WorkloadStats, Running<JobWorkload>) {
    let mut fabric = world();
    let job = JobWorkload::start(plan, &fabric);
    let mut running = Running::start([("job".to_owned(), job)].into(), &fabric);
    fabric.advance(SimTime::from_ms(CUT_MS));
    if let Some(action) = action {
        fabric.act(&action).expect("it is possible");
    }
    fabric.advance(SimTime::from_secs(60));
    running.follow(&fabric);
    let stats = running.get("job").expect("it runs").stats();
    (stats, running)
}

fn cut(nic: usize) -> Action {
    PortAction::Cut.on(slot("vm1", nic))
}

type Change = fn(&mut JobPlan);

/// The write that was posted at the instant of the cut is lost.
#[rstest]
#[case::eight_tries(|_: &mut JobPlan| {}, CUT_MS * 1_000_000 + 8 * TRY_NS)]
#[case::seven_tries(|plan: &mut JobPlan| plan.retries = Retries::Seven, CUT_MS * 1_000_000 + 7 * TRY_NS)]
#[case::shorter_tries(|plan: &mut JobPlan| plan.timeout_exponent = 18, CUT_MS * 1_000_000 + 2 * TRY_NS)]
fn a_job_dies_after_the_tries_that_it_was_started_with(
    #[case] change: Change,
    #[case] died_ns: u64,
) {
    let mut plan = plan();
    change(&mut plan);
    let (stats, _) = check(&plan, Some(cut(1)));
    let found = (stats.failed_at, stats.cause, stats.errors);
    let at = SimTime::from_ns(died_ns);
    assert_eq!(found, (Some(at), Some(WorkloadCause::RetryExceeded), 1));
}

#[test]
fn a_job_without_a_fault_counts_its_messages_and_bytes() {
    let (stats, running) = check(&plan(), None);
    assert_eq!(
        (stats.outcome, stats.done),
        (WorkloadOutcome::Survived, 601)
    );
    let job = running.get("job").expect("it runs");
    assert_eq!(job.ports().count(), 6);
    let carried: BTreeMap<_, _> = job.carried().collect();
    let of = |node, nic| carried[&slot(node, nic)];
    assert_eq!(of("vm1", 1).sent.get(), 601 << 20);
    assert_eq!(of("vm2", 1).received.get(), 601 << 20);
    assert_eq!(of("vm1", 0).sent.get(), 0);
    assert!(job.job().net().posts().is_empty(), "long stories keep none");
}

#[test]
fn a_queue_that_is_shorter_than_the_interval_ends_the_job() {
    let mut plan = plan();
    plan.cts_queue_depth = 100;
    let (stats, _) = check(&plan, None);
    assert_eq!(stats.cause, Some(WorkloadCause::QueueFull));
}

#[test]
fn a_device_that_is_gone_ends_the_job_at_once() {
    let function = FunctionRef {
        node: "vm2".into(),
        pci: slot("vm2", 1).pci,
    };
    let (stats, _) = check(&plan(), Some(DeviceAction::Remove.on(function)));
    let found = (stats.cause, stats.failed_at);
    assert_eq!(
        found,
        (
            Some(WorkloadCause::DeviceGone),
            Some(SimTime::from_ms(CUT_MS))
        )
    );
}

#[test]
fn a_port_that_is_dark_at_the_start_makes_no_connection() {
    let mut fabric = world();
    fabric.act(&cut(1)).expect("it is possible");
    let stats = JobWorkload::start(&plan(), &fabric).stats();
    assert_eq!(stats.cause, Some(WorkloadCause::NoConnection));
}

/// A node without a rank may go.
#[rstest]
#[case("vm2", Some(WorkloadCause::RankLost))]
#[case("vm3", None)]
#[case("vm9", None)]
fn a_rank_is_lost_with_its_node(#[case] node: &str, #[case] cause: Option<WorkloadCause>) {
    let mut job = JobWorkload::start(&plan(), &world());
    job.node_goes(&node.into(), SimTime::from_secs(1));
    assert_eq!(job.stats().cause, cause);
}

#[test]
fn an_agent_hints_until_it_dies() {
    let mut job = JobWorkload::start(&plan(), &world());
    let hint = |to: &str| AgentAction::Hint {
        to: to.into(),
        share: SupBandwidth::NONE,
    };
    let vm1 = NodeName::from("vm1");
    assert_eq!(job.agent(&vm1, &hint("vm2")), Ok(()));
    job.advance(SimTime::from_secs(1));
    assert!(job.carried().any(
        |(slot, bytes)| slot.pci == NICS[0].parse().expect("an address") && bytes.sent.get() > 0
    ));
    assert_eq!(
        job.agent(&vm1, &hint("vm3")),
        Err(AgentError::NoHint),
        "they are not connected"
    );
    let unknown = NodeName::from("vm9");
    assert_eq!(
        job.agent(&unknown, &AgentAction::Dies),
        Err(AgentError::NoSuchHost(unknown.clone()))
    );
    assert_eq!(job.agent(&vm1, &AgentAction::Dies), Ok(()));
    assert_eq!(job.agent(&vm1, &hint("vm2")), Err(AgentError::NoHint));
}
