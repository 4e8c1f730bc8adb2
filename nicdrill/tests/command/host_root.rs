//! `root: /`: what a program with the host's paths in its source finds there.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::{env, path::Path, process::Command};

use rstest::rstest;

use crate::scratch::{Ran, Scratch, can_play_processes, reference_descriptor};

/// The reference monitor's descriptor with the host's paths in place of the tree's.
pub(crate) fn with_fixed_paths() -> String {
    let (its_own, _) = reference_descriptor()
        .split_once("zoo:")
        .expect("its last key");
    let its_own = its_own
        .replace("{state_file}", "/var/run/nic_health_monitor/state.json")
        .replace("{root}/sys", "/sys")
        .replace("{root}/proc", "/proc")
        .replace("{root}/var", "/var")
        .replace("memory: true\n", "");
    its_own + "root: /\n"
}

/// The state file, the route table and the boot id change while these are played.
#[test]
fn a_monitor_with_the_paths_of_its_host_plays_as_with_those_of_the_tree() {
    if !can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    scratch.file("fixed.yaml", &with_fixed_paths());
    let stories = [
        "port/cable-pulled@h100-oci",
        "restart/scope-narrowed-and-widened@dgx-h100",
        "card/twin-becomes-management@h100-oci:no-default-route",
        "boot/boot-id-stays-unreadable@gb200-nvl4:lag",
        "device/driver-reload-with-names-swapped@h100-oci",
    ];
    let words = [&["run"], &stories[..], &["--monitor", "fixed.yaml"]].concat();
    let ran = scratch.run(&words);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("process arm: 5 of 5 run"), "{ran}");
    assert!(
        !Path::new("/var/run/nic_health_monitor").exists(),
        "the host is not changed"
    );
}

/// A monitor that runs a script and ends, with what it wrote.
fn looks(keys: &str, script: &str) -> Ran {
    let scratch = Scratch::new();
    let descriptor = format!(
        "descriptor_version: 1\nname: looks\n{keys}command:\n  - bash\n  - -c\n  - |\n    {}\n",
        script.replace('\n', "\n    ")
    );
    scratch.file("looks.yaml", &descriptor);
    let ran = scratch.run(&["run", "start/baseline@h100-oci", "--monitor", "looks.yaml"]);
    assert_eq!(ran.code, 101, "{ran}");
    ran
}

#[rstest]
#[case::ports("cat /sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE")]
#[case::routes("cmp /proc/net/route {root}/proc/net/route && echo same", "same")]
#[case::routes_of_a_child(
    "sh -c 'cmp /proc/net/route {root}/proc/net/route' && echo same",
    "same"
)]
#[case::interfaces("grep -c rdma /proc/net/dev", "16")]
#[case::other_files_of_the_network("cmp /proc/net/snmp /proc/self/net/snmp && echo same", "same")]
#[case::boot_id(
    "cmp /proc/sys/kernel/random/boot_id {root}/proc/sys/kernel/random/boot_id && echo same",
    "same"
)]
#[case::kernel_log("test -f /dev/kmsg && echo there", "there")]
#[case::metadata(
    "cmp /var/lib/nvsentinel/gpu_metadata.json {root}/var/lib/nvsentinel/gpu_metadata.json && echo same",
    "same"
)]
#[case::own_state(
    "echo kept >/var/run/nic_health_monitor/x && cat {root}/var/run/nic_health_monitor/x",
    "kept"
)]
#[case::character_devices(
    "test -e /dev/infiniband/uverbs0 -a -e /dev/infiniband/umad0 && echo both",
    "both"
)]
#[case::devices_of_the_host("echo lost >/dev/null && test -c /dev/null && echo there", "there")]
#[case::processors("test -e /sys/devices/system/cpu/online && echo there", "there")]
#[case::control_groups(
    "mountpoint -q /sys/fs/cgroup && ls /sys/fs/cgroup | grep -q . && echo there",
    "there"
)]
#[case::modules("test -e /sys/module/fuse -a -e /sys/kernel/mm && echo there", "there")]
fn a_program_finds_the_tree_and_what_a_runtime_needs(#[case] script: &str, #[case] says: &str) {
    if can_play_processes() {
        let ran = looks("root: /\n", script);
        assert!(ran.out.contains(&format!("    {says}\n")), "{ran}");
    }
}

#[test]
fn the_folders_for_the_hosts_files_are_in_the_tree_of_such_a_monitor_only() {
    if !can_play_processes() {
        return;
    }
    let folders = "ls {root}/sys | grep -cwE 'kernel|fs'";
    let ran = looks("", folders);
    assert!(ran.out.contains("    0\n"), "{ran}");
    let ran = looks("root: /\n", folders);
    assert!(ran.out.contains("    2\n"), "{ran}");
}

/// A program's runtime needs the CPUs on which it runs; whoever wants those of the platform asks for them.
#[rstest]
#[case::of_the_host("root: /\n", "/sys", "0")]
#[case::of_the_tree("root: /\n", "{root}/sys", "1")]
#[case::asked_for(
    "root: /\nbinds: { /sys/devices/system: '{root}/sys/devices/system' }\n",
    "/sys",
    "1"
)]
fn processors_are_those_of_the_host_unless_a_descriptor_asks(
    #[case] keys: &str,
    #[case] sys: &str,
    #[case] says: &str,
) {
    if can_play_processes() {
        let ran = looks(
            keys,
            &format!("grep -cw 0-223 {sys}/devices/system/cpu/online"),
        );
        assert!(ran.out.contains(&format!("    {says}\n")), "{ran}");
    }
}

/// Programs of Debian that know no other path than `/sys` and `/dev`; the gate's field part installs them.
#[rstest]
#[case::ibstat("ibstat", "ibstat | grep -c 'State: Active'", "17")]
#[case::ibstatus("ibstatus", "ibstatus | grep -c 'phys state:.*5: LinkUp'", "17")]
#[case::libibverbs("ibv_devices", "ibv_devices | grep -c mlx5_", "18")]
#[case::lspci("lspci", "lspci -n | grep -c ' 15b3:'", "18")]
#[case::lstopo(
    "lstopo-no-graphics",
    "lstopo-no-graphics --filter io:all | grep -c OpenFabrics",
    "18"
)]
#[case::node_exporter(
    "prometheus-node-exporter",
    "prometheus-node-exporter --web.listen-address=127.0.0.1:9100 2>/dev/null & \
     until exec 3<>/dev/tcp/127.0.0.1/9100; do :; done 2>/dev/null; \
     printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; \
     grep -E -c '^node_infiniband_state_id.* 4$|^node_scrape_collector_success.*(cpu|meminfo|infiniband)\"} 1' <&3",
    "20"
)]
fn a_program_of_debian_sees_the_ports_of_the_tree(
    #[case] program: &str,
    #[case] script: &str,
    #[case] says: &str,
) {
    let found = Command::new("sh")
        .args(["-c", "command -v \"$0\"", program])
        .output();
    if !found.expect("a shell").status.success() {
        assert!(
            env::var_os("NICDRILL_FIELD").is_none(),
            "the field part needs `{program}`"
        );
        println!("skipped: `{program}` is not installed");
        return;
    }
    if can_play_processes() {
        let ran = looks("root: /\n", script);
        assert!(ran.out.contains(&format!("    {says}\n")), "{ran}");
    }
}
