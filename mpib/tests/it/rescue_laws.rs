//! What the model says of hints that would have saved a job, or would not, is what happens with them: every claim over
//! drawn worlds is played.

use std::collections::BTreeMap;

use mpib::{Edge, Hopeless, Job, Mode, Profile, Rail, RailState, Rescue};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use simfs::SimTime;

use crate::worlds::{Fault, Script, World, world};

/// Number of claims that are played.
const CLAIMS: usize = 600;

const ALL: &[Profile] = &[Profile::Spec, Profile::G1, Profile::G2];

/// A world in which one rail is out for long, others for a while, after some hints and perhaps the death of an agent.
fn outages() -> impl Strategy<Value = (World, Script)> {
    let size = select(vec![0_u64, 127, 128, 1000, 4096, 1 << 20, (1 << 20) + 1]);
    let hint = (
        1_u64..30_000,
        any::<Index>(),
        select(vec![0_u32, 1, 1024, u32::MAX]),
    );
    let out = (
        1_000_u64..40_000,
        any::<Index>(),
        any::<bool>(),
        1_u64..60_000,
    );
    let death = prop::option::weighted(0.1, (1_u64..20_000, any::<Index>()));
    let drawn = (
        world(ALL),
        (size, select(vec![1_u8, 1, 3])),
        prop::collection::vec(hint, 0..4),
        prop::collection::vec(out, 1..3),
        death,
    );
    drawn.prop_map(|(mut world, (size, in_flight), hints, outs, death)| {
        world.size = size;
        world.in_flight = in_flight;
        let host = |edge: &Edge, is_sender: bool| if is_sender { edge.from } else { edge.to };
        let mut script: Script = Vec::new();
        for (at_ms, edge, share) in hints {
            let edge = *edge.get(&world.edges);
            script.push((SimTime::from_ms(at_ms), Fault::Hint(edge, share)));
        }
        for (at_ms, edge, is_sup, length_ms) in outs {
            let host = host(edge.get(&world.edges), length_ms % 2 == 0);
            let rail = if is_sup { Rail::Sup } else { Rail::Sout };
            for (at_ms, state) in [(at_ms, RailState::Down), (at_ms + length_ms, RailState::Up)] {
                script.push((SimTime::from_ms(at_ms), Fault::Port(host, rail, state)));
            }
        }
        if let Some((at_ms, edge)) = death {
            let host = edge.get(&world.edges).from;
            script.push((SimTime::from_ms(at_ms), Fault::Kill(host)));
        }
        script.sort_by_key(|(at, _)| *at);
        (world, script)
    })
}

/// The script with these hints right before `at`.
fn with_hints(script: &Script, at: SimTime, hints: &[(Edge, u32)]) -> Script {
    let before = at.before().expect("a post after the start");
    let place = script.partition_point(|(at, _)| *at <= before);
    let hints = hints
        .iter()
        .map(|(edge, share)| (before, Fault::Hint(*edge, *share)));
    let mut script = script.clone();
    script.splice(place..place, hints);
    script
}

fn shares(hints: &[(Edge, Rail)]) -> Vec<(Edge, u32)> {
    let share = |rail: &Rail| match rail {
        Rail::Sout => 0,
        Rail::Sup => u32::MAX,
    };
    hints
        .iter()
        .map(|(edge, rail)| (*edge, share(rail)))
        .collect()
}

fn waits(job: &Job) -> bool {
    job.stalls().any(|stall| stall.to.is_none())
}

#[test]
fn every_claim_of_a_rescue_is_what_happens() {
    let mut runner = TestRunner::deterministic();
    let drawn = outages();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    while seen.values().sum::<usize>() < CLAIMS {
        let (world, script) = drawn.new_tree(&mut runner).expect("a story").current();
        let Some(rescue) = world.play(&script).rescue() else {
            continue;
        };
        let claim = match &rescue {
            Rescue::Hints { at, hints } => {
                let played = world.play(&with_hints(&script, *at, &shares(hints)));
                assert!(
                    played.failure().is_none() && !waits(&played),
                    "{rescue:?} of {world:?} with {script:?}"
                );
                "hints"
            }
            Rescue::NotEnough { at, hints, failure } => {
                let played = world.play(&with_hints(&script, *at, &shares(hints)));
                assert_eq!(
                    (played.failure(), failure.is_some() || waits(&played)),
                    (failure.as_ref(), true),
                    "{rescue:?} of {world:?} with {script:?}"
                );
                "not enough"
            }
            Rescue::None { at, why } => {
                // A post at the start comes before any hint.
                if *at > SimTime::ZERO {
                    for share in [0, 1, 1024, u32::MAX] {
                        let edges = world.edges.iter().map(|edge| (*edge, share));
                        let hints: Vec<(Edge, u32)> = edges.collect();
                        let played = world.play(&with_hints(&script, *at, &hints));
                        assert!(
                            played.failure().is_some(),
                            "{rescue:?}, {share} of {world:?} with {script:?}"
                        );
                    }
                }
                match why {
                    Hopeless::ClearToSend(_) => "clear-to-send",
                    Hopeless::Fixed(_) => "fixed",
                    Hopeless::NoHint(_) => "no hint",
                    Hopeless::Rest(..) => "rest",
                }
            }
        };
        *seen.entry(claim).or_default() += 1;
    }
    for claim in ["hints", "clear-to-send", "rest"] {
        assert!(
            seen.get(claim).is_some_and(|times| *times >= 10),
            "`{claim}` is rare in {seen:?}"
        );
    }
}

/// The mode of a world decides whether hints are read between islands, so both are drawn.
#[test]
fn the_claims_are_of_all_profiles_and_modes() {
    let mut runner = TestRunner::deterministic();
    let drawn = outages();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..1_000 {
        let (world, script) = drawn.new_tree(&mut runner).expect("a story").current();
        if world.play(&script).rescue().is_some() {
            let mode = if world.mode == Mode::Vanilla {
                "vanilla"
            } else {
                "advanced"
            };
            *seen.entry(format!("{} {mode}", world.profile)).or_default() += 1;
        }
    }
    for what in ["spec vanilla", "g1 vanilla", "g2 vanilla", "g2 advanced"] {
        assert!(
            seen.get(what).is_some_and(|times| *times >= 5),
            "`{what}` is rare in {seen:?}"
        );
    }
}
