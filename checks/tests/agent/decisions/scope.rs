//! Which devices are monitored: filters, functions, vendors, roles, checks.

use super::nics;
use crate::world::{ANCHOR, Connector, DISABLED, ETH, Nic, Rig, UP, brief, nic};

#[test]
fn vfs_management_and_foreign_vendors_are_never_spoken_of() {
    let mut rig = Rig::new(&[
        nic(0),
        nic(1),
        nic(2).vf(),
        nic(3).numa(7),
        nic(4).numa(-1),
        nic(5).named("hfi1_0"),
        nic(6).interface("eth0"),
    ]);
    rig.route = Some("Iface Destination\neth0 00000000\n".to_owned());
    let hfi = format!("{ANCHOR}/hfi1_0/device/driver");
    rig.world.links.insert(hfi, "../drivers/hfi1".to_owned());
    let said = rig.poll();
    assert!(
        said.iter().all(|line| line.contains("mlx5_0")
            || line.contains("mlx5_1")
            || line.contains("Card"))
    );
    for name in ["mlx5_2", "mlx5_3", "mlx5_4", "hfi1_0", "mlx5_6"] {
        rig.world.set(name, 1, DISABLED);
    }
    assert!(rig.polls(40).is_empty());
    for name in ["mlx5_2", "mlx5_3", "mlx5_4", "hfi1_0", "mlx5_6"] {
        rig.world.drop_device(name);
    }
    assert!(rig.polls(40).is_empty());
}

#[test]
fn a_name_of_another_kind_is_ours_by_driver_or_by_vendor() {
    let mut rig = Rig::new(&[
        nic(0).named("ibp3s0"),
        nic(1).named("mlx5_bond_0"),
        nic(2).named("mlx4_0"),
    ]);
    let driver = |name: &str| format!("{ANCHOR}/{name}/device/driver");
    rig.world.links.remove(&driver("mlx5_bond_0"));
    rig.world
        .links
        .insert(driver("mlx4_0"), "x/mlx4_core".to_owned());
    rig.poll();
    assert_eq!(
        rig.agent.as_ref().unwrap().monitored(),
        ["ibp3s0", "mlx5_bond_0"]
    );
}

#[test]
fn hardware_of_later_work_is_not_monitored() {
    let others = [
        ("rdmap0s6", "efa", "0x1d0f"),
        ("hfi1_0", "hfi1", "0x8086"),
        ("bnxt_re0", "bnxt_en", "0x14e4"),
        ("irdma0", "irdma", "0x8086"),
        ("mlx4_0", "mlx4_core", "0x15b3"),
    ];
    let mut nodes = vec![nic(0), nic(1)];
    for (place, (name, ..)) in (2..).zip(others) {
        nodes.push(nic(place).named(name));
    }
    let mut rig = Rig::new(&nodes);
    for (name, driver, vendor) in others {
        let driver = format!("../../../bus/pci/drivers/{driver}");
        let link = format!("{ANCHOR}/{name}/device/driver");
        rig.world.links.insert(link, driver);
        rig.world
            .put(&format!("{ANCHOR}/{name}/device/vendor"), vendor);
    }
    rig.poll();
    assert_eq!(
        rig.agent.as_ref().unwrap().monitored(),
        ["mlx5_0", "mlx5_1"]
    );
    for (name, ..) in others {
        rig.world.set(name, 1, DISABLED);
    }
    assert!(rig.polls(40).is_empty());
}

#[test]
fn a_device_filtered_out_between_runs_is_cleared_and_forgotten() {
    let mut rig = Rig::new(&nics(3));
    rig.world.set("mlx5_2", 1, DISABLED);
    rig.poll();
    rig.stop();
    rig.config = "nicExclusionRegex = '^mlx5_2$'".to_owned();
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_2/1: NIC mlx5_2 no longer monitored (excluded by nicExclusionRegex): clearing",
            "h 0000:12:00: Card 0000:12:00 no longer monitored (excluded by nicExclusionRegex): clearing",
        ]
    );
    assert!(rig.polls(40).is_empty());
    rig.stop();
    rig.config = String::new();
    rig.world.set("mlx5_2", 1, UP);
    assert!(
        brief(&rig.poll()).contains(&"h mlx5_2/1"),
        "it enters as on a first poll"
    );
}

#[test]
fn a_healthy_device_filtered_out_between_runs_is_silent() {
    let mut rig = Rig::started(&nics(3));
    rig.stop();
    rig.config = "nicExclusionRegex = '^mlx5_2$'".to_owned();
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_vanished_device_filtered_out_is_cleared() {
    let mut rig = Rig::started(&nics(3));
    rig.world.drop_device("mlx5_2");
    rig.poll();
    rig.stop();
    rig.config = "nicExclusionRegex = '^mlx5_2$'".to_owned();
    assert_eq!(brief(&rig.poll()), ["h mlx5_2"]);
}

#[test]
fn a_check_taken_out_clears_its_faults_under_its_own_name() {
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet()]);
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    rig.stop();
    rig.args = vec!["--checks=InfiniBandStateCheck".to_owned()];
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_1/1: NIC mlx5_1 no longer monitored (EthernetStateCheck is not enabled): clearing"
        ]
    );
    assert_eq!(rig.calls.last().unwrap().0, "EthernetStateCheck");
    assert!(rig.polls(3).is_empty());
}

#[test]
fn a_device_that_becomes_management_is_cleared() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_2", 1, DISABLED);
    rig.poll();
    rig.stop();
    rig.world
        .put(&format!("{ANCHOR}/mlx5_2/device/numa_node"), "3");
    assert_eq!(
        rig.poll(),
        [
            "h mlx5_2/1: NIC mlx5_2 no longer monitored (management: no GPU on NUMA node 3): clearing"
        ]
    );
}

#[test]
fn pinned_devices_have_no_gate_no_peers_and_no_suppression() {
    let mut rig = Rig::new(&[nic(0), nic(1).numa(9), nic(2).vf()]);
    rig.config = "nicInclusionRegexOverride = '^mlx5_[12]$'".to_owned();
    rig.metadata = "{}".to_owned();
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(
        rig.poll(),
        ["F mlx5_1/1: Port mlx5_1 port 1: state DOWN, phys_state Disabled"]
    );
    assert_eq!(rig.records_with("no GPU metadata"), 1);
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1", "h mlx5_1/1"]);
}

#[test]
fn without_metadata_the_agent_refuses_with_path_cause_and_hint() {
    let mut rig = Rig::new(&nics(1));
    rig.metadata = "{}".to_owned();
    let refusal = rig.try_start().unwrap_err();
    assert_eq!(refusal.code, 1);
    for part in ["gpu_metadata.json", "empty gpus[]", "hint: "] {
        assert!(refusal.to_string().contains(part), "{refusal}");
    }
}

#[test]
fn a_device_on_the_default_route_is_not_monitored_and_a_bond_excludes_nobody() {
    let mut rig = Rig::new(&[nic(0).interface("eth0"), nic(1)]);
    rig.route = Some("Iface Destination\neth0 00000000\n".to_owned());
    rig.poll();
    assert_eq!(rig.agent.as_ref().unwrap().monitored(), ["mlx5_1"]);
    rig.stop();
    rig.disk = None;
    rig.route = Some("Iface Destination\nbond0 00000000\n".to_owned());
    rig.poll();
    assert_eq!(
        rig.agent.as_ref().unwrap().monitored(),
        ["mlx5_0", "mlx5_1"]
    );
    assert_eq!(rig.records_with("interface bond0 has no RDMA device"), 1);
}

#[test]
fn explain_tells_every_signal_of_every_device() {
    let mut rig = Rig::started(&[nic(0), nic(1).vf(), nic(2).numa(4)]);
    rig.world
        .put(&format!("{ANCHOR}/mlx5_0/fw_ver"), "20.31.1014");
    rig.world
        .put(&format!("{ANCHOR}/mlx5_0/board_id"), "MT_0000000010");
    let agent = rig.agent.take().unwrap();
    let rendered = agent.explain(&rig.world);
    for part in [
        "mlx5_0: monitored as compute",
        "  because: on a GPU's NUMA node, and its link layer is InfiniBand",
        "default route: none",
        "mlx5_1: not monitored (virtual function)",
        "mlx5_2: not monitored (management: no GPU on NUMA node 4)",
        "  topology: missing: counts as all SYS",
        "  NUMA node: 4",
        "  fw_ver: 20.31.1014",
        "  board_id: MT_0000000010",
        "  port 1: InfiniBand, ACTIVE, LinkUp",
    ] {
        assert!(rendered.contains(part), "{part} in\n{rendered}");
    }
}

#[test]
fn a_card_that_keeps_a_device_keeps_its_fault() {
    let cards =
        (0..6).map(|index| nic(index).at(&format!("0000:{}:00.{}", 20 + index / 2, index % 2)));
    let mut rig = Rig::new(&cards.collect::<Vec<_>>());
    rig.world.set("mlx5_4", 1, DISABLED);
    let said = rig.poll();
    assert!(brief(&said).contains(&"F 0000:22:00"), "{said:?}");
    rig.stop();
    rig.config = "nicExclusionRegex = '^mlx5_4$'".to_owned();
    assert_eq!(brief(&rig.poll()), ["h mlx5_4/1"]);
    assert!(rig.polls(3).is_empty());
    let standing = rig.agent.as_ref().unwrap().standing();
    assert_eq!(standing.len(), 1, "{standing:?}");
    assert_eq!(standing[0].entity, "0000:22:00");
}

#[test]
fn a_check_taken_out_clears_absent_devices_and_cards_too() {
    let mut nodes = vec![nic(9)];
    nodes.extend((0..4).map(|index| nic(index).ethernet()));
    let mut rig = Rig::new(&nodes);
    rig.world.set("mlx5_3", 1, DISABLED);
    let said = rig.poll();
    assert!(brief(&said).contains(&"F 0000:13:00"), "{said:?}");
    rig.world.drop_device("mlx5_2");
    assert_eq!(brief(&rig.poll()), ["F mlx5_2"]);
    rig.stop();
    rig.args = vec!["--checks=InfiniBandStateCheck".to_owned()];
    let why = "no longer monitored (EthernetStateCheck is not enabled): clearing";
    assert_eq!(
        rig.poll(),
        [
            format!("h mlx5_2: NIC mlx5_2 {why}"),
            format!("h mlx5_3/1: NIC mlx5_3 {why}"),
            format!("h 0000:13:00: Card 0000:13:00 {why}"),
        ]
    );
    assert!(rig.polls(3).is_empty());
    assert!(rig.agent.as_ref().unwrap().standing().is_empty());
}

#[test]
fn a_check_that_runs_alone_says_what_it_says_in_company() {
    let said = |checks: &str| {
        let mut rig = Rig::new(&[nic(0), nic(1), nic(2)]);
        rig.args = vec![format!("--checks={checks}")];
        let mut said = rig.poll();
        rig.world.set("mlx5_1", 1, DISABLED);
        said.extend(rig.poll());
        rig.world.drop_device("mlx5_2");
        said.extend(rig.polls(2));
        rig.world.set("mlx5_1", 1, UP);
        rig.world.put_device(&nic(2));
        said.extend(rig.polls(2));
        said
    };
    let in_company = said("InfiniBandStateCheck,EthernetStateCheck");
    assert_eq!(in_company.len(), 9 + 1 + 1 + 3);
    assert_eq!(said("InfiniBandStateCheck"), in_company);
}

/// Older kernels list folders instead of links; `uevent` names the function there.
#[test]
fn an_entry_that_is_a_folder_is_known_by_its_uevent_or_by_its_name() {
    let mut rig = Rig::new(&nics(3));
    for index in 0..3 {
        rig.world.links.remove(&format!("{ANCHOR}/mlx5_{index}"));
    }
    for index in 0..2 {
        let uevent = format!("{ANCHOR}/mlx5_{index}/device/uevent");
        let text = format!("DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:5{index}:00.0");
        rig.world.put(&uevent, &text);
    }
    let said = rig.poll();
    assert_eq!(
        brief(&said)[6..],
        ["h 0000:50:00", "h 0000:51:00", "h mlx5_2"]
    );
    rig.world.set("mlx5_2", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_2/1"]);
    let path = format!("{ANCHOR}/mlx5_0/device/uevent");
    rig.stop();
    rig.world.errors.insert(path, checks::ReadError::EIO);
    rig.world.set("mlx5_0", 1, DISABLED);
    assert!(rig.polls(5).is_empty(), "nobody knows which function it is");
    rig.world.errors.clear();
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

/// The HCA type is surfaced in the message where it is useful: as the reason ("Link State Detection", 11.1).
#[test]
fn a_device_that_becomes_a_bluefield_says_its_type() {
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet()]);
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    rig.stop();
    let file = format!("{ANCHOR}/mlx5_1/hca_type");
    rig.world.put(&file, "MT41692\n");
    assert_eq!(
        rig.poll(),
        ["h mlx5_1/1: NIC mlx5_1 no longer monitored (management: BlueField MT41692): clearing"]
    );
}

#[test]
fn a_port_out_of_scope_is_silent_beside_one_that_is_in() {
    let dpu = Nic {
        hca_type: "MT41692".to_owned(),
        ..nic(0).ports(2)
    };
    let mut rig = Rig::new(&[dpu, nic(1)]);
    rig.world.set_layer("mlx5_0", 2, ETH);
    let said = rig.poll();
    assert!(brief(&said).contains(&"h mlx5_0/1"), "{said:?}");
    assert!(!brief(&said).contains(&"h mlx5_0/2"), "{said:?}");
    rig.world.set("mlx5_0", 2, DISABLED);
    assert!(rig.polls(40).is_empty());
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
}

#[test]
fn a_device_renamed_to_an_excluded_name_has_left_and_not_disappeared() {
    let mut rig = Rig::new(&nics(3));
    rig.config = "nicExclusionRegex = '^mlx5_9$'".to_owned();
    rig.poll();
    rig.world.set("mlx5_1", 1, DISABLED);
    rig.poll();
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).named("mlx5_9"));
    assert_eq!(
        rig.poll(),
        ["h mlx5_1/1: NIC mlx5_1 no longer monitored (excluded by nicExclusionRegex): clearing"]
    );
    assert!(rig.polls(3).is_empty());
}

#[test]
fn two_devices_of_one_function_are_two_devices() {
    let mut rig = Rig::started(&[nic(0), nic(1).at("0000:10:00.0"), nic(2)]);
    let monitored = |rig: &Rig| rig.agent.as_ref().unwrap().monitored();
    assert_eq!(monitored(&rig), ["mlx5_0", "mlx5_1", "mlx5_2"]);
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll())[0], "F mlx5_1/1");
    rig.world.set("mlx5_0", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_0/1"]);
    rig.stop();
    assert!(rig.polls(3).is_empty());
    rig.world.set("mlx5_1", 1, UP);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
    rig.world.drop_device("mlx5_1");
    assert_eq!(brief(&rig.poll()), ["F mlx5_1"]);
}

#[test]
fn a_function_that_reads_late_takes_over_what_stood_under_the_name() {
    let mut rig = Rig::new(&nics(3));
    rig.world.links.remove(&format!("{ANCHOR}/mlx5_1"));
    rig.poll();
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    let uevent = "PCI_SLOT_NAME=0000:11:00.0";
    rig.world
        .put(&format!("{ANCHOR}/mlx5_1/device/uevent"), uevent);
    assert!(rig.polls(3).is_empty());
    rig.world.drop_device("mlx5_1");
    rig.world.put_device(&nic(1).named("mlx5_7"));
    rig.world.links.remove(&format!("{ANCHOR}/mlx5_7"));
    rig.world
        .put(&format!("{ANCHOR}/mlx5_7/device/uevent"), uevent);
    rig.world.set("mlx5_7", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1", "F mlx5_7/1"]);
}

#[test]
fn the_type_of_a_card_is_asked_for_only_where_the_topology_tells_nothing() {
    let mut rig = Rig::new(&nics(2));
    rig.metadata = r#"{"gpus":[{"numa_node":0}],"nic_topology":
        {"mlx5_0":["PIX"],"mlx5_1":["SYS"]}}"#
        .to_owned();
    for name in ["mlx5_0", "mlx5_1"] {
        let file = format!("{ANCHOR}/{name}/hca_type");
        rig.world.errors.insert(file, checks::ReadError::EIO);
    }
    rig.polls(5);
    assert_eq!(rig.agent.as_ref().unwrap().monitored(), ["mlx5_0"]);
}

#[test]
fn a_pinned_device_passes_every_gate_where_there_is_metadata_too() {
    let mut rig = Rig::new(&[nic(0).interface("eth0"), nic(1).numa(9), nic(2)]);
    rig.config = "nicInclusionRegexOverride = '^mlx5_[01]$'".to_owned();
    rig.route = Some("Iface Destination\neth0 00000000\n".to_owned());
    rig.poll();
    assert_eq!(
        rig.agent.as_ref().unwrap().monitored(),
        ["mlx5_0", "mlx5_1"]
    );
}

#[test]
fn a_clearing_that_nobody_accepted_is_pending_across_a_restart() {
    let mut rig = Rig::started(&nics(3));
    rig.world.set("mlx5_1", 1, DISABLED);
    assert_eq!(brief(&rig.poll()), ["F mlx5_1/1"]);
    rig.restart();
    rig.config = "nicExclusionRegex = '^mlx5_1$'".to_owned();
    rig.connector = Connector::Missing;
    assert!(rig.poll().is_empty());
    rig.restart();
    rig.connector = Connector::Accepts;
    assert_eq!(brief(&rig.poll()), ["h mlx5_1/1"]);
}
