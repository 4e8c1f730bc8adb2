//! The fabric tools' output for both ends of a node's links.

use fabric::{
    DeviceAction, PortAction, PortsAction, Side,
    opa::{LinkDownReason, log_text, port_info_text, port_record_text},
};
use platforms::LinkLayer;

use crate::room::{act, function, slot, to_ms, world, world_of};

/// The lines of an end that begin with this name, without the text before the first colon.
fn lines(text: &str, name: &str) -> Vec<String> {
    let of_name = text.lines().filter_map(|line| line.split_once(name));
    of_name.map(|(_, rest)| rest.trim().to_owned()).collect()
}

#[test]
fn a_bounce_is_printed_at_both_ends_and_gone_when_armed() {
    let mut world = world("dgx-a100");
    let slot = slot(&world, 0);
    let text = |world: &fabric::Fabric, side| {
        port_info_text(&world.port_info(&slot, side).expect("it can be asked"))
    };
    to_ms(&mut world, 10_000);
    act(
        &mut world,
        PortAction::TakeDown {
            side: Side::There,
            reason: LinkDownReason::FM_BOUNCE,
            says: true,
        }
        .on(slot.clone()),
    );
    let (here, there) = (text(&world, Side::Here), text(&world, Side::There));
    assert_eq!(lines(&here, "PortState:"), ["Down (FM Bounce)"]);
    assert_eq!(lines(&here, "PhysicalState:"), ["Polling"]);
    let own = "LinkDownReason: FM Bounce    NeighborLinkDownReason: None";
    let heard = "LinkDownReason: None    NeighborLinkDownReason: FM Bounce";
    assert!(there.ends_with(&format!("{own}\n")), "{there}");
    assert!(here.ends_with(&format!("{heard}\n")), "{here}");
    to_ms(&mut world, 11_000);
    let here = text(&world, Side::Here);
    assert_eq!(lines(&here, "PortState:"), ["Active"]);
    assert_eq!(lines(&here, "PhysicalState:"), ["LinkUp"]);
    assert!(
        here.contains("IsSMConfigurationStarted: True   NeighborNormal: True"),
        "{here}"
    );
    let end = world.end(&slot, Side::There).expect("a link of its own");
    assert_eq!(
        log_text(&end.log),
        "LinkDownErrorLog: 39 (           FM Bounce) Time: March 01, 12:00:10 AM \n\
         NeighborLinkDownErrorLog:  0 (                None) Time: March 01, 12:00:10 AM\n"
    );
}

#[test]
fn each_end_says_for_itself_why_it_is_down() {
    for layer in [LinkLayer::InfiniBand, LinkLayer::Ethernet] {
        let mut world = world_of(layer);
        let slot = slot(&world, 0);
        act(
            &mut world,
            PortAction::TakeDown {
                side: Side::There,
                reason: LinkDownReason::POWER_POLICY,
                says: true,
            }
            .on(slot.clone()),
        );
        let info = |side| world.port_info(&slot, side).expect("it can be asked");
        let there = port_record_text(
            &info(Side::There),
            &world.end(&slot, Side::There).unwrap().log,
        );
        assert_eq!(lines(&there, "PhysicalState:"), ["Offline"]);
        assert_eq!(lines(&there, "OfflineDisabledReason:"), ["Power Policy"]);
        let here = port_info_text(&info(Side::Here));
        assert_eq!(lines(&here, "PhysicalState:"), ["Polling"]);
        assert_eq!(lines(&here, "OfflineDisabledReason:"), ["None"]);
    }
}

#[test]
fn an_end_that_is_gone_prints_nothing() {
    let mut world = world("h100-oci");
    let slot = slot(&world, 0);
    act(&mut world, DeviceAction::Remove.on(function(&slot)));
    assert_eq!(world.port_info(&slot, Side::Here), None);
    assert!(world.port_info(&slot, Side::There).is_some());
    let slots = vec![slot.clone()];
    act(&mut world, PortsAction::SwitchPower { on: false }.on(slots));
    assert_eq!(world.port_info(&slot, Side::There), None);
}
