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

/// docs/decisions.md, 11: a device that is called `mlx5_<n>` is monitored, whoever made it.
#[test]
fn cards_of_another_vendor_that_are_named_as_nvidias_are_drilled() {
    let scratch = Scratch::new();
    scratch.run(&["platform", "new", "mine", "--from", "oem-h100"]);
    let text = scratch.text("mine.yaml");
    let text = text.replace("{ vendor: 0x15b3", "{ vendor: 0x4242");
    assert!(text.contains("0x4242"), "{text}");
    scratch.file("mine.yaml", &text);
    let checked = scratch.run(&["platform", "check", "./mine.yaml"]);
    assert_eq!(checked.code, 0, "{checked}");
    assert!(
        checked.out.contains("mine: 12 ports, as declared\n"),
        "{checked}"
    );
    assert!(!checked.out.contains("does not monitor all"), "{checked}");
    let drills = ["start/baseline", "port/cable-pulled"];
    let how = ["--platform", "./mine.yaml", "--arm", "memory"];
    let ran = scratch.run(&[&["run"], &drills[..], &how].concat());
    assert_eq!(ran.code, 0, "{ran}");
}

/// What the descriptor names is told as its own, though the documents' monitor leaves it alone.
#[test]
fn a_platform_is_told_for_the_monitor_that_watches_its_vendor() {
    let scratch = Scratch::new();
    scratch.file(
        "mine.yaml",
        "descriptor_version: 1\nname: mine\ncommand: [/bin/true]\nvendors: [0x1d0f]\npromises: { rows: { down: usual } }\n",
    );
    let checked = scratch.run(&["platform", "check", "--monitor", "mine.yaml", "aws-p5"]);
    assert_eq!(checked.code, 0, "{checked}");
    let row = "watches it: `mine` names its vendor 0x1d0f; its role is the declared one\n";
    assert!(checked.out.contains(row), "{checked}");
    assert!(!checked.out.contains("foreign vendor"), "{checked}");
    let by_documents = scratch.run(&["platform", "check", "aws-p5"]);
    assert!(
        by_documents.out.contains("leaves it alone: foreign vendor"),
        "{by_documents}"
    );
}

/// A variant is in the file of its platform.
#[test]
fn a_variant_is_named_with_the_file_of_its_platform() {
    let scratch = Scratch::new();
    let made = scratch.run(&["platform", "new", "dp", "--from", "dgx-a100:two-port"]);
    assert_eq!(made.code, 2, "{made}");
    assert!(
        made.err
            .contains("it is a variant, which stands in the file of its platform: name `dgx-a100`"),
        "{made}"
    );
    let made = scratch.run(&["platform", "new", "dp", "--from", "dgx-a100"]);
    assert_eq!(made.code, 0, "{made}");
    let listed = |of: &str| scratch.run(&["list", "start/baseline", "--drills", "--platform", of]);
    let two_port = listed("./dp.yaml:two-port");
    assert!(
        two_port.out.contains("start/baseline@dp:two-port"),
        "{two_port}"
    );
    assert!(!two_port.out.contains("@dp "), "{two_port}");
    let none = listed("dp.yaml:three-port");
    assert_eq!(none.code, 2, "{none}");
    let told = "no platform in `dp.yaml` has a variant `three-port`\nhint: there is: ";
    assert!(
        none.err.contains(told) && none.err.contains("two-port"),
        "{none}"
    );
    let played = [
        "run",
        "start/baseline",
        "--platform",
        "dp.yaml:two-port",
        "--arm",
        "memory",
    ];
    let ran = scratch.run(&played);
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(
        scratch.text("nicdrill.out/passed.txt"),
        "start/baseline@dp:two-port\n"
    );
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

#[test]
fn a_driver_is_begun_as_a_copy_and_is_sound_at_once() {
    let scratch = Scratch::new();
    let made = scratch.run(&["platform", "new", "acme", "--driver", "--from", "bnxt_re"]);
    assert_eq!(made.code, 0, "{made}");
    assert!(made.err.contains("`nicdrill check ./acme.yaml`"), "{made}");
    assert!(scratch.text("acme.yaml").contains("\nname: acme\n"));
    let checked = scratch.run(&["check", "./acme.yaml"]);
    assert_eq!(checked.code, 0, "{checked}");
    // A platform beside it names it.
    scratch.run(&["platform", "new", "mine", "--from", "bnxt-h100"]);
    let mine = scratch
        .text("mine.yaml")
        .replace("driver: bnxt_re,", "driver: acme,");
    assert!(mine.contains("driver: acme,"), "{mine}");
    scratch.file("mine.yaml", &mine);
    let checked = scratch.run(&["platform", "check", "./acme.yaml", "./mine.yaml"]);
    assert_eq!(checked.code, 0, "{checked}");
    for (words, told) in [
        (["bnxt_re", "efa"], "there is a driver `bnxt_re` already"),
        (["other", "bnxt"], "there is no driver `bnxt` to begin with"),
    ] {
        let [name, from] = words;
        let refused = scratch.run(&["platform", "new", name, "--driver", "--from", from]);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(refused.err.contains(told), "{refused}");
    }
}

#[test]
fn show_takes_a_file() {
    let scratch = Scratch::new();
    scratch.run(&["platform", "new", "mine", "--from", "l40-onprem"]);
    let of = |what: &str| {
        let shown = scratch.run(&["platform", "show", what]);
        assert_eq!(shown.code, 0, "{shown}");
        shown.out.replace("l40-onprem", "mine")
    };
    let (own, shipped) = (of("./mine.yaml"), of("l40-onprem"));
    let rows = |page: &str| page.lines().filter(|line| line.contains("mlx5_")).count();
    assert!(rows(&own) >= 4, "{own}");
    assert_eq!(rows(&own), rows(&shipped), "{own}\n{shipped}");
}

/// What applies on another vendor's machine depends on the monitor, and the check says what its descriptor lacks.
#[test]
fn the_check_counts_what_applies_for_a_monitor() {
    let scratch = Scratch::new();
    let descriptor = |vendors: &str| {
        format!(
            "descriptor_version: 1\nname: theirs\ncommand: [/bin/true]\n{vendors}\
             promises: {{ rows: {{ down: usual, polling: usual, disabled: usual, training: usual }} }}\n"
        )
    };
    scratch.file("without.yaml", &descriptor(""));
    scratch.file("with.yaml", &descriptor("vendors: [ 0x14e4, 0x15b3 ]\n"));
    let of = |monitor: &str, platform: &str| {
        let words = ["platform", "check", platform, "--monitor", monitor];
        let checked = scratch.run(&words);
        assert_eq!(checked.code, 0, "{checked}");
        checked.out
    };
    let counts = |page: &str, part: &str| -> Option<usize> {
        let line = page.lines().find(|line| line.contains(part))?;
        line.trim_start().split(' ').next()?.parse().ok()
    };
    let (without, with) = (
        of("./without.yaml", "bnxt-h100"),
        of("./with.yaml", "bnxt-h100"),
    );
    let more = counts(
        &without,
        " with `vendors: [ 0x14e4, 0x15b3 ]` in the descriptor",
    );
    assert!(more > counts(&without, " scenarios apply"), "{without}");
    assert_eq!(counts(&with, " scenarios apply"), more, "{with}");
    assert!(!with.contains(" with `vendors"), "{with}");
    // It promises nothing about metadata, so that no matrix is needed.
    let amd = of("./without.yaml", "mi300x");
    assert!(counts(&amd, " scenarios apply") > Some(50), "{amd}");
    let by_the_documents = of("reference", "mi300x");
    let few = counts(&by_the_documents, " scenarios apply").unwrap();
    let hint = " with `rows: { metadata: silent }`";
    assert!(
        counts(&by_the_documents, hint) > Some(5 * few),
        "{by_the_documents}"
    );
}

/// Without the matrix of GPUs and NICs nobody knows roles, and a monitor that asks for none is drilled as anywhere.
#[test]
fn a_monitor_that_asks_for_no_role_is_drilled_beside_amds_gpus() {
    if !crate::scratch::can_play_processes() {
        return;
    }
    let scratch = Scratch::new();
    let made = scratch.run(&["init", "--lang", "bash", "m"]);
    assert_eq!(made.code, 0, "{made}");
    for platform in ["mi300x", "h100-vm"] {
        let ran = scratch.run(&[
            "run",
            "--monitor",
            "m/monitor.yaml",
            "port",
            "--platform",
            platform,
            "--require",
            "process",
        ]);
        assert_eq!(ran.code, 0, "{ran}");
        let passed = scratch.text("nicdrill.out/passed.txt");
        let of_it = format!("@{platform}");
        let drills = passed.lines().filter(|line| line.contains(&of_it));
        assert!(drills.count() > 5, "{ran}");
    }
}
