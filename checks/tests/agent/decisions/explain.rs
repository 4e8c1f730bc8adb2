//! `--explain`: what it prints for a device, line by line.

use checks::{Hands, ReadError};

use super::nics;
use crate::world::{ANCHOR, Nic, Rig, World, nic};

/// The lines for one device, without those about its PCI function.
fn rendered(rig: &Rig, name: &str) -> Vec<String> {
    let rendered = rig.agent.as_ref().unwrap().explain(&rig.world);
    let lines = rendered.lines().map(str::to_owned);
    let mut of_device = lines.skip_while(|line| !line.starts_with(&format!("{name}: ")));
    let head = of_device.next();
    let body = of_device.take_while(|line| line.starts_with("  "));
    head.into_iter().chain(body).collect()
}

fn roce(rig: &mut Rig) -> String {
    let port = format!("{ANCHOR}/mlx5_0/ports/1");
    for index in 0..4 {
        let entry = format!("{port}/gids/{index}");
        rig.world
            .put(&entry, "fe80:0000:0000:0000:ba3f:d2ff:fec3:65c4");
    }
    for index in 0..3 {
        let kind = format!("{port}/gid_attrs/types/{index}");
        rig.world.put(&kind, "RoCE v2");
    }
    port
}

#[test]
fn a_roce_device_is_told_signal_by_signal() {
    let mut rig = Rig::started(&[nic(0).ethernet().interface("eth0")]);
    let port = roce(&mut rig);
    for index in 0..2 {
        let owner = format!("{port}/gid_attrs/ndevs/{index}");
        rig.world.put(&owner, "eth0");
    }
    let vendor = format!("{ANCHOR}/mlx5_0/device/vendor");
    rig.world.errors.insert(vendor, ReadError::EIO);
    assert_eq!(
        rendered(&rig, "mlx5_0"),
        [
            "mlx5_0: monitored as storage",
            "  function: 0000:10:00.0",
            "  because: Ethernet on a GPU's NUMA node, SYS to all GPUs, no BlueField",
            "  filters: none speaks against it",
            "  name is mlx5_<n>: yes",
            "  driver: ../../../bus/pci/drivers/mlx5_core",
            "  vendor: cannot be read: EIO",
            "  physfn: absent",
            "  NUMA node: 0",
            "  hca_type: MT4129",
            "  fw_ver: absent",
            "  board_id: absent",
            "  topology: missing: counts as all SYS",
            "  port 1: Ethernet, ACTIVE, LinkUp",
            "    GIDs: 4 valid; types: RoCE v2 x3, unknown x1; interfaces: eth0 x2",
        ]
    );
}

#[test]
fn a_gid_table_without_owners_names_the_interface_and_one_that_fails_says_so() {
    let mut rig = Rig::started(&[nic(0).ethernet().interface("eth0")]);
    let port = roce(&mut rig);
    let gids = |rig: &Rig| rendered(rig, "mlx5_0").pop().unwrap();
    assert_eq!(
        gids(&rig),
        "    GIDs: 4 valid; types: RoCE v2 x3, unknown x1; interfaces: eth0"
    );
    let table = format!("{port}/gids");
    rig.world.errors.insert(table, ReadError::EIO);
    assert_eq!(gids(&rig), "    GIDs: cannot be read: EIO");
}

#[test]
fn what_is_not_known_of_a_device_is_told() {
    let mut rig = Rig::started(&nics(2));
    let stranger = nic(7);
    rig.world.put_device(&stranger);
    let mark = format!("{ANCHOR}/mlx5_7/device/physfn");
    rig.world.errors.insert(mark, ReadError::EIO);
    let state = format!("{ANCHOR}/mlx5_1/ports/1/state");
    rig.world.errors.insert(state, ReadError::EIO);
    rig.world.put_device(&nic(8));
    let entry = format!("{ANCHOR}/mlx5_8");
    rig.world.link_errors.insert(entry, ReadError::ENOENT);
    assert_eq!(rendered(&rig, "mlx5_7")[0], "mlx5_7: not known: EIO");
    assert_eq!(
        rendered(&rig, "mlx5_8")[..2],
        [
            "mlx5_8: not known: nothing of it is there yet",
            "  function: unknown"
        ]
    );
    assert_eq!(
        rendered(&rig, "mlx5_1").last().unwrap(),
        "  port 1: InfiniBand, not read"
    );
}

#[test]
fn a_folder_that_tells_nothing_is_one_line() {
    let mut rig = Rig::started(&nics(1));
    let explain = |world: &World, rig: &Rig| rig.agent.as_ref().unwrap().explain(world);
    for (error, want) in [
        (ReadError::ENOENT, "is missing"),
        (ReadError::EIO, "cannot be read: EIO"),
    ] {
        rig.world.errors.insert(ANCHOR.to_owned(), error);
        assert_eq!(explain(&rig.world, &rig), format!("{ANCHOR} {want}\n"));
    }
    let empty = Rig::started(&[]);
    let rendered = explain(&empty.world, &empty);
    assert!(
        rendered.ends_with(&format!("no device in {ANCHOR}\n")),
        "{rendered}"
    );
}

#[test]
fn filters_and_counters_are_told() {
    let mut rig = Rig::new(&[nic(0), nic(1).named("ibp3s0")]);
    rig.config = "nicExclusionRegex = 'ibp'".to_owned();
    rig.args = vec!["--checks=InfiniBandDegradationCheck".to_owned()];
    rig.poll();
    let told_of = rendered(&rig, "ibp3s0");
    assert!(told_of.contains(&"  filters: excluded by nicExclusionRegex".to_owned()));
    assert!(told_of.contains(&"  name is mlx5_<n>: no".to_owned()));
    let rendered = rig.agent.as_ref().unwrap().explain(&rig.world);
    assert!(rendered.contains("\ncounters: link_downed, "), "{rendered}");
    assert!(
        rendered.contains("checks: InfiniBandDegradationCheck\n"),
        "{rendered}"
    );
    assert!(
        rendered.starts_with("GPUs are on NUMA nodes 0\n"),
        "{rendered}"
    );
}

#[test]
fn every_device_is_classified_with_its_role_or_the_reason() {
    let dpu = Nic {
        hca_type: "MT41692".to_owned(),
        ..nic(3).ethernet()
    };
    let mut rig = Rig::started(&[nic(0), nic(1).ethernet(), nic(2).vf(), dpu]);
    let mark = format!("{ANCHOR}/mlx5_4/device/physfn");
    rig.world.put_device(&nic(4));
    rig.world.errors.insert(mark, ReadError::EIO);
    let hands: &dyn Hands = &rig.world;
    let classified = rig.agent.as_ref().unwrap().classified(hands).unwrap();
    let unmonitored = classified.iter().filter_map(|(name, role)| {
        let why = role.as_ref().err()?;
        Some((name.as_str(), why.is_management()))
    });
    assert_eq!(
        unmonitored.collect::<Vec<_>>(),
        [("mlx5_2", false), ("mlx5_3", true), ("mlx5_4", false)]
    );
    let rendered: Vec<String> = classified
        .into_iter()
        .map(|(name, role)| match role {
            Ok(role) => format!("{name} {role}"),
            Err(why) => format!("{name} not: {why}"),
        })
        .collect();
    assert_eq!(
        rendered,
        [
            "mlx5_0 compute",
            "mlx5_1 storage",
            "mlx5_2 not: virtual function",
            "mlx5_3 not: management: BlueField MT41692",
            "mlx5_4 not: not known: EIO",
        ]
    );
}
