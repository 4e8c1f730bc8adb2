//! A world of one node: its time, and the edits of what changed.

use fabric::{PortAction, SingleNode};
use platforms::{Platforms, SlotRef};
use simfs::SimTime;

fn at_rest() -> SingleNode {
    let platforms = Platforms::shipped();
    let platform = platforms.get("two-rail-vm").expect("the platform ships");
    let (node, edits) = SingleNode::at_rest(platform);
    assert!(!edits.is_empty());
    node
}

#[test]
fn time_goes_forward_only() {
    let mut node = at_rest();
    for (to, now) in [(5, 5), (3, 5), (5, 5), (6, 6)] {
        node.advance(SimTime::from_secs(to));
        assert_eq!(node.fabric.now(), SimTime::from_secs(now));
    }
}

#[test]
fn what_has_changed_is_shown_once() {
    let mut node = at_rest();
    assert_eq!(node.unshown(), []);
    let name = node.name().clone();
    let slot: SlotRef = node.fabric.ports(&name)[0].slot.clone();
    node.fabric
        .act(&PortAction::Cut.on(slot))
        .expect("a cable can be cut");
    node.advance(SimTime::from_secs(1));
    assert!(!node.unshown().is_empty());
    assert_eq!(node.unshown(), []);
}
