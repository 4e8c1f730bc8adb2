//! Every wrong monitor in its own story: right for 20 polls, then wrong, and the judge finds it.

use harness::{
    DrillResult, MemoryPlayer,
    descriptors::shipped,
    play,
    read_files::{Library, SuiteScenario},
};
use platforms::NodeName;
use reports::{Finding, FindingKind};
use rstest::rstest;
use scenarios::{Breaker, Story};
use terms::Arm;
use zoo::{Mutant, RIGHT_POLLS, mutants};

/// The wrong monitor's story on the first platform that it fits.
fn story(library: &Library, mutant: Mutant) -> Story {
    let scenario = scenarios::read(&format!("zoo/{}.yaml", mutant.name), mutant.story)
        .unwrap_or_else(|error| panic!("{}: {error}", mutant.name));
    let node = NodeName::from("node-a");
    library
        .platforms
        .iter()
        .find_map(|(_, platform)| scenario.in_world(&node, platform).ok())
        .unwrap_or_else(|| panic!("{}: its story fits no platform", mutant.name))
}

fn played(story: &Story, wrong: Option<Mutant>) -> DrillResult {
    let descriptor = shipped("reference").expect("it is shipped");
    let mut player = MemoryPlayer {
        wrong: wrong.map(|mutant| mutant.variant),
        ..MemoryPlayer::default()
    };
    play(story, &descriptor, &mut [&mut player])
}

#[test]
fn every_wrong_monitor_is_right_for_twenty_polls_of_its_story_and_then_wrong() {
    let library = Library::read(&[], &[]).unwrap();
    let mut complaints = Vec::new();
    for mutant in mutants() {
        let story = story(&library, mutant);
        for finding in played(&story, None).findings {
            complaints.push(format!("{}: the right one too: {finding:?}", mutant.name));
        }
        let wrong = played(&story, Some(mutant)).findings;
        if wrong.is_empty() {
            complaints.push(format!("{}: nobody finds it", mutant.name));
        }
        for finding in wrong {
            if finding.tick.is_some_and(|tick| tick < RIGHT_POLLS) {
                complaints.push(format!("{}: wrong too early: {finding:?}", mutant.name));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The cluster's final state shows that a monitor is wrong, as its event stream does.
#[rstest]
#[case::too_few_entities("recovery-without-its-port", &["NICPort=1 holds it"])]
#[case::too_many_entities("recovery-names-the-card-too", &["stands: NIC:"])]
#[case::a_device_in_the_name_of_its_port("wrong-entity", &["stands: NIC:"])]
#[case::another_checks_name("recovery-under-the-counter-check", &["StateCheck stands: NIC:", "StateCheck NIC="])]
#[case::a_breach_without_its_code("breach-without-its-code", &["DegradationCheck stands: NIC:", "holds it"])]
#[case::a_renamed_devices_orphan("rename-clears-nothing", &["stands: NIC:mlx5_3 ", "NIC=mlx5_3 NICPort=1 holds it"])]
fn what_a_wrong_monitor_leaves_standing_is_named(#[case] name: &str, #[case] left: &[&str]) {
    let library = Library::read(&[], &[]).unwrap();
    let mutant = zoo::find(name).expect("there is such a monitor");
    let story = story(&library, mutant);
    let findings = played(&story, Some(mutant)).findings.into_iter();
    let standing = findings.filter(|finding| finding.kind == FindingKind::LeftStanding);
    let came: Vec<String> = standing.flat_map(|finding| finding.came).collect();
    for left in left {
        assert!(
            came.iter().any(|line| line.contains(left)),
            "{left}: {came:#?}"
        );
    }
}

/// Equal stamps leave nothing standing in themselves: another order would have.
#[test]
fn a_call_whose_order_decides_is_named() {
    let library = Library::read(&[], &[]).unwrap();
    let name = "clears-and-faults-at-once";
    let mutant = zoo::find(name).expect("there is such a monitor");
    let story = story(&library, mutant);
    let findings = played(&story, Some(mutant)).findings;
    let came: Vec<&String> = findings.iter().flat_map(|finding| &finding.came).collect();
    let found = came
        .iter()
        .any(|line| line.contains("which comes first decides what stands of"));
    assert!(found, "{came:#?}");
}

/// One counter's recovery without its code takes another's breach with it, before anything is healed.
#[test]
fn a_condition_that_a_codeless_recovery_took_away_is_missed() {
    let scenario = suite::scenarios()
        .into_iter()
        .find(|(name, _)| *name == "cluster/two-breaches-one-reset.yaml");
    let (file, text) = scenario.expect("it ships");
    let scenario = scenarios::read(file, text).unwrap();
    let library = Library::read(&[], &[]).unwrap();
    let platform = library.platforms.get("dgx-h100").expect("it ships");
    let story = scenario
        .in_world(&NodeName::from("node-a"), platform)
        .unwrap();
    assert_eq!(played(&story, None).findings, []);
    let findings = played(&story, zoo::find("recovery-without-its-code")).findings;
    let missed = findings.iter().find(|finding| {
        let says = |word| {
            finding
                .line
                .as_ref()
                .is_some_and(|line| line.text.contains(word))
        };
        says("counter: rnr_nak_retry_err") && says("throughout")
    });
    let missed = missed.unwrap_or_else(|| panic!("{findings:#?}"));
    assert!(
        missed
            .came
            .iter()
            .any(|line| line == "poll 9, at 9s: nothing stands"),
        "{missed:#?}"
    );
}

/// On a healthy node a wrong monitor cannot be distinguished from the right one.
#[test]
fn every_wrong_monitor_is_right_for_its_first_polls_of_a_healthy_node() {
    let library = Library::read(&[], &[]).unwrap();
    // Nothing happens in its story.
    let wolf = zoo::find("crying-wolf").expect("there is such a monitor");
    let story = story(&library, wolf);
    let calls = |wrong: Option<Mutant>| {
        let played = played(&story, wrong).played;
        let ticks = played[0].recording.ticks.iter().take(20);
        let calls = ticks.map(|tick| {
            tick.monitors
                .values()
                .map(|one| one.calls.clone())
                .collect()
        });
        calls.collect::<Vec<Vec<_>>>()
    };
    let right = calls(None);
    for mutant in mutants() {
        assert_eq!(calls(Some(mutant)), right, "{}", mutant.name);
    }
}

/// A clause is defended by a wrong monitor of which exactly this statement is false: the scenario that the clause
/// names, or else one that covers it, misses an event or gets one that it does not expect, on a platform or in a
/// world that it fits. A crash, or a law of all drills, shows nothing about the clause, unless the clause says that
/// it is this finding that shows it.
#[test]
fn a_wrong_monitor_that_breaks_a_clause_is_caught_by_a_scenario_that_covers_it() {
    let library = Library::read(&[], &[]).unwrap();
    let mut complaints = Vec::new();
    for clause in library.clauses.iter() {
        let covering = library.scenarios.iter();
        let covering: Vec<&SuiteScenario> = covering
            .filter(|of| of.scenario.covers().contains(&clause.id))
            .collect();
        for breaker in &clause.mutants {
            let Some(mutant) = zoo::find(&breaker.wrong) else {
                let name = &breaker.wrong;
                complaints.push(format!("{}: there is no wrong monitor `{name}`", clause.id));
                continue;
            };
            let named = covering.iter();
            let mut named = named.filter(|of| breaker.by.as_ref().is_none_or(|by| *by == of.name));
            if !named.any(|scenario| is_shown(&library, scenario, mutant, breaker)) {
                complaints.push(format!("{}: nobody catches {breaker:?}", clause.id));
            }
        }
        if clause.unbreakable.is_some() && !clause.broken_by().is_empty() {
            complaints.push(format!("{}: unbreakable, and broken", clause.id));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Whether a scenario finds a wrong monitor in the way that a clause says.
fn is_shown(
    library: &Library,
    scenario: &SuiteScenario,
    mutant: Mutant,
    breaker: &Breaker,
) -> bool {
    let shows = |finding: &Finding| match &breaker.finds {
        None => matches!(finding.kind, FindingKind::Missing | FindingKind::Unexpected),
        Some(cause) => {
            let name = finding.cause.to_string();
            name.strip_prefix(cause.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
    };
    let worlds = library.worlds_of(&scenario.scenario).into_iter();
    let rests = worlds.filter_map(|world| library.at_rest(world)?.ok());
    let stories = rests.filter_map(|rest| scenario.scenario.at_rest(&rest).ok());
    let mut stories = stories.filter(|story| story.arms.contains(&Arm::Memory));
    stories.any(|story| played(&story, Some(mutant)).findings.iter().any(shows))
}
