//! Which switch port each link leads to, and the local identifiers of a world.

use std::collections::BTreeSet;

use fabric::{DeviceAction, Fabric, FunctionRef, PartnerKind, PortAction, Side, Timing};
use platforms::{DeviceName, LinkLayer, NodeName, PciAddress, Platforms, SlotRef};

use crate::room::{act, function, node, slot, world};

/// Enough hosts that some generated identifiers are equal.
const HOSTS: usize = 64;

fn hosts(platform: &str, hosts: usize) -> Fabric {
    let shipped = Platforms::shipped();
    let platform = shipped.get(platform).expect("it ships");
    let name = |nth: usize| NodeName::from(format!("host-{nth}").as_str());
    let nodes = (0..hosts).map(|nth| (name(nth), platform.clone()));
    Fabric::new(nodes.collect(), Timing::default())
}

fn slots(world: &Fabric) -> Vec<SlotRef> {
    let nodes = world.nodes();
    nodes.flat_map(|node| world.slots_of(node)).collect()
}

/// The local identifiers of the ports that have one.
fn host_lids(world: &Fabric) -> Vec<u16> {
    let machines = world.nodes().filter_map(|node| world.machine(node));
    let functions = machines.flat_map(|machine| machine.functions.values());
    let ports = functions.filter_map(|function| function.rdma.as_ref());
    let ports = ports.flat_map(|rdma| rdma.ports.values());
    ports.map(|port| port.lid).filter(|lid| *lid > 0).collect()
}

#[test]
fn two_links_never_lead_to_one_switch_port() {
    let world = hosts("dgx-h100", HOSTS);
    let slots = slots(&world);
    let partners: BTreeSet<(u16, u8)> = slots
        .iter()
        .filter_map(|slot| world.partner_port(slot))
        .map(|port| (port.lid, port.number))
        .collect();
    assert_eq!(partners.len(), slots.len());
}

#[test]
fn two_ports_of_a_world_never_share_a_local_identifier() {
    let world = hosts("dgx-a100", HOSTS);
    let hosts = host_lids(&world);
    let distinct: BTreeSet<u16> = hosts.iter().copied().collect();
    assert_eq!(distinct.len(), hosts.len());
    let switches: BTreeSet<u16> = slots(&world)
        .iter()
        .filter_map(|slot| Some(world.partner_port(slot)?.lid))
        .collect();
    assert!(switches.is_disjoint(&distinct));
    assert!(!switches.contains(&1), "the subnet manager's");
}

/// The node itself says so too: it shows what its host would read.
#[test]
fn a_host_s_record_bears_the_identifier_of_its_files() {
    let world = hosts("dgx-a100", 2);
    for slot in slots(&world) {
        let info = world
            .port_info(&slot, Side::Here)
            .expect("it is on the bus");
        let function = &world.machine(&slot.node).expect("known").functions[&slot.pci];
        let port = &function.rdma.as_ref().expect("it has").ports[&slot.port];
        assert_eq!(info.lid, u32::from(port.lid));
    }
}

#[test]
fn a_link_leads_to_the_switch_that_the_world_says() {
    let mut world = hosts("dgx-a100", 3);
    let slots = slots(&world);
    let cables = [
        ("leaf-2", &slots[4]),
        ("leaf-1", &slots[0]),
        ("leaf-2", &slots[1]),
    ];
    world.plug(cables.map(|(switch, slot)| (switch, slot.clone())), []);
    let partner = |nth: usize| {
        let port = world.partner_port(&slots[nth]).expect("every port has one");
        (port.switch.as_deref(), port.number)
    };
    assert_eq!(partner(4), (Some("leaf-2"), 1));
    assert_eq!(partner(1), (Some("leaf-2"), 2));
    assert_eq!(partner(0), (Some("leaf-1"), 1));
    assert_eq!(partner(2), (None, 1));
    let lid = |nth: usize| world.partner_port(&slots[nth]).expect("it has one").lid;
    assert_eq!(lid(4), lid(1));
    assert_ne!(lid(0), lid(1));
    let info = world.port_info(&slots[1], Side::There).expect("it answers");
    assert_eq!((info.lid, info.port), (u32::from(lid(1)), 2));
}

#[test]
fn a_card_that_is_added_hangs_on_the_next_port() {
    let mut world = world("dgx-a100");
    let like = slot(&world, 0);
    let before: BTreeSet<u16> = host_lids(&world).into_iter().collect();
    let last = slots(&world).len();
    let at = PciAddress {
        domain: 9,
        ..like.pci
    };
    let (name, cabled) = (DeviceName::from("new_0"), true);
    act(
        &mut world,
        DeviceAction::HotAdd { at, name, cabled }.on(function(&like)),
    );
    let new = FunctionRef {
        node: node(),
        pci: at,
    };
    let new = SlotRef {
        node: new.node,
        pci: new.pci,
        port: like.port,
    };
    let partner = world.partner_port(&new).expect("it has one");
    assert_eq!(usize::from(partner.number), last + 1);
    crate::room::to_ms(&mut world, 5_000);
    let after: BTreeSet<u16> = host_lids(&world).into_iter().collect();
    assert_eq!(after.len(), before.len() + 1);
}

/// What has no subnet has no local identifiers.
#[test]
fn an_ethernet_link_has_no_local_identifier() {
    let mut world = world("dgx-a100");
    let victim = slot(&world, 0);
    let layer = LinkLayer::Ethernet;
    act(
        &mut world,
        PortAction::ChangeLayer { layer }.on(victim.clone()),
    );
    let lid = |side| world.port_info(&victim, side).expect("it answers").lid;
    assert_eq!(Side::BOTH.map(lid), [0, 0]);
}

/// Their hosts have local identifiers that nobody else has.
#[test]
fn a_port_that_leads_to_another_host_is_on_no_switch_and_one_that_is_cabled_stays() {
    let mut world = world("dgx-a100");
    let slots = slots(&world);
    let cabled = [("leaf-1", slots[0].clone())];
    let to_hosts = [0, 1, 2].map(|nth| slots[nth].clone());
    world.plug(cabled, to_hosts);
    let partner = |nth: usize| world.partner_port(&slots[nth]).expect("every port has one");
    assert_eq!(partner(0).of, PartnerKind::Switch);
    assert_eq!(partner(0).switch.as_deref(), Some("leaf-1"));
    for nth in [1, 2] {
        let (of, name, number) = (partner(nth).of, &partner(nth).switch, partner(nth).number);
        assert_eq!((of, name, number), (PartnerKind::Host, &None, 1));
    }
    assert_eq!(partner(3).of, PartnerKind::Switch);
    let lids: BTreeSet<u16> = host_lids(&world).into_iter().collect();
    let partners = [0, 1, 2, 3].map(|nth| partner(nth).lid);
    assert!(partners.iter().all(|lid| !lids.contains(lid)));
    assert_eq!(BTreeSet::from(partners).len(), 4);
    let info = world.port_info(&slots[1], Side::There).expect("it answers");
    assert_eq!((info.port, info.lid), (1, u32::from(partner(1).lid)));
}
