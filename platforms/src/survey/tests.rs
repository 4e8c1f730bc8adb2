//! What is told of files with several mistakes.

use rstest::rstest;

use super::*;

/// A platform of two devices and a variant.
const PLATFORM: &str = r#"platform_version: 1
name: mine
about: a machine
gpus: { model: GPU, device: 0x2330, driver_version: "1", pci: ["0000:01:00.0"], numa: [0] }
models:
  m: { vendor: 0x15b3, device: 0x1021, subsystem_vendor: 0x15b3, subsystem_device: 1, fw_ver: "1", board_id: B, hw_rev: "0", pcie_speed: 32.0 GT/s PCIe, pcie_width: 16 }
devices:
  - { name: mlx5_0, pci: "0000:02:00.0", model: m, driver: own-eth, numa: 0, netdevs: [eth0], rate: 4X NDR, role: compute, topo: PIX }
  - { name: mlx5_1, pci: "0000:03:00.0", model: m, driver: own-eth, numa: 0, netdevs: [eth1], rate: 4X NDR, role: compute, topo: PIX }
  - { name: mlx5_2, pci: "0000:04:00.0", model: m, driver: mlx5-eth, numa: 0, netdevs: [eth2], rate: 4X NDR, role: compute, topo: PIX }
roles: { management: 0, compute: 3, storage: 0 }
variants:
  less: { about: without one, drop: [mlx5_2], roles: { management: 0, compute: 2, storage: 0 } }
provenance: [{ of: ["*"], plausible: made up }]
"#;

/// A shipped driver under another name.
fn driver() -> String {
    let mut shipped = Platforms::shipped_texts();
    let (_, text) = shipped
        .find(|(file, _)| file == "drivers/mlx5-eth.yaml")
        .unwrap();
    text.replace("name: mlx5-eth\n", "name: own-eth\n")
}

/// The text with each of these replaced.
fn spoilt(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "`{from}` is not in the text");
        text.replacen(from, to, 1)
    })
}

/// Checks which mistakes are told of a driver and a platform with these changes, by their beginnings and a part.
fn check(of_driver: &[(&str, &str)], of_platform: &[(&str, &str)], expected: &[(&str, &str)]) {
    let (driver, platform) = (spoilt(&driver(), of_driver), spoilt(PLATFORM, of_platform));
    let survey = Survey::of(&[("d", &driver)], &[("p", &platform)]);
    let told: Vec<String> = survey.mistakes.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), expected.len(), "{}", told.join("\n"));
    for (told, (begin, part)) in told.iter().zip(expected) {
        assert!(
            told.starts_with(begin) && told.contains(part),
            "expected `{begin}… {part}`, told:\n{told}"
        );
    }
}

#[test]
fn files_without_a_mistake_are_sound() {
    let driver = driver();
    let survey = Survey::of(&[("d", &driver)], &[("p", PLATFORM)]);
    let sound = ["d", "p"].map(str::to_owned);
    assert_eq!(survey.mistakes, []);
    assert_eq!(survey.sound, BTreeSet::from(sound));
}

#[test]
fn what_stands_in_is_a_platform_and_a_driver() {
    for text in ["{ nmae: x }", "nmae: x\n"] {
        let driver: Part<Driver> = Part::of("d", text, DRIVER_STAND_INS);
        assert!(driver.value.is_some(), "{:?}", driver.mistakes);
        let platform: Part<Profile> = Part::of("p", text, PROFILE_STAND_INS);
        assert!(platform.value.is_some(), "{:?}", platform.mistakes);
    }
}

#[test]
fn mistakes_of_all_sorts_are_told_at_once() {
    let changes = [
        ("platform_version: 1", "platform_version: 3"),
        ("pcie_width: 16", "pcie_width: 16, colour: red"),
        ("driver: own-eth", "driver: own-eht"),
        ("netdevs: [eth1]", "netdevs: [eth1, eth3]"),
        ("compute: 3", "compute: 4"),
        ("drop: [mlx5_2]", "drop: [mlx5_3]"),
    ];
    let expected = [
        ("p:1:19: ", "version 3 is not known"),
        ("p:6:", "unknown key `colour`"),
        ("p:8:60: ", "did you mean `own-eth`?"),
        ("p:9:87: ", "has 1 ports and 2 interfaces"),
        ("p:11:8: ", "the devices are 0/3/0"),
        ("p:13:37: ", "names device `mlx5_3`"),
    ];
    check(&[], &changes, &expected);
}

#[test]
fn values_that_no_kernel_has_are_told() {
    let of_driver = [
        ("pci_class: 0x020000", "pci_class: 0x1020000"),
        ("arp_type: 1", "arp_type: 7"),
        ("mtu: 4220", "mtu: 0"),
        ("roce_slow_restart_trans", "roce/slow"),
        ("bits: 32, initial: 10", "bits: 4, initial: 16"),
        ("{pci} {netdev}: Link up", "{pci} {netdve}: Link up"),
    ];
    let of_platform = [("devices:", "cpus: { 0: \"0-7,9-8\" }\ndevices:")];
    let expected = [
        ("d:7:12: ", "a PCI class has 24 bits"),
        ("d:12:11: ", "1 of Ethernet or 32 of InfiniBand"),
        ("d:13:6: ", "invalid MTU `0`"),
        ("d:40:41: ", "a field of 4 bits ends at 15"),
        ("d:60:13: ", "invalid name of a counter `roce/slow`"),
        ("d:111:8: ", "did you mean `{netdev}`?"),
        ("p:7:12: ", "invalid range of CPUs `9-8`"),
    ];
    check(&of_driver, &of_platform, &expected);
}

#[test]
fn a_misspelt_word_of_one_device_hides_no_wrong_value_of_another() {
    // The roles do not add up without the first device, and the third one has another number.
    let changes = [
        ("role: compute", "role: compuet"),
        (
            "netdevs: [eth2], rate: 4X NDR",
            "netdevs: [eth2], rate: 8X NDR",
        ),
    ];
    let expected = [
        ("p:8:115: ", "did you mean `compute`?"),
        ("p:10:102: ", "800 Gb/s behind a slot"),
    ];
    check(&[], &changes, &expected);
}

#[rstest]
#[case::a_key_that_all_devices_need("gpus:", "gpsu:", "p:4:1: ")]
#[case::a_model("  m: {", "  m: { revision: x,", "p:6:18: ")]
#[case::a_device("name: mlx5_2, ", "nmae: mlx5_2, ", "p:10:7: ")]
#[case::a_device_twice(
    "numa: 0, netdevs: [eth2]",
    "numa: 7, numa: 0, netdevs: [eth2]",
    "p:10:"
)]
#[case::an_optional_key_of_a_device("netdevs: [eth2]", "prots: 2, netdevs: [eth2, eth3]", "p:10:")]
#[case::provenance("provenance:", "provenence:", "p:14:1: ")]
#[case::a_variant(
    "roles: { management: 0, compute: 2,",
    "roles: { mangement: 0, compute: 2,",
    "p:13:"
)]
fn what_follows_from_a_misspelt_word_is_not_told(
    #[case] from: &str,
    #[case] to: &str,
    #[case] place: &str,
) {
    check(&[], &[(from, to)], &[(place, "")]);
}

#[test]
fn a_broken_driver_is_not_unknown_and_hides_no_wrong_value_of_its_platforms() {
    // Whether its devices have interfaces, only the driver says.
    let of_driver = [("gid_table:", "gid_tabel:")];
    let of_platform = [
        ("topo: PIX", "topo: PIX PIX"),
        ("driver: mlx5-eth", "driver: mlx5-ehs"),
    ];
    let expected = [
        ("d:", "did you mean `gid_table`?"),
        ("p:8:", "2 topology levels for 1 GPUs"),
        ("p:10:60: ", "did you mean `mlx5-eth`?"),
    ];
    check(&of_driver, &of_platform, &expected);
}

#[rstest]
#[case("name: own-eth", "nmae: own-eth", "did you mean `name`?")]
#[case("name: own-eth", "name: own/eth", "has the character '/'")]
fn no_driver_is_unknown_beside_one_without_a_name(
    #[case] from: &str,
    #[case] to: &str,
    #[case] told: &str,
) {
    check(&[(from, to)], &[], &[("d:", told)]);
}

#[test]
fn every_gap_of_a_driver_is_told() {
    let driver = driver();
    let line = |key: &str| {
        let mut lines = driver.split_inclusive('\n');
        lines
            .find(|line| line.trim_start().starts_with(key))
            .unwrap()
    };
    let changes = [
        (line("sleep:"), ""),
        (line("trap_to_sweep:"), ""),
        (line("rescan:"), ""),
        ("down: { link_downed: 1 }", "down: { link_downd: 1 }"),
        (
            "name: VL15_dropped, bits: 16",
            "name: VL15_dropped, bits: 65",
        ),
    ];
    let expected = [
        ("d:", "a field has from 1 to 64 bits"),
        ("d:", "write `sleep: { state: …"),
        ("d:", "did you mean `link_downed`?"),
        ("d:", "write `trap_to_sweep:` and the milliseconds"),
        ("d:", "write `rescan: { counters: …"),
    ];
    check(&changes, &[], &expected);
}

#[test]
fn a_gap_that_a_misspelt_key_leaves_is_not_told() {
    let changes = [
        ("  sleep: {", "  slep: {"),
        ("name: link_downed,", "nmae: link_downed,"),
    ];
    let expected = [
        ("d:", "did you mean `name`?"),
        ("d:", "did you mean `sleep`?"),
    ];
    check(&changes, &[], &expected);
}

#[test]
fn what_a_variant_has_of_its_base_is_told_once() {
    let changes = [
        ("model: m", "model: n"),
        ("topo: PIX", "topo: PIX PIX"),
        ("compute: 3", "compute: 4"),
        (
            "drop: [mlx5_2]",
            "change: [{ devices: [mlx5_0], name: mlx5_9 }], drop: [mlx5_2]",
        ),
    ];
    let expected = [
        ("p:8:49: ", "names model `n`"),
        ("p:8:", "2 topology levels"),
        ("p:11:8: ", "`roles` says 0/4/0"),
    ];
    check(&[], &changes, &expected);
}

/// Mistakes in a shipped platform, which do not change its lines.
const MISTAKES: &[(&str, &str)] = &[
    ("gpus:\n", "gpsu:\n"),
    ("1, 1, 1, 1]\n", "1, 1, 1]\n"),
    ("vf_device: 0x101e", "vf_devcie: 0x101e"),
    ("name: mlx5_1,", "name: mlx5_0,"),
    ("\"0000:0c:00.1\"", "\"0000:0c:00.0\""),
    ("netdevs: [rdma0]", "netdev: [rdma0]"),
    ("default_route: eth0", "default_route: eth9"),
    ("numa: 0, netdevs: [rdma2]", "numa: 4, netdevs: [rdma2]"),
    (
        "rdma4], rate: 4X HDR, role: compute",
        "rdma4], rate: 4X HDR, role: compuet",
    ),
    ("compute: 16", "compute: 15"),
    ("driver: mlx5-eth", "driver: mlx5_eth"),
    ("model: cx7", "model: cx9"),
    ("devices: [mlx5_11]", "devices: [mlx5_99]"),
    ("vfs: { each: 1,", "vsf: { each: 1,"),
    ("- of: [cpus.*]", "- of: [cpu.*]"),
    ("cpus: { 0:", "cpus: { 7:"),
    ("cabled: []", "cabled: [2]"),
];

/// So none is told that is gone once the other one is mended.
#[test]
fn what_is_told_of_two_mistakes_is_told_of_one_of_them() {
    let mut shipped = Platforms::shipped_texts();
    let (_, text) = shipped
        .find(|(file, _)| file == "profiles/h100-oci.yaml")
        .unwrap();
    let good = text.replace("name: h100-oci\n", "name: mine\n");
    let platforms = Platforms::shipped();
    let told = |text: &str| -> BTreeSet<(u32, String)> {
        let survey = Survey::beside(&platforms, &[], &[("p", text)]);
        let told = survey.mistakes.into_iter();
        told.map(|it| (it.place.unwrap_or_default().line, it.what))
            .collect()
    };
    let alone = MISTAKES.iter().map(|it| (it, told(&spoilt(&good, &[*it]))));
    let alone: Vec<_> = alone.collect();
    let mut all_told = 0;
    let mut pairs = 0;
    for (at, (one, of_one)) in alone.iter().enumerate() {
        assert!(!of_one.is_empty(), "{one:?}");
        for (other, of_other) in &alone[at + 1..] {
            let of_both = told(&spoilt(&good, &[**one, **other]));
            let either: BTreeSet<_> = of_one.union(of_other).cloned().collect();
            let mut added = of_both.difference(&either);
            assert_eq!(added.next(), None, "{one:?} and {other:?}");
            pairs += 1;
            all_told += usize::from(of_both == either);
        }
    }
    assert!(4 * all_told > 3 * pairs, "{all_told} of {pairs}");
}
