//! Files that are given as what they are not, and what tools print that is no matrix.

use platforms::{Platforms, topo};

use crate::scratch::{Scratch, reference_descriptor};

/// A driver's file under a name of its own.
fn driver() -> String {
    let mut texts = Platforms::shipped_texts();
    let found = texts.find(|(file, _)| file.ends_with("bnxt_re.yaml"));
    let (_, text) = found.expect("the driver ships");
    text.replace("\nname: bnxt_re\n", "\nname: my_driver\n")
}

#[track_caller]
fn check_refused(scratch: &Scratch, words: &[&str], told: &str) {
    let ran = scratch.run(words);
    assert_eq!(ran.code, 2, "{words:?}: {ran}");
    assert!(ran.err.contains(told), "{words:?}: {ran}");
}

#[test]
fn a_drivers_file_is_no_platform() {
    let scratch = Scratch::new();
    let text = driver();
    assert!(text.contains("name: my_driver\n"), "{text}");
    scratch.file("d.yaml", &text);
    let told = "`d.yaml` has drivers only, and no platform\nhint: give the file of a platform too";
    let drill = "port/cable-pulled";
    let arm = ["--arm", "memory"];
    check_refused(
        &scratch,
        &[&["run", drill, "--platform", "d.yaml"], &arm[..]].concat(),
        told,
    );
    check_refused(&scratch, &["platform", "show", "d.yaml"], told);
    // Beside a platform it is meant with it.
    let made = scratch.run(&["platform", "new", "mine", "--from", "bnxt-h100"]);
    assert_eq!(made.code, 0, "{made}");
    let both = ["platform", "show", "mine.yaml", "--platforms", "d.yaml"];
    let shown = scratch.run(&both);
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.out.starts_with("mine: "), "{shown}");
}

#[test]
fn a_descriptor_is_no_platform() {
    let scratch = Scratch::new();
    scratch.file("m.yaml", reference_descriptor());
    let told = "`m.yaml` is a descriptor and no platform\nhint: a monitor is given by `--monitor`";
    check_refused(&scratch, &["run", "port", "--platform", "m.yaml"], told);
    check_refused(&scratch, &["platform", "show", "m.yaml"], told);
}

/// Whatever is given in the place of something else is told by what it is, and with the flag for it.
#[test]
fn a_file_of_another_kind_is_told_by_what_it_is() {
    let scratch = Scratch::new();
    let made = scratch.run(&["platform", "new", "dual", "--from", "l40-onprem"]);
    assert_eq!(made.code, 0, "{made}");
    scratch.file("d.yaml", &driver());
    scratch.file("m.yaml", reference_descriptor());
    scratch.file("needs.yaml", "needs_version: 1\n");
    scratch.file(
        "s.yaml",
        "scenario: a\nwhy: b\ntimeline: [ { at: 1s, expect: [ nothing ] } ]\n",
    );
    for (words, told) in [
        (
            &["run", "dual.yaml", "--arm", "memory"][..],
            "`dual.yaml` is a platform and no scenario\nhint: platforms are given by `--platform`",
        ),
        (
            &["run", "m.yaml", "--arm", "memory"],
            "`m.yaml` is a descriptor and no scenario\nhint: a monitor is given by `--monitor`",
        ),
        (
            &["run", "port", "--monitor", "needs.yaml"],
            "`needs.yaml` is a file of needs and no descriptor\nhint: needs are given by `--needs`",
        ),
        (
            &["platform", "topo", "s.yaml"],
            "`s.yaml` is a scenario and no platform\nhint: scenarios and worlds are named without a flag",
        ),
        (
            &["platform", "topo", "d.yaml"],
            "`d.yaml` is a driver and no platform\nhint: platforms are given by `--platform`",
        ),
        (
            &["rules", "check", "m.yaml"],
            "`m.yaml` is a descriptor and no file of alert rules\nhint: give it by `--descriptor`",
        ),
    ] {
        check_refused(&scratch, words, told);
    }
}

#[test]
fn a_driver_alone_is_checked_as_what_it_is() {
    let scratch = Scratch::new();
    scratch.file("d.yaml", &driver());
    let ran = scratch.run(&["platform", "check", "d.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.err
            .contains("NOTE  `d.yaml` has drivers only, and no platform"),
        "{ran}"
    );
    assert_eq!(ran.out, "checked 1 file (driver: 1): no mistake\n");
}

#[test]
fn what_any_tool_prints_of_a_topology_is_read() {
    let scratch = Scratch::new();
    scratch.file(
        "rocm.txt",
        "GPU[0]\t\t: (Topology) Numa Node: 0\nGPU[1]\t\t: (Topology) Numa Node: 1\n",
    );
    scratch.file(
        "amd.txt",
        "ACCESS TABLE:\n             0000:05:00.0 0000:26:00.0\n0000:05:00.0 ENABLED ENABLED\n0000:26:00.0 ENABLED ENABLED\n",
    );
    for (file, key, values) in [
        ("rocm.txt", "numa_node", ["0", "1"]),
        (
            "amd.txt",
            "pci_address",
            ["\"0000:05:00.0\"", "\"0000:26:00.0\""],
        ),
    ] {
        let ran = scratch.run(&["platform", "topo", file]);
        assert_eq!(ran.code, 0, "{ran}");
        let json: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
        let gpus = json["gpus"].as_array().expect("a list").iter();
        let found: Vec<String> = gpus.map(|gpu| gpu[key].to_string()).collect();
        assert_eq!(found, values, "{ran}");
        assert!(ran.err.contains("lists GPUs and no NIC"), "{ran}");
    }
    // A platform's own file, such as a capture writes, has its matrix.
    let made = scratch.run(&["platform", "new", "mine", "--from", "b200-oci"]);
    assert_eq!(made.code, 0, "{made}");
    let ran = scratch.run(&["platform", "topo", "mine.yaml"]);
    assert_eq!(ran.code, 0, "{ran}");
    let shipped = scratch.run(&["platform", "topo", "b200-oci"]);
    assert_eq!(ran.out, shipped.out);
    assert!(topo::parse(&ran.out).is_ok(), "{ran}");
}
