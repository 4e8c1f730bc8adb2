//! Laws of grouping: no finding is lost, and neither order nor repetition changes the groups.

use proptest::prelude::*;
use reports::{
    ArmName, Cause, CauseAction, CauseKind, CauseLayer, DrillName, DrillReport, Excuse, Finding,
    FindingKind, Judged, RunReport, Style, Wall, groups, groups_page, results,
};

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    (0..all.len()).prop_map(move |at| all[at])
}

fn finding() -> impl Strategy<Value = Finding> {
    let excuse = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Excuse::InBaseline)),
    ];
    (
        one_of(CauseKind::ALL),
        proptest::option::of(one_of(CauseLayer::ALL)),
        proptest::option::of(one_of(CauseAction::ALL)),
        one_of(&[ArmName::Memory, ArmName::Process]),
        1_u64..5,
        excuse,
    )
        .prop_map(|(kind, layer, action, arm, times, excuse)| Finding {
            cause: Cause {
                layer,
                action,
                ..Cause::of(kind)
            },
            arm: Some(arm),
            times,
            excuse,
            ..Finding::plain(FindingKind::Missing, None, "poll 3: fatal NIC=mlx5_0")
        })
}

fn drills() -> impl Strategy<Value = Vec<DrillReport>> {
    let findings = proptest::collection::vec(proptest::collection::vec(finding(), 0..6), 0..40);
    findings.prop_map(|all| {
        let named = all.into_iter().enumerate();
        named
            .map(|(nth, findings)| DrillReport {
                drill: DrillName {
                    scenario: format!("port/s{}", nth / 5),
                    world: format!("p{}:v{}", nth % 5, nth % 2),
                },
                outcome: DrillReport::outcome_of(&[], &findings),
                arms: Vec::new(),
                findings,
                verdicts: Vec::new(),
                judged: Judged::default(),
                repeat: format!("nicdrill run {nth}"),
                wall: Wall::default(),
            })
            .collect()
    })
}

fn run(drills: &[DrillReport]) -> RunReport {
    RunReport {
        drills: drills.to_vec(),
        ..RunReport::default()
    }
}

proptest! {
    #[test]
    fn no_finding_is_lost_and_none_is_counted_twice(drills in drills()) {
        let groups = groups(&drills);
        let all = || drills.iter().flat_map(|drill| &drill.findings);
        let findings: u64 = groups.iter().map(|group| group.findings).sum();
        prop_assert_eq!(findings, all().count() as u64);
        let times: u64 = groups.iter().map(|group| group.times).sum();
        prop_assert_eq!(times, all().map(|finding| finding.times).sum::<u64>());
        for drill in &drills {
            for finding in &drill.findings {
                let of = groups.iter().filter(|group| {
                    group.cause == finding.cause
                        && group.excuse == finding.excuse
                        && group.drills.contains(&drill.drill)
                });
                prop_assert_eq!(of.count(), 1);
            }
        }
    }

    #[test]
    fn the_order_of_the_drills_changes_no_byte(
        (drills, shuffled) in drills().prop_flat_map(|drills| {
            (Just(drills.clone()), Just(drills).prop_shuffle())
        })
    ) {
        prop_assert_eq!(groups(&drills), groups(&shuffled));
        let page = |drills: &[DrillReport]| groups_page(&run(drills), "out", Style::default());
        prop_assert_eq!(page(&drills), page(&shuffled));
        prop_assert_eq!(results(&run(&drills)), results(&run(&drills)));
    }

    /// 96 lines of blocks; one that counts further causes; and 13 about known ones.
    #[test]
    fn a_red_run_is_told_on_two_screens_and_a_cause_in_20_lines(drills in drills()) {
        let page = groups_page(&run(&drills), "out", Style::default());
        let (red, known) = match page.split_once("known cause") {
            Some((red, known)) => (red, known.lines().count()),
            None => (page.as_str(), 0),
        };
        prop_assert!(red.lines().count() <= 98, "{}", page);
        prop_assert!(known <= 13, "{}", page);
        let blocks = red.split("FAIL  ").skip(1);
        for block in blocks {
            prop_assert!(block.lines().count() <= 20 + 2, "{}", block);
        }
    }
}
