//! The states of a port over time.

use fabric::{Action, Carriage, DeviceAction, Fabric, PortAction, PortsAction, StickAt};
use platforms::{
    LinkLayer::{self, Ethernet, InfiniBand},
    SlotRef,
};
use rstest::rstest;
use simfs::SimTime;

use crate::room::{act, check, count, function, netdev, slot, to_ms, world_of};

const UP: &str = "ACTIVE/LinkUp";
const POLLING: &str = "DOWN/Polling";
const TRAINING: &str = "DOWN/PortConfigurationTraining";
const DISABLED: &str = "DOWN/Disabled";
const INIT: &str = "INIT/LinkUp";
const ARMED: &str = "ARMED/LinkUp";

#[rstest]
#[case::infiniband(InfiniBand, &[
    (1_000, POLLING), (4_999, POLLING), (5_000, POLLING), (5_049, POLLING), (5_050, TRAINING),
    (5_149, TRAINING), (5_150, INIT), (5_249, INIT), (5_250, ARMED), (5_299, ARMED), (5_300, UP),
])]
#[case::ethernet(Ethernet, &[(1_000, DISABLED), (5_000, DISABLED), (5_149, DISABLED), (5_150, UP)])]
fn a_cut_and_mended_port_walks_up(#[case] layer: LinkLayer, #[case] expected: &[(u64, &str)]) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    check(&mut world, &victim, &[(0, UP), (1_000, UP)]);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    let (cut, mended) = expected.split_at(2.min(expected.len() - 1));
    check(
        &mut world,
        &victim,
        if layer == InfiniBand { cut } else { &cut[..1] },
    );
    to_ms(&mut world, 5_000);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    check(&mut world, &victim, mended);
    assert!(world.settled());
}

#[rstest]
fn a_disabled_port_shows_so_on_both_layers(#[values(InfiniBand, Ethernet)] layer: LinkLayer) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    act(&mut world, PortAction::Disable.on(victim.clone()));
    check(&mut world, &victim, &[(0, DISABLED), (60_000, DISABLED)]);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    check(&mut world, &victim, &[(60_300, UP)]);
}

#[rstest]
#[case::infiniband(InfiniBand, 3_000, &[(2_000, POLLING), (4_699, POLLING), (4_999, ARMED), (5_000, UP), (11_999, UP), (12_000, POLLING), (15_000, UP), (60_000, UP)])]
#[case::ethernet(Ethernet, 3_000, &[(2_000, DISABLED), (4_999, DISABLED), (5_000, UP), (11_999, UP), (12_000, DISABLED), (15_000, UP), (60_000, UP)])]
#[case::shorter_than_a_walk(InfiniBand, 60, &[(2_000, POLLING), (2_010, TRAINING), (2_030, INIT), (2_050, ARMED), (2_060, UP), (9_059, UP), (9_060, POLLING), (9_120, UP), (60_000, UP)])]
fn each_turn_of_a_flap_lasts_exactly_as_long_as_told(
    #[case] layer: LinkLayer,
    #[case] down_ms: u64,
    #[case] expected: &[(u64, &str)],
) {
    let mut world = world_of(layer);
    let (bystander, victim) = (slot(&world, 0), slot(&world, 1));
    let slots = vec![bystander, victim.clone()];
    let (down, up) = (SimTime::from_ms(down_ms), SimTime::from_ms(7_000));
    to_ms(&mut world, 1_500);
    act(
        &mut world,
        PortsAction::Flap {
            times: 2,
            down,
            up,
            stagger: SimTime::from_ms(500),
        }
        .on(slots),
    );
    check(&mut world, &victim, &[(1_500, UP), (1_999, UP)]);
    check(&mut world, &victim, expected);
    let edges: Vec<(u64, bool)> = world
        .edges(&victim)
        .iter()
        .map(|edge| (edge.at.as_ms(), edge.healthy))
        .collect();
    let second = 2_000 + down_ms + 7_000;
    assert_eq!(
        edges,
        [
            (2_000, false),
            (2_000 + down_ms, true),
            (second, false),
            (second + down_ms, true)
        ]
    );
    assert_eq!(count(&world, &victim, "link_downed"), 2);
    assert!(world.settled());
}

#[rstest]
#[case::infiniband(InfiniBand, &[(0, TRAINING), (7_849, TRAINING), (7_850, INIT), (7_950, ARMED), (7_999, ARMED), (8_000, UP)])]
#[case::ethernet(Ethernet, &[(0, DISABLED), (7_999, DISABLED), (8_000, UP)])]
fn a_slow_training_takes_as_long_as_told(
    #[case] layer: LinkLayer,
    #[case] expected: &[(u64, &str)],
) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    act(
        &mut world,
        PortAction::TrainSlowly {
            takes: SimTime::from_secs(8),
        }
        .on(victim.clone()),
    );
    check(&mut world, &victim, expected);
}

#[rstest]
#[case(InfiniBand, StickAt::Polling, POLLING, 1)]
#[case(InfiniBand, StickAt::Training, TRAINING, 1)]
#[case(InfiniBand, StickAt::Init, INIT, 0)]
#[case(InfiniBand, StickAt::Armed, ARMED, 0)]
#[case(InfiniBand, StickAt::Recovery, "ACTIVE/LinkErrorRecovery", 0)]
#[case(Ethernet, StickAt::Polling, DISABLED, 1)]
#[case(Ethernet, StickAt::Training, DISABLED, 1)]
#[case(Ethernet, StickAt::Init, DISABLED, 1)]
#[case(Ethernet, StickAt::Armed, DISABLED, 1)]
#[case(Ethernet, StickAt::Recovery, UP, 0)]
fn a_stuck_port_stays_where_it_sticks_until_mended(
    #[case] layer: LinkLayer,
    #[case] at: StickAt,
    #[case] stuck: &str,
    #[case] downed: u64,
    #[values(false, true)] on_the_way_up: bool,
) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    if on_the_way_up {
        let (slots, down) = (vec![victim.clone()], SimTime::from_ms(1_000));
        act(
            &mut world,
            PortsAction::Flap {
                times: 1,
                down,
                up: down,
                stagger: SimTime::ZERO,
            }
            .on(slots),
        );
    }
    act(&mut world, PortAction::Stick { at }.on(victim.clone()));
    check(&mut world, &victim, &[(2_000, stuck), (90_000, stuck)]);
    let expected = if on_the_way_up { 1 } else { downed };
    assert_eq!(count(&world, &victim, "link_downed"), expected);
    assert_eq!(
        count(&world, &victim, "link_error_recovery"),
        u64::from(at == StickAt::Recovery)
    );
    act(&mut world, PortAction::Mend.on(victim.clone()));
    check(&mut world, &victim, &[(90_300, UP)]);
    assert!(world.settled());
}

#[test]
fn without_a_subnet_manager_ports_stay_active_or_wait_in_init() {
    let mut world = world_of(InfiniBand);
    let (bystander, victim) = (slot(&world, 0), slot(&world, 1));
    act(
        &mut world,
        Action::SubnetManager {
            running: false,
            reinitialise: false,
            keeps_logs: true,
        },
    );
    act(&mut world, PortAction::Cut.on(victim.clone()));
    to_ms(&mut world, 1_000);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    check(&mut world, &victim, &[(1_150, INIT), (99_000, INIT)]);
    check(&mut world, &bystander, &[(99_000, UP)]);
    act(
        &mut world,
        Action::SubnetManager {
            running: true,
            reinitialise: false,
            keeps_logs: true,
        },
    );
    check(
        &mut world,
        &victim,
        &[(99_099, INIT), (99_100, ARMED), (99_150, UP)],
    );
}

#[test]
fn a_standby_that_takes_over_brings_every_port_to_init_and_back() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 3);
    act(
        &mut world,
        Action::SubnetManager {
            running: true,
            reinitialise: true,
            keeps_logs: true,
        },
    );
    check(&mut world, &victim, &[(0, INIT), (100, ARMED), (150, UP)]);
    assert_eq!(count(&world, &victim, "link_downed"), 0);
}

#[test]
fn a_roce_port_needs_no_subnet_manager() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    act(
        &mut world,
        Action::SubnetManager {
            running: false,
            reinitialise: true,
            keeps_logs: true,
        },
    );
    act(&mut world, PortAction::Cut.on(victim.clone()));
    act(&mut world, PortAction::Mend.on(victim.clone()));
    check(&mut world, &victim, &[(0, DISABLED), (150, UP)]);
}

#[rstest]
#[case::ipoib_keeps_its_port(InfiniBand, UP, 0)]
#[case::roce_loses_it(Ethernet, DISABLED, 1)]
fn an_interface_taken_down(#[case] layer: LinkLayer, #[case] expected: &str, #[case] downed: u64) {
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    act(
        &mut world,
        PortAction::Interface { up: false }.on(victim.clone()),
    );
    check(&mut world, &victim, &[(0, expected), (5_000, expected)]);
    let shown = netdev(&world, &victim).expect("the interface stays");
    assert!(!shown.admin_up && !shown.carrier);
    assert_eq!(shown.operstate, "down");
    assert_eq!(count(&world, &victim, "link_downed"), downed);
    act(
        &mut world,
        PortAction::Interface { up: true }.on(victim.clone()),
    );
    check(&mut world, &victim, &[(5_300, UP)]);
    let shown = netdev(&world, &victim).expect("the interface stays");
    assert!(shown.admin_up && shown.carrier);
    assert_eq!(
        (
            shown.operstate.as_str(),
            shown.carrier_up_count,
            shown.carrier_down_count
        ),
        ("up", 2, 2)
    );
}

#[test]
fn what_does_not_hold_a_walk_back_does_not_delay_it() {
    let mut world = world_of(InfiniBand);
    let (victim, other) = (slot(&world, 0), slot(&world, 1));
    act(&mut world, PortAction::Cut.on(victim.clone()));
    act(&mut world, PortAction::Mend.on(victim.clone()));
    for ms in [20, 80, 160, 260] {
        to_ms(&mut world, ms);
        act(
            &mut world,
            PortAction::Operstate {
                text: "dormant".to_owned(),
            }
            .on(victim.clone()),
        );
        act(
            &mut world,
            Action::SubnetManager {
                running: true,
                reinitialise: false,
                keeps_logs: true,
            },
        );
        act(&mut world, PortAction::Cut.on(other.clone()));
        act(&mut world, PortAction::Mend.on(victim.clone()));
    }
    check(&mut world, &victim, &[(299, ARMED), (300, UP)]);
}

#[test]
fn a_mend_hurries_a_slow_training_and_stops_a_flap() {
    let mut world = world_of(InfiniBand);
    let (slow, flapping) = (slot(&world, 0), slot(&world, 1));
    act(
        &mut world,
        PortAction::TrainSlowly {
            takes: SimTime::from_secs(60),
        }
        .on(slow.clone()),
    );
    let (down, up) = (SimTime::from_secs(5), SimTime::from_secs(1));
    act(
        &mut world,
        PortsAction::Flap {
            times: 9,
            down,
            up,
            stagger: SimTime::ZERO,
        }
        .on(vec![flapping.clone()]),
    );
    to_ms(&mut world, 7_000);
    act(&mut world, PortAction::Mend.on(slow.clone()));
    act(&mut world, PortAction::Mend.on(flapping.clone()));
    check(
        &mut world,
        &slow,
        &[(7_000, TRAINING), (7_249, ARMED), (7_250, UP)],
    );
    check(&mut world, &flapping, &[(7_300, UP), (60_000, UP)]);
    assert_eq!(
        world.edges(&flapping).len(),
        4,
        "down at 0 s, up at 5 s, down at 6 s, up when mended"
    );
}

#[test]
fn a_cut_during_a_flap_outlasts_it() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let second = SimTime::from_secs(1);
    act(
        &mut world,
        PortsAction::Flap {
            times: 2,
            down: second,
            up: second,
            stagger: second,
        }
        .on(vec![victim.clone()]),
    );
    to_ms(&mut world, 1_500);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    check(
        &mut world,
        &victim,
        &[(1_500, DISABLED), (3_500, DISABLED), (60_000, DISABLED)],
    );
    assert!(!world.settled(), "a port that should be up is not");
}

#[test]
fn a_set_port_shows_what_it_is_told_until_mended() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let (state, phys_state) = (Some(platforms::PortState::INIT), None);
    act(
        &mut world,
        PortAction::Set { state, phys_state }.on(victim.clone()),
    );
    check(&mut world, &victim, &[(0, INIT), (9_000, INIT)]);
    assert_eq!(
        count(&world, &victim, "link_downed"),
        0,
        "the link itself is up"
    );
    act(&mut world, PortAction::Mend.on(victim.clone()));
    check(&mut world, &victim, &[(9_000, UP)]);
}

#[test]
fn an_early_sweep_arms_a_port_before_its_trap_is_followed() {
    let timing = fabric::Timing {
        trap_to_sweep: SimTime::from_secs(60),
        ..fabric::Timing::default()
    };
    let platforms = platforms::Platforms::shipped();
    let platform = platforms
        .get("dgx-a100")
        .expect("the platform ships")
        .clone();
    let mut world = Fabric::new(vec![(crate::room::node(), platform)], timing);
    let victim = slot(&world, 0);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    act(&mut world, PortAction::Mend.on(victim.clone()));
    check(
        &mut world,
        &victim,
        &[(9_999, INIT), (10_000, ARMED), (10_050, UP)],
    );
}

/// What a port carried since the start, by time in milliseconds.
fn carriages(world: &Fabric, slot: &SlotRef) -> Vec<(u64, Carriage)> {
    let changes = world.carriages(slot).iter();
    changes
        .map(|change| (change.at.as_ns() / 1_000_000, change.carriage))
        .collect()
}

#[rstest]
#[case::infiniband(InfiniBand, 300)]
#[case::ethernet(Ethernet, 150)]
fn a_port_carries_data_from_active_until_its_link_is_lost_to_the_millisecond(
    #[case] layer: LinkLayer,
    #[case] walk_ms: u64,
) {
    use Carriage::{Data, Gone, Nothing};
    let mut world = world_of(layer);
    let victim = slot(&world, 0);
    assert_eq!(world.carriage(&victim), Some(Data));
    to_ms(&mut world, 1_234);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    to_ms(&mut world, 2_000);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    to_ms(&mut world, 5_000);
    act(&mut world, DeviceAction::Remove.on(function(&victim)));
    to_ms(&mut world, 6_000);
    act(&mut world, DeviceAction::Restore.on(function(&victim)));
    to_ms(&mut world, 9_000);
    let changes = carriages(&world, &victim);
    let rendered = [(1_234, Nothing), (2_000 + walk_ms, Data), (5_000, Gone)];
    assert_eq!(changes[..3], rendered);
    assert_eq!(changes.last().map(|(_, carriage)| *carriage), Some(Data));
    assert_eq!(world.carriage(&victim), Some(Data));
}

#[test]
fn what_a_port_carries_is_not_what_a_story_puts_over_its_face() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    act(
        &mut world,
        PortAction::Set {
            state: Some(platforms::PortState::DOWN),
            phys_state: None,
        }
        .on(victim.clone()),
    );
    to_ms(&mut world, 1_000);
    assert_eq!(world.carriage(&victim), Some(Carriage::Data));
    assert_eq!(carriages(&world, &victim), []);
}

#[test]
fn a_link_that_waits_for_the_subnet_manager_or_recovers_carries_nothing() {
    for at in [StickAt::Init, StickAt::Armed, StickAt::Recovery] {
        let mut world = world_of(InfiniBand);
        let victim = slot(&world, 0);
        act(&mut world, PortAction::Stick { at }.on(victim.clone()));
        to_ms(&mut world, 10_000);
        assert_eq!(world.carriage(&victim), Some(Carriage::Nothing), "{at:?}");
    }
}

#[test]
fn a_subnet_manager_configures_no_ethernet_port() {
    let mut world = world_of(Ethernet);
    let victim = slot(&world, 0);
    let stop = Action::SubnetManager {
        running: false,
        reinitialise: true,
        keeps_logs: true,
    };
    let carrier = |world: &Fabric| {
        let shown = netdev(world, &victim).expect("it has a net device");
        (shown.carrier_up_count, shown.carrier_down_count)
    };
    let before = carrier(&world);
    act(&mut world, stop);
    check(&mut world, &victim, &[(0, UP), (1_000, UP)]);
    assert_eq!(carrier(&world), before);
}

/// Recovery starts from an active link; a port that is to stick there comes up first.
#[test]
fn a_port_that_will_stick_in_recovery_walks_up_to_it() {
    let mut world = world_of(InfiniBand);
    let victim = slot(&world, 0);
    act(&mut world, PortAction::Cut.on(victim.clone()));
    to_ms(&mut world, 5_000);
    act(&mut world, PortAction::Mend.on(victim.clone()));
    let stick = PortAction::Stick {
        at: StickAt::Recovery,
    }
    .on(victim.clone());
    act(&mut world, stick);
    let recovering = "ACTIVE/LinkErrorRecovery";
    check(
        &mut world,
        &victim,
        &[
            (5_000, POLLING),
            (5_100, TRAINING),
            (5_200, INIT),
            (5_275, ARMED),
            (5_300, recovering),
        ],
    );
}
