//! What a job counts, on a host and on an edge.

use mpib::{
    AgentAction, Counter, Edge, Job, MpibProfile, Net, Rail, RailChange, RailMask, RailState,
    Settings,
};
use mpib::{JobTraffic, SupBandwidth, eight_vms};
use rstest::rstest;
use simfs::SimTime;

use crate::rig::vm;

const MIB: u64 = 1 << 20;

/// vm1 sends to vm2 and vm3, a message of 1 MiB every 100 ms from 0 s on; to vm2 over SOUT, by a hint. Its SOUT is out from
/// 10.03 s for `outage_ms`.
fn job(outage_ms: u64) -> Job {
    let edges = [2, 3].map(|to| Edge {
        from: vm(1),
        to: vm(to),
    });
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &edges, JobTraffic::steady());
    let hint = AgentAction::Hint {
        to: vm(2),
        share: SupBandwidth::NONE,
    };
    assert!(job.agent(vm(1), hint));
    for (at_ms, state) in [
        (10_030, RailState::Down),
        (10_030 + outage_ms, RailState::Up),
    ] {
        job.notify(RailChange {
            at: SimTime::from_ms(at_ms),
            host: vm(1),
            rail: Rail::Sout,
            state,
        });
    }
    job.advance(SimTime::from_secs(60));
    job
}

/// The job dies of the write that is lost at 10.1 s: 102 messages were posted on SOUT, and 101 arrived. The
/// other edge goes on until the queue pair dies at 44.46 s.
#[rstest]
#[case(1, None, Counter::Messages(RailMask::SOUT), 102)]
#[case(1, Some(2), Counter::Messages(RailMask::SOUT), 102)]
#[case(1, Some(3), Counter::Messages(RailMask::SOUT), 0)]
#[case(2, None, Counter::Messages(RailMask::SOUT), 0)]
#[case(1, Some(2), Counter::Messages(RailMask::SUP), 0)]
#[case(1, Some(3), Counter::Messages(RailMask::SUP), 445)]
#[case(1, None, Counter::Messages(RailMask::BOTH), 0)]
#[case(1, None, Counter::Sent(Rail::Sout), 101 * MIB)]
#[case(2, None, Counter::Received(Rail::Sout), 101 * MIB)]
#[case(1, None, Counter::Received(Rail::Sout), 0)]
#[case(1, None, Counter::Retries(Rail::Sout), 7)]
#[case(1, Some(2), Counter::Retries(Rail::Sout), 7)]
#[case(1, Some(3), Counter::Retries(Rail::Sout), 0)]
#[case(2, None, Counter::Retries(Rail::Sout), 0)]
#[case(1, None, Counter::Retries(Rail::Sup), 0)]
#[case(1, Some(2), Counter::RetryExceeded(Rail::Sout), 1)]
#[case(1, Some(3), Counter::RetryExceeded(Rail::Sout), 0)]
#[case(1, None, Counter::RetryExceeded(Rail::Sup), 0)]
fn a_job_that_dies_of_a_rail_has_counted(
    #[case] host: u16,
    #[case] to: Option<u16>,
    #[case] counter: Counter,
    #[case] value: u64,
) {
    assert_eq!(job(200_000).count(vm(host), to.map(vm), counter), value);
}

/// Sent again at 14.395 s, 18.690 s and 22.985 s, when the port is up.
#[test]
fn a_retry_that_is_acknowledged_is_one() {
    let job = job(10_000);
    let count = |counter| job.count(vm(1), None, counter);
    assert_eq!(count(Counter::Retries(Rail::Sout)), 3);
    assert_eq!(count(Counter::RetryExceeded(Rail::Sout)), 0);
}

#[test]
fn each_send_by_a_hint_is_a_read_of_it() {
    let job = job(200_000);
    let count = |counter| job.count(vm(1), None, counter);
    let sent = [RailMask::SOUT, RailMask::SUP].map(|mask| count(Counter::Messages(mask)));
    let reads: u64 = sent.iter().sum();
    assert_eq!(count(Counter::HintReads), reads);
    assert_eq!(job.count(vm(2), None, Counter::HintReads), 0);
}

#[test]
fn lines_of_a_log_are_counted_by_their_text() {
    let job = job(200_000);
    assert_eq!(job.logged(vm(1), "SUP (intra-island)"), 2);
    assert_eq!(job.logged(vm(2), "SUP (intra-island)"), 1);
    assert_eq!(job.logged(vm(5), "intra"), 0);
}

#[test]
fn counters_have_names_of_their_own() {
    let mut names: Vec<&str> = Counter::ALL.into_iter().map(Counter::name).collect();
    assert_eq!(Counter::Sent(Rail::Sup).to_string(), "sup_bytes_sent");
    assert!(names.contains(&"messages_both") && names.contains(&"sout_retry_exceeded"));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Counter::ALL.len());
    let of_an_edge = Counter::ALL
        .into_iter()
        .filter(|counter| counter.is_of_an_edge());
    assert_eq!(of_an_edge.count(), 7);
}
