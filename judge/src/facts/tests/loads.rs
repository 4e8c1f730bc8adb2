//! What is expected of workloads, against stated figures of one that failed at 20 s.

use std::ops::RangeInclusive;

use ::lnet::{NiView, Nid, Recovery, UlpEvent, UlpResult};
use director::{Interface, TickTruth, Truth};
use observe::{Call, MonitorTick, Observation, Recording, Tick};
use platforms::{NodeName, Shared, SlotRef};
use rstest::rstest;
use scenarios::{CountIs, CounterOf, LnetIs, Window, WorkloadCounter, WorkloadIs};
use simfs::SimTime;
use terms::{ReportVerdict, Severity};
use workloads::{WorkloadCause, WorkloadOutcome, WorkloadStats};

use super::super::{
    count::count,
    lnet::lnet,
    verdict::{WorkloadVerdict, secs, verdict, verdict_on},
    workload::workload,
};
use super::told_of as rendered;
use crate::fits::tests::{Case, event, node_a, node_b, port, slot};

const FAILED: WorkloadStats = WorkloadStats {
    outcome: WorkloadOutcome::Failed,
    failed_at: Some(SimTime::from_secs(20)),
    cause: Some(WorkloadCause::Evicted),
    errors: 3,
    retries: 5,
    done: 7,
};

/// Ticks of a second, in each of which the workload has fared so.
fn truth(stats: &[WorkloadStats]) -> Truth {
    let tick = |(at, stats): (u64, &WorkloadStats)| TickTruth {
        at: SimTime::from_secs(at),
        nodes: Shared::default(),
        workloads: [("storage".to_owned(), *stats)].into(),
        ..TickTruth::default()
    };
    Truth {
        ticks: (0..).zip(stats).map(tick).collect(),
        ..Truth::default()
    }
}

fn window(from: u64, to: u64) -> Window {
    Window { from, to }
}

fn right() -> WorkloadIs {
    let at = SimTime::from_secs(20);
    WorkloadIs {
        workload: "storage".to_owned(),
        outcome: Some(WorkloadOutcome::Failed),
        cause: Some(WorkloadCause::Evicted),
        failed: Some((at, at)),
        errors: Some(3..=3),
        retries: Some(0..=5),
        done: Some(7..=u64::MAX),
    }
}

type Change = fn(&mut WorkloadIs);

#[rstest]
#[case::right(|_: &mut WorkloadIs| {}, true)]
#[case::anything(|is: &mut WorkloadIs| *is = WorkloadIs { workload: "storage".to_owned(), ..WorkloadIs::default() }, true)]
#[case::another(|is: &mut WorkloadIs| *is = WorkloadIs { workload: "job".to_owned(), ..WorkloadIs::default() }, false)]
#[case::outcome(|is: &mut WorkloadIs| is.outcome = Some(WorkloadOutcome::Degraded), false)]
#[case::cause(|is: &mut WorkloadIs| is.cause = Some(WorkloadCause::Hung), false)]
#[case::later(|is: &mut WorkloadIs| is.failed = Some((SimTime::from_secs(21), SimTime::MAX)), false)]
#[case::earlier(|is: &mut WorkloadIs| is.failed = Some((SimTime::ZERO, SimTime::from_secs(19))), false)]
#[case::errors(|is: &mut WorkloadIs| is.errors = Some(4..=9), false)]
#[case::retries(|is: &mut WorkloadIs| is.retries = Some(0..=4), false)]
#[case::done(|is: &mut WorkloadIs| is.done = Some(8..=9), false)]
fn a_workload_is_as_expected_in_every_point(#[case] change: Change, #[case] holds: bool) {
    let mut is = right();
    change(&mut is);
    assert_eq!(
        rendered(workload(&is, window(0, 0), &truth(&[FAILED]))).is_none(),
        holds
    );
}

#[test]
fn a_workload_is_judged_at_the_end_of_the_window_or_of_the_drill() {
    let well = WorkloadStats {
        outcome: WorkloadOutcome::Survived,
        failed_at: None,
        cause: None,
        ..FAILED
    };
    let truth = truth(&[FAILED, well, FAILED]);
    let holds = |to| rendered(workload(&right(), window(0, to), &truth)).is_none();
    assert_eq!([0, 1, 2, 3].map(holds), [true, false, true, true]);
}

#[test]
fn a_workload_that_is_not_as_expected_is_told_in_figures() {
    let is = WorkloadIs {
        outcome: Some(WorkloadOutcome::Degraded),
        ..right()
    };
    let (expected, came) =
        rendered(workload(&is, window(0, 0), &truth(&[FAILED]))).expect("it fails");
    let (degraded, failed) = (WorkloadOutcome::Degraded, WorkloadOutcome::Failed);
    let cause = WorkloadCause::Evicted;
    assert_eq!(
        expected,
        format!(
            "`storage`: {degraded}, by `{cause}`, between 20s and 20s, errors 3, retries 0 to 5, done >= 7"
        )
    );
    assert_eq!(
        came,
        [format!(
            "`storage`: {failed} by `{cause}` at 20s, 3 errors, 5 retries, 7 done"
        )]
    );
    let another = WorkloadIs {
        workload: "job".to_owned(),
        ..is
    };
    let (_, came) =
        rendered(workload(&another, window(0, 0), &truth(&[FAILED]))).expect("it fails");
    assert_eq!(came, ["nothing of this name ran"]);
}

fn lnet_is(up: Option<bool>, fatal: Option<bool>, health: Option<RangeInclusive<u64>>) -> LnetIs {
    LnetIs {
        workload: "storage".to_owned(),
        seen_from: node_a(),
        slot: slot(node_a(), "0000:10:00.0", 1),
        up,
        fatal,
        health,
        queued: None,
        pings: None,
        next_ping_s: None,
    }
}

/// An interface that is well at first, down from tick 1 on, and away in tick 4.
fn interface() -> Truth {
    let well = NiView {
        up: true,
        fatal: Some(false),
        health: 1000,
        recovery: Recovery::default(),
    };
    let down = NiView {
        up: false,
        fatal: Some(true),
        health: 900,
        recovery: Recovery {
            queued: true,
            ping_count: 2,
            next_ping_s: 7,
        },
    };
    let mut truth = truth(&[FAILED; 5]);
    for (tick, view) in truth.ticks.iter_mut().zip([well, down, down, well]) {
        let is = lnet_is(None, None, None);
        tick.interfaces.insert(Interface::of(&is), view);
    }
    truth
}

#[rstest]
#[case::anything(lnet_is(None, None, None), window(0, 4), true)]
#[case::down(lnet_is(Some(false), None, None), window(0, 1), true)]
#[case::down_too_early(lnet_is(Some(false), None, None), window(0, 0), false)]
#[case::down_no_longer(lnet_is(Some(false), None, None), window(3, 4), false)]
#[case::fatal(lnet_is(None, Some(true), None), window(2, 2), true)]
#[case::not_fatal(lnet_is(None, Some(false), None), window(2, 2), false)]
#[case::health(lnet_is(None, None, Some(900..=900)), window(0, 4), true)]
#[case::never_so_ill(lnet_is(None, None, Some(0..=899)), window(0, 4), false)]
#[case::all_at_once(lnet_is(Some(false), Some(true), Some(1000..=1000)), window(0, 4), false)]
#[case::away(lnet_is(None, None, None), window(4, 4), false)]
fn an_interface_is_as_expected_in_one_tick(
    #[case] is: LnetIs,
    #[case] window: Window,
    #[case] holds: bool,
) {
    assert_eq!(rendered(lnet(&is, window, &interface())).is_none(), holds);
}

#[test]
fn an_interface_that_is_not_as_expected_is_told_by_its_changes() {
    let is = lnet_is(Some(true), Some(true), Some(5..=9));
    let (expected, came) = rendered(lnet(&is, window(0, 4), &interface())).expect("it fails");
    assert_eq!(
        expected,
        "an interface: status up, fatal_error 1, health 5 to 9"
    );
    assert_eq!(
        came,
        [
            "poll 0: status up, fatal_error 0, health 1000",
            "poll 1: status down, fatal_error 1, health 900, on the recovery queue, pings 2, next ping at 7s",
            "poll 3: status up, fatal_error 0, health 1000",
        ]
    );
    let (_, came) = rendered(lnet(&is, window(4, 4), &interface())).expect("it fails");
    assert_eq!(
        came,
        ["the workload has no interface on this port, or LNet is not loaded"]
    );
}

/// What recovery of an interface is: queued in ticks 1 and 2 alone.
#[rstest]
#[case::queued(|is: &mut LnetIs| is.queued = Some(true), window(1, 1), true)]
#[case::not_queued(|is: &mut LnetIs| is.queued = Some(false), window(1, 2), false)]
#[case::queued_too_early(|is: &mut LnetIs| is.queued = Some(true), window(0, 0), false)]
#[case::pings(|is: &mut LnetIs| is.pings = Some(2..=2), window(0, 3), true)]
#[case::more_pings(|is: &mut LnetIs| is.pings = Some(3..=9), window(0, 3), false)]
#[case::next_ping(|is: &mut LnetIs| is.next_ping_s = Some(7), window(0, 3), true)]
#[case::next_ping_later(|is: &mut LnetIs| is.next_ping_s = Some(8), window(0, 3), false)]
#[case::no_next_ping(|is: &mut LnetIs| is.next_ping_s = Some(0), window(0, 0), false)]
fn recovery_is_as_expected_in_one_tick(
    #[case] change: fn(&mut LnetIs),
    #[case] window: Window,
    #[case] holds: bool,
) {
    let mut is = lnet_is(None, None, None);
    change(&mut is);
    assert_eq!(rendered(lnet(&is, window, &interface())).is_none(), holds);
}

/// A counter is 0, 2 and 2 in three ticks, and the node is away in the fourth.
#[rstest]
#[case::at_once(2..=2, window(0, 1), None)]
#[case::later(0..=0, window(1, 3), Some(&["poll 1: resend_count 2"][..]))]
#[case::never(3..=9, window(0, 2), Some(&["poll 0: resend_count 0", "poll 1: resend_count 2"][..]))]
#[case::away(0..=9, window(3, 3), Some(&["the node is not on LNet, or LNet is not loaded"][..]))]
fn a_counter_is_as_expected_in_one_tick(
    #[case] is: RangeInclusive<u64>,
    #[case] window: Window,
    #[case] came: Option<&[&str]>,
) {
    let counter = WorkloadCounter {
        workload: "storage".to_owned(),
        node: node_a(),
        of: CounterOf::Lnet("resend_count".to_owned()),
    };
    let mut truth = truth(&[FAILED; 4]);
    for (tick, resend_count) in truth.ticks.iter_mut().zip([0, 2, 2]) {
        tick.counters.insert(counter.clone(), resend_count);
    }
    let is = CountIs { counter, is };
    let told = rendered(count(&is, window, &truth)).map(|(_, came)| came);
    let came = came.map(|lines| lines.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(told, came);
}

/// A route is up or down, and what the layer above was told is named by event and status.
#[test]
fn a_route_is_told_by_its_state_and_an_event_by_its_status() {
    let gateway: Nid = "10.1.3.1@o2ib".parse().expect("a NID");
    let event = CounterOf::LnetUlp(UlpEvent::Unlink, UlpResult::TimedOut);
    for (of, wanted, expected, came) in [
        (
            CounterOf::LnetRoute(gateway),
            0,
            "the route by 10.1.3.1@o2ib of node-a: down",
            "poll 0: the route by 10.1.3.1@o2ib up",
        ),
        (
            event,
            7,
            "UNLINK timed_out of node-a: 7",
            "poll 0: UNLINK timed_out 1",
        ),
    ] {
        let counter = WorkloadCounter {
            workload: "storage".to_owned(),
            node: node_a(),
            of,
        };
        let mut truth = truth(&[FAILED; 2]);
        for tick in &mut truth.ticks {
            tick.counters.insert(counter.clone(), 1);
        }
        let is = wanted..=wanted;
        let told = rendered(count(&CountIs { counter, is }, window(0, 1), &truth));
        assert_eq!(told, Some((expected.to_owned(), vec![came.to_owned()])));
    }
}

fn found(verdict: ReportVerdict, lead_ns: Option<i64>) -> Option<WorkloadVerdict> {
    Some(WorkloadVerdict { verdict, lead_ns })
}

#[rstest]
#[case::right(found(ReportVerdict::Agreement, None), None, true)]
#[case::wrong(found(ReportVerdict::OverReport, None), None, false)]
#[case::nothing_ran(None, None, false)]
#[case::in_time(found(ReportVerdict::Agreement, Some(5)), Some((5, 5)), true)]
#[case::too_early(found(ReportVerdict::Agreement, Some(6)), Some((-1, 5)), false)]
#[case::too_late(found(ReportVerdict::Agreement, Some(-2)), Some((-1, 5)), false)]
#[case::no_word(found(ReportVerdict::Agreement, None), Some((-1, 5)), false)]
#[case::wrong_in_time(found(ReportVerdict::OverReport, Some(5)), Some((5, 5)), false)]
fn a_verdict_is_right_and_in_time(
    #[case] found: Option<WorkloadVerdict>,
    #[case] lead: Option<(i64, i64)>,
    #[case] holds: bool,
) {
    let outcome = verdict("storage", ReportVerdict::Agreement, lead, found);
    assert_eq!(rendered(outcome).is_none(), holds);
}

#[test]
fn a_verdict_is_told_with_its_lead_in_seconds() {
    let lead = Some((-1_500_000_000, 61_002_000_000));
    let wrong = found(ReportVerdict::OverReport, Some(-2_000_999));
    let (expected, came) =
        rendered(verdict("storage", ReportVerdict::Agreement, lead, wrong)).expect("it fails");
    assert_eq!(
        expected,
        "agreement about `storage`, the word -1.500 s to 61.002 s before the failure"
    );
    assert_eq!(
        came,
        ["over-report about `storage`, the word -0.002 s before the failure"]
    );
    let (expected, came) =
        rendered(verdict("job", ReportVerdict::Agreement, None, None)).expect("it fails");
    assert_eq!(expected, "agreement about `job`");
    assert_eq!(came, ["nothing of this name ran"]);
    assert_eq!(secs(0), "0.000 s");
}

/// An event about a port, in this tick of five; the story ends with tick 3.
fn reported(tick: usize, change: fn(&mut Observation, &mut bool)) -> Recording {
    let (mut observation, mut accepted) =
        (event("InfiniBandStateCheck", port("mlx5_0", "1")), true);
    change(&mut observation, &mut accepted);
    let call = Call {
        observations: vec![observation],
        fields: Vec::new(),
        accepted,
        answer: String::new(),
    };
    let mut recording = Recording::default();
    recording.ticks.resize(5, Tick::default());
    let instance = MonitorTick {
        calls: vec![call],
        ..MonitorTick::default()
    };
    recording.ticks[tick].insert((&node_a()).into(), instance.into());
    recording
}

#[rstest]
#[case::a_fatal_word(reported(1, |_, _| {}), None, ReportVerdict::Agreement, Some(19))]
#[case::by_its_node(reported(1, |_, _| {}), Some(node_a()), ReportVerdict::Agreement, Some(19))]
#[case::in_the_last_tick(reported(3, |_, _| {}), None, ReportVerdict::Agreement, Some(17))]
#[case::after_the_story(reported(4, |_, _| {}), None, ReportVerdict::UnderReport, None)]
#[case::of_another_node(reported(1, |_, _| {}), Some(node_b()), ReportVerdict::UnderReport, None)]
#[case::refused(reported(1, |_, accepted| *accepted = false), None, ReportVerdict::UnderReport, None)]
#[case::not_fatal(reported(1, |event, _| event.severity = Severity::NonFatal), None, ReportVerdict::UnderReport, None)]
fn the_monitors_word_is_its_first_fatal_one_that_was_taken(
    #[case] recording: Recording,
    #[case] node: Option<NodeName>,
    #[case] verdict: ReportVerdict,
    #[case] lead_s: Option<i64>,
) {
    let story = Case::new().story;
    let truth = truth(&[FAILED; 5]);
    let found = verdict_on("storage", node.as_ref(), &story, &truth, &recording);
    let lead_ns = lead_s.map(|seconds| seconds * 1_000_000_000);
    assert_eq!(found, Some(WorkloadVerdict { verdict, lead_ns }));
    assert_eq!(
        verdict_on("job", node.as_ref(), &story, &truth, &recording),
        None
    );
}

/// The port that an interface is on tells it from another.
#[test]
fn an_interface_is_the_one_on_its_port() {
    let mut is = lnet_is(None, None, None);
    is.slot = SlotRef {
        port: platforms::PortNumber(2),
        ..is.slot
    };
    assert!(rendered(lnet(&is, window(0, 4), &interface())).is_some());
}
