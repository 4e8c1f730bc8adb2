//! The cause that findings share.

use super::*;

#[rstest]
#[case::missed(&[], &["missed.fatal.port.monitored.infiniband"])]
#[case::late(&[(3, "1", Severity::Fatal, true)], &["late.fatal.port.monitored.infiniband"; 2])]
#[case::early(&[(0, "1", Severity::Fatal, true)], &["early.fatal.port.monitored.infiniband"; 2])]
#[case::refused(&[(1, "1", Severity::Fatal, false)], &["not-delivered.fatal.port.monitored.infiniband"])]
#[case::severity(
    &[(1, "1", Severity::NonFatal, true)],
    &["differs.severity.fatal.port.monitored.infiniband"; 2]
)]
#[case::without_its_port(
    &[(1, "", Severity::Fatal, true)],
    &["differs.entities.fatal.port.monitored.infiniband"; 2]
)]
#[case::of_the_other_port(
    &[(1, "2", Severity::Fatal, true)],
    &["differs.entities.fatal.port.monitored.infiniband"; 2]
)]
#[case::of_the_other_port_in_its_time_and_late(
    &[(1, "2", Severity::Fatal, true), (3, "1", Severity::Fatal, true)],
    &[
        "late.fatal.port.monitored.infiniband",
        "unexpected.fatal.port.monitored.infiniband",
        "late.fatal.port.monitored.infiniband",
    ]
)]
#[case::another_port(
    &[(1, "1", Severity::Fatal, true), (2, "2", Severity::Fatal, true)],
    &["unexpected.fatal.port.monitored.infiniband"]
)]
#[case::repeated(
    &[(1, "1", Severity::Fatal, true), (2, "1", Severity::Fatal, true)],
    &["repeats.fatal.port.monitored.infiniband"]
)]
fn a_missed_event_and_what_came_instead_have_one_cause(
    #[case] said: &[(usize, &str, Severity, bool)],
    #[case] causes: &[&str],
) {
    let mut case = expecting([(reported(ib_port(1), 1), 1, 2)]);
    case.story.heal = Heal::Never {
        because: "an example".to_owned(),
    };
    let like = case.truth.ticks[0].clone();
    case.truth.ticks = vec![like; 5];
    let mut recording = polls(5);
    for (tick, number, severity, accepted) in said {
        let subject = match *number {
            "" => Subject::Device("mlx5_0".to_owned()),
            number => port("mlx5_0", number),
        };
        let event = Observation {
            severity: *severity,
            ..event(IB, subject)
        };
        say(&mut recording, *tick, event, *accepted);
    }
    let found: Vec<String> = found(&case, &recording)
        .iter()
        .map(|finding| finding.cause.to_string())
        .collect();
    assert_eq!(found, causes);
}
