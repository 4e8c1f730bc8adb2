//! Which outputs of `nvidia-smi topo -m` are unambiguous, and which are rejected at which place.

use platforms::topo::{self, Topology};
use platforms::{Metadata, NodeName, Platforms};
use rstest::rstest;

/// A matrix as it comes from a pipe, with tabs for `|`.
fn piped(text: &str) -> String {
    text.replace('|', "\t")
}

const TITLES: &str = "CPU Affinity|NUMA Affinity|GPU NUMA ID";

/// The parsed matrix in one line: NUMA nodes, then each NIC with its levels.
#[track_caller]
fn check(text: &str, expected: &str) {
    let rendered = |topology: Topology| {
        let numa: Vec<String> = topology
            .gpus()
            .iter()
            .map(|gpu| gpu.numa_node().to_string())
            .collect();
        let nics = topology.nic_levels().map(|(nic, levels)| {
            let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
            format!("; {} {}", nic.device(), levels.join(" "))
        });
        format!("{}{}", numa.join(" "), nics.collect::<String>())
    };
    match topo::parse(text) {
        Ok(topology) => assert_eq!(rendered(topology), expected),
        Err(error) => panic!("refused: {error}\n{text}"),
    }
}

/// The beginning of the error: its place, and the words of its first line.
#[track_caller]
fn check_refused(text: &str, expected: &str) {
    match topo::parse(text) {
        Ok(topology) => panic!("read: {topology}"),
        Err(error) => {
            let rendered = error.to_string();
            let (rendered, hint) = rendered.split_once('\n').expect("a hint on its own line");
            assert_eq!(rendered, expected);
            assert!(hint.starts_with("hint: "), "{hint}");
        }
    }
}

const TWO: &str = "|GPU0|GPU1|NIC0|CPU Affinity|NUMA Affinity|GPU NUMA ID
GPU0| X |NV12|PIX|0-23|0||N/A
GPU1|NV12| X |SYS|24-47|1||N/A
NIC0|PIX|SYS| X ||||

NIC Legend:

  NIC0: mlx5_4
";

#[test]
fn a_legend_names_the_columns() {
    check(&piped(TWO), "0 1; mlx5_4 PIX SYS");
}

#[test]
fn without_a_legend_labels_stand_for_names() {
    let text = piped(TWO).replace("  NIC0: mlx5_4\n", "");
    check(&text, "0 1; NIC0 PIX SYS");
    let topology = topo::parse(&text).expect("a matrix");
    assert_eq!(topology.unnamed().count(), 1);
}

#[test]
fn a_legend_may_be_partial() {
    let text =
        piped("|GPU0|NIC0|NIC1\nGPU0|X|PIX|SYS\nNIC0|PIX|X|SYS\nNIC1|SYS|SYS|X\n\nNIC0: ibp14s0\n");
    check(&text, "-1; ibp14s0 PIX; NIC1 SYS");
}

#[test]
fn colour_codes_are_not_text() {
    let header = "|GPU0|GPU1|NIC0|CPU Affinity|NUMA Affinity|GPU NUMA ID";
    let text = piped(TWO).replace(
        &piped(header),
        &format!("\u{1b}[4m{}\u{1b}[0m", piped(header)),
    );
    check(&text, "0 1; mlx5_4 PIX SYS");
}

/// Every naming style of a driver that prints the devices' own names.
#[rstest]
fn older_drivers_print_names(
    #[values(
        "mlx5_0",
        "mlx5_bond_0",
        "mlx5_ib3",
        "mlx5_an0",
        "mlx5_407",
        "ibp14s0",
        "rocep90s0f1",
        "roceo12399",
        "roceP2p1s0f0",
        "bnxt_re0",
        "ionic_0",
        "efa_0",
        "hfi1_0",
        "irdma0",
        "rdmap16s27"
    )]
    name: &str,
) {
    let text = format!(
        "\tGPU0\t{name}\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tPXB\t0-15\t3\n{name}\tPXB\t X \t\t\n"
    );
    check(&text, &format!("3; {name} PXB"));
}

#[test]
fn fused_labels_and_cells_are_read_one_by_one() {
    let text = "        GPU0    NIC0NIC1    NIC2CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      NODESYS     PIX 0-27,112-139     5               N/A
NIC0    NODE     X NODE     SYS
NIC1    SYS     NODE X      SYS
NIC2    PIX     SYSSYS       X
";
    check(text, "5; NIC0 NODE; NIC1 SYS; NIC2 PIX");
}

#[test]
fn a_wrapped_header_is_joined_in_the_middle_of_a_word() {
    let text = "        GPU0    NIC0    NI\nC1   CPU Affinity NUMA Affini\nty   GPU NUMA ID           \nGPU0 X PIX SYS 0-9 1 N/A\nNIC0 PIX X SYS\nNIC1 SYS SYS X\n";
    check(text, "1; NIC0 PIX; NIC1 SYS");
}

#[test]
fn wrapped_rows_are_joined() {
    let text = "GPU0 NIC0 CPU Affinity NUMA Affinity GPU NUMA ID\nGPU0 X NO\nDE 0-4\n7 1 N/A\nNIC0 NODE\n X\n";
    check(text, "1; NIC0 NODE");
}

/// The fields beside a single GPU with one NIC, and its NUMA node.
#[rstest]
#[case::tabs("\t0-23\t1\t\tN/A", "1")]
#[case::a_range("\t0-239\t0-1\t\tN/A", "0")]
#[case::grace("\t0-71\t0,2-17\t\tN/A", "0")]
#[case::grace_with_a_list("\t0-71\t0,3-9,11-17\t\tN/A", "0")]
#[case::own_memory("\t0-71\t1\t\t18", "1")]
#[case::unknown_node("\t0-47\tN/A\t\tN/A", "-1")]
#[case::unknown_node_after_a_gap("\t0-23\t\tN/A\t\tN/A", "-1")]
#[case::unknown_node_by_spaces("  0-47            N/A             N/A", "-1")]
#[case::nothing_known("                            N/A", "-1")]
#[case::unknown_cpus("\t\t4\t\tN/A", "4")]
#[case::cut_list("    0,2,4,6,8,10    0               N/A", "0")]
#[case::node_and_last_field_fused("    0-55,112-167    3N/A", "3")]
#[case::all_tabs_lost_but_node_unknown("0-55,112-167N/AN/A", "-1")]
fn fields_beside_a_gpu(#[case] beside: &str, #[case] node: &str) {
    let titles = piped(TITLES);
    let text = format!("\tGPU0\tNIC0\t{titles}\nGPU0\t X \tPHB{beside}\nNIC0\tPHB\t X \n");
    check(&text, &format!("{node}; NIC0 PHB"));
}

/// The same with ambiguous fields.
#[rstest]
#[case::list_and_node_may_be_parted_anywhere("  0-231N/A")]
#[case::nothing_proves_that_the_node_is_there("  0-23N/A")]
#[case::a_list_or_a_list_and_a_node("  0-231   N/A")]
#[case::the_last_field_is_missing("  0-23  1")]
#[case::two_numbers_fused("  0-71  02")]
#[case::nothing_at_all("")]
#[case::no_such_node("  0-23  4096  N/A")]
#[case::a_descending_list("  0-23  3-1  N/A")]
#[case::a_field_too_many("  0-23  1  N/A  N/A")]
#[case::a_word("  0-23  one  N/A")]
fn a_field_of_two_readings_is_refused(#[case] beside: &str) {
    let titles = piped(TITLES);
    let text = format!("\tGPU0\tNIC0\t{titles}\nGPU0\t X \tPHB{beside}\nNIC0\tPHB\t X \n");
    let error = topo::parse(&text).expect_err("two readings");
    assert_eq!(error.line, 2, "{error}");
    assert!(error.to_string().contains("beside `GPU0`"), "{error}");
}

const FUSED: &str = "GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity GPU NUMA ID
GPU0 X SYS NODE FIRST
GPU1 SYS X SYS SECOND
NIC0 NODE SYS X
";

#[rstest]
#[case::beside_a_whole_row("0-47,96-1430N/A", "48-95,144-191 1 N/A", "0 1")]
#[case::beside_another_such_row("0-47,96-1430N/A", "48-95,96-1432N/A", "refused")]
#[case::lists_that_cannot_both_be_whole("0-47,96-1430N/A", "60-95,144-1911N/A", "0 1")]
#[case::lists_that_overlap_when_parted("0-47,96-1430N/A", "48-99 1 N/A", "refused")]
#[case::two_ways("0-231N/A", "24-47 1 N/A", "refused")]
fn a_list_and_a_node_that_run_together(
    #[case] first: &str,
    #[case] second: &str,
    #[case] nodes: &str,
) {
    let text = FUSED.replace("FIRST", first).replace("SECOND", second);
    match nodes {
        "refused" => {
            let error = topo::parse(&text).expect_err("two readings").to_string();
            assert!(error.contains("run together"), "{error}");
        }
        nodes => check(&text, &format!("{nodes}; NIC0 NODE SYS")),
    }
}

#[test]
fn sixty_three_nics_are_read() {
    let nics = 0..63;
    let labels: String = nics.clone().map(|nic| format!(" NIC{nic}")).collect();
    let rows = nics.clone().map(|row| {
        let cells = nics
            .clone()
            .map(|column| if row == column { " X" } else { " PIX" });
        format!("NIC{row} SYS{}\n", cells.collect::<String>())
    });
    let text = format!(
        "GPU0{labels}\nGPU0 X{}\n{}",
        " SYS".repeat(63),
        rows.collect::<String>()
    );
    let expected: String = nics.map(|nic| format!("; NIC{nic} SYS")).collect();
    check(&text, &format!("-1{expected}"));
}

/// Each damage to a valid matrix, and the error that names it.
#[rstest]
#[case::no_matrix(
    "ulimit",
    "",
    "line 1, column 1: found no header, the line that names the columns from `GPU0` on"
)]
#[case::no_header(
    "|GPU0|GPU1|NIC0|CPU Affinity|NUMA Affinity|GPU NUMA ID\n",
    "",
    "line 1, column 1: found the row of `GPU0` where the header belongs"
)]
#[case::a_lost_row(
    "GPU1|NV12| X |SYS|24-47|1||N/A\n",
    "",
    "line 1, column 7: found `GPU1` in the header, expected column `NIC0`"
)]
#[case::the_last_row_lost(
    "NIC0|PIX|SYS| X ||||\n",
    "",
    "line 1, column 12: found `NIC0` after the last row's column in the header"
)]
#[case::a_lost_column(
    "|GPU1|NIC0|CPU",
    "|GPU1|CPU",
    "line 1, column 12: found `CPU` in the header, expected column `NIC0`"
)]
#[case::a_row_twice(
    "NIC0|PIX|SYS| X ||||\n",
    "NIC0|PIX|SYS| X ||||\nNIC0|PIX|SYS| X ||||\n",
    "line 5, column 1: found row `NIC0`, expected `NIC1`"
)]
#[case::a_lost_cell(
    "GPU1|NV12| X |SYS|24",
    "GPU1|NV12| X |24",
    "line 3, column 15: found `24-47` in row `GPU1`, expected its level for `NIC0`"
)]
#[case::a_cell_too_many(
    "GPU1|NV12| X |SYS|",
    "GPU1|NV12| X |SYS|SYS|",
    "line 3, column 19: found `SYS\t24-47\t1\t\tN/A` beside `GPU1`, expected a list of CPUs, a NUMA node, and `N/A` or the number of a node"
)]
#[case::a_cell_too_many_of_a_nic(
    "NIC0|PIX|SYS| X |",
    "NIC0|PIX|SYS| X |SYS|",
    "line 4, column 18: found `SYS` after the last cell of row `NIC0`"
)]
#[case::no_level(
    "NIC0|PIX|SYS",
    "NIC0|PIX|SXS",
    "line 4, column 10: found `SXS` in row `NIC0`, expected its level for `GPU1`"
)]
#[case::a_name_cut_at_the_end_of_the_text(
    "NIC0: mlx5_4\n",
    "NIC0: mlx5_",
    "line 8, column 9: found the end of the text after `mlx5_` in the NIC legend, within a name perhaps"
)]
#[case::a_name_that_may_have_been_longer(
    "NIC0: mlx5_4\n",
    "NIC0: mlx5_4",
    "line 8, column 9: found the end of the text after `mlx5_4` in the NIC legend, within a name perhaps"
)]
#[case::a_name_cut_in_its_line(
    "NIC0: mlx5_4\n",
    "NIC0: mlx5_\n",
    "line 8, column 9: found `mlx5_` in the NIC legend"
)]
#[case::a_changed_cell(
    "NIC0|PIX|SYS",
    "NIC0|PIX|NODE",
    "line 4, column 10: found level `NODE` in row `NIC0` for `GPU1`, but `SYS` in row `GPU1` for `NIC0`"
)]
#[case::swapped_cells(
    "GPU1|NV12| X |",
    "GPU1| X |NV12|",
    "line 3, column 7: found level `X` in row `GPU1` for `GPU0`"
)]
#[case::a_cut_title(
    "GPU NUMA ID",
    "GPU NU",
    "line 1, column 44: found `GPU` after the last row's column in the header"
)]
#[case::a_legend_for_no_column(
    "NIC0: mlx5_4",
    "NIC1: mlx5_4",
    "line 8, column 3: found a legend entry for `NIC1`, which is no column"
)]
#[case::a_legend_entry_twice(
    "NIC0: mlx5_4",
    "NIC0: mlx5_4\nNIC0: mlx5_5",
    "line 9, column 1: found a legend entry for `NIC0`, which is there already"
)]
#[case::a_wrapped_name(
    "NIC0: mlx5_4",
    "NIC0: mlx5_\n4",
    "line 9, column 1: found `4` in the NIC legend"
)]
#[case::entries_fused(
    "NIC0: mlx5_4",
    "NIC0: mlx5_4NIC1: mlx5_5",
    "line 8, column 9: found `mlx5_4NIC1:` in the NIC legend"
)]
#[case::a_moved_cursor(
    "GPU1|NV12",
    "GPU1\u{1b}[2C|NV12",
    "line 3, column 5: found control character `ESC[2C`"
)]
#[case::a_second_matrix(
    "mlx5_4\n",
    "mlx5_4\n\nGPU0|X|SYS\n",
    "line 10, column 1: found a row of a matrix after its end"
)]
fn damage_is_refused_where_it_is(
    #[case] whole: &str,
    #[case] damaged: &str,
    #[case] refusal: &str,
) {
    let text = match whole {
        "ulimit" => "ulimit soft: 1048576\nGPU 0: NVIDIA L4\n".to_owned(),
        whole => {
            assert!(TWO.contains(whole), "{whole}");
            TWO.replacen(whole, damaged, 1)
        }
    };
    check_refused(&piped(&text), refusal);
}

#[test]
fn two_nics_have_two_names() {
    let text = "GPU0 NIC0 NIC1\nGPU0 X PIX SYS\nNIC0 PIX X SYS\nNIC1 SYS SYS X\n\n NIC0: mlx5_1\n NIC1: mlx5_1\n";
    check_refused(
        text,
        "line 7, column 8: found device `mlx5_1` twice in the NIC legend",
    );
}

/// The inverse: the output of a platform parses to the same matrix, with the metadata of a
/// collector.
#[test]
fn every_shipped_platform_reads_its_own_matrix() {
    let platforms = Platforms::shipped();
    let node = NodeName::from("node-1");
    let mut compared = 0;
    for (name, platform) in platforms.iter() {
        let machine = platform.machine(&node);
        let read = topo::parse(&platform.topo_text(&machine));
        let read = read.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read, platform.topology(&machine), "{name}");
        let rendered = read.metadata(&node, "550", "2025-03-01T00:00:00Z");
        let collected = Metadata::collect(&machine, "550", "2025-03-01T00:00:00Z");
        assert_eq!(rendered.nic_topology, collected.nic_topology, "{name}");
        let numa = |metadata: &Metadata| -> Vec<i32> {
            metadata.gpus.iter().map(|gpu| gpu.numa_node).collect()
        };
        assert_eq!(numa(&rendered), numa(&collected), "{name}");
        compared += 1;
    }
    assert!(compared >= 8, "{compared} platforms");
}

#[test]
fn metadata_of_a_matrix_is_the_collectors_file() {
    let topology = topo::parse(&piped(TWO)).expect("a matrix");
    let text = topology
        .metadata(&NodeName::from("node-1"), "550.54", "2025-03-01T00:00:00Z")
        .to_json();
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        json["nic_topology"],
        serde_json::json!({"mlx5_4": ["PIX", "SYS"]})
    );
    assert_eq!(json["gpus"][1]["numa_node"], 1);
    assert_eq!(json["gpus"][1]["gpu_id"], 1);
}
