//! What an outage does to the queue pairs, in order, and the mask that would have saved the job.

use mpib::{
    AgentAction, AsyncEvent, Bytes, Edge, Hopeless, Job, JobTraffic, MpibProfile, Net,
    NetEventKind, Rail, RailChange, RailState, Rescue, Settings, SupBandwidth, eight_vms, ring,
};
use rstest::rstest;
use simfs::SimTime;
use workloads::WorkloadOutcome;

use crate::rig::vm;

const TRY_NS: u64 = 4_294_967_296;
const CUT_MS: u64 = 10_030;
/// The first post after the cut.
const LOST_MS: u64 = 10_100;

/// Writes vm1's hint for vm2; returns whether there is such a pair.
fn hint(job: &mut Job, share: SupBandwidth) -> bool {
    job.agent(vm(1), AgentAction::Hint { to: vm(2), share })
}

/// vm1 and vm2 send to each other, vm1 by `share`; its `rail` is out from 10.03 s for `outage_ms`, and
/// at `change_ms` its agent writes the other share.
fn check(
    share: SupBandwidth,
    rail: Rail,
    outage_ms: u64,
    change_ms: Option<(u64, SupBandwidth)>,
) -> Job {
    check_of(JobTraffic::steady(), share, rail, outage_ms, change_ms)
}

/// The same with other messages.
fn check_of(
    traffic: JobTraffic,
    share: SupBandwidth,
    rail: Rail,
    outage_ms: u64,
    change_ms: Option<(u64, SupBandwidth)>,
) -> Job {
    let edges: Vec<_> = ring(&[vm(1), vm(2)]).into_iter().take(1).collect();
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &edges, traffic);
    assert!(hint(&mut job, share), "vm1 and vm2 are connected");
    let mut changes = vec![
        (CUT_MS, Some(RailState::Down)),
        (CUT_MS + outage_ms, Some(RailState::Up)),
    ];
    changes.extend(change_ms.map(|(at, _)| (at, None)));
    changes.sort_by_key(|(at, _)| *at);
    for (at, state) in changes {
        let at = SimTime::from_ms(at);
        match (state, change_ms) {
            (Some(state), _) => job.notify(RailChange {
                at,
                host: vm(1),
                rail,
                state,
            }),
            (None, Some((_, share))) => {
                job.advance(at);
                assert!(hint(&mut job, share), "the agent lives");
            }
            (None, None) => unreachable!("no hint without a share"),
        }
    }
    job.advance(SimTime::from_secs(120));
    job
}

/// A hint for the one edge that moves everything to SUP.
fn all_to_sup(at: SimTime) -> Rescue {
    let edge = Edge {
        from: vm(1),
        to: vm(2),
    };
    Rescue::Hints {
        at,
        hints: vec![(edge, Rail::Sup)],
    }
}

fn events(job: &Job) -> Vec<(u64, NetEventKind)> {
    let events = job.net().events().iter();
    events.map(|event| (event.at.as_ns(), event.kind)).collect()
}

#[test]
fn a_rail_that_dies_gives_an_event_a_post_seven_retries_and_status_12() {
    let job = check(SupBandwidth::NONE, Rail::Sout, 90_000, None);
    let events = events(&job);
    let lost_ns = LOST_MS * 1_000_000;
    assert_eq!(
        events[0],
        (
            CUT_MS * 1_000_000,
            NetEventKind::Async(AsyncEvent::PortError)
        )
    );
    let NetEventKind::Post {
        queue_pair,
        mask: Some(mask),
        behind: 0,
        ..
    } = events[1].1
    else {
        panic!("no post of data: {events:?}");
    };
    assert_eq!((events[1].0, mask.bits()), (lost_ns, 1));
    for tries in 2..=8 {
        let at = lost_ns + TRY_NS * u64::from(tries - 1);
        assert_eq!(
            events[usize::from(tries)],
            (at, NetEventKind::Retry { queue_pair, tries })
        );
    }
    let exceeded = NetEventKind::RetryExceeded {
        queue_pair,
        tries: 8,
        flushed: 0,
    };
    assert_eq!(events[9], (lost_ns + 8 * TRY_NS, exceeded));
    assert_eq!(
        events[10],
        (
            (CUT_MS + 90_000) * 1_000_000,
            NetEventKind::Async(AsyncEvent::PortActive)
        )
    );
    assert_eq!(events.len(), 11);
}

#[test]
fn a_rail_that_returns_in_time_ends_with_an_acknowledgement() {
    let job = check(SupBandwidth::NONE, Rail::Sout, 10_000, None);
    let last = events(&job).pop().expect("there are events");
    assert_eq!(last.0, LOST_MS * 1_000_000 + 3 * TRY_NS);
    let NetEventKind::Acknowledged { writes: 1, .. } = last.1 else {
        panic!("{last:?}");
    };
    assert_eq!(
        (job.outcome(), job.rescue()),
        (WorkloadOutcome::Degraded, None)
    );
}

/// What the model says of the other mask is what happens with it.
#[rstest]
#[case::before_the_post(LOST_MS - 1, WorkloadOutcome::Survived)]
#[case::after_the_post(LOST_MS + 1, WorkloadOutcome::Failed)]
fn a_hint_for_the_other_rail_saves_until_the_lost_post(
    #[case] change_ms: u64,
    #[case] outcome: WorkloadOutcome,
) {
    let without = check(SupBandwidth::NONE, Rail::Sout, 90_000, None);
    let until = SimTime::from_ms(LOST_MS);
    assert_eq!(without.rescue(), Some(all_to_sup(until)));
    let change = Some((change_ms, SupBandwidth::MAX));
    let with = check(SupBandwidth::NONE, Rail::Sout, 90_000, change);
    assert_eq!(with.outcome(), outcome);
}

#[test]
fn no_hint_saves_a_connection_whose_clear_to_send_is_on_the_dead_rail() {
    let without = check(SupBandwidth::MAX, Rail::Sup, 90_000, None);
    let rescue = Rescue::None {
        at: SimTime::from_ms(LOST_MS),
        why: Hopeless::ClearToSend(Rail::Sup),
    };
    assert_eq!(without.rescue(), Some(rescue));
    let change = Some((CUT_MS - 1_000, SupBandwidth::NONE));
    let with = check(SupBandwidth::MAX, Rail::Sup, 90_000, change);
    assert_eq!(with.outcome(), WorkloadOutcome::Failed);
}

/// SUP gets multiples of 128 bytes, so SOUT carries the rest of an odd message and every empty one.
#[rstest]
#[case::empty(0, 0)]
#[case::less_than_a_grain(127, 127)]
#[case::odd(1000, 104)]
#[case::a_mebibyte_and_a_byte((1 << 20) + 1, 1)]
fn no_hint_moves_what_is_left_of_128_bytes(#[case] size: u64, #[case] rest: u64) {
    for share in [SupBandwidth::NONE, SupBandwidth::MAX] {
        let traffic = || JobTraffic::steady().of(Bytes::new(size));
        let without = check_of(traffic(), share, Rail::Sout, 90_000, None);
        let rescue = Rescue::None {
            at: SimTime::from_ms(LOST_MS),
            why: Hopeless::Rest(Rail::Sout, Bytes::new(rest)),
        };
        assert_eq!(without.rescue(), Some(rescue));
        let change = Some((LOST_MS - 1, SupBandwidth::MAX));
        let with = check_of(traffic(), share, Rail::Sout, 90_000, change);
        assert_eq!(with.outcome(), WorkloadOutcome::Failed);
    }
}

#[test]
fn a_dead_agent_writes_no_hint_that_saves() {
    let edges: Vec<_> = ring(&[vm(1), vm(2)]).into_iter().take(1).collect();
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &edges, JobTraffic::steady());
    assert!(hint(&mut job, SupBandwidth::NONE));
    job.advance(SimTime::from_secs(5));
    assert!(job.agent(vm(1), AgentAction::Dies));
    job.notify(RailChange {
        at: SimTime::from_ms(CUT_MS),
        host: vm(1),
        rail: Rail::Sout,
        state: RailState::Down,
    });
    job.advance(SimTime::from_secs(120));
    let rescue = Rescue::None {
        at: SimTime::from_ms(LOST_MS),
        why: Hopeless::NoHint(vm(1)),
    };
    assert_eq!(job.rescue(), Some(rescue));
}

/// A hint that was right at its time and is taken back later does not save the job.
#[test]
fn a_hint_that_is_taken_back_saves_only_for_a_while() {
    let edges: Vec<_> = ring(&[vm(1), vm(2)]).into_iter().take(1).collect();
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &edges, JobTraffic::steady());
    assert!(hint(&mut job, SupBandwidth::NONE));
    job.notify(RailChange {
        at: SimTime::from_ms(CUT_MS),
        host: vm(1),
        rail: Rail::Sout,
        state: RailState::Down,
    });
    job.advance(SimTime::from_ms(20_050));
    assert!(hint(&mut job, SupBandwidth::NONE));
    job.advance(SimTime::from_secs(120));
    let Some(Rescue::NotEnough {
        failure: Some(failure),
        ..
    }) = job.rescue()
    else {
        panic!("{:?}", job.rescue());
    };
    let lost_ns = 20_100 * 1_000_000;
    assert_eq!(failure.at, SimTime::from_ns(lost_ns + 8 * TRY_NS));
}

/// vm1 dies of what it sends by SOUT; vm3's clear-to-send waits on SUP at that moment, and its rail is back in time. A hint
/// for vm1 saves the job, although none would help vm3.
#[test]
fn a_write_that_waits_and_is_acknowledged_later_is_no_reason() {
    let edges = [(1, 2), (3, 4)].map(|(from, to)| Edge {
        from: vm(from),
        to: vm(to),
    });
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &edges, JobTraffic::steady());
    assert!(hint(&mut job, SupBandwidth::NONE));
    for (at_ms, host, rail, state) in [
        (CUT_MS, 1, Rail::Sout, RailState::Down),
        (40_030, 3, Rail::Sup, RailState::Down),
        (50_030, 3, Rail::Sup, RailState::Up),
    ] {
        job.notify(RailChange {
            at: SimTime::from_ms(at_ms),
            host: vm(host),
            rail,
            state,
        });
    }
    job.advance(SimTime::from_secs(120));
    assert_eq!(job.outcome(), WorkloadOutcome::Failed);
    assert_eq!(job.rescue(), Some(all_to_sup(SimTime::from_ms(LOST_MS))));
}

/// What was lost in an earlier outage and acknowledged after it killed nothing.
#[test]
fn only_what_still_waits_has_to_be_saved() {
    let edges: Vec<_> = ring(&[vm(1), vm(2)]).into_iter().take(1).collect();
    let net = Net::new(eight_vms(), Settings::new(MpibProfile::G1));
    let mut job = Job::start(net, &edges, JobTraffic::steady());
    assert!(hint(&mut job, SupBandwidth::NONE));
    for (at_ms, state) in [
        (CUT_MS, RailState::Down),
        (CUT_MS + 10_000, RailState::Up),
        (CUT_MS + 30_000, RailState::Down),
    ] {
        job.notify(RailChange {
            at: SimTime::from_ms(at_ms),
            host: vm(1),
            rail: Rail::Sout,
            state,
        });
    }
    job.advance(SimTime::from_secs(120));
    let until = SimTime::from_ms(LOST_MS + 30_000);
    assert_eq!(job.rescue(), Some(all_to_sup(until)));
}

/// The flushed completions of the queue pair that died.
fn flushed(job: &Job) -> Option<usize> {
    job.net()
        .events()
        .iter()
        .find_map(|event| match event.kind {
            NetEventKind::RetryExceeded { flushed, .. } => Some(flushed),
            _ => None,
        })
}

/// Four messages may be in flight. The clear-to-send of all four waits on one queue pair of SUP; their data is shared
/// between the two of SOUT.
#[rstest]
#[case::one_at_a_time(1, SupBandwidth::MAX, Rail::Sup, 0)]
#[case::clear_to_send(4, SupBandwidth::MAX, Rail::Sup, 3)]
#[case::data(4, SupBandwidth::NONE, Rail::Sout, 1)]
fn what_waits_behind_a_lost_write_is_flushed_with_it(
    #[case] in_flight: u8,
    #[case] share: SupBandwidth,
    #[case] rail: Rail,
    #[case] behind: usize,
) {
    let traffic = JobTraffic {
        in_flight,
        ..JobTraffic::steady()
    };
    let job = check_of(traffic, share, rail, 90_000, None);
    assert_eq!(flushed(&job), Some(behind));
}

/// A rail that is back in time delivers all that waited, each once.
#[test]
fn messages_in_flight_are_delivered_together_when_the_rail_is_back() {
    let traffic = JobTraffic {
        in_flight: 4,
        ..JobTraffic::steady()
    };
    let job = check_of(traffic, SupBandwidth::NONE, Rail::Sout, 10_000, None);
    assert_eq!(job.failure(), None);
    let waited = job.stalls().filter(|stall| stall.to.is_some()).count();
    assert_eq!(waited, 4);
    let mut from: Vec<u64> = job.stalls().map(|stall| stall.from.as_ms()).collect();
    from.sort_unstable();
    assert_eq!(from, [10_100, 10_200, 10_300, 10_400]);
}

/// Names and numbers of `enum ibv_event_type`.
#[rstest]
#[case(RailState::Up, RailState::Down, Some(("IBV_EVENT_PORT_ERR", 10)))]
#[case(RailState::Down, RailState::Up, Some(("IBV_EVENT_PORT_ACTIVE", 9)))]
#[case(RailState::Up, RailState::Gone, Some(("IBV_EVENT_DEVICE_FATAL", 8)))]
#[case(RailState::Down, RailState::Gone, Some(("IBV_EVENT_DEVICE_FATAL", 8)))]
#[case(RailState::Gone, RailState::Up, None)]
#[case(RailState::Up, RailState::Up, None)]
fn a_change_of_a_port_raises_the_event_of_verbs(
    #[case] from: RailState,
    #[case] to: RailState,
    #[case] event: Option<(&str, u8)>,
) {
    let raised = AsyncEvent::of_change(from, to);
    let raised = raised.map(|event| (event.to_string(), event.number()));
    let wanted = event.map(|(name, number)| (name.to_owned(), number));
    assert_eq!(raised, wanted);
}
