//! Laws of jobs, for arbitrary worlds and fault scripts.

use std::collections::{BTreeMap, BTreeSet};

use mpib::{
    Bytes, Death, FailureCause, HostId, Job, Mode, MpibProfile, Net, PathClass, Post, PostKind,
    Rail, RailState, Receive, Retries, Side, SupBandwidth, Tag,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use simfs::SimTime;
use workloads::WorkloadOutcome;

use crate::rig::{connect, done, eight, notify, vm};
use crate::worlds::{END, Fault, Kinds, Script, World, act, story, world};

const ALL: &[MpibProfile] = &[MpibProfile::Spec, MpibProfile::G1, MpibProfile::G2];
const SPEC: &[MpibProfile] = &[MpibProfile::Spec];
const TRY_NS: u64 = 4_294_967_296;

fn sum(net: &Net, of: impl Fn(HostId, Rail) -> Bytes) -> u64 {
    let rails = net
        .hosts()
        .flat_map(|host| Rail::BOTH.map(|rail| (host, rail)));
    rails
        .map(|(host, rail)| of(host, rail))
        .sum::<Bytes>()
        .get()
}

fn class(job: &Job, post: &Post) -> Option<PathClass> {
    job.net().path(post.connection, Side::Send).class()
}

/// Everything of a run that can be compared.
fn rendered(job: &Job) -> String {
    let stalls: Vec<_> = job.stalls().collect();
    let edges: Vec<_> = job.edges().collect();
    format!(
        "{:?} {stalls:?} {edges:?} {:?} {:?}",
        job.failure(),
        job.net().posts(),
        job.net().logs()
    )
}

/// The world with an outage of one port from `at_ms` on for `length_ms`; returns its job.
fn outage(world: &World, host: HostId, rail: Rail, at_ms: u64, length_ms: u64) -> Job {
    let down = Fault::Port(host, rail, RailState::Down);
    let up = Fault::Port(host, rail, RailState::Up);
    let script = [
        (SimTime::from_ms(at_ms), down),
        (SimTime::from_ms(at_ms + length_ms), up),
    ];
    world.play(&script)
}

/// The ports that a job's connections use, at either end.
fn used(job: &Job) -> BTreeSet<(HostId, Rail)> {
    let mut used = BTreeSet::new();
    for post in job.net().posts() {
        for (edge, connection, _) in job.edges() {
            if connection == post.connection {
                used.extend([(edge.from, post.rail), (edge.to, post.rail)]);
            }
        }
    }
    used
}

fn port(world: &World, index: prop::sample::Index, is_sup: bool) -> (HostId, Rail) {
    let host = u16::try_from(index.index(world.hosts.len())).expect("few hosts");
    let rail = if is_sup { Rail::Sup } else { Rail::Sout };
    (HostId::new(host), rail)
}

/// When each part of a message posted at 1 s is delivered, given the times at which its rail changes
/// between up and down (down from 1 s on): by the first retransmission at which the rail is up.
fn through(changes_ms: &[u64]) -> Option<SimTime> {
    let posted = SimTime::from_secs(1);
    (1..8)
        .map(|tries| posted + SimTime::from_ns(tries * TRY_NS))
        .find(|at| {
            let before = changes_ms
                .iter()
                .filter(|ms| SimTime::from_ms(**ms) <= *at)
                .count();
            before % 2 == 1
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pm5_no_hint_reaches_traffic_between_islands((world, script) in story(ALL, Kinds::All)) {
        let job = world.play(&script);
        let is_advanced = world.profile == MpibProfile::G2 && world.mode == Mode::Advanced;
        prop_assume!(!is_advanced);
        for post in job.net().posts() {
            if class(&job, post) == Some(PathClass::Inter) {
                prop_assert_eq!(post.rail, Rail::Sout);
            }
        }
        for host in job.net().hosts() {
            let mut sending = job.edges().filter(|(edge, ..)| edge.from == host);
            let is_inside = |connection| job.net().path(connection, Side::Send).class() == Some(PathClass::Intra);
            let reads = job.net().hint_reads(host);
            if !sending.any(|(_, connection, _)| is_inside(connection)) || world.profile == MpibProfile::G2 {
                prop_assert_eq!(reads, 0);
            }
        }
    }

    /// One message over both rails with arbitrary changes of each rail. The expected result is computed
    /// from the changes only.
    #[test]
    fn pm7_a_receive_completes_once_with_the_last_of_its_rails(
        sout_ms in prop::collection::btree_set(1_001_u64..60_000, 0..5),
        sup_ms in prop::collection::btree_set(1_001_u64..60_000, 0..5),
    ) {
        let mut net = eight(MpibProfile::G1);
        let connection = connect(&mut net, 1, 2);
        let agent = net.agent_mut(vm(1));
        prop_assert!(agent.write(0x0a00_0101, 0x0a00_0102, SupBandwidth::new(1)));
        let receive = Receive { tag: Tag(1), size_max: Bytes::from_mib(1) };
        let received = net.irecv(connection, &[receive]).expect("alive");
        for rail in Rail::BOTH {
            notify(&mut net, 1_000, 2, rail, RailState::Down);
        }
        net.isend(connection, Tag(1), Bytes::from_mib(1)).expect("alive");
        let rails = [(Rail::Sout, &sout_ms), (Rail::Sup, &sup_ms)];
        let mut changes: Vec<(u64, Rail, RailState)> = Vec::new();
        for (rail, at_ms) in rails {
            for (index, ms) in at_ms.iter().enumerate() {
                let state = if index % 2 == 0 { RailState::Up } else { RailState::Down };
                changes.push((*ms, rail, state));
            }
        }
        changes.sort_by_key(|(ms, rail, _)| (*ms, *rail));
        for (ms, rail, state) in changes {
            notify(&mut net, ms, 2, rail, state);
        }
        net.advance(END);
        let parts = rails.map(|(_, at_ms)| through(&at_ms.iter().copied().collect::<Vec<_>>()));
        match parts {
            [Some(sout), Some(sup)] => {
                prop_assert_eq!(done(&mut net, received), Some(sout.max(sup)));
                prop_assert!(net.test(received).is_err(), "it is said once");
            }
            _ => {
                let death = net.death(connection).map(|(at, _)| at);
                prop_assert_eq!(death, Some(SimTime::from_secs(1) + SimTime::from_ns(8 * TRY_NS)));
                prop_assert!(net.test(received).is_err());
            }
        }
    }

    #[test]
    fn pm9_what_was_sent_was_received((world, script) in story(ALL, Kinds::All)) {
        let job = world.play(&script);
        let net = job.net();
        let sent = sum(net, |host, rail| net.nic(host, rail).sent);
        prop_assert_eq!(sent, sum(net, |host, rail| net.nic(host, rail).received));
        let messages: u64 = job.edges().map(|(_, _, messages)| messages).sum();
        let clears = net.posts().iter().filter(|post| post.kind == PostKind::ClearToSend);
        let clears: u64 = clears.map(|post| post.bytes.get()).sum();
        if job.failure().is_none() {
            prop_assert_eq!(sent, messages * world.size + clears, "all is through by the end");
        } else {
            prop_assert!(sent >= messages * world.size);
        }
    }

    #[test]
    fn pm10_in_the_document_an_island_puts_nothing_on_sout((world, script) in story(SPEC, Kinds::All)) {
        let job = world.play(&script);
        for post in job.net().posts() {
            // An empty message uses SOUT with 0 bytes.
            if class(&job, post) == Some(PathClass::Intra) && post.bytes > Bytes::ZERO {
                prop_assert_eq!(post.rail, Rail::Sup);
            }
        }
        let is_inside = |connection| job.net().path(connection, Side::Send).class() == Some(PathClass::Intra);
        if job.edges().all(|(_, connection, _)| is_inside(connection)) {
            for host in job.net().hosts() {
                let nic = job.net().nic(host, Rail::Sout);
                prop_assert_eq!((nic.sent, nic.received), (Bytes::ZERO, Bytes::ZERO));
            }
        }
    }

    /// The same world, without and with outages of ports that it never uses.
    #[test]
    fn pm11_an_outage_of_an_idle_rail_changes_nothing(
        world in world(ALL),
        outages in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 1_u64..60_000, 1_u64..60_000), 1..5),
    ) {
        let calm = world.play(&[]);
        let used = used(&calm);
        let mut script: Script = Vec::new();
        for (index, is_sup, at_ms, length_ms) in outages {
            let (host, rail) = port(&world, index, is_sup);
            if !used.contains(&(host, rail)) {
                let state = [(at_ms, RailState::Down), (at_ms + length_ms, RailState::Up)];
                script.extend(state.map(|(ms, state)| (SimTime::from_ms(ms), Fault::Port(host, rail, state))));
            }
        }
        script.sort_by_key(|(at, _)| *at);
        prop_assume!(!script.is_empty());
        prop_assert_eq!(rendered(&world.play(&script)), rendered(&calm));
    }

    #[test]
    fn pm13_a_longer_outage_is_never_better(
        world in world(ALL),
        index in any::<prop::sample::Index>(),
        is_sup in any::<bool>(),
        at_ms in 1_u64..20_000,
        lengths_ms in [1_u64..60_000, 1_u64..60_000],
    ) {
        let (host, rail) = port(&world, index, is_sup);
        let [one, other] = lengths_ms;
        let outcome = |length_ms| outage(&world, host, rail, at_ms, length_ms).outcome();
        prop_assert!(outcome(one.min(other)) <= outcome(one.max(other)));
    }

    /// The range within which the model is reliable, for either number of tries.
    #[test]
    fn up_to_25_seconds_survive_and_from_40_kill(
        world in world(ALL),
        index in any::<prop::sample::Index>(),
        is_sup in any::<bool>(),
        at_ms in 1_u64..20_000,
        short_ms in 1_u64..=25_000,
        long_ms in 41_000_u64..60_000,
    ) {
        let (host, rail) = port(&world, index, is_sup);
        // Where SUP is used between islands, the job dies without any outage.
        let calm = world.play(&[]);
        prop_assume!(calm.failure().is_none());
        let is_used = used(&calm).contains(&(host, rail));
        let short = outage(&world, host, rail, at_ms, short_ms);
        prop_assert!(short.failure().is_none());
        let long = outage(&world, host, rail, at_ms, long_ms);
        // A post waits for its period, up to one second here.
        prop_assert_eq!(long.outcome() == WorkloadOutcome::Failed, is_used);
        if let Some(failure) = long.failure() {
            let lived_ms = failure.at.as_ms() - at_ms;
            let least_ms = if world.retries == Retries::Seven { 30_064 } else { 34_359 };
            prop_assert!((least_ms..=least_ms + 1_001).contains(&lived_ms), "{lived_ms} ms");
        }
    }

    #[test]
    fn the_same_story_is_told_the_same_way((world, script) in story(ALL, Kinds::All)) {
        prop_assert_eq!(rendered(&world.play(&script)), rendered(&world.play(&script)));
    }

    /// The steps in which time advances do not matter.
    #[test]
    fn the_cuts_of_time_change_nothing(
        (world, script) in story(ALL, Kinds::Mild),
        cuts_ms in prop::collection::btree_set(0_u64..120_000, 0..30),
    ) {
        let mut job = world.start();
        let mut cuts = cuts_ms.into_iter().map(SimTime::from_ms).peekable();
        for (at, fault) in &script {
            // A port's change comes before what is due at the same instant, so a step that ends there
            // comes after it.
            while let Some(cut) = cuts.next_if(|cut| cut < at) {
                job.advance(cut);
            }
            act(&mut job, *at, *fault);
        }
        for cut in cuts {
            job.advance(cut);
        }
        job.advance(END);
        prop_assert_eq!(rendered(&job), rendered(&world.play(&script)));
    }

    /// Exactly a dead connection ends a job within its time limit; then every rank has failed.
    #[test]
    fn a_job_fails_exactly_when_a_connection_died((world, script) in story(ALL, Kinds::All)) {
        let job = world.play(&script);
        let deaths: Vec<SimTime> = job
            .edges()
            .filter_map(|(_, connection, _)| job.net().death(connection))
            .map(|(at, _)| at)
            .collect();
        let failed_at = job.failure().map(|failure| failure.at);
        prop_assert_eq!(failed_at, deaths.iter().min().copied());
        let ranks: Vec<HostId> = job.ranks().collect();
        let expected = if failed_at.is_some() { ranks } else { Vec::new() };
        prop_assert_eq!(job.failed_ranks(), expected);
    }
}

#[test]
fn a_rail_is_tried_at_the_instants_that_the_rule_names() {
    let first = SimTime::from_secs(1) + SimTime::from_ns(TRY_NS);
    let second = first + SimTime::from_ns(TRY_NS);
    assert_eq!(through(&[]), None);
    assert_eq!(through(&[2_000]), Some(first));
    assert_eq!(through(&[2_000, 3_000, 6_000]), Some(second));
    assert_eq!(through(&[2_000, 3_000]), None);
}

/// A law would hold trivially for stories in which nothing happens.
#[test]
fn the_stories_reach_what_the_laws_speak_of() {
    let mut runner = TestRunner::deterministic();
    let stories = story(ALL, Kinds::All);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut saw = |what: String| *seen.entry(what).or_default() += 1;
    for _ in 0..200 {
        let tree = stories.new_tree(&mut runner).expect("a story");
        let (world, script) = tree.current();
        let job = world.play(&script);
        saw(format!("{:?}", job.outcome()));
        match job.failure().map(|failure| failure.cause) {
            Some(FailureCause::Network(Death::RetryExceeded { .. })) => saw("retries".to_owned()),
            Some(FailureCause::Network(Death::DeviceGone { .. })) => saw("gone".to_owned()),
            _ => {}
        }
        for hazard in job.net().hazards() {
            saw(format!("{hazard:?}")
                .split(' ')
                .next()
                .expect("a word")
                .to_owned());
        }
        let posts = job.net().posts().iter();
        let seen: BTreeSet<String> = posts
            .map(|post| {
                format!(
                    "{:?} {:?} {}",
                    post.kind,
                    class(&job, post).expect("a class"),
                    post.rail
                )
            })
            .collect();
        seen.into_iter().for_each(&mut saw);
    }
    for what in [
        "Survived",
        "Degraded",
        "Failed",
        "retries",
        "gone",
        "SpinsOnHint",
        "Data Intra SUP",
        "Data Intra SOUT",
        "Data Inter SOUT",
        "Data Inter SUP",
        "ClearToSend Intra SUP",
        "ClearToSend Intra SOUT",
        "ClearToSend Inter SOUT",
    ] {
        assert!(
            seen.get(what).is_some_and(|times| *times >= 5),
            "`{what}` is rare in {seen:?}"
        );
    }
}
