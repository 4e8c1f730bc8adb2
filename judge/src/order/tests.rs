//! Ordered groups, and which of two events came before the other.

use std::borrow::Cow;

use observe::{Observation, Recording};
use rstest::rstest;
use scenarios::Window;

use super::*;
use crate::assign::Bounds;
use crate::fits::tests::{Case, event, ib_port, node_a, pattern, port};

/// When an event was said: tick, call, place.
type At = (u64, usize, usize);

struct Stream {
    case: Case,
    node: platforms::NodeName,
    event: Observation,
}

impl Stream {
    fn new() -> Self {
        Self {
            case: Case::new(),
            node: node_a(),
            event: event("InfiniBandStateCheck", port("mlx5_0", "1")),
        }
    }

    fn reported(&self, at: &[At]) -> Vec<ReportedEvent<'_>> {
        let reported = |(tick, call, place): &At| ReportedEvent {
            node: &self.node,
            tick: *tick,
            call: *call,
            place: *place,
            event: &self.event,
            accepted: true,
            answer: "accepted",
        };
        at.iter().map(reported).collect()
    }

    fn demands(&self, places: &[Option<(u32, u32)>]) -> Vec<Demand<'_>> {
        let demand = |in_order: &Option<(u32, u32)>| Demand {
            expectation: Some(&self.case.story.expectations[0]),
            node: node_a(),
            window: Window { from: 0, to: 9 },
            pattern: Cow::Owned(pattern(ib_port(1))),
            bounds: Bounds {
                at_least: 1,
                at_most: 1,
            },
            attempts: 0,
            in_order: *in_order,
            stays: false,
        };
        places.iter().map(demand).collect()
    }
}

/// Each event claimed by the demand of its number: the demands that stand in a wrong order.
fn wrong(
    places: &[Option<(u32, u32)>],
    at: &[At],
    is_concurrent: bool,
) -> Vec<(Option<u64>, Vec<String>)> {
    let mut stream = Stream::new();
    stream.case.descriptor.concurrent = is_concurrent;
    let (demands, accepted) = (stream.demands(places), stream.reported(at));
    let assignment = Assignment {
        of_event: (0..at.len()).map(Some).collect(),
        of_demand: (0..at.len()).map(|nth| vec![nth]).collect(),
    };
    let recording = Recording::default();
    let mut judging = Judging {
        story: &stream.case.story,
        context: stream.case.context(),
        recording: &recording,
        findings: Vec::new(),
        judged: reports::Judged::default(),
    };
    judging.order(&demands, &assignment, &accepted);
    let findings = judging.findings.into_iter();
    findings
        .map(|finding| {
            assert_eq!(finding.kind, FindingKind::Missing);
            assert_eq!(finding.expected[0], "these events in this order");
            assert_eq!((finding.expected.len(), finding.came.len()), (3, 2));
            (finding.tick, finding.came)
        })
        .collect()
}

const FIRST: Option<(u32, u32)> = Some((1, 0));
const SECOND: Option<(u32, u32)> = Some((1, 1));
const ELSEWHERE: Option<(u32, u32)> = Some((2, 0));

#[rstest]
#[case::in_order([FIRST, SECOND], [(1, 0, 0), (2, 0, 0)], false)]
#[case::in_the_wrong_tick([FIRST, SECOND], [(2, 0, 0), (1, 0, 0)], true)]
#[case::in_the_wrong_call([FIRST, SECOND], [(1, 1, 0), (1, 0, 0)], true)]
#[case::in_the_wrong_place([FIRST, SECOND], [(1, 0, 1), (1, 0, 0)], true)]
#[case::of_two_nodes_at_one_place([FIRST, SECOND], [(1, 0, 0), (1, 0, 0)], false)]
#[case::at_one_place([FIRST, FIRST], [(2, 0, 0), (1, 0, 0)], false)]
#[case::of_two_groups([SECOND, ELSEWHERE], [(1, 0, 0), (2, 0, 0)], false)]
#[case::of_no_group([None, FIRST], [(2, 0, 0), (1, 0, 0)], false)]
#[case::told_the_other_way_round([SECOND, FIRST], [(1, 0, 0), (2, 0, 0)], true)]
fn events_of_a_group_come_in_its_order(
    #[case] places: [Option<(u32, u32)>; 2],
    #[case] at: [At; 2],
    #[case] is_wrong: bool,
) {
    assert_eq!(!wrong(&places, &at, false).is_empty(), is_wrong);
}

#[test]
fn the_event_that_came_too_early_is_told_first() {
    let found = wrong(&[FIRST, SECOND], &[(2, 0, 0), (1, 0, 0)], false);
    let [(tick, came)] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(*tick, Some(1));
    assert!(
        came[0].starts_with("poll 1: ") && came[1].starts_with("poll 2: "),
        "{came:?}"
    );
}

/// Calls of a monitor with concurrent loops have no order within a tick; events of one call have.
#[rstest]
#[case([(1, 1, 0), (1, 0, 0)], false)]
#[case([(1, 0, 1), (1, 0, 0)], true)]
#[case([(2, 0, 0), (1, 1, 0)], true)]
fn concurrent_calls_of_a_tick_have_no_order(#[case] at: [At; 2], #[case] is_wrong: bool) {
    assert_eq!(!wrong(&[FIRST, SECOND], &at, true).is_empty(), is_wrong);
}

/// Which of two loops polls first in a tick is nicdrill's choice, not the monitor's.
#[rstest]
#[case::of_two_loops("EthernetDegradationCheck", (1, 1, 0), (1, 0, 0), false)]
#[case::of_one_loop("EthernetStateCheck", (1, 1, 0), (1, 0, 0), true)]
#[case::in_two_ticks("EthernetDegradationCheck", (2, 0, 0), (1, 0, 0), true)]
fn events_of_two_loops_have_no_order_within_a_tick(
    #[case] check: &str,
    #[case] first: At,
    #[case] second: At,
    #[case] is_wrong: bool,
) {
    let mut stream = Stream::new();
    let of = |checks: &[&str]| observe::Loop {
        checks: checks.iter().map(ToString::to_string).collect(),
        listings: 1,
        interval: None,
        real_interval: None,
        switch: None,
    };
    stream.case.descriptor.loops = vec![
        of(&["InfiniBandStateCheck", "EthernetStateCheck"]),
        of(&["EthernetDegradationCheck"]),
    ];
    let demands = stream.demands(&[FIRST, SECOND]);
    let mut accepted = stream.reported(&[first, second]);
    let other = event(check, port("mlx5_0", "1"));
    accepted[1].event = &other;
    let assignment = Assignment {
        of_event: vec![Some(0), Some(1)],
        of_demand: vec![vec![0], vec![1]],
    };
    let recording = Recording::default();
    let mut judging = Judging {
        story: &stream.case.story,
        context: stream.case.context(),
        recording: &recording,
        findings: Vec::new(),
        judged: reports::Judged::default(),
    };
    judging.order(&demands, &assignment, &accepted);
    assert_eq!(!judging.findings.is_empty(), is_wrong);
}

/// The demand of each event after they were put in order; at first that of its number.
fn put(places: &[Option<(u32, u32)>], at: &[At], fits: &[&[usize]]) -> Vec<Option<usize>> {
    let stream = Stream::new();
    let (demands, accepted) = (stream.demands(places), stream.reported(at));
    let fits: Vec<Vec<usize>> = fits.iter().map(|fits| fits.to_vec()).collect();
    let mut assignment = Assignment {
        of_event: (0..at.len()).map(Some).collect(),
        of_demand: (0..at.len()).map(|nth| vec![nth]).collect(),
    };
    put_in_order(&mut assignment, &fits, &demands, &accepted);
    for (event, demand) in assignment.of_event.iter().enumerate() {
        assert_eq!(
            demand.map(|demand| assignment.of_demand[demand][0]),
            Some(event)
        );
    }
    assignment.of_event
}

#[test]
fn the_earlier_of_two_events_that_fit_both_answers_the_earlier_demand() {
    let both: &[usize] = &[0, 1];
    let late = [(2, 0, 0), (1, 0, 0)];
    assert_eq!(
        put(&[FIRST, SECOND], &late, &[both, both]),
        [Some(1), Some(0)]
    );
    let in_time = [(1, 0, 0), (2, 0, 0)];
    assert_eq!(
        put(&[FIRST, SECOND], &in_time, &[both, both]),
        [Some(0), Some(1)]
    );
    let kept = [Some(0), Some(1)];
    assert_eq!(put(&[FIRST, SECOND], &late, &[both, &[1]]), kept);
    assert_eq!(put(&[FIRST, SECOND], &late, &[&[0], both]), kept);
    assert_eq!(put(&[FIRST, ELSEWHERE], &late, &[both, both]), kept);
    assert_eq!(put(&[FIRST, None], &late, &[both, both]), kept);
    assert_eq!(
        put(&[FIRST, SECOND], &[(1, 0, 0), (1, 0, 0)], &[both, both]),
        kept
    );
}

#[test]
fn what_came_at_one_place_on_two_nodes_stays_as_it_is() {
    let both: &[usize] = &[0, 1];
    let places = [FIRST, SECOND, ELSEWHERE];
    let at = [(1, 0, 0); 3];
    assert_eq!(
        put(&places, &at, &[both, both, &[2]]),
        [Some(0), Some(1), Some(2)]
    );
}

#[test]
fn a_group_that_came_backwards_is_turned_round() {
    let all: &[usize] = &[0, 1, 2];
    let places = [FIRST, SECOND, Some((1, 2))];
    let at = [(3, 0, 0), (2, 0, 0), (1, 0, 0)];
    assert_eq!(
        put(&places, &at, &[all, all, all]),
        [Some(2), Some(1), Some(0)]
    );
}
