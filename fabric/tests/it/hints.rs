//! What an impossible action advises: each error that has a hint prints it as its last line.

use fabric::opa::LinkDownReason;
use fabric::{ActionError, FunctionRef};
use platforms::{CharDevice, NodeName, PciAddress, PortNumber, SlotRef};
use rstest::rstest;
use simfs::SimTime;

fn pci() -> PciAddress {
    "0000:0c:00.0".parse().expect("an address")
}

fn function() -> FunctionRef {
    FunctionRef {
        node: NodeName::from("n1"),
        pci: pci(),
    }
}

fn slot() -> SlotRef {
    SlotRef {
        node: NodeName::from("n1"),
        pci: pci(),
        port: PortNumber(1),
    }
}

#[rstest]
#[case::no_such_node(ActionError::NoSuchNode("n9".into(), "`n1`".to_owned()), "its nodes are `n1`")]
#[case::no_such_function(
    ActionError::NoSuchFunction(function()),
    "a function that was never there appears by a hot-add"
)]
#[case::no_such_port(ActionError::NoSuchPort(slot(), "1 port".to_owned()), "the function has 1 port")]
#[case::absent(
    ActionError::Absent(function(), "it is off the bus"),
    "restore it first"
)]
#[case::not_removed(
    ActionError::NotRemoved(function()),
    "restore ends a remove, a reset or a PCI error ends by itself"
)]
#[case::parent_absent(
    ActionError::ParentAbsent(function(), pci()),
    "restore the physical function first"
)]
#[case::port_listed(
    ActionError::PortListed(slot()),
    "this verb ends the removal of a port from a device that stays"
)]
#[case::port_not_listed(ActionError::PortNotListed(slot()), "restore the port first")]
#[case::layer_of_vf(
    ActionError::LayerOfVf(slot(), pci()),
    "its physical function is `0000:0c:00.0`"
)]
#[case::link_of_vf(
    ActionError::LinkOfVf(slot(), pci()),
    "its physical function is `0000:0c:00.0`"
)]
#[case::no_reason(ActionError::NoReason(slot()), "cut it")]
#[case::no_passing_reason(
    ActionError::NoPassingReason(slot(), LinkDownReason::SWITCH_MGMT),
    "give reasons that pass, such as 35 or 39; one that holds is an end's own"
)]
#[case::not_an_error(
    ActionError::NotAnError(LinkDownReason::SWITCH_MGMT),
    "packet errors are the reasons 1 to 32"
)]
#[case::name_taken(
    ActionError::NameTaken { node: "n1".into(), name: "mlx5_0".into(), one: pci(), other: pci() },
    "name both, as in a swap"
)]
#[case::address_taken(ActionError::AddressTaken(function()), "choose a free address")]
#[case::vf_of_vf(
    ActionError::VfOfVf(function(), pci()),
    "ask its physical function `0000:0c:00.0`"
)]
#[case::not_virtual(
    ActionError::NotVirtual(function()),
    "only virtual functions are assigned and released"
)]
#[case::has_vfs(
    ActionError::HasVfs(function(), 2),
    "destroy them first, as the kernel demands too (`sriov_numvfs_store`)"
)]
#[case::too_many_vfs(
    ActionError::TooManyVfs { function: function(), asked: 9, limit: "8 at most".to_owned() },
    "8 at most"
)]
#[case::no_such_counter(
    ActionError::NoSuchCounter { slot: slot(), name: "x".to_owned(), known: "`y`".to_owned() },
    "it has `y`"
)]
#[case::no_char_device(
    ActionError::NoCharDevice(function(), CharDevice::Issm(PortNumber(1))),
    "`issm` is an InfiniBand port's; `umad` and `uverbs` every RDMA device has"
)]
#[case::always_number(
    ActionError::AlwaysNumber { slot: slot(), name: "carrier_changes".to_owned() },
    "files can be made unreadable by a read rule"
)]
#[case::empty_flap(
    ActionError::EmptyFlap { times: 0, down: SimTime::ZERO, up: SimTime::ZERO },
    "give at least one turn, and both times above 0"
)]
fn an_impossible_action_advises_what_is_possible(#[case] error: ActionError, #[case] advice: &str) {
    assert_eq!(error.hint().as_deref(), Some(advice));
    let printed = error.to_string();
    assert_eq!(printed.lines().last(), Some(&*format!("hint: {advice}")));
}

#[test]
fn an_action_that_is_done_already_advises_nothing() {
    let error = ActionError::AlreadyRemoved(function());
    assert_eq!(error.hint(), None);
    assert_eq!(
        error.to_string(),
        "`0000:0c:00.0` on node `n1` is off the bus already"
    );
}
