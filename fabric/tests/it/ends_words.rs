//! Words and numbers of an end: why a link stays in Init, how an end is named, and which local
//! identifiers and GUIDs a network gives (`stl_sm_types.h` of the fabric tools).

use std::collections::{BTreeMap, BTreeSet};

use fabric::{
    Timing,
    opa::{EndRef, Layout, LinkInitReason, Network, Profile},
};
use platforms::NodeName;
use rstest::rstest;

#[rstest]
#[case(LinkInitReason::NONE, 0, "None", 1)]
#[case(LinkInitReason::LINK_UP, 1, "LinkUp", 1)]
#[case(LinkInitReason::FLAPPING, 2, "Flapping", 2)]
#[case(LinkInitReason::OUT_OF_POLICY, 8, "Out of policy", 1)]
#[case(LinkInitReason::QUARANTINED, 9, "Quarantined", 1)]
#[case(LinkInitReason::INSUFFICIENT_CAPABILITY, 10, "Insuffic Cap", 1)]
fn a_reason_to_stay_in_init_has_a_number_and_a_word(
    #[case] reason: LinkInitReason,
    #[case] code: u8,
    #[case] text: &str,
    #[case] after_link_up: u8,
) {
    assert_eq!(LinkInitReason::by_code(code), Some(reason));
    assert_eq!(reason.code(), code);
    assert_eq!(
        (reason.tool_text(), reason.to_string()),
        (text, text.to_owned())
    );
    assert_eq!(reason.after_link_up().code(), after_link_up);
}

/// 2 to 7 stay when the link comes up again, all others give way to 1.
#[test]
fn the_numbers_without_a_word_are_unknown_and_some_of_them_stay() {
    for code in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] {
        let reason = LinkInitReason::by_code(code).expect("four bits");
        assert_eq!(reason.tool_text(), " ???? ");
        let stays = reason.after_link_up() == reason;
        assert_eq!(stays, code <= 7, "{code}");
    }
    assert_eq!(LinkInitReason::by_code(16), None);
}

/// A switch has one local identifier for all its ports, a host one for each; every port has a GUID.
#[test]
fn a_host_has_an_identifier_for_each_port_and_a_switch_one_for_all() {
    let node = |name: &str| NodeName::from(name);
    let cables = [
        ("a", 1, "s", 1),
        ("a", 2, "s", 2),
        ("b", 1, "t", 1),
        ("s", 3, "t", 2),
    ];
    let cables = cables.map(|(one, its_port, other, other_port)| {
        (EndRef::new(one, its_port), EndRef::new(other, other_port))
    });
    let layout = Layout {
        hosts: BTreeMap::from([(node("a"), 2), (node("b"), 1)]),
        switches: BTreeMap::from([(node("s"), 3), (node("t"), 2)]),
        cables: cables.to_vec(),
        ..Layout::host_and_switch()
    };
    let network = Network::new(&layout, Profile::Spec, Timing::default()).expect("a good layout");
    let mut lids = BTreeMap::new();
    let mut guids = BTreeSet::new();
    for (name, ports) in [("a", 2), ("b", 1), ("s", 3), ("t", 2)] {
        for port in 1..=ports {
            let end = EndRef::new(name, port);
            assert_eq!(end.to_string(), format!("{name} port {port}"));
            let (info, _) = network.query(&end).expect("there").expect("reachable");
            lids.insert((name, port), info.lid);
            guids.insert(info.guid);
        }
    }
    let expected = [
        (("a", 1), 1),
        (("a", 2), 2),
        (("b", 1), 3),
        (("s", 1), 4),
        (("s", 2), 4),
        (("s", 3), 4),
        (("t", 1), 5),
        (("t", 2), 5),
    ];
    assert_eq!(lids, BTreeMap::from(expected));
    assert_eq!(guids.len(), 8);
}
