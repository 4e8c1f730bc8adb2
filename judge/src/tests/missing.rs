//! Events that did not come, and what is told with them.

use super::*;

#[test]
fn an_event_that_did_not_come_is_told_with_the_reads_around_it() {
    let case = expecting([(reported(ib_port(1), 1), 1, 1)]);
    let mut recording = polls(4);
    for tick in 0..4 {
        let lines = [
            "list sys/class/infiniband: 2",
            "read sys/class/infiniband/mlx5_0/ports/1/state: 9",
            "read sys/class/infiniband/mlx5_00/ports/1/state: 9",
            "read sys/class/net/eth1/operstate: EIO",
        ];
        instance(&mut recording, tick).reads = lines.map(Into::into).to_vec().into();
    }
    let findings = found(&case, &recording);
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(finding.kind, FindingKind::Missing);
    assert_eq!(finding.tick, Some(1));
    assert_eq!(finding.expected, ["fatal NIC=mlx5_0 NICPort=1, in poll 1"]);
    assert_eq!(finding.came, Vec::<String>::new());
    let of_a_poll = |poll| {
        [
            (poll, "list sys/class/infiniband: 2 entries"),
            (
                poll,
                "read sys/class/infiniband/mlx5_0/ports/1/state: 9 bytes",
            ),
            (poll, "read sys/class/net/eth1/operstate: EIO"),
        ]
    };
    let reads: Vec<_> = finding
        .reads
        .iter()
        .map(|read| (read.poll, &*read.text))
        .collect();
    assert_eq!(reads, [of_a_poll(0), of_a_poll(1), of_a_poll(2)].concat());
}

#[test]
fn the_events_nearest_to_one_that_did_not_come_are_told() {
    let mut case = expecting([(reported(ib_port(1), 3), 4, 5)]);
    let like = case.truth.ticks[0].clone();
    case.truth.ticks = vec![like; 12];
    let mut recording = polls(12);
    for tick in 0..12 {
        say(&mut recording, tick, event(IB, port("mlx5_0", "2")), false);
        let healthy = Observation {
            severity: Severity::Healthy,
            ..event(IB, port("mlx5_0", "1"))
        };
        say(&mut recording, tick, healthy, false);
    }
    say(&mut recording, 5, event(IB, port("mlx5_0", "1")), true);
    let findings = found(&case, &recording);
    let missing: Vec<_> = findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Missing)
        .collect();
    let [finding] = &missing[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(
        finding.expected,
        ["fatal NIC=mlx5_0 NICPort=1, 3 times, in polls 4 to 5"]
    );
    let came = |line: &String| line.split(": ").next().expect("a poll").to_owned();
    let polls: Vec<_> = finding.came.iter().map(came).collect();
    assert_eq!(
        polls,
        ["poll 5", "poll 4", "poll 5", "poll 3", "poll 6"],
        "what was claimed, what is in its time, and a neighbour on each side"
    );
    assert!(
        finding.came[0].starts_with("poll 5: fatal") && !finding.came[0].contains("UNAVAILABLE")
    );
    assert!(
        finding.came[1].starts_with("poll 4: healthy")
            && finding.came[1].ends_with("(UNAVAILABLE)")
    );
}

#[rstest]
#[case::in_its_window((0, 2), 1, true)]
#[case::before_it((2, 2), 1, false)]
#[case::after_it((0, 0), 1, false)]
#[case::too_seldom((0, 2), 2, false)]
fn an_event_answers_a_demand_in_its_window(
    #[case] (from, to): (u64, u64),
    #[case] times: u32,
    #[case] holds: bool,
) {
    let mut case = expecting([(reported(ib_port(1), times), from, to)]);
    let because = String::new();
    case.story.heal = Heal::Never { because };
    let mut recording = polls(3);
    say(&mut recording, 1, event(IB, port("mlx5_0", "1")), true);
    assert_eq!(found(&case, &recording).is_empty(), holds);
}

/// An alarm about the whole node may have meant it.
#[rstest]
#[case::in_its_time(1, true)]
#[case::before_it(0, false)]
fn an_alarm_about_the_node_is_told_where_a_port_was_expected(
    #[case] poll: usize,
    #[case] told: bool,
) {
    let case = expecting([(reported(ib_port(1), 1), 1, 2)]);
    let mut recording = polls(3);
    say(&mut recording, poll, event(IB, Subject::Node), true);
    let findings = found(&case, &recording);
    let missing = |finding: &&Finding| finding.kind == FindingKind::Missing;
    let finding = findings
        .iter()
        .find(missing)
        .expect("nothing named the port");
    assert_eq!(finding.came.len(), usize::from(told), "{finding:#?}");
    assert!(
        finding
            .came
            .iter()
            .all(|came| came.starts_with("poll 1: fatal"))
    );
}
