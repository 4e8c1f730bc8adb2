//! A vendor's first steps: a platform is written, captured, checked and drilled, without code.

use crate::scratch::Scratch;

#[test]
fn a_platform_is_begun_as_a_copy_and_is_sound_at_once() {
    let scratch = Scratch::new();
    let made = scratch.run(&["platform", "new", "mine", "--from", "l40-onprem"]);
    assert_eq!(made.code, 0, "{made}");
    assert!(
        made.err.contains("nicdrill platform check ./mine.yaml"),
        "{made}"
    );
    let text = scratch.text("mine.yaml");
    assert!(
        text.contains("\n# One line for each network function."),
        "{text}"
    );
    // What was seen on another machine is a guess about this one.
    let (_, provenance) = text.split_once("\nprovenance:\n").expect("it is there");
    let marks = provenance
        .lines()
        .filter(|line| !line.starts_with("  - of: ["));
    let marks: std::collections::BTreeSet<&str> = marks.collect();
    assert_eq!(
        marks.into_iter().collect::<Vec<_>>(),
        ["    plausible: copied from l40-onprem"],
        "{text}"
    );
    let checked = scratch.run(&["platform", "check", "./mine.yaml"]);
    assert_eq!(checked.code, 0, "{checked}");
    for part in [
        "mine: 4 ports, as declared\n",
        "watches it as compute: on a GPU's NUMA node, and its link layer is InfiniBand",
        " scenarios apply to it\n",
    ] {
        assert!(checked.out.contains(part), "{part}: {checked}");
    }
    let again = scratch.run(&["platform", "new", "mine"]);
    assert_eq!(again.code, 2, "{again}");
    assert!(again.err.contains("`mine.yaml` already exists"), "{again}");
}

#[test]
fn a_slip_in_a_platform_is_flagged_with_its_line_and_a_hint() {
    let scratch = Scratch::new();
    scratch.run(&["platform", "new", "mine", "--from", "l40-onprem"]);
    let text = scratch.text("mine.yaml");
    scratch.file("mine.yaml", &text.replacen("numa: 0", "numa: 5", 1));
    let checked = scratch.run(&["platform", "check", "./mine.yaml"]);
    assert_eq!(checked.code, 2, "{checked}");
    for part in [
        "mine: 4 ports, NOT as declared\n  ./mine.yaml:",
        "device `mlx5_0` is compute on NUMA node 5, which no GPU has\n",
        "^\n  hint: a monitor takes it for management",
    ] {
        assert!(checked.out.contains(part), "{part}: {checked}");
    }
}

/// Eight InfiniBand ports of a real H100 node as one line per file, and the matrix of such a node.
#[test]
fn a_mailed_dump_becomes_a_platform_that_is_drilled() {
    let scratch = Scratch::new();
    let mut dump = String::new();
    for number in 0..8 {
        for (file, text) in [
            ("board_id", "MT_0000000838"),
            ("fw_ver", "28.41.1000"),
            ("hca_type", "MT4129"),
            ("ports/1/link_layer", "InfiniBand"),
            ("ports/1/phys_state", "5: LinkUp"),
            ("ports/1/rate", "400 Gb/sec (4X NDR)"),
            ("ports/1/state", "4: ACTIVE"),
        ] {
            dump += &format!("mlx5_{number}/{file} = {text}\n");
        }
    }
    scratch.file("dump.txt", &dump);
    let matrix = scratch.run(&["platform", "topo", "azure-ndv5"]);
    scratch.file("matrix.txt", &matrix.out.replace("mlx5_ib", "mlx5_"));
    let made = scratch.run(&[
        "platform",
        "capture",
        "--from-dump",
        "dump.txt",
        "--topo",
        "matrix.txt",
        "--name",
        "mailed",
    ]);
    assert_eq!(made.code, 0, "{made}");
    assert!(made.err.contains("sysfs lacks: mlx5_an0"), "{made}");
    let checked = scratch.run(&["platform", "check", "./mailed.yaml"]);
    assert_eq!(checked.code, 0, "{checked}");
    let ran = scratch.run(&[
        "run",
        "port/cable-pulled",
        "--platform",
        "./mailed.yaml",
        "--arm",
        "memory",
    ]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        scratch
            .text("nicdrill.out/passed.txt")
            .contains("port/cable-pulled@mailed\n")
    );
}
