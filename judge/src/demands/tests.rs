//! What a story demands: of whom, how often, in which order, and how a demand is told.

use observe::{MonitorTick, Tick};
use platforms::{LinkLayer, NicRole, PhysState, PortState};
use rstest::rstest;
use scenarios::ChecksRun;

use super::*;
use crate::fits::tests::{Case, function, ib_port, node_a, node_b, pattern, pci, roce_port, slot};

/// A recording in which a monitor polls on `node-a` in these ticks.
fn polls(ticks: &[bool]) -> Recording {
    let tick = |polls: &bool| {
        let mut tick = Tick::default();
        let instance = MonitorTick {
            polls: u32::from(*polls),
            ..MonitorTick::default()
        };
        tick.insert((&node_a()).into(), instance.into());
        tick
    };
    Recording {
        ticks: ticks.iter().map(tick).collect(),
        ..Recording::default()
    }
}

/// A case in which the first port of `mlx5_0` is healthy in these ticks.
fn healthy(ticks: &[bool]) -> Case {
    let mut case = Case::new();
    let first = case.truth.ticks[0].clone();
    case.truth.ticks = ticks
        .iter()
        .map(|healthy| {
            let mut tick = first.clone();
            let mut node = tick.nodes[&node_a()].clone();
            let mut views = (*node.views).clone();
            let view = views.0.values_mut().next().expect("there are functions");
            let port = view.ports.values_mut().next().expect("it has ports");
            port.state = if *healthy {
                PortState::ACTIVE
            } else {
                PortState::DOWN
            };
            node.views = views.into();
            tick.nodes.insert(node_a(), node);
            tick
        })
        .collect();
    case
}

/// Whether it is a rise, from when to when it may be told, and its place in its group.
type Edge = (bool, u64, u64, Option<(u32, u32)>);

/// `falls`, and for each demand whether it is of a rise, its window and its place in its group.
fn followed(ticks: &[bool], polled: &[bool], times: u32, before: usize) -> (u32, Vec<Edge>) {
    let case = healthy(ticks);
    let slot = slot(node_a(), "0000:10:00.0", 1);
    let [down, up] = [Severity::Fatal, Severity::Healthy].map(|tone| EventPattern {
        tone,
        ..pattern(About::Port(slot.clone()))
    });
    let mut expectation = case.story.expectations[0].clone();
    expectation.window = Window { from: 2, to: 9 };
    let mut demands = vec![demand(&case.story.expectations[0]); before];
    let patterns = [Some(&down), Some(&up)];
    let (context, recording) = (case.context(), polls(polled));
    let falls = follow(
        &expectation,
        &slot,
        times,
        3,
        patterns,
        &context,
        &recording,
        &mut demands,
    );
    let rendered = demands[before..].iter().map(|demand| {
        let is_rise = demand.pattern.tone == Severity::Healthy;
        assert_eq!(
            (
                demand.bounds.at_least,
                demand.bounds.at_most,
                demand.attempts
            ),
            (1, 1, 0)
        );
        (
            is_rise,
            demand.window.from,
            demand.window.to,
            demand.in_order,
        )
    });
    (falls, rendered.collect())
}

const H: bool = true;
const D: bool = false;

#[test]
fn each_edge_that_a_poll_can_see_is_demanded_in_its_place() {
    let group = 1 << 24;
    let in_order = |place| Some((group, place));
    let (falls, demands) = followed(&[H, H, H, D, D, H, D, H], &[true; 8], 2, 0);
    assert_eq!(falls, 2);
    assert_eq!(
        demands,
        [
            (false, 3, 6, in_order(0)),
            (true, 5, 8, in_order(1)),
            (false, 6, 9, in_order(2)),
            (true, 7, 10, in_order(3)),
        ]
    );
    // A group's number is no other group's.
    let (_, demands) = followed(&[H, H, H, D], &[true; 4], 1, 5);
    assert_eq!(demands, [(false, 3, 6, Some((group + 5, 0)))]);
}

#[test]
fn an_edge_before_the_window_is_not_demanded() {
    let (falls, demands) = followed(&[H, D, H, D], &[true; 4], 1, 0);
    let edges: Vec<_> = demands.iter().map(|demand| (demand.0, demand.1)).collect();
    assert_eq!((falls, edges), (1, vec![(true, 2), (false, 3)]));
}

#[test]
fn an_edge_between_two_polls_is_seen_by_the_next_or_by_none() {
    let polled = [true, true, true, false, false, true, true, true];
    let (falls, demands) = followed(&[H, H, H, D, H, H, D, D], &polled, 1, 0);
    let edges: Vec<_> = demands.iter().map(|demand| (demand.0, demand.1)).collect();
    assert_eq!((falls, edges), (1, vec![(false, 6)]));
}

#[test]
fn no_more_falls_are_followed_than_there_are_to_be() {
    let (falls, demands) = followed(&[H, H, D, H, D, H], &[true; 6], 1, 0);
    let edges: Vec<_> = demands.iter().map(|demand| (demand.0, demand.1)).collect();
    assert_eq!((falls, edges), (1, vec![(false, 2), (true, 3)]));
    let (falls, _) = followed(&[H, H, D, D], &[true; 4], 2, 0);
    assert_eq!(falls, 1);
}

fn demand(expectation: &Expectation) -> Demand<'_> {
    Demand {
        expectation: Some(expectation),
        node: node_a(),
        window: Window { from: 0, to: 0 },
        pattern: Cow::Owned(pattern(ib_port(1))),
        bounds: Bounds {
            at_least: 1,
            at_most: 1,
        },
        attempts: 0,
        in_order: None,
        stays: false,
    }
}

#[rstest]
#[case(Window { from: 1, to: 1 }, (1, 1), 0, "fatal NIC=mlx5_0 NICPort=1, in poll 1")]
#[case(Window { from: 0, to: 1 }, (1, 1), 0, "fatal NIC=mlx5_0 NICPort=1, in polls 0 to 1")]
#[case(Window { from: 1, to: 1 }, (2, 2), 0, "fatal NIC=mlx5_0 NICPort=1, 2 times, in poll 1")]
#[case(Window { from: 1, to: 1 }, (0, 2), 0, "fatal NIC=mlx5_0 NICPort=1, 0 to 2 times, in poll 1")]
#[case(Window { from: 1, to: 1 }, (3, u32::MAX as usize), 0, "fatal NIC=mlx5_0 NICPort=1, at least 3 times, in poll 1")]
#[case(Window { from: 1, to: 1 }, (0, 4), 4, "fatal NIC=mlx5_0 NICPort=1, 4 times, attempted, in poll 1")]
fn a_demand_is_told_with_how_often_and_when(
    #[case] window: Window,
    #[case] (at_least, at_most): (usize, usize),
    #[case] attempts: usize,
    #[case] line: &str,
) {
    let case = Case::new();
    let demand = Demand {
        window,
        bounds: Bounds { at_least, at_most },
        attempts,
        ..demand(&case.story.expectations[0])
    };
    assert_eq!(demand.line(&case.context()), line);
}

/// Ports of either layer: only the message of the port's own is told.
#[rstest]
#[case::infiniband(
    ib_port(1),
    "fatal NIC=mlx5_0 NICPort=1 \"Port mlx5_0 port 1: down…\", in poll 0"
)]
#[case::ethernet(
    roce_port(),
    "fatal NIC=mlx5_1 NICPort=1 \"RoCE port mlx5_1 port 1 (eth1): down\", in poll 0"
)]
#[case::of_either(
    About::Check,
    "fatal (whole check) InfiniBand: \"Port  port : down…\" Ethernet: \"RoCE port  port  (): down\", in poll 0"
)]
fn a_demand_is_told_with_the_message_of_its_layer_filled_in(
    #[case] about: About,
    #[case] line: &str,
) {
    let mut case = Case::new();
    let messages = [
        (LinkLayer::InfiniBand, "Port {device} port {port}: down…"),
        (
            LinkLayer::Ethernet,
            "RoCE port {device} port {port} ({netdev}): down",
        ),
    ];
    let told = |case: &Case| {
        let demand = Demand {
            pattern: Cow::Owned(EventPattern {
                message: messages
                    .map(|(layer, text)| (layer, text.to_owned()))
                    .into(),
                ..pattern(about.clone())
            }),
            ..demand(&case.story.expectations[0])
        };
        demand.line(&case.context())
    };
    assert_eq!(told(&case), line);
    case.descriptor.texts = observe::Vocabulary::Own.into();
    assert!(
        !told(&case).contains('"'),
        "texts of its own are not judged"
    );
}

#[test]
fn an_expectation_is_of_its_node_or_of_its_subjects_or_of_all() {
    let meant =
        |expectation: &Expectation| [node_a(), node_b()].map(|node| is_meant(expectation, &node));
    let mut expectation = Case::new().story.expectations[0].clone();
    assert_eq!(meant(&expectation), [true, true]);
    expectation.node = Some(node_b());
    assert_eq!(meant(&expectation), [false, true]);
    expectation.node = None;
    let about = |about| What::Say {
        event: pattern(about),
        times: Times::ONCE,
        reported: false,
        in_order: None,
    };
    expectation.what = about(ib_port(1));
    assert_eq!(meant(&expectation), [true, false]);
    let of_b = slot(node_b(), "0000:10:00.0", 1);
    expectation.what = about(About::Device(node_b(), of_b.pci));
    assert_eq!(meant(&expectation), [false, true]);
    expectation.what = about(About::Check);
    assert_eq!(meant(&expectation), [true, true]);
    expectation.what = What::FollowEdges {
        slot: of_b,
        times: 1,
        within_polls: 0,
        down: None,
        up: None,
    };
    assert_eq!(meant(&expectation), [false, true]);
}

/// A loop that polls every fifth tick may be up to four ticks late, with its own checks alone.
#[rstest]
#[case(None, Some("link_downed"), 7)]
#[case(Some("EthernetDegradationCheck"), None, 7)]
#[case(Some("EthernetStateCheck"), None, 3)]
#[case(None, None, 3)]
fn an_event_may_come_later_by_the_interval_of_its_loop(
    #[case] check: Option<&str>,
    #[case] counter: Option<&str>,
    #[case] to: u64,
) {
    let mut case = Case::new();
    case.descriptor.loops = vec![observe::Loop {
        checks: ["EthernetDegradationCheck".to_owned()].into(),
        listings: 1,
        interval: observe::Span::parse("5s"),
        real_interval: None,
        switch: None,
    }];
    let mut expectation = case.story.expectations[0].clone();
    expectation.window = Window { from: 1, to: 3 };
    let event = EventPattern {
        check: check.map(str::to_owned),
        counter: counter.map(str::to_owned),
        ..pattern(ib_port(1))
    };
    let once = Times {
        at_least: 1,
        at_most: 1,
    };
    let demand = say(
        &expectation,
        &node_a(),
        &event,
        once,
        false,
        None,
        &case.context(),
    );
    assert_eq!(demand.window, Window { from: 1, to });
}

#[rstest]
#[case(About::NamedDevice("x".into()), Severity::Fatal)]
#[case(About::NamedDevice("x".into()), Severity::Healthy)]
#[case(ib_port(1), Severity::Fatal)]
fn an_attempt_or_an_accepted_event_is_demanded_in_its_window(
    #[case] about: About,
    #[case] tone: Severity,
) {
    let case = Case::new();
    let mut expectation = case.story.expectations[0].clone();
    expectation.window = Window { from: 1, to: 3 };
    let event = EventPattern {
        tone,
        ..pattern(about)
    };
    let times = Times {
        at_least: 2,
        at_most: 3,
    };
    let reported = |reported| {
        say(
            &expectation,
            &node_a(),
            &event,
            times,
            reported,
            Some((1, 2)),
            &case.context(),
        )
    };
    let (accepted, attempted) = (reported(false), reported(true));
    assert_eq!(accepted.window, Window { from: 1, to: 3 });
    assert_eq!(
        (
            accepted.bounds.at_least,
            accepted.bounds.at_most,
            accepted.attempts
        ),
        (2, 3, 0)
    );
    assert_eq!(
        (
            attempted.bounds.at_least,
            attempted.bounds.at_most,
            attempted.attempts
        ),
        (0, 3, 2)
    );
    assert_eq!(accepted.in_order, Some((1, 2)));
}

#[rstest]
#[case(&[], 30)]
#[case(&["--escalate-after=45s"], 45)]
#[case(&["--escalate-after=45s", "--x=1", "--escalate-after=2m"], 120)]
#[case(&["--escalate-after=1500ms"], 2)]
fn the_patience_is_the_last_flags_in_ticks(#[case] flags: &[&str], #[case] ticks: u64) {
    let mut story = Case::new().story;
    story.flags = flags.iter().map(ToString::to_string).collect();
    assert_eq!(patience_ticks(&story), ticks);
}

#[test]
fn a_poll_has_ended_where_its_monitor_says_so() {
    let recording = polls(&[true, false, true]);
    assert_eq!(polled(&recording, &node_a()).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(polled(&recording, &node_b()).count(), 0);
}

/// Compute cards of one InfiniBand port each; in each tick, which of them are healthy. The others train.
fn cards(ticks: &[&[bool]]) -> Case {
    let mut case = Case::new();
    let tick = |healthy: &&[bool]| {
        let views = (0x10..).zip(healthy.iter()).map(|(slot, healthy)| {
            let phys_state = if *healthy {
                PhysState::LINK_UP
            } else {
                PhysState::TRAINING
            };
            let mut view = function(
                &format!("mlx5_{slot:x}"),
                NicRole::Compute,
                &[(LinkLayer::InfiniBand, phys_state)],
            );
            let port = view.ports.values_mut().next().expect("it has a port");
            port.state = if *healthy {
                PortState::ACTIVE
            } else {
                PortState::DOWN
            };
            (pci(&format!("0000:{slot:02x}:00.0")), view)
        });
        let views = std::sync::Arc::new(NodeView(views.collect()));
        let mut tick = case.truth.ticks[0].clone();
        let mut node = tick.nodes[&node_a()].clone();
        (node.views, node.after) = (views.clone(), views);
        tick.nodes.insert(node_a(), node);
        tick
    };
    case.truth.ticks = ticks.iter().map(tick).collect();
    case
}

/// What a first poll owes: of whom, how often at least, from when to when.
fn owed(
    case: &Case,
    polled: &[bool],
    fresh: bool,
    except: &[SlotRef],
) -> Vec<(String, usize, u64, u64)> {
    let except: Vec<About> = except.iter().cloned().map(About::Port).collect();
    let mut expectation = case.story.expectations[0].clone();
    expectation.window = Window { from: 0, to: 1 };
    let (context, recording) = (case.context(), polls(polled));
    let mut demands = Vec::new();
    baseline(
        &case.story,
        &expectation,
        &node_a(),
        fresh,
        (&except, None),
        &context,
        &recording,
        &mut demands,
    );
    let rendered = demands.iter().map(|demand| {
        assert_eq!((demand.bounds.at_most, demand.attempts), (1, 0));
        let about = context.describe(&demand.pattern.about, &node_a(), 0);
        let check = demand
            .pattern
            .check
            .as_deref()
            .map(|check| format!(" {check}"));
        let Window { from, to } = demand.window;
        (
            about + &check.unwrap_or_default(),
            demand.bounds.at_least,
            from,
            to,
        )
    });
    rendered.collect()
}

fn line(text: &str, at_least: usize, from: u64, to: u64) -> (String, usize, u64, u64) {
    (text.to_owned(), at_least, from, to)
}

const CARD: &str = " InfiniBandStateCheck";

#[test]
fn a_first_poll_owes_a_word_of_every_port_device_and_card() {
    let case = cards(&[&[H, H][..]; 3]);
    let all = [
        line("NIC=mlx5_10 NICPort=1", 1, 0, 1),
        line("NIC=mlx5_10", 1, 0, 1),
        line("NIC=mlx5_11 NICPort=1", 1, 0, 1),
        line("NIC=mlx5_11", 1, 0, 1),
        line(&format!("NIC=0000:10:00{CARD}"), 1, 0, 1),
        line(&format!("NIC=0000:11:00{CARD}"), 1, 0, 1),
    ];
    assert_eq!(owed(&case, &[true; 3], true, &[]), all);
    // With an old state only the ports are told of.
    assert_eq!(
        owed(&case, &[true; 3], false, &[]),
        [all[0].clone(), all[2].clone()]
    );
    let mut others = cards(&[&[H, H][..]; 3]);
    others.story.checks = ChecksRun::CharDevices;
    assert_eq!(owed(&others, &[true; 3], true, &[]), []);
}

/// A device that comes up later may be told of from then on.
#[test]
fn what_is_not_healthy_at_first_is_told_of_once_it_is() {
    let case = cards(&[&[H, H, D], &[H, H, D], &[H, H, D], &[H, H, H], &[H, H, H]]);
    let rendered = owed(&case, &[true; 5], true, &[]);
    let device = line("NIC=mlx5_12", 0, 3, u64::MAX);
    assert!(rendered.contains(&device), "{rendered:?}");
    assert!(
        !rendered
            .iter()
            .any(|(about, ..)| about.starts_with("NIC=mlx5_12 ")),
        "{rendered:?}"
    );
    let card = line(&format!("NIC=0000:12:00{CARD}"), 0, 3, u64::MAX);
    assert!(rendered.contains(&card), "{rendered:?}");
    let between = owed(&case, &[true, true, true, false, true], true, &[]);
    assert!(
        between.contains(&line("NIC=mlx5_12", 0, 4, u64::MAX)),
        "{between:?}"
    );
    // A card that never meets its peers is never owed a word.
    let case = cards(&[&[H, H, D][..]; 5]);
    let rendered = owed(&case, &[true; 5], true, &[]);
    assert!(
        !rendered.iter().any(|(about, ..)| about.contains("12")),
        "{rendered:?}"
    );
}

#[test]
fn what_is_excepted_is_owed_no_word() {
    let case = cards(&[&[H, H][..]; 3]);
    let except = [slot(node_a(), "0000:10:00.0", 1)];
    let rendered = owed(&case, &[true; 3], true, &except);
    assert_eq!(
        rendered,
        [
            line("NIC=mlx5_10", 0, 0, u64::MAX),
            line("NIC=mlx5_11 NICPort=1", 1, 0, 1),
            line("NIC=mlx5_11", 1, 0, 1),
            line(&format!("NIC=0000:10:00{CARD}"), 0, 0, u64::MAX),
            line(&format!("NIC=0000:11:00{CARD}"), 1, 0, 1),
        ]
    );
}

/// A card with two ports of which one trains meets its peers of one port, but waits out the patience with it.
fn waiting(flag: &str, ticks: usize, disturbed_at: Option<u64>) -> Vec<(String, usize, u64, u64)> {
    let mut case = cards(&vec![&[H, H, H][..]; ticks]);
    for tick in &mut case.truth.ticks {
        let mut node = tick.nodes[&node_a()].clone();
        let mut views = (*node.views).clone();
        let view = views.0.values_mut().next().expect("there are cards");
        let mut port = *view.ports.values().next().expect("it has a port");
        (port.state, port.phys_state) = (PortState::DOWN, PhysState::TRAINING);
        view.ports.insert(platforms::PortNumber(2), port);
        node.views = views.into();
        tick.nodes.insert(node_a(), node);
    }
    case.story.flags = vec![flag.to_owned()];
    let steps = disturbed_at.map(|at| scenarios::Step {
        at: SimTime::from_secs(at),
        place: case.story.expectations[0].place.clone(),
        text: String::new(),
        moment: None,
        actions: Vec::new(),
    });
    case.story.steps = steps.into_iter().collect();
    let rendered = owed(&case, &vec![true; ticks], true, &[]).into_iter();
    rendered
        .filter(|(about, ..)| about.starts_with("NIC=0000:10:00"))
        .collect()
}

#[test]
fn a_card_that_waits_is_owed_a_word_when_the_patience_is_over_unless_it_is_disturbed() {
    let card = format!("NIC=0000:10:00{CARD}");
    let due = [line(&card, 1, 0, 3)];
    let open = [line(&card, 0, 0, u64::MAX)];
    let flag = "--escalate-after=2s";
    assert_eq!(waiting(flag, 8, None), due);
    assert_eq!(waiting(flag, 4, None), due);
    assert_eq!(waiting(flag, 3, None), open, "the drill is over before");
    assert_eq!(waiting(flag, 8, Some(3)), open);
    assert_eq!(waiting(flag, 8, Some(4)), due);
}
