//! Drills that broke off.

use super::*;

#[rstest]
#[case(Broken::Hung { tick: 1, waiting_for: "a poll".to_owned() }, FindingKind::Hung, Some(1), "a poll", &["no progress within the limit"])]
#[case(Broken::Crashed { tick: 2, exit: Exit::Code(3), last_words: vec!["boom".to_owned()] }, FindingKind::Crashed, Some(2), "a monitor that goes on", &["it ended with exit code 3", "boom"])]
#[case(Broken::Crashed { tick: 2, exit: Exit::Signal(11), last_words: vec![] }, FindingKind::Crashed, Some(2), "a monitor that goes on", &["it was ended by signal 11"])]
#[case(Broken::Excess { tick: 1, what: "more than 10000 calls".to_owned() }, FindingKind::Excess, Some(1), "a poll that ends within its limits", &["more than 10000 calls"])]
#[case(Broken::StuckInKernel { tick: 0 }, FindingKind::StuckInKernel, Some(0), "a monitor that can be ended", &["it waits in the kernel"])]
#[case(Broken::SocketTampered { tick: 1, what: "it is gone".to_owned() }, FindingKind::SocketTampered, Some(1), "the connector's socket, as the drill made it", &["it is gone"])]
#[case(Broken::Stage { cause: "no stage".to_owned() }, FindingKind::Stage, None, "a stage", &["no stage"])]
fn a_drill_that_broke_off_is_told_by_its_cause_alone(
    #[case] broken: Broken,
    #[case] kind: FindingKind,
    #[case] tick: Option<u64>,
    #[case] expected: &str,
    #[case] came: &[&str],
) {
    let case = expecting([(What::Polls(7), 0, 2)]);
    let mut recording = polls(3);
    recording.broken = Some(broken);
    recording.missed_moments.push("never".to_owned());
    instance(&mut recording, 1).reads = vec!["read sys/x: EIO".into()].into();
    let findings = found(&case, &recording);
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!((finding.kind, finding.tick), (kind, tick));
    assert_eq!(
        (&finding.expected[..], &finding.came[..]),
        (
            &[expected.to_owned()][..],
            &came.iter().map(ToString::to_string).collect::<Vec<_>>()[..]
        )
    );
    assert_eq!(finding.reads.len(), usize::from(tick.is_some()));
    let counted = judged(&case, &recording);
    assert_eq!(
        (counted.judged, counted.not_judged),
        (0, reasons([("the drill broke off", 1)]))
    );
}

#[test]
fn a_monitor_may_be_stuck_in_the_kernel_where_that_is_expected() {
    let stuck = expecting([(What::Polls(3), 0, 2), (What::StuckInKernel, 0, 2)]);
    let mut recording = polls(3);
    recording.broken = Some(Broken::StuckInKernel { tick: 1 });
    assert_eq!(found(&stuck, &recording), []);
    recording.broken = Some(Broken::Stage {
        cause: String::new(),
    });
    assert_eq!(found(&stuck, &recording).len(), 1);
    recording.broken = None;
    let findings = found(&stuck, &recording);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].came, ["it could be ended"]);
}

#[test]
fn a_moment_that_never_came_is_told() {
    let mut recording = polls(3);
    recording.missed_moments = vec!["one".to_owned(), "two".to_owned()];
    let findings = found(&expecting([]), &recording);
    let rendered: Vec<_> = findings
        .iter()
        .map(|finding| (finding.kind, &*finding.expected[0]))
        .collect();
    let waited = [
        "the operation that the moment waits for: one",
        "the operation that the moment waits for: two",
    ];
    assert_eq!(
        rendered,
        waited.map(|text| (FindingKind::MissedMoment, text))
    );
}

/// docs/monitor.md, "Exit codes": a single run that crashes is *unknown*, and three one after another are a crash.
#[rstest]
#[case::once(&[0, -11, 0, 0, 0, 0], None)]
#[case::twice_and_again(&[-11, -11, 0, -11, -11, 0], None)]
#[case::over_and_over(&[0, -11, -11, -11, 0, 0], Some((1, "ended by signal 11, in 3 runs one after another")))]
#[case::to_the_end(&[0, 0, 127, 127, 127, 127], Some((2, "exit code 127, in 4 runs one after another")))]
#[case::unknown(&[2, 2, 2, 2, 2, 2], None)]
fn a_program_that_crashes_in_run_after_run_is_told(
    #[case] ends: &[i32],
    #[case] told: Option<(u64, &str)>,
) {
    let mut case = expecting([]);
    let codes = files::yaml::read("codes.yaml", "codes: npd\n");
    case.descriptor.exit_code = Some(codes.expect("it can be read"));
    let mut recording = polls(6);
    for (tick, end) in ends.iter().enumerate() {
        let exit = if *end < 0 {
            Exit::Signal(-end)
        } else {
            Exit::Code(*end)
        };
        let instance = instance(&mut recording, tick);
        instance.run_ends.push(RunEnd::Exit(exit));
        instance.log.push(format!("run {tick}"));
    }
    let findings = found(&case, &recording);
    let Some((tick, how)) = told else {
        assert_eq!(findings, []);
        return;
    };
    let [finding] = &findings[..] else {
        panic!("{findings:#?}")
    };
    assert_eq!(
        (finding.kind, finding.tick),
        (FindingKind::Crashed, Some(tick))
    );
    assert_eq!(finding.came[0], how);
    assert!(finding.came[1].starts_with("run "), "{finding:#?}");
}
