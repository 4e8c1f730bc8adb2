//! What a port of a story leads to: the switch of the world's file, another host, or a switch without a name.

use director::freeze_at;
use fabric::{FunctionRef, PartnerKind};
use platforms::{NodeName, PortNumber, SlotRef};
use rstest::rstest;
use scenarios::Story;

use crate::stage::{rendered, told_in};

/// The partners of these devices' first ports, at the story's start: what it is, and the name of its switch.
fn partners<const N: usize>(
    story: &Story,
    node: &str,
    devices: [&str; N],
) -> [(PartnerKind, Option<String>); N] {
    let (director, _) = freeze_at(story, Some("0s")).expect("the story can be played");
    let fabric = director.fabric();
    let node = NodeName::from(node);
    devices.map(|device| {
        let mut slots = fabric.slots_of(&node).into_iter();
        let named = |slot: &SlotRef| {
            let function = FunctionRef {
                node: slot.node.clone(),
                pci: slot.pci,
            };
            let name = fabric.name_of(&function).map(ToString::to_string);
            name.as_deref() == Some(device) && slot.port == PortNumber(1)
        };
        let slot = slots.find(named).expect("the device is there");
        let port = fabric.partner_port(&slot).expect("every port has one");
        (port.of, port.switch.clone())
    })
}

#[rstest]
#[case::in_the_story(
    "timeline:\n  - at: 2s\n    do: [ { neighbour_reboots: victim, takes: 5s } ]\n    expect: [ { fatal: victim } ]"
)]
#[case::before_the_monitor(
    "given: [ { neighbour_reboots: victim, takes: 5s } ]\ntimeline:\n  - at: 9s\n    expect: [ { healthy: victim, from: 1s, to: 9s } ]"
)]
fn a_port_whose_neighbour_reboots_leads_to_another_host(#[case] steps: &str) {
    let story = rendered(&format!("{steps}\nuntil: 10s\n"));
    let [victim, other] = partners(&story, "node-a", ["mlx5_0", "mlx5_1"]);
    assert_eq!(victim, (PartnerKind::Host, None));
    assert_eq!(other, (PartnerKind::Switch, None));
}

#[test]
fn a_port_that_the_worlds_file_cables_leads_to_its_switch() {
    let steps = "let: { victim: { node: node-1, device: mlx5_2 } }\ntimeline:\n  - at: 2s\n    do: [ { cut: victim } ]\n    expect: [ { fatal: victim } ]\nuntil: 10s\n";
    let story = told_in("pod-of-four.yaml", steps);
    let [victim] = partners(&story, "node-1", ["mlx5_2"]);
    assert_eq!(victim, (PartnerKind::Switch, Some("leaf-3".to_owned())));
}
