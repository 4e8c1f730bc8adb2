//! What is the monitor's own is counted, not judged.

use super::*;

#[rstest]
#[case::nothing_of_its_own(Messages::Reference, ClockKind::File, &[])]
#[case::its_clock(Messages::Reference, ClockKind::Own, &[("timestamps of a clock of its own", 2)])]
#[case::its_texts(Messages::Own, ClockKind::File, &[("messages of its own", 1)])]
#[case::both(Messages::Own, ClockKind::Own, &[("messages of its own", 1), ("timestamps of a clock of its own", 2)])]
#[case::one_text(Messages::Except(["x".to_owned()].into()), ClockKind::File, &[("messages of its own", 1)])]
#[case::another_text(Messages::Except(["y".to_owned()].into()), ClockKind::File, &[])]
fn parts_of_events_that_are_the_monitors_own_are_counted(
    #[case] texts: Messages,
    #[case] clock: ClockKind,
    #[case] parts: &[(&str, u64)],
) {
    let stamped = |from: Option<u64>, to: Option<u64>, message: bool| {
        let mut event = pattern(ib_port(1));
        event.stamped_from = from.map(simfs::SimTime::from_secs);
        event.stamped_to = to.map(simfs::SimTime::from_secs);
        if message {
            event
                .message
                .insert(platforms::LinkLayer::InfiniBand, "x".to_owned());
        }
        let what = What::Say {
            event,
            times: Times {
                at_least: 0,
                at_most: 1,
            },
            reported: false,
            in_order: None,
        };
        (what, 0, 2)
    };
    let mut case = expecting([
        stamped(Some(1), None, false),
        stamped(None, Some(1), false),
        stamped(None, None, true),
        (What::Polls(3), 0, 2),
    ]);
    (case.descriptor.texts.events, case.descriptor.clock) = (texts, clock);
    let counted = judged(&case, &polls(3));
    assert_eq!((counted.judged, counted.not_judged), (4, BTreeMap::new()));
    let named = counted.parts.iter();
    let named: Vec<_> = named
        .map(|(reason, count)| (reason.as_str(), *count))
        .collect();
    assert_eq!(named, parts);
}
