//! The forms of a dump's lines, and what their paths are about.

use rstest::rstest;

use super::*;

#[test]
fn lines_and_a_json_map_give_the_same_files() {
    let lines = "mlx5_0/fw_ver = 28.41.1000\nmlx5_0/ports/1/state = 4: ACTIVE\nib0/device -> ../../0000:0c:00.0/\nib0/speed =\n";
    let json = r#"{"/sys/class/infiniband/mlx5_0/fw_ver": "28.41.1000\n",
        "/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
        "/sys/bus/pci/devices/0000:0c:00.0/net/ib0/speed": ""}"#;
    let grep = "/sys/class/infiniband/mlx5_0/fw_ver:28.41.1000\n/sys/class/infiniband/mlx5_0/ports/1/state: 4: ACTIVE\n\
        lrwxrwxrwx 1 root root 0 Mar  1 00:00 /sys/class/net/ib0 -> ../../devices/pci0000:07/0000:07:01.0/0000:0c:00.0/net/ib0\n\
        grep: /sys/class/net/ib0/speed: Invalid argument\n";
    for text in [lines, json, grep] {
        let snapshot = from_dump(text).expect("it can be read");
        assert_eq!(
            snapshot.text("infiniband/mlx5_0/fw_ver"),
            Some("28.41.1000")
        );
        assert_eq!(
            snapshot.text("infiniband/mlx5_0/ports/1/state"),
            Some("4: ACTIVE")
        );
        assert_eq!(snapshot.target("net/ib0/device"), Some("0000:0c:00.0"));
        assert_eq!(snapshot.text("net/ib0/speed"), None);
        assert_eq!(snapshot.unread().count(), 1);
        assert_eq!(snapshot.names("infiniband").len(), 1);
    }
}

/// `ls -l /sys/class/infiniband` prints the names alone; the class stands in the link's target
/// (`drivers/base/core.c`, `device_add_class_symlinks`).
#[rstest]
#[case("infiniband", "mlx5_0")]
#[case("net", "ib0")]
fn a_link_without_folders_belongs_to_the_class_that_its_target_names(
    #[case] class: &str,
    #[case] name: &str,
) {
    let dump = format!(
        "total 0\nlrwxrwxrwx 1 root root 0 Mar  1 00:00 {name} -> \
         ../../devices/pci0000:07/0000:07:01.0/0000:0c:00.0/{class}/{name}\n"
    );
    let snapshot = from_dump(&dump).expect("it can be read");
    let device = format!("{class}/{name}/device");
    assert_eq!(snapshot.target(&device), Some("0000:0c:00.0"));
}

#[test]
fn a_file_whose_text_is_its_own_name_was_masked() {
    let snapshot = from_dump("mlx5_0/hca_type = hca_type\n").expect("it can be read");
    assert_eq!(snapshot.text("infiniband/mlx5_0/hca_type"), None);
    let unread: Vec<_> = snapshot.unread().collect();
    assert_eq!(
        unread,
        [("infiniband/mlx5_0/hca_type", "masked in the dump")]
    );
}

#[rstest]
#[case("mlx5_0/fw_ver = 1\nwhat is this\n")]
#[case("mlx5_0/fw_ver = 1\nnote: this\n")]
fn a_line_that_says_nothing_is_refused_by_its_number(#[case] dump: &str) {
    let error = from_dump(dump).expect_err("no dump");
    assert!(error.starts_with("line 2 "), "{error}");
}

/// The files of a function, whichever path leads to it.
#[rstest]
#[case::on_its_bus("/sys/bus/pci/devices/0000:0c:00.0/vendor:0x8086")]
#[case::below_its_bridges("/sys/devices/pci0000:00/0000:00:01.0/0000:0c:00.0/vendor:0x8086")]
#[case::spaced("/sys/bus/pci/devices/0000:0c:00.0/vendor = 0x8086")]
#[case::from_the_bus_folder("0000:0c:00.0/vendor:0x8086")]
#[case::through_the_device(
    "/sys/class/infiniband/hfi1_0/device -> ../../../0000:0c:00.0\n/sys/class/infiniband/hfi1_0/device/vendor:0x8086"
)]
#[case::through_the_device_in_another_order(
    "hfi1_0/device/vendor:0x8086\nhfi1_0/node_type:1: CA\nhfi1_0/device -> ../../../0000:0c:00.0"
)]
#[case::through_the_interface(
    "/sys/class/net/ib0/device/vendor:0x8086\n/sys/class/net/ib0/device -> ../../../0000:0c:00.0"
)]
#[case::by_its_slots_name(
    "/sys/class/infiniband/hfi1_0/device/uevent:PCI_SLOT_NAME=0000:0c:00.0\n/sys/class/infiniband/hfi1_0/device/vendor:0x8086"
)]
#[case::by_its_id(
    "/sys/bus/pci/devices/0000:0c:00.0/uevent:DRIVER=hfi1\n/sys/bus/pci/devices/0000:0c:00.0/uevent:PCI_ID=8086:24F0"
)]
fn files_of_a_function_are_read(#[case] dump: &str) {
    let snapshot = from_dump(dump).expect("it can be read");
    assert_eq!(snapshot.text("pci/0000:0c:00.0/vendor"), Some("0x8086"));
}

#[test]
fn links_of_a_function_are_read() {
    let dump = "/sys/bus/pci/devices/0000:0c:00.1/driver -> ../../../../bus/pci/drivers/mlx5_core\n\
        /sys/class/infiniband/mlx5_1/device/physfn -> ../0000:0c:00.0\n\
        /sys/class/infiniband/mlx5_1 -> ../../devices/pci0000:07/0000:0c:00.1/infiniband/mlx5_1\n";
    let snapshot = from_dump(dump).expect("it can be read");
    assert_eq!(
        snapshot.target("pci/0000:0c:00.1/driver"),
        Some("mlx5_core")
    );
    assert_eq!(
        snapshot.target("pci/0000:0c:00.1/physfn"),
        Some("0000:0c:00.0")
    );
    assert_eq!(
        snapshot.target("infiniband/mlx5_1/device"),
        Some("0000:0c:00.1")
    );
}

#[test]
fn several_lines_of_one_file_are_one_text() {
    let snapshot = from_dump("/proc/net/route:Iface Destination\n/proc/net/route:eth0 00000000\n");
    let snapshot = snapshot.expect("it can be read");
    assert_eq!(
        snapshot.text("route"),
        Some("Iface Destination\neth0 00000000")
    );
}

/// `grep -r . /sys/class/infiniband/mlx5_0/ /sys/class/infiniband/mlx5_0/device/` shows a port's files twice.
#[test]
fn a_file_on_two_paths_is_one_file() {
    let class = "/sys/class/infiniband/mlx5_0";
    let dump = format!(
        "{class}/ports/1/state:4: ACTIVE\n{class}/device/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n\
         {class}/device/uevent:DRIVER=mlx5_core\n{class}/device/uevent:PCI_SLOT_NAME=0000:0c:00.0\n\
         {class}/device/net/ib0/dev_port:0\n"
    );
    let snapshot = from_dump(&dump).expect("it can be read");
    assert_eq!(
        snapshot.text("infiniband/mlx5_0/ports/1/state"),
        Some("4: ACTIVE")
    );
    assert_eq!(snapshot.target("net/ib0/device"), Some("0000:0c:00.0"));
    assert_eq!(
        snapshot.target("pci/0000:0c:00.0/driver"),
        Some("mlx5_core")
    );
}

/// Paths about buses, CPUs and the like are about no interface.
#[rstest]
#[case("/sys/devices/pci0000:00/pci_bus/0000:00/cpuaffinity:ff")]
#[case("/sys/devices/pci0000:00/pci_bus/0000:00/power/control = auto")]
#[case("sys/class/pci_bus/0000:0c/cpulistaffinity = 0-47")]
#[case("pci_bus/0000:0c/cpulistaffinity:0-47")]
#[case("/sys/devices/system/node/node0/cpulist:0-47")]
#[case("/sys/kernel/mm/hugepages = 1")]
fn other_paths_make_no_interface(#[case] dump: &str) {
    let snapshot = from_dump(dump).expect("it can be read");
    assert_eq!(snapshot.names("net").len(), 0, "{snapshot:?}");
    assert_eq!(snapshot.names("infiniband").len(), 0, "{snapshot:?}");
}
