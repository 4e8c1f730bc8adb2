//! What the model says of hints that would have saved a job, or would not, is what happens with them: every claim over
//! drawn worlds is played, and so is every reason.

use std::collections::BTreeMap;

use mpib::{
    Bytes, ConnectionId, Edge, Hopeless, HostId, Job, Mode, MpibProfile, NetEventKind, PathClass,
    Post, PostKind, Rail, RailState, Rescue, Side, SupBandwidth,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rstest::rstest;
use simfs::SimTime;

use crate::worlds::{Fault, Script, World, world};

/// Number of claims that are played.
const CLAIMS: usize = 600;

const ALL: &[MpibProfile] = &[MpibProfile::Spec, MpibProfile::G1, MpibProfile::G2];

/// Shares of which one gives everything to SOUT, and one everything to SUP, in every profile.
const SHARES: [u32; 4] = [0, 1, 1024, u32::MAX];

/// A world in which one rail is out for long, others for a while, after some hints and perhaps the death of an agent.
fn outages() -> impl Strategy<Value = (World, Script)> {
    let size = select(vec![0_u64, 1, 127, 128, 1000, 4096, 1 << 20, (1 << 20) + 1]);
    let odd_prefix = prop::option::weighted(0.3, (any::<Index>(), select(vec![16_u8, 24, 32])));
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
        (
            (size, select(vec![1_u8, 1, 3]), prop::bool::weighted(0.3)),
            odd_prefix,
        ),
        prop::collection::vec(hint, 0..4),
        prop::collection::vec(out, 1..3),
        death,
    );
    drawn.prop_map(
        |(mut world, ((size, in_flight, dependent), odd), hints, outs, death)| {
            world.size = size;
            world.in_flight = in_flight;
            world.dependent = dependent;
            world.odd_prefix = odd.map(|(edge, prefix)| (edge.get(&world.edges).from, prefix));
            let host = |edge: &Edge, is_sender: bool| if is_sender { edge.from } else { edge.to };
            let mut script: Script = Vec::new();
            for (at_ms, edge, share) in hints {
                let edge = *edge.get(&world.edges);
                script.push((SimTime::from_ms(at_ms), Fault::Hint(edge, share)));
            }
            for (at_ms, edge, is_sup, length_ms) in outs {
                let host = host(edge.get(&world.edges), length_ms % 2 == 0);
                let rail = if is_sup { Rail::Sup } else { Rail::Sout };
                for (at_ms, state) in [(at_ms, RailState::Down), (at_ms + length_ms, RailState::Up)]
                {
                    script.push((SimTime::from_ms(at_ms), Fault::Port(host, rail, state)));
                }
            }
            if let Some((at_ms, edge)) = death {
                let host = edge.get(&world.edges).from;
                script.push((SimTime::from_ms(at_ms), Fault::Kill(host)));
            }
            script.sort_by_key(|(at, _)| *at);
            (world, script)
        },
    )
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

/// The script with hints of this share for every edge right before `at`; the script itself at the start, before which there
/// are no hints.
fn all_hinted(world: &World, script: &Script, at: SimTime, share: u32) -> Script {
    if at == SimTime::ZERO {
        return script.clone();
    }
    let hints: Vec<(Edge, u32)> = world.edges.iter().map(|edge| (*edge, share)).collect();
    with_hints(script, at, &hints)
}

/// The connections whose queue pair of this side died when the job failed.
fn killers(job: &Job, side: Side) -> Vec<ConnectionId> {
    let end = job.failure().map(|failure| failure.at);
    let events = job.net().events().iter();
    let died = events.filter_map(|event| match event.kind {
        NetEventKind::RetryExceeded { queue_pair, .. } if Some(event.at) == end => Some(queue_pair),
        _ => None,
    });
    let of_side = died.filter(|queue_pair| queue_pair.side == side);
    of_side.map(|queue_pair| queue_pair.connection).collect()
}

/// The posts of this kind on a connection.
fn posts(job: &Job, connection: ConnectionId, kind: PostKind) -> impl Iterator<Item = &Post> {
    let posts = job.net().posts().iter();
    posts.filter(move |post| post.connection == connection && post.kind == kind)
}

fn other(rail: Rail) -> Rail {
    match rail {
        Rail::Sout => Rail::Sup,
        Rail::Sup => Rail::Sout,
    }
}

/// Checks why no hint right before `at` saves a job, on a connection that ended it; returns the kind.
fn reason(
    world: &World,
    script: &Script,
    at: SimTime,
    why: Hopeless,
    connection: ConnectionId,
) -> Result<&'static str, String> {
    let require = |holds: bool, what: &str| holds.then_some(()).ok_or_else(|| what.to_owned());
    let mut whole = world.clone();
    whole.size = 1 << 20;
    for share in SHARES {
        let hinted = all_hinted(world, script, at, share);
        let played = world.play(&hinted);
        let clears = posts(&played, connection, PostKind::ClearToSend);
        let cleared = clears.filter(|post| post.at == at);
        let data: Vec<&Post> = posts(&played, connection, PostKind::Data)
            .filter(|post| post.at == at)
            .collect();
        match why {
            Hopeless::ClearToSend(rail) => {
                let mut cleared = cleared.map(|post| post.rail);
                require(cleared.any(|by| by == rail), "the same clear-to-send")?;
            }
            Hopeless::Fixed(rail) => {
                let mut data = data.iter().map(|post| post.rail);
                require(data.any(|by| by == rail), "the same rail")?;
                // Not because of its size: a message that a hint could move is on the rail too.
                let played = whole.play(&hinted);
                let mut data = posts(&played, connection, PostKind::Data);
                require(data.all(|post| post.rail == rail), "whatever the size")?;
            }
            Hopeless::Rest(rail, rest) => {
                let mut on_rail = data.iter().filter(|post| post.rail == rail);
                require(on_rail.any(|post| post.bytes >= rest), "this much")?;
            }
            Hopeless::NoHint(_) | Hopeless::TooEarly => {}
        }
    }
    let played = world.play(script);
    let path = played.net().path(connection, Side::Send);
    let share = |rail: Rail| SupBandwidth::new(if rail == Rail::Sup { u32::MAX } else { 0 });
    match why {
        Hopeless::ClearToSend(_) => Ok("clear-to-send"),
        Hopeless::Fixed(_) => Ok("fixed"),
        Hopeless::NoHint(host) => {
            let is_death = |(died, fault): &(SimTime, Fault)| {
                *died < at && matches!(fault, Fault::Kill(dead) if *dead == host)
            };
            require(script.iter().any(is_death), "a dead agent")?;
            Ok("no hint")
        }
        Hopeless::TooEarly => {
            require(at == SimTime::ZERO, "a post at the start")?;
            // An agent that begins with the other share moves the message.
            let died = played.net().events().iter().find(|event| {
                matches!(event.kind, NetEventKind::RetryExceeded { queue_pair, .. } if queue_pair.connection == connection)
            });
            let rail = died.map(|event| event.rail).ok_or("a dead queue pair")?;
            let mut turned = world.clone();
            turned.first_share = share(other(rail)).get();
            let turned = turned.play(script);
            let mut data = posts(&turned, connection, PostKind::Data);
            let moved = data.all(|post| post.at > at || post.rail != rail);
            require(moved, "what another share moves")?;
            Ok("too early")
        }
        Hopeless::Rest(rail, rest) => {
            let most = share(other(rail));
            let split = path.split(most, Bytes::new(world.size));
            require(split.on(rail) == rest, "this rest")?;
            // Because of its size: of whole grains of 128 bytes the same share leaves nothing on the rail.
            let split = path.split(most, Bytes::new(whole.size));
            require(!split.mask().has(rail), "a rest of the size")?;
            Ok("rest")
        }
    }
}

/// Plays the claim; returns its kind, and for a claim that nothing helps that of its reason.
fn check(world: &World, script: &Script, job: &Job, rescue: &Rescue) -> &'static str {
    let story = || format!("{rescue:?} of {world:?} with {script:?}");
    match rescue {
        Rescue::Hints { at, hints } => {
            let played = world.play(&with_hints(script, *at, &shares(hints)));
            assert!(played.failure().is_none() && !waits(&played), "{}", story());
            "hints"
        }
        Rescue::NotEnough { at, hints, failure } => {
            let played = world.play(&with_hints(script, *at, &shares(hints)));
            assert_eq!(
                (played.failure(), failure.is_some() || waits(&played)),
                (failure.as_ref(), true),
                "{}",
                story()
            );
            "not enough"
        }
        Rescue::None { at, why } => {
            for share in SHARES {
                let played = world.play(&all_hinted(world, script, *at, share));
                assert!(played.failure().is_some(), "{share}: {}", story());
            }
            let side = match why {
                Hopeless::ClearToSend(_) => Side::Receive,
                _ => Side::Send,
            };
            let mut broken = Vec::new();
            for connection in killers(job, side) {
                match reason(world, script, *at, *why, connection) {
                    Ok(kind) => return kind,
                    Err(what) => broken.push(what),
                }
            }
            panic!("without {broken:?}: {}", story());
        }
    }
}

#[test]
fn every_claim_of_a_rescue_and_its_reason_is_what_happens() {
    let mut runner = TestRunner::deterministic();
    let drawn = outages();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    while seen.values().sum::<usize>() < CLAIMS {
        let (world, script) = drawn.new_tree(&mut runner).expect("a story").current();
        let job = world.play(&script);
        if let Some(rescue) = job.rescue() {
            let claim = check(&world, &script, &job, &rescue);
            *seen.entry(claim).or_default() += 1;
        }
    }
    for claim in ["hints", "clear-to-send", "fixed", "rest", "too early"] {
        assert!(
            seen.get(claim).is_some_and(|times| *times >= 5),
            "`{claim}` is rare in {seen:?}"
        );
    }
}

/// One edge of two hosts in a world of this profile, whose SOUT is out from 10.03 s on.
fn one_edge(profile: MpibProfile, mode: Mode, inside: bool, size: u64) -> (World, Script) {
    let [from, to] = [0, 1].map(HostId::new);
    let world = World {
        profile,
        mode,
        prefix: 24,
        odd_prefix: None,
        retries: mpib::Retries::Eight,
        first_share: 0,
        size,
        in_flight: 1,
        dependent: false,
        hosts: vec![(1, 1), (if inside { 1 } else { 2 }, 2)],
        edges: vec![Edge { from, to }],
    };
    let down = Fault::Port(from, Rail::Sout, RailState::Down);
    (world, vec![(SimTime::from_ms(10_030), down)])
}

/// SOUT of the sender is cut. Inside an island an empty message and what is left of 128 bytes use it, in the second
/// generation as in the first; between islands clear-to-send uses it too, and is lost first.
#[rstest]
#[case::g2_empty(MpibProfile::G2, true, 0, Hopeless::Rest(Rail::Sout, Bytes::ZERO))]
#[case::g2_one_byte(MpibProfile::G2, true, 1, Hopeless::Rest(Rail::Sout, Bytes::new(1)))]
#[case::g2_odd(
    MpibProfile::G2,
    true,
    1000,
    Hopeless::Rest(Rail::Sout, Bytes::new(104))
)]
#[case::g1_empty(MpibProfile::G1, true, 0, Hopeless::Rest(Rail::Sout, Bytes::ZERO))]
#[case::g1_one_byte(MpibProfile::G1, true, 1, Hopeless::Rest(Rail::Sout, Bytes::new(1)))]
#[case::g1_odd(
    MpibProfile::G1,
    true,
    1000,
    Hopeless::Rest(Rail::Sout, Bytes::new(104))
)]
#[case::spec_empty(MpibProfile::Spec, true, 0, Hopeless::Rest(Rail::Sout, Bytes::ZERO))]
#[case::g2_between(MpibProfile::G2, false, 1, Hopeless::ClearToSend(Rail::Sout))]
#[case::g1_between(MpibProfile::G1, false, 1000, Hopeless::ClearToSend(Rail::Sout))]
#[case::spec_between(MpibProfile::Spec, false, 0, Hopeless::ClearToSend(Rail::Sout))]
fn what_stays_on_sout_says_what_keeps_it_there(
    #[case] profile: MpibProfile,
    #[case] inside: bool,
    #[case] size: u64,
    #[case] why: Hopeless,
) {
    let (world, script) = one_edge(profile, Mode::Vanilla, inside, size);
    let at = SimTime::from_secs(11);
    assert_eq!(world.play(&script).rescue(), Some(Rescue::None { at, why }));
}

/// Only the sender takes both for different islands, so that its data alone is bound to SOUT; whatever the size.
#[rstest]
fn data_is_bound_to_a_rail_where_the_ends_disagree(
    #[values(MpibProfile::Spec, MpibProfile::G1, MpibProfile::G2)] profile: MpibProfile,
    #[values(0, 1, 1000, 1 << 20)] size: u64,
) {
    let (mut world, script) = one_edge(profile, Mode::Vanilla, true, size);
    world.odd_prefix = Some((HostId::new(0), 32));
    let rescue = Rescue::None {
        at: SimTime::from_secs(11),
        why: Hopeless::Fixed(Rail::Sout),
    };
    assert_eq!(world.play(&script).rescue(), Some(rescue));
}

/// Only the sender takes both for one island: SUP has no route, and the intended behaviour knows no other rail, nor does
/// the second generation.
#[rstest]
fn data_is_bound_to_sup_whatever_the_hint_says(
    #[values(MpibProfile::Spec, MpibProfile::G2)] profile: MpibProfile,
) {
    let (mut world, _) = one_edge(profile, Mode::Vanilla, false, 1000);
    world.odd_prefix = Some((HostId::new(0), 16));
    let rescue = Rescue::None {
        at: SimTime::ZERO,
        why: Hopeless::Fixed(Rail::Sup),
    };
    assert_eq!(world.play(&[]).rescue(), Some(rescue));
}

/// In advanced mode the second generation reads a hint between islands too, where SUP has no route: the first message is
/// lost at the start, before a hint could be written.
#[test]
fn a_message_lost_at_the_start_came_before_any_hint() {
    let (mut world, _) = one_edge(MpibProfile::G2, Mode::Advanced, false, 1 << 20);
    world.first_share = u32::MAX;
    let rescue = Rescue::None {
        at: SimTime::ZERO,
        why: Hopeless::TooEarly,
    };
    assert_eq!(world.play(&[]).rescue(), Some(rescue));
}

/// Claims are made of all profiles and modes, inside islands and between them, and of empty and of odd messages: so all are
/// drawn.
#[test]
fn the_claims_are_of_all_profiles_modes_places_and_sizes() {
    let mut runner = TestRunner::deterministic();
    let drawn = outages();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..2_000 {
        let (world, script) = drawn.new_tree(&mut runner).expect("a story").current();
        let job = world.play(&script);
        if job.rescue().is_none() {
            continue;
        }
        let mode = if world.mode == Mode::Vanilla {
            "vanilla"
        } else {
            "advanced"
        };
        let dead = job.failure().and_then(|failure| failure.edge);
        let (_, connection, _) = job
            .edges()
            .find(|(edge, ..)| Some(*edge) == dead)
            .expect("an edge that failed");
        let place = match job.net().path(connection, Side::Send).class() {
            Some(PathClass::Intra) => "inside",
            Some(PathClass::Inter) => "between",
            None => "unclassified",
        };
        let kinds = [
            format!("{} {mode} {place}", world.profile),
            format!("{} {place} {} bytes", world.profile, world.size),
        ];
        for kind in kinds {
            *seen.entry(kind).or_default() += 1;
        }
    }
    let mut wanted = Vec::new();
    for place in ["inside", "between"] {
        for way in ["spec vanilla", "g1 vanilla", "g2 vanilla", "g2 advanced"] {
            wanted.push(format!("{way} {place}"));
        }
        for profile in ["spec", "g1", "g2"] {
            for size in [0, 1, 1000] {
                wanted.push(format!("{profile} {place} {size} bytes"));
            }
        }
    }
    for what in wanted {
        assert!(
            seen.get(&what).is_some_and(|times| *times >= 3),
            "`{what}` is rare in {seen:?}"
        );
    }
}
