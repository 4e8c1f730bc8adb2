//! The effects of outages on a job.

use mpib::{
    Agent, AgentAction, Death, Edge, FailureCause, Job, JobTraffic, MpibProfile, NcclResult, Net,
    PathClass, Pause, Rail, RailChange, RailState, Refusal, Retries, Settings, Side, Transport,
    eight_vms, mesh, ring,
};
use rstest::rstest;
use simfs::SimTime;
use workloads::WorkloadOutcome;

use crate::rig::vm;

const TRY_NS: u64 = 4_294_967_296;

fn ring_of_7_3(settings: Settings) -> Job {
    let edges = ring(&[vm(1), vm(2), vm(5), vm(6)]);
    Job::start(
        Net::new(eight_vms(), settings),
        &edges,
        JobTraffic::steady(),
    )
}

fn edge(from: u16, to: u16) -> Edge {
    Edge {
        from: vm(from),
        to: vm(to),
    }
}

fn at(ms: u64, host: u16, rail: Rail, state: RailState) -> RailChange {
    RailChange {
        at: SimTime::from_ms(ms),
        host: vm(host),
        rail,
        state,
    }
}

/// Cuts vm1's SUP port at `cut_ms` for `outage_ms` under the ring of 7.3.
fn cut(retries: Retries, cut_ms: u64, outage_ms: u64) -> Job {
    let settings = Settings {
        retries,
        ..Settings::new(MpibProfile::G1)
    };
    let mut job = ring_of_7_3(settings);
    job.notify(at(cut_ms, 1, Rail::Sup, RailState::Down));
    job.notify(at(cut_ms + outage_ms, 1, Rail::Sup, RailState::Up));
    job.advance(SimTime::from_secs(120));
    job
}

#[test]
fn a_job_without_faults_survives_and_keeps_its_beat() {
    let mut job = ring_of_7_3(Settings::new(MpibProfile::G1));
    job.advance(SimTime::from_secs(10));
    assert_eq!(
        (job.outcome(), job.result()),
        (WorkloadOutcome::Survived, Some(NcclResult::Success))
    );
    let messages: Vec<u64> = job.edges().map(|(_, _, messages)| messages).collect();
    assert_eq!(messages, [101; 4], "a beat at 0 and every 100 ms to 10 s");
}

#[test]
fn a_short_outage_stalls_one_edge_and_no_other() {
    let job = cut(Retries::Eight, 10_000, 10_000);
    let stalls: Vec<_> = job.stalls().collect();
    assert_eq!(job.outcome(), WorkloadOutcome::Degraded);
    assert_eq!(stalls.len(), 1);
    assert_eq!(stalls[0].edge, edge(1, 2));
    assert_eq!(stalls[0].from, SimTime::from_secs(10));
    let through = SimTime::from_secs(10) + SimTime::from_ns(3 * TRY_NS);
    assert_eq!(stalls[0].to, Some(through));
    let messages: Vec<u64> = job.edges().map(|(_, _, messages)| messages).collect();
    // The sends from 10.1 s to 22.8 s were skipped.
    assert_eq!(messages, [1201 - 128, 1201, 1201, 1201]);
}

/// The same outage of an allreduce: each rank sends one message more than the one before it in the ring, and then the ring
/// stands. It goes on when the first edge does, in which the message after the lost one begins at the next time to send.
#[test]
fn an_edge_that_waits_holds_up_the_ring_of_an_allreduce() {
    let edges = ring(&[vm(1), vm(2), vm(5), vm(6)]);
    let traffic = JobTraffic {
        dependent: true,
        ..JobTraffic::steady()
    };
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &edges, traffic);
    let delivered =
        |job: &Job| -> Vec<u64> { job.edges().map(|(.., messages)| messages).collect() };
    job.notify(at(10_000, 1, Rail::Sup, RailState::Down));
    assert_eq!(delivered(&job), [100; 4]);
    job.notify(at(20_000, 1, Rail::Sup, RailState::Up));
    assert_eq!(delivered(&job), [100, 101, 102, 103]);
    job.advance(SimTime::from_secs(120));
    // The first edge skipped the sends from 10.1 s to 22.8 s, and nobody is ahead of it by more than before.
    let first = 1201 - 128;
    assert_eq!(delivered(&job), [first, first, first + 1, first + 2]);
    assert_eq!(job.outcome(), WorkloadOutcome::Degraded);
    assert_eq!(
        job.stalls().count(),
        1,
        "the others sent nothing that waited"
    );
}

/// The first post after the cut is that of the next period.
#[rstest]
#[case(Retries::Seven, 7)]
#[case(Retries::Eight, 8)]
fn a_long_outage_kills_after_the_tries_of_the_next_post(
    #[case] retries: Retries,
    #[case] tries: u64,
    #[values(40_000, 45_000, 90_000)] outage_ms: u64,
) {
    let job = cut(retries, 10_030, outage_ms);
    let failure = job.failure().expect("it is dead");
    assert_eq!(job.outcome(), WorkloadOutcome::Failed);
    assert_eq!(
        failure.at,
        SimTime::from_ms(10_100) + SimTime::from_ns(tries * TRY_NS)
    );
    assert_eq!(failure.edge, Some(edge(1, 2)));
    // The receiver's clear-to-send was the first lost write.
    let (host, rail) = (vm(2), Rail::Sup);
    assert_eq!(
        failure.cause,
        FailureCause::Network(Death::RetryExceeded { host, rail })
    );
    assert_eq!(job.result(), Some(NcclResult::SystemError));
    let stalls: Vec<_> = job.stalls().collect();
    assert_eq!(
        (stalls.len(), stalls[0].to),
        (1, None),
        "it waited to the end"
    );
}

#[test]
fn a_dead_job_sends_no_more() {
    let job = cut(Retries::Eight, 10_000, 45_000);
    let died = job.failure().expect("it is dead").at;
    assert!(job.net().posts().iter().all(|post| post.at <= died));
    assert_eq!(job.next_at(), None);
}

#[test]
fn a_device_that_goes_fails_the_job_at_once() {
    let mut job = ring_of_7_3(Settings::new(MpibProfile::G1));
    job.notify(at(10_030, 5, Rail::Sout, RailState::Gone));
    let failure = job.failure().expect("it is dead");
    assert_eq!(failure.at, SimTime::from_ms(10_030));
    let (host, rail) = (vm(5), Rail::Sout);
    assert_eq!(
        failure.cause,
        FailureCause::Network(Death::DeviceGone { host, rail })
    );
}

#[test]
fn a_message_of_this_instant_has_not_waited_yet() {
    let mut job = ring_of_7_3(Settings::new(MpibProfile::G1));
    job.notify(at(10_000, 1, Rail::Sup, RailState::Down));
    job.advance(SimTime::from_secs(10));
    assert_eq!(
        (job.stalls().count(), job.outcome()),
        (0, WorkloadOutcome::Survived)
    );
    job.advance(SimTime::from_ms(10_001));
    assert_eq!(
        (job.stalls().count(), job.outcome()),
        (1, WorkloadOutcome::Degraded)
    );
}

#[test]
fn a_failed_job_waits_for_nothing() {
    let mut job = ring_of_7_3(Settings::new(MpibProfile::G1));
    job.notify(at(10_000, 1, Rail::Sup, RailState::Down));
    job.advance(SimTime::from_ms(10_030));
    let next_try = SimTime::from_secs(10) + SimTime::from_ns(TRY_NS);
    assert_eq!(job.net().next_at(), Some(next_try));
    job.notify(at(10_030, 5, Rail::Sout, RailState::Gone));
    assert_eq!(job.outcome(), WorkloadOutcome::Failed);
    assert_eq!(job.next_at(), None);
    let stalls: Vec<_> = job.stalls().map(|stall| (stall.from, stall.to)).collect();
    assert_eq!(stalls, [(SimTime::from_secs(10), None)]);
}

#[test]
fn a_job_of_one_message_waits_for_nothing_more() {
    let once = JobTraffic {
        period: SimTime::MAX,
        ..JobTraffic::steady()
    };
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &ring(&[vm(1), vm(2)]), once);
    job.advance(SimTime::from_secs(1));
    assert!(job.edges().all(|(_, _, messages)| messages == 1));
    assert_eq!(
        (job.outcome(), job.next_at()),
        (WorkloadOutcome::Survived, None)
    );
}

#[test]
fn a_lost_rank_fails_the_job_at_once() {
    let mut job = ring_of_7_3(Settings::new(MpibProfile::G1));
    job.lose_rank(vm(6), SimTime::from_ms(5_050));
    let failure = job.failure().expect("it is dead");
    assert_eq!((failure.at, failure.edge), (SimTime::from_ms(5_050), None));
    assert_eq!(failure.cause, FailureCause::RankLost(vm(6)));
    assert_eq!(job.result(), Some(NcclResult::SystemError));
}

#[test]
fn a_port_that_is_down_at_the_start_fails_the_connection() {
    let mut net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    net.notify(at(1, 2, Rail::Sup, RailState::Down));
    let job = Job::start(net, &ring(&[vm(1), vm(2)]), JobTraffic::steady());
    let failure = job.failure().expect("it never started");
    assert!(matches!(failure.cause, FailureCause::Connect(_)));
    assert_eq!(failure.edge, Some(edge(1, 2)));
}

#[test]
fn a_hint_left_half_written_hangs_its_edge_until_the_time_limit() {
    let mut job = ring_of_7_3(Settings::new(MpibProfile::G1));
    job.advance(SimTime::from_ms(10_050));
    assert!(job.agent(vm(1), AgentAction::DiesWhileWriting { to: vm(2) }));
    job.advance(SimTime::from_secs(600));
    assert_eq!(job.outcome(), WorkloadOutcome::Degraded, "no error so far");
    let messages: Vec<u64> = job.edges().map(|(_, _, messages)| messages).collect();
    assert_eq!(messages, [101, 6001, 6001, 6001], "the other edges go on");
    job.advance(SimTime::from_secs(700));
    let failure = job.failure().expect("the limit has passed");
    assert_eq!(failure.at, SimTime::from_ms(10_100 + 600_000));
    assert_eq!(
        (failure.edge, failure.cause),
        (Some(edge(1, 2)), FailureCause::Hung)
    );
    assert_eq!(job.result(), None, "the call never returned");
}

/// If one rank's agent is missing, the whole job runs without the plugin, over SOUT.
#[test]
fn a_refused_plugin_leaves_the_job_to_the_internal_transport() {
    let mut hosts = eight_vms();
    hosts[1].agent = Agent::missing();
    let mut job = Job::start(
        Net::new(hosts, Settings::new(MpibProfile::G1)),
        &ring(&[vm(1), vm(2)]),
        JobTraffic::steady(),
    );
    job.advance(SimTime::from_secs(10));
    assert_eq!(job.refusals(), [(vm(2), Refusal::NoHints)]);
    assert_eq!(
        (job.transport(), job.outcome()),
        (Transport::Internal, WorkloadOutcome::Survived)
    );
    assert!(job.net().logs().iter().all(|line| line.host == vm(1)));
    assert!(job.net().posts().iter().all(|post| post.rail == Rail::Sout));
    let (_, connection, _) = job.edges().next().expect("it is connected");
    assert_eq!(job.net().path(connection, Side::Send).class(), None);
    job.notify(at(20_000, 1, Rail::Sup, RailState::Down));
    job.advance(SimTime::from_secs(80));
    assert_eq!(
        job.outcome(),
        WorkloadOutcome::Survived,
        "it has no use for SUP"
    );
    job.notify(at(80_010, 1, Rail::Sout, RailState::Down));
    job.advance(SimTime::from_secs(200));
    assert_eq!(
        job.failure().map(|failure| failure.at),
        Some(SimTime::from_ms(80_100) + SimTime::from_ns(8 * TRY_NS)),
        "the same outage rule"
    );
}

#[test]
fn a_mesh_of_eight_has_12_edges_inside_islands_and_16_between() {
    let ranks: Vec<_> = (1..=8).map(vm).collect();
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let job = Job::start(net, &mesh(&ranks), JobTraffic::steady());
    let class = |connection| job.net().path(connection, Side::Send).class();
    let inside = |edges: &Job| {
        let intra = |found: &Option<PathClass>| *found == Some(PathClass::Intra);
        edges
            .edges()
            .map(|(_, id, _)| class(id))
            .filter(intra)
            .count()
    };
    assert_eq!((job.edges().count(), inside(&job)), (28, 12));
}

#[test]
fn a_closed_ring_of_eight_has_6_edges_inside_islands_and_2_between() {
    let ranks: Vec<_> = (1..=8).map(vm).collect();
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let job = Job::start(net, &ring(&ranks), JobTraffic::steady());
    let between: Vec<_> = job
        .edges()
        .filter(|(_, id, _)| job.net().path(*id, Side::Send).class() == Some(PathClass::Inter))
        .map(|(edge, _, _)| edge)
        .collect();
    assert_eq!(between, [edge(4, 5), edge(8, 1)]);
    assert_eq!(job.edges().count(), 8);
}

#[rstest]
#[case(0, 0)]
#[case(1, 100)]
#[case(100, 100)]
#[case(101, 500)]
#[case(499, 500)]
#[case(1_000, 2_000)]
fn beats_lie_on_their_grid_and_outside_pauses(#[case] earliest_ms: u64, #[case] beat_ms: u64) {
    let ms = SimTime::from_ms;
    let traffic = JobTraffic::steady()
        .paused(ms(1_500), ms(1_910))
        .paused(ms(900), ms(1_500))
        .paused(ms(101), ms(450));
    assert_eq!(
        traffic.pauses[0],
        Pause {
            from: ms(1_500),
            to: ms(1_910)
        }
    );
    assert_eq!(traffic.beat(SimTime::ZERO, ms(earliest_ms)), ms(beat_ms));
}
