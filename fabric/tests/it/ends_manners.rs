//! What an end of a link and the subnet manager do not do, each told by one story.

use std::collections::{BTreeMap, BTreeSet};

use fabric::{
    Timing,
    opa::{
        Deed, DeedError, EndRef, Layout, LinkDownReason, Logical, Network, NodeKind,
        OfflineDisabledReason, Physical, Profile, SetPortInfo, Socket,
    },
};
use platforms::NodeName;
use rstest::rstest;
use simfs::SimTime;

const START: SimTime = SimTime::from_secs(30);

/// A network that has come up.
fn up(layout: &Layout, profile: Profile) -> Network {
    let mut network = Network::new(layout, profile, Timing::default()).expect("a good layout");
    network.advance(START);
    network
}

fn host() -> EndRef {
    EndRef::new("a", 1)
}

fn switch() -> EndRef {
    EndRef::new("b", 1)
}

fn logical(network: &Network, end: &EndRef) -> Logical {
    network.states(end).expect("a port of the network").0
}

fn offline(network: &Network, end: &EndRef) -> OfflineDisabledReason {
    network
        .record(end)
        .expect("a port of the network")
        .offline()
}

/// Refuses a deed; nothing changes.
#[track_caller]
fn check(network: &mut Network, deed: &Deed, expected: &DeedError) {
    let before = network.states(&host());
    assert_eq!(network.act(deed), Err(expected.clone()));
    assert_eq!(network.states(&host()), before);
}

#[test]
fn a_link_between_two_ends_goes_down_for_two_reasons_or_not_at_all() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    let both = |reason, other| Deed::InitiateBoth {
        end: host(),
        reason,
        says: true,
        other,
        other_says: true,
    };
    let (some, none) = (LinkDownReason::FM_BOUNCE, LinkDownReason::NONE);
    check(&mut network, &both(none, some), &DeedError::NoReason);
    check(&mut network, &both(some, none), &DeedError::NoReason);
}

#[test]
fn a_port_without_a_cable_has_no_cable_to_pull() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    let bare = EndRef::new("b", 2);
    check(
        &mut network,
        &Deed::Pull(bare.clone()),
        &DeedError::NotCabled(bare),
    );
}

#[test]
fn a_port_without_power_finds_no_error_and_takes_nothing_down() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    let node = NodeName::from("a");
    network
        .act(&Deed::PowerOff(node.clone()))
        .expect("it is on");
    let off = DeedError::Off(node);
    check(&mut network, &Deed::BufferOverrun(host()), &off);
    let both = Deed::InitiateBoth {
        end: host(),
        reason: LinkDownReason::FM_BOUNCE,
        says: true,
        other: LinkDownReason::FM_BOUNCE,
        other_says: true,
    };
    check(&mut network, &both, &off);
}

#[rstest]
#[case(Socket::Qsfp)]
#[case(Socket::Variable)]
#[case(Socket::Fixed)]
fn a_socket_with_what_it_needs_gives_no_reason_to_be_offline(#[case] socket: Socket) {
    let layout = Layout {
        sockets: BTreeMap::from([(host(), socket)]),
        ..Layout::host_and_switch()
    };
    let network = Network::new(&layout, Profile::Spec, Timing::default()).expect("a good layout");
    assert_eq!(offline(&network, &host()), OfflineDisabledReason::NONE);
}

#[rstest]
#[case(Socket::Qsfp, LinkDownReason::LOCAL_MEDIA_NOT_INSTALLED)]
#[case(Socket::Variable, LinkDownReason::CHASSIS_CONFIG)]
fn a_socket_without_its_module_says_why_it_is_offline(
    #[case] socket: Socket,
    #[case] reason: LinkDownReason,
) {
    let layout = Layout {
        sockets: BTreeMap::from([(host(), socket)]),
        empty: BTreeSet::from([host()]),
        ..Layout::host_and_switch()
    };
    let network = Network::new(&layout, Profile::Spec, Timing::default()).expect("a good layout");
    let expected = OfflineDisabledReason::of(reason).expect("one for being offline");
    assert_eq!(offline(&network, &host()), expected);
}

#[rstest]
#[case(Socket::Fixed)]
#[case(Socket::Disconnected)]
fn a_socket_for_no_module_takes_none(#[case] socket: Socket) {
    let layout = Layout {
        sockets: BTreeMap::from([(host(), socket)]),
        ..Layout::host_and_switch()
    };
    let mut network = up(&layout, Profile::Spec);
    let none = DeedError::NoModule(host());
    check(&mut network, &Deed::ModuleIn(host()), &none);
    check(&mut network, &Deed::ModuleOut(host()), &none);
}

#[test]
fn a_port_is_configured_from_when_it_is_armed_until_its_link_goes() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    let configured = |network: &Network| {
        let answer = network.query(&switch()).expect("it is there");
        answer.expect("a switch answers").0.configured
    };
    assert!(configured(&network), "it is active");
    network.act(&Deed::Disable(host())).expect("it is up");
    network.advance(START + SimTime::from_secs(1));
    assert!(!configured(&network), "its link is down");
}

#[test]
fn a_port_that_is_disabled_shows_so_in_the_quiet_after_its_link() {
    let mut network =
        up(&Layout::host_and_switch(), Profile::Spec).quiet_for(SimTime::from_secs(10));
    network.act(&Deed::Disable(host())).expect("it is up");
    network.advance(START + SimTime::from_secs(1));
    let states = network.states(&host());
    assert_eq!(states, Some((Logical::Down, Physical::Disabled)));
}

/// From `Test` a port goes by way of `Disabled` alone, and then looks for its partner again.
#[test]
fn a_disabled_port_that_is_asked_for_a_test_is_in_test_until_it_is_disabled() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    network.act(&Deed::Disable(host())).expect("it is up");
    for (second, asked) in [(1, Physical::Test), (10, Physical::Disabled)] {
        network.advance(START + SimTime::from_secs(second));
        let request = SetPortInfo {
            end: host(),
            logical: None,
            physical: Some(asked),
            clear_local: false,
            clear_neighbour: false,
        };
        network.set(&request).expect("it may be");
        network.advance(START + SimTime::from_secs(second + 5));
        assert_eq!(network.states(&host()), Some((Logical::Down, asked)));
    }
    network.act(&Deed::Enable(host())).expect("it is disabled");
    network.advance(START + SimTime::from_secs(60));
    assert_eq!(logical(&network, &host()), Logical::Active);
}

/// A host's kernel tells once that its port's module wants more power than it may have.
#[rstest]
#[case(LinkDownReason::POWER_POLICY, 1)]
#[case(LinkDownReason::LINKWIDTH_POLICY, 0)]
fn a_policy_of_power_is_told_once(#[case] reason: LinkDownReason, #[case] times: usize) {
    let mut network = up(&Layout::host_and_switch(), Profile::Hfi1);
    let deed = Deed::Initiate {
        end: host(),
        reason,
        says: true,
    };
    for _ in 0..2 {
        network.act(&deed).expect("it is on");
    }
    let log = network.kernel_log(&NodeName::from("a"));
    let told = log
        .iter()
        .filter(|line| line.text.contains("power restrictions"));
    assert_eq!(told.count(), times, "{log:?}");
}

#[test]
fn a_notice_is_of_a_host_and_only_of_one_that_came_or_went() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    assert_eq!(network.notices().len(), 0, "all were there from the start");
    network.act(&Deed::Bounce(host())).expect("it is up");
    network.advance(START + SimTime::from_secs(60));
    for notice in network.notices() {
        assert_eq!((&notice.end, notice.kind), (&host(), NodeKind::Host));
    }
    let mut before = None;
    for notice in network.notices() {
        assert_ne!(Some(notice.condition), before, "it came and went by turns");
        before = Some(notice.condition);
    }
}

#[test]
fn a_manager_that_stops_leaves_training_to_the_ports() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    network.act(&Deed::Bounce(host())).expect("it is up");
    network.act(&Deed::StopManager).expect("it runs");
    network.advance(START + SimTime::from_secs(5));
    let states = [host(), switch()].map(|end| logical(&network, &end));
    assert_eq!(states, [Logical::Init; 2], "trained, and armed by nobody");
}

#[test]
fn a_manager_that_stops_between_arming_and_active_is_not_waited_for() {
    let mut network = up(&Layout::host_and_switch(), Profile::Spec);
    network.act(&Deed::Bounce(host())).expect("it is up");
    let mut now = START;
    while logical(&network, &host()) != Logical::Armed {
        now += SimTime::from_ms(1);
        assert!(now < START + SimTime::from_secs(20), "it is armed in time");
        network.advance(now);
    }
    network.act(&Deed::StopManager).expect("it runs");
    network.advance(now + SimTime::from_secs(60));
    assert_eq!(logical(&network, &host()), Logical::Armed);
}

/// A sweep for another port's trap comes round while a line waits between `ARMED` and `ACTIVE`.
#[test]
fn a_sweep_in_between_does_not_put_off_what_is_armed() {
    let layout = Layout {
        hosts: BTreeMap::from([(NodeName::from("a"), 1), (NodeName::from("c"), 1)]),
        cables: vec![
            (host(), switch()),
            (EndRef::new("c", 1), EndRef::new("b", 2)),
        ],
        ..Layout::host_and_switch()
    };
    let took = |second: Option<SimTime>| {
        let mut network = up(&layout, Profile::Spec);
        network.act(&Deed::Bounce(host())).expect("it is up");
        if let Some(later) = second {
            network.advance(START + later);
            let other = EndRef::new("c", 1);
            network.act(&Deed::Bounce(other)).expect("it is up");
        }
        network.advance(START + SimTime::from_secs(60));
        let walk = network.walk(&host());
        let last = walk.last().expect("it went down and up");
        assert_eq!(last.logical, Logical::Active);
        last.at
    };
    let alone = took(None);
    for later in (0..100).map(SimTime::from_ms) {
        assert!(took(Some(later)) <= alone, "the other one {later} later");
    }
}

/// An hfi1 says of a link on a board that broke while it trained that nothing is installed there.
#[rstest]
#[case(Profile::Hfi1, Socket::Fixed, Some(LinkDownReason::NOT_INSTALLED))]
#[case(Profile::Hfi1, Socket::Qsfp, None)]
#[case(Profile::Spec, Socket::Fixed, None)]
fn training_that_breaks_says_not_installed_where_an_hfi1_has_no_module(
    #[case] profile: Profile,
    #[case] socket: Socket,
    #[case] reason: Option<LinkDownReason>,
) {
    let layout = Layout {
        sockets: BTreeMap::from([(host(), socket)]),
        ..Layout::host_and_switch()
    };
    let mut network = up(&layout, profile).quiet_for(SimTime::from_secs(1));
    network.act(&Deed::Bounce(host())).expect("it is up");
    network.advance(START + SimTime::from_ms(1100));
    network
        .act(&Deed::BreakTraining(host()))
        .expect("it trains");
    let not_installed = OfflineDisabledReason::of(LinkDownReason::NOT_INSTALLED);
    let says_so = Some(offline(&network, &host())) == not_installed;
    assert_eq!(says_so, reason.is_some());
}

#[test]
fn an_end_that_breaks_its_training_off_does_not_wonder_why() {
    let layout = Layout {
        sockets: BTreeMap::from([(host(), Socket::Fixed)]),
        ..Layout::host_and_switch()
    };
    let mut network = up(&layout, Profile::Hfi1).quiet_for(SimTime::from_secs(1));
    network.act(&Deed::Bounce(host())).expect("it is up");
    network.advance(START + SimTime::from_ms(1100));
    network.act(&Deed::Bounce(host())).expect("it trains");
    let not_installed = OfflineDisabledReason::of(LinkDownReason::NOT_INSTALLED);
    assert_ne!(Some(offline(&network, &host())), not_installed);
}

#[test]
fn a_reason_that_did_not_hold_lets_nothing_go() {
    let mut network =
        up(&Layout::host_and_switch(), Profile::Spec).quiet_for(SimTime::from_secs(1));
    network.act(&Deed::Bounce(host())).expect("it is up");
    let before = offline(&network, &host());
    assert_ne!(before, OfflineDisabledReason::NONE);
    network.act(&Deed::Enable(host())).expect("a port");
    assert_eq!(offline(&network, &host()), before);
}

/// By the document the reason that still holds is told at once; by an hfi1 nothing new until it polls.
#[rstest]
#[case(Profile::Spec, true)]
#[case(Profile::Hfi1, false)]
fn of_two_reasons_that_hold_the_one_that_is_left_is_told(
    #[case] profile: Profile,
    #[case] at_once: bool,
) {
    let mut network = up(&Layout::host_and_switch(), profile);
    let mut reasons = [LinkDownReason::SMA_DISABLED, LinkDownReason::POWER_POLICY];
    for reason in reasons {
        let says = true;
        let end = host();
        network
            .act(&Deed::Initiate { end, reason, says })
            .expect("a port");
    }
    let of = |reason| OfflineDisabledReason::of(reason).expect("one for being offline");
    let both = offline(&network, &host());
    reasons.sort_by_key(|reason| of(*reason) != both);
    let [told, left] = reasons;
    assert_eq!(both, of(told));
    network
        .act(&Deed::Relent {
            end: host(),
            reason: told,
        })
        .expect("a port");
    let expected = if at_once { of(left) } else { of(told) };
    assert_eq!(offline(&network, &host()), expected);
}
