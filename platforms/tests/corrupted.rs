//! A valid profile with one mistake each: each is rejected or reported at its place.
//!
//! In a case, `§` marks the place that must be reported; it is removed before the text is parsed.

use platforms::{Platform, Platforms};
use rstest::rstest;

/// A shipped profile under another name.
fn good() -> String {
    let mut shipped = Platforms::shipped_texts();
    let (_, text) = shipped
        .find(|(file, _)| file == "profiles/h100-oci.yaml")
        .expect("it is shipped");
    // No variant names `mlx5_1`, so that it can be renamed.
    text.replace("name: h100-oci\n", "name: mine\n")
        .replace("of: [mlx5_0, mlx5_1, ", "of: [mlx5_0, ")
}

/// A shipped driver under another name, and the profile with it.
fn good_driver() -> String {
    let mut shipped = Platforms::shipped_texts();
    let (_, text) = shipped
        .find(|(file, _)| file == "drivers/mlx5-eth.yaml")
        .expect("it is shipped");
    text.replace("name: mlx5-eth\n", "name: own-eth\n")
}

/// All errors and findings of these texts about the platform `mine`.
fn rendered(texts: &[(&str, &str)]) -> Vec<String> {
    match Platforms::read(texts) {
        Err(refusal) => vec![refusal.to_string()],
        Ok(platforms) => {
            let own = platforms
                .iter()
                .filter(|(_, it)| it.profile().name == "mine" || it.name().contains("mine"));
            own.flat_map(|(_, platform): (_, &Platform)| platform.check())
                .map(|finding| finding.to_string())
                .collect()
        }
    }
}

/// The text with `from` replaced, and `file:line:column: ` of the mark.
fn spoilt(file: &str, good: &str, from: &str, to: &str) -> (String, String) {
    assert!(good.contains(from), "`{from}` is not in the text");
    let marked = good.replacen(from, to, 1);
    let (before, _) = marked.split_once('§').expect("a mark");
    let line = before.lines().count().max(1);
    let column = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    let line = if before.ends_with('\n') {
        line + 1
    } else {
        line
    };
    (marked.replace('§', ""), format!("{file}:{line}:{column}: "))
}

fn check(file: &str, rendered: &[String], place: &str, says: &str) {
    let fits = |rendered: &&String| rendered.starts_with(place) && rendered.contains(says);
    assert!(
        rendered.iter().any(|rendered| fits(&rendered)),
        "{file}: expected `{place}… {says}`, told:\n{}",
        rendered.join("\n")
    );
    for rendered in rendered {
        assert!(!rendered.contains("hint: \n"), "{rendered}");
    }
}

#[test]
fn the_good_ones_are_good() {
    assert_eq!(rendered(&[("mine.yaml", &good())]), [""; 0]);
    let own = good().replace("driver: mlx5-eth", "driver: own-eth");
    let texts = [("own.yaml", good_driver()), ("mine.yaml", own)];
    let texts = texts.each_ref().map(|(file, text)| (*file, text.as_str()));
    assert_eq!(rendered(&texts), [""; 0]);
}

#[rstest]
// Rejected: the text cannot be parsed, or a name does not exist.
#[case::version(
    "platform_version: 1",
    "platform_version: §2",
    "version 2 is not known"
)]
#[case::name_of_another("name: mine", "name: §dgx-a100", "`dgx-a100` is described twice")]
#[case::misspelt_key("about: OCI", "§abuot: OCI", "did you mean `about`?")]
#[case::misspelt_device_key("netdevs: [rdma0]", "§netdev: [rdma0]", "did you mean `netdevs`?")]
#[case::misspelt_model_key("fw_ver: 28", "§fw_version: 28", "unknown key `fw_version`")]
#[case::misspelt_role("role: compute", "role: §compute_node", "unknown word")]
#[case::key_twice("name: mine", "name: mine\n§name: mine", "duplicate key `name`")]
#[case::misspelt_level(
    "topo: PXB NODE*3",
    "topo: §PXP NODE*3",
    "invalid topology level `PXP`"
)]
#[case::too_many_times("topo: PXB NODE*3", "topo: §PXB NODE*65", "invalid topology level")]
#[case::misspelt_rate("rate: 4X HDR", "rate: §4X HRD", "invalid rate `4X HRD`")]
#[case::three_lanes("rate: 4X HDR", "rate: §3X HDR", "invalid rate `3X HDR`")]
#[case::short_address("\"0000:0c:00.0\"", "§\"0c:00.0\"", "invalid PCI address")]
#[case::function_of_nine("\"0000:0c:00.1\"", "§\"0000:0c:00.9\"", "invalid PCI address")]
#[case::no_number(
    "numa: 0, netdevs: [rdma0]",
    "numa: §near, netdevs: [rdma0]",
    "whole number"
)]
#[case::unknown_driver("driver: mlx5-eth", "driver: §mlx5_eth", "did you mean `mlx5-eth`?")]
#[case::unknown_model("model: cx7", "model: §cx9", "did you mean `cx7`?")]
#[case::variant_of_nobody("devices: [mlx5_11]", "devices: §[mlx5_99]", "names device `mlx5_99`")]
#[case::vf_of_nobody("of: [mlx5_0, ", "of: §[mlx5_99, ", "names device `mlx5_99`")]
#[case::broken_yaml("gpus:\n", "gpus: §[\n", "keys with values belong here")]
#[case::vendor_too_large("vendor: 0x15b3", "vendor: §0x115b3", "whole number")]
// Reported: it can be parsed, but such a machine is impossible or contradictory.
#[case::device_twice("name: mlx5_1,", "name: §mlx5_0,", "duplicate device `mlx5_0`")]
#[case::address_twice(
    "\"0000:0c:00.1\"",
    "§\"0000:0c:00.0\"",
    "duplicate address `0000:0c:00.0`"
)]
#[case::address_of_a_gpu(
    "\"0000:1f:00.0\"",
    "§\"0000:0f:00.0\"",
    "duplicate address `0000:0f:00.0`"
)]
#[case::gpu_twice(
    "\"0000:2d:00.0\"",
    "§\"0000:0f:00.0\"",
    "duplicate address `0000:0f:00.0`"
)]
#[case::interface_twice("netdevs: [rdma1]", "netdevs: [§rdma0]", "duplicate interface `rdma0`")]
#[case::route_to_nowhere(
    "default_route: eth0",
    "default_route: §eth9",
    "interface `eth9`, which does not exist"
)]
#[case::dangling_lower(
    "default_route: eth0",
    "interfaces: [{ name: bond0, lowers: §[eth9] }]\ndefault_route: eth0",
    "`bond0` is above `eth9`"
)]
#[case::lo_twice(
    "default_route: eth0",
    "interfaces: [{ name: §eth0 }]\ndefault_route: eth0",
    "duplicate interface `eth0`"
)]
#[case::short_row(
    "topo: PXB NODE*3 SYS*4",
    "topo: §PXB NODE*3 SYS*3",
    "7 topology levels for 8 GPUs"
)]
#[case::long_row(
    "topo: PXB NODE*3 SYS*4",
    "topo: §PXB NODE*3 SYS*5",
    "9 topology levels for 8 GPUs"
)]
#[case::no_row(
    "{ name: mlx5_2, pci: \"0000:1f:00.0\", model: cx6dx, driver: mlx5-eth, numa: 0, netdevs: [eth0], rate: 4X EDR, role: management, topo: NODE*4 SYS*4 }",
    "§{ name: mlx5_2, pci: \"0000:1f:00.0\", model: cx6dx, driver: mlx5-eth, numa: 0, netdevs: [eth0], rate: 4X EDR, role: management }",
    "0 topology levels for 8 GPUs"
)]
#[case::self_in_a_row("topo: PXB NODE*3", "topo: §X NODE*3", "is the diagonal's alone")]
#[case::nvlink_to_a_nic("topo: PXB NODE*3", "topo: §NV18 NODE*3", "NVLinks join GPUs")]
#[case::gpu_without_numa(
    "numa: [0, 0, 0, 0, 1, 1, 1, 1]",
    "numa: §[0, 0, 0, 0, 1, 1, 1]",
    "8 GPU addresses and 7 GPU NUMA nodes"
)]
#[case::no_gpu_there(
    "numa: 0, netdevs: [rdma0]",
    "numa: §4, netdevs: [rdma0]",
    "compute on NUMA node 4, which no GPU has"
)]
#[case::numa_unknown(
    "numa: 0, netdevs: [rdma0]",
    "numa: §-1, netdevs: [rdma0]",
    "compute on NUMA node -1"
)]
#[case::cpus_of_nobody(
    "cpus: { 0:",
    "cpus: { 7: §\"1-2\", 0:",
    "NUMA node 7, on which nothing is"
)]
#[case::cpus_of_a_node_that_is_not_known(
    "cpus: { 0:",
    "cpus: { -1: §\"1-2\", 0:",
    "invalid NUMA node with CPUs `-1`"
)]
#[case::another_node_behind_the_switch(
    "numa: 0, netdevs: [rdma0]",
    "numa: §1, netdevs: [rdma0]",
    "on NUMA node 1, and `PXB` away from GPU 0 on node 0"
)]
#[case::a_cpu_of_two_nodes(
    "1: \"56-111,168-223\" }",
    "1: §\"55-111,168-223\" }",
    "gives CPU 55 to NUMA nodes 0 and 1"
)]
#[case::no_cpus_for_a_gpu(
    "cpus: { 0: \"0-55,112-167\", 1: \"56-111,168-223\" }",
    "cpus: §{ 0: \"0-55,112-167\" }",
    "no NUMA node 1, on which GPU 4 is"
)]
#[case::a_device_that_a_capture_skipped(
    "default_route: eth0",
    "skipped:\n  - §{ name: mlx4_0, why: no driver file }\ndefault_route: eth0",
    "device `mlx4_0` was skipped by the capture: no driver file"
)]
#[case::provenance_of_nothing(
    "- of: [cpus.*]",
    "- §of: [cpus.*, cpu.*]",
    "`provenance` names `cpu.*`, and there is nothing of that name"
)]
#[case::provenance_of_a_key_that_no_device_has(
    "- of: [cpus.*]",
    "- §of: [cpus.*, devices.*.ports]",
    "`provenance` names `devices.*.ports`"
)]
#[case::roles_do_not_add_up(
    "roles: { management: 1, compute: 16, storage: 1 }",
    "roles: §{ management: 1, compute: 15, storage: 1 }",
    "`roles` says 1/15/1, the devices are 1/16/1"
)]
#[case::role_moved(
    "netdevs: [rdma0], rate: 4X HDR, role: compute",
    "netdevs: [rdma0], rate: 4X HDR, role: storage",
    ""
)]
#[case::cable_in_no_port("cabled: []", "cabled: §[2]", "a cable in port 2, but 1 ports")]
#[case::cable_twice("cabled: []", "cabled: §[1, 1]", "two cables in port 1")]
#[case::no_port("cabled: []", "cabled: [], ports: §0", "has 0 ports")]
#[case::thirteen_ports("cabled: []", "cabled: [], ports: §13", "has 13 ports")]
#[case::port_without_interface("netdevs: [eth1]", "netdevs: §[]", "1 ports and 0 interfaces")]
#[case::too_fast_for_its_slot(
    "netdevs: [rdma0], rate: 4X HDR",
    "netdevs: [rdma0], rate: §4X XDR",
    "800 Gb/s behind a slot of 512 Gb/s"
)]
#[case::slot_of_no_speed(
    "pcie_speed: 32.0 GT/s PCIe",
    "pcie_speed: §32 GT/s",
    "invalid speed of a PCIe link"
)]
#[case::slot_of_three_lanes("pcie_width: 16", "pcie_width: §3", "invalid width of a PCIe link")]
#[case::hca_type_of_another("hca_type: MT4129", "hca_type: §MT4125", "here `MT4129`")]
#[case::vf_hca_type_of_another("vf_hca_type: MT4126", "vf_hca_type: §MT4124", "here `MT4126`")]
#[case::blank_in_a_name("name: mlx5_1,", "name: §mlx5 1,", "cannot be a name in sysfs")]
#[case::interface_too_long(
    "netdevs: [rdma1]",
    "netdevs: [§enp12s0f0np0longer]",
    "cannot be a name in sysfs"
)]
#[case::name_with_a_colon("name: mine", "name: §mine:two", "cannot be a platform's name")]
#[case::function_without_a_first(
    "\"0000:9a:00.0\"",
    "§\"0000:9a:00.1\"",
    "`0000:9a:00.0` does not"
)]
#[case::model_of_nobody(
    "models:\n",
    "models:\n  cx9: §{ vendor: 1, device: 1, subsystem_vendor: 1, subsystem_device: 1, fw_ver: x, pcie_speed: 8.0 GT/s PCIe, pcie_width: 8 }\n",
    "no device is of model `cx9`"
)]
#[case::counter_of_nobody(
    "default_route: eth0",
    "counters: { link_drowned: §1 }\ndefault_route: eth0",
    "`link_drowned`, which no driver of this platform has"
)]
#[case::counter_beyond_its_field(
    "default_route: eth0",
    "counters: { link_downed: §300 }\ndefault_route: eth0",
    "starts at 300 and stops at 255"
)]
#[case::too_many_vfs(
    "vfs: { each: 1,",
    "vfs: { each: §17,",
    "17 virtual functions and can have 16"
)]
#[case::route_of_a_variant(
    "default_route: none",
    "default_route: §nobody",
    "interface `nobody`, which does not exist"
)]
#[case::no_provenance(
    "  - of: [cpus.*]\n    sourced: nvidia-smi topo -m in sglang issue 4188\n",
    "",
    ""
)]
#[case::two_marks(
    "    plausible: a driver of its time",
    "    plausible: a driver of its time\n    sourced: a page",
    ""
)]
fn a_spoilt_profile_is_refused_or_flagged_where_it_was_spoilt(
    #[case] from: &str,
    #[case] to: &str,
    #[case] says: &str,
) {
    let good = good();
    if !to.contains('§') {
        // The place differs from that of the mistake: the sum, the value without provenance, the
        // entry.
        assert!(good.contains(from), "`{from}` is not in the text");
        let text = good.replacen(from, to, 1);
        let rendered = rendered(&[("mine.yaml", &text)]);
        let expected = match from {
            from if from.contains("role") => ("roles: {", "`roles` says 1/16/1"),
            from if from.contains("cpus") => ("cpus: { 0: \"", "`cpus.0` has no provenance"),
            _ => ("- of: [gpus.driver_version]", "has not exactly one of"),
        };
        let (before, _) = text.split_once(expected.0).expect("it is there");
        let line = before.lines().count() + usize::from(before.ends_with('\n'));
        let place = format!("mine.yaml:{line}:");
        return check(from, &rendered, &place, expected.1);
    }
    let (text, place) = spoilt("mine.yaml", &good, from, to);
    check(from, &rendered(&[("mine.yaml", &text)]), &place, says);
}

#[rstest]
#[case::version("driver_version: 1", "driver_version: §2", "version 2 is not known")]
#[case::name_of_another("name: own-eth", "name: §mlx5-ib", "`mlx5-ib` is described twice")]
#[case::no_view("  sleep: {", "  §slep: {", "did you mean `sleep`?")]
#[case::state("state: ACTIVE,", "state: §ACTIV,", "invalid port state `ACTIV`")]
#[case::phys_state(
    "phys_state: LinkUp,",
    "phys_state: §Linkup,",
    "invalid physical state `Linkup`"
)]
#[case::layer("layer: Ethernet", "layer: §ethernet", "did you mean `Ethernet`?")]
#[case::wide_counter(
    "{ name: VL15_dropped, bits: 16 }",
    "{ name: VL15_dropped, bits: §65 }",
    "from 1 to 64 bits"
)]
#[case::moves_nothing(
    "down: { link_downed: 1 }",
    "down: { link_drowned: 1 }",
    "`link_drowned`"
)]
#[case::node_type(
    "node_type: \"1: CA\"",
    "node_type: §\"1:CA\"",
    "did you mean `1: CA`?"
)]
#[case::operstate("operstate: up", "operstate: §UP", "invalid operational state")]
#[case::counter_twice(
    "{ name: excessive_buffer_overrun_errors,",
    "{ name: §VL15_dropped,",
    "duplicate counter `VL15_dropped`"
)]
#[case::no_provenance(
    "  - of: [arp_type]",
    "  - of: [arp_typ]",
    "`arp_type` has no provenance"
)]
fn a_spoilt_driver_is_refused_or_flagged_where_it_was_spoilt(
    #[case] from: &str,
    #[case] to: &str,
    #[case] says: &str,
) {
    let (marked, place) = if to.contains('§') {
        spoilt("own.yaml", &good_driver(), from, to)
    } else {
        // The place is the value without provenance, or the map of `moves`.
        let text = good_driver().replacen(from, to, 1);
        let key = if from.contains("arp") {
            "arp_type: "
        } else {
            "moves:\n  "
        };
        let (before, _) = text.split_once(key).expect("it is there");
        let line = (before.to_owned() + key).lines().count();
        (text, format!("own.yaml:{line}:"))
    };
    let own = good().replace("driver: mlx5-eth", "driver: own-eth");
    check(
        from,
        &rendered(&[("own.yaml", &marked), ("mine.yaml", &own)]),
        &place,
        says,
    );
}
