//! The lanes of a drill that is played in memory: which subjects have one, and which marks stand in it.

use director::Trees;
use judge::{JudgedIn, lanes};
use platforms::NodeName;
use reports::{Finding, FindingKind, Judged, Lane, LaneOf, Lanes, MarkKind};
use terms::Arm;

/// A port is disabled from 5 s to 9 s, and a fatal event is expected.
fn drawn(findings: &[Finding]) -> Lanes {
    let text = "scenario: a port goes down and comes back\nwhy: an example\nchecks: all\n\
                let: { victim: { role: compute, nth: 1 } }\ntimeline:\n\
                \x20 - { at: 5s, do: [ { disable: victim } ], expect: [ { fatal: victim } ] }\n\
                \x20 - { at: 9s, do: [ { mend: victim } ] }\nuntil: 12s\n";
    let scenario = scenarios::read("cluster/example.yaml", text).unwrap();
    let platforms = platforms::Platforms::shipped();
    let node = NodeName::from("node-a");
    let platform = platforms.get("h100-oci").unwrap();
    let story = scenario.in_world(&node, platform).unwrap();
    let mut shipped = observe::shipped_descriptors();
    let (file, text) = shipped.find(|(file, _)| *file == "reference.yaml").unwrap();
    let descriptor: observe::Descriptor = files::yaml::read(file, text).unwrap();
    let played = memory::play_in_memory(&story, &descriptor, None, &mut Trees::default());
    let of = JudgedIn {
        arm: Arm::Memory,
        findings,
        judged: &Judged::default(),
    };
    lanes(&story, &played.truth, &played.recording, &descriptor, of)
}

fn kinds(lane: &Lane) -> Vec<(u64, MarkKind)> {
    lane.marks.iter().map(|it| (it.tick, it.kind)).collect()
}

#[test]
fn a_port_that_goes_down_has_a_lane_with_what_was_done_said_and_expected() {
    let drawn = drawn(&[]);
    let mut ports = drawn.lanes.iter().filter(|lane| lane.of == LaneOf::Port);
    let port = ports.next().expect("the victim has a lane");
    assert_eq!(port.name, "mlx5_0/1");
    assert!(ports.next().is_none(), "nothing happened to the others");
    let marks = kinds(port);
    for (tick, kind) in [
        (5, MarkKind::Step),
        (5, MarkKind::Change),
        (5, MarkKind::Fatal),
        (9, MarkKind::Step),
    ] {
        assert!(marks.contains(&(tick, kind)), "{kind:?}: {marks:?}");
    }
    assert!(marks.iter().any(|(_, kind)| *kind == MarkKind::Met));
    let well: Vec<bool> = port.stretches.iter().map(|it| it.is_well).collect();
    assert_eq!(well.first(), Some(&true));
    assert_eq!(well.last(), Some(&true));
    assert!(well.contains(&false));
}

#[test]
fn a_finding_of_no_expectation_stands_in_the_lane_of_its_monitor() {
    let finding = Finding {
        tick: Some(3),
        ..Finding::plain(FindingKind::Contract, Some(Arm::Memory), "no node name")
    };
    let drawn = drawn(&[finding]);
    let mut lanes = drawn.lanes.iter();
    let monitor = lanes.find(|lane| lane.of == LaneOf::Monitor).unwrap();
    assert!(kinds(monitor).contains(&(3, MarkKind::Wrong)));
}
