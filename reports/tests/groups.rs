//! Laws of grouping: no finding is lost, and neither order nor repetition changes the groups.

use proptest::prelude::*;
use reports::{
    Cause, CauseAction, CauseKind, DrillName, DrillReport, Excuse, Finding, FindingKind, Judged,
    RunReport, StoryLine, Style, Wall, groups, groups_page, results,
};
use terms::{Arm, LinkLayer};

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
        proptest::option::of(one_of(&LinkLayer::ALL)),
        proptest::option::of(one_of(CauseAction::ALL)),
        one_of(&[Arm::Memory, Arm::Process]),
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
                file: "port/cable-pulled.yaml".to_owned(),
                show: "nicdrill show".to_owned(),
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

    /// 96 lines of blocks, or 72 with a line for each of 22 further causes and two that count them; and 11 about known ones.
    #[test]
    fn a_red_run_is_told_on_two_screens_and_a_cause_in_20_lines(drills in drills()) {
        let page = groups_page(&run(&drills), "out", Style::default());
        let (red, known) = match page.split_once("known cause") {
            Some((red, known)) => (red, known.lines().count()),
            None => (page.as_str(), 0),
        };
        prop_assert!(red.lines().count() <= 98, "{}", page);
        prop_assert!(known <= 11, "{}", page);
        let (red, further) = red.split_once("further cause").unwrap_or((red, ""));
        prop_assert!(further.lines().count() <= 25, "{}", page);
        let blocks = red.split("FAIL  ").skip(1);
        for block in blocks {
            prop_assert!(block.lines().count() <= 20 + 2, "{}", block);
        }
    }
}

/// A drill with a finding of each of these kinds.
fn drill(nth: usize, kinds: &[CauseKind]) -> DrillReport {
    let finding = |kind: &CauseKind| Finding {
        cause: Cause::of(*kind),
        ..Finding::plain(FindingKind::Missing, None, "poll 3: fatal NIC=mlx5_0")
    };
    let findings: Vec<Finding> = kinds.iter().map(finding).collect();
    DrillReport {
        drill: DrillName {
            scenario: format!("port/s{nth}"),
            world: "p".to_owned(),
        },
        outcome: DrillReport::outcome_of(&[], &findings),
        arms: Vec::new(),
        findings,
        verdicts: Vec::new(),
        judged: Judged::default(),
        file: format!("port/s{nth}.yaml"),
        repeat: "nicdrill run".to_owned(),
        show: "nicdrill show".to_owned(),
        wall: Wall::default(),
    }
}

#[test]
fn causes_without_a_block_are_named_in_a_line_each() {
    let kinds = &CauseKind::ALL[..12];
    // Each in a drill of its own, for what is found in one drill may be of one mistake.
    let once = kinds.iter().chain(&kinds[..9]).enumerate();
    let drills: Vec<DrillReport> = once.map(|(nth, kind)| drill(nth, &[*kind])).collect();
    let page = groups_page(&run(&drills), "out", Style::default());
    assert_eq!(page.matches("FAIL  ").count(), 6, "{page}");
    let (_, further) = page
        .split_once("6 further causes:\n")
        .expect("they are named");
    insta::assert_snapshot!(further, @"
      sends events that nobody expects: 2 drills on 1 platform
      sends events where silence is expected: 2 drills on 1 platform
      repeats events: 2 drills on 1 platform
      sends events in another order: 1 drill on 1 platform
      could see the port go down another number of times: 1 drill on 1 platform
      breaks the contract of the wire: field: 1 drill on 1 platform
    ");
}

/// The shown drill, its place, its commands and its id are of one finding.
#[test]
fn a_block_shows_one_drill_with_its_place_and_its_id() {
    let mut drills = [
        drill(2, &CauseKind::ALL[..1]),
        drill(1, &CauseKind::ALL[..1]),
    ];
    drills[1].drill.scenario = "z/last".to_owned();
    drills[0].findings[0].line = Some(StoryLine {
        place: "port/s2.yaml:14:9".to_owned(),
        text: "fatal: victim".to_owned(),
    });
    insta::assert_snapshot!(groups_page(&run(&drills), "out", Style::default()), @"
    FAIL  does not send events: 2 drills on 1 platform
      first: port/s2@p, port/s2.yaml:14:9
      expected, and did not come
          | fatal: victim
        came      poll 3: fatal NIC=mlx5_0
      repeat it: nicdrill run
      in full: nicdrill show
      all of them: grep ' missed$' out/failed.txt
      id: port/s2#missed and 1 more
    ");
    insta::assert_snapshot!(groups_page(&run(&drills[1..]), "out", Style::default()), @"
    FAIL  does not send events: 1 drill on 1 platform
      first: z/last@p, port/s1.yaml:1
      expected, and did not come
        came      poll 3: fatal NIC=mlx5_0
      repeat it: nicdrill run
      in full: nicdrill show
      id: z/last#missed
    ");
}

/// The line that finds a group's drills, where the first cause led to each of these in a drill of its own.
fn search(follow: &[CauseKind]) -> String {
    let drills = follow.iter().enumerate();
    let drills: Vec<DrillReport> = drills
        .map(|(nth, kind)| drill(nth, &[CauseKind::Missed, *kind]))
        .collect();
    let page = groups_page(&run(&drills), "out", Style::default());
    let mut lines = page.lines().filter(|line| line.contains("grep"));
    lines.next().unwrap_or_else(|| panic!("{page}")).to_owned()
}

#[test]
fn a_search_names_what_followed_where_that_is_little() {
    use CauseKind::{Condition, Cordon, Release, Rule};
    assert_eq!(
        search(&[Condition, Cordon]),
        "  all of them: grep -E ' (missed|condition|cordon)(\\.|$)' out/failed.txt"
    );
    assert_eq!(
        search(&[Condition, Cordon, Release, Rule]),
        "  all of them: grep -E ' missed(\\.|$)' out/failed.txt"
    );
}
