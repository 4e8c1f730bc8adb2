//! Laws for every matrix: its output parses to the same matrix, a damaged output to the same matrix
//! or an error, and no text makes the parser panic.
//!
//! The kinds of damage occur in real outputs: cells, labels and fields that run together, a wrapped
//! header, tabs that a terminal expanded or a copy lost, lists that the tool truncated between two
//! elements.

use platforms::topo::{self, TopoGpu, TopoNic, Topology};
use platforms::{DeviceName, TopoLevel};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How the NICs are named.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Naming {
    /// `NIC<n>` and a legend.
    Legend(&'static str),
    /// `NIC<n>` and a legend of every second.
    PartialLegend,
    /// The devices' own names.
    Older,
}

/// CPU lists of the NUMA nodes of a machine; they have no CPU in common.
fn cpu_lists() -> impl Strategy<Value = Vec<String>> {
    (1_u32..8, 1_u32..100, 0..4).prop_map(|(nodes, cores, style)| {
        let list = |node: u32| {
            let first = node * cores;
            let last = first + cores - 1;
            let other = first + nodes * cores;
            match style {
                _ if cores == 1 => first.to_string(),
                0 => format!("{first}-{last}"),
                1 => format!("{first}-{last},{other}-{}", other + cores - 1),
                2 => {
                    let each = (0..cores).map(|core| (node + core * nodes).to_string());
                    each.collect::<Vec<_>>().join(",")
                }
                _ => String::new(),
            }
        };
        (0..nodes).map(list).collect()
    })
}

fn gpus() -> impl Strategy<Value = Vec<TopoGpu>> {
    let node_text = select(vec!["", "", "", "-1", ",2-17", "0", "N/A"]);
    let numa_id = prop_oneof![4 => Just(None), 1 => (0_u32..64).prop_map(Some)];
    (cpu_lists(), vec((any::<Index>(), node_text, numa_id), 1..9)).prop_map(|(lists, gpus)| {
        let gpu = |(node, more, numa_id): (Index, &str, Option<u32>)| {
            let node = node.index(lists.len());
            let numa = match more {
                "N/A" => None,
                "0" => Some(format!("{node}0")).filter(|_| node > 0),
                "-1" => Some(format!("{node}-{}", node + 1)),
                more => Some(format!("{node}{more}")).filter(|_| more.is_empty() || node < 2),
            };
            TopoGpu {
                cpus: Some(lists[node].clone()).filter(|list| !list.is_empty()),
                numa,
                numa_id,
            }
        };
        gpus.into_iter().map(gpu).collect()
    })
}

fn naming() -> impl Strategy<Value = Naming> {
    let styles = [
        "mlx5_",
        "mlx5_bond_",
        "ibp1s",
        "rocep1s0f",
        "mlx5_ib",
        "roceo1",
        "bnxt_re",
        "hfi1_",
        "rdmap16s",
    ];
    prop_oneof![
        5 => select(styles.to_vec()).prop_map(Naming::Legend),
        1 => Just(Naming::PartialLegend),
        2 => Just(Naming::Older),
    ]
}

/// An arbitrary machine's matrix.
fn topologies() -> impl Strategy<Value = Topology> {
    let nics = prop_oneof![8 => 0..20_usize, 1 => 20..64_usize];
    (gpus(), nics, naming(), vec(any::<u8>(), 97)).prop_map(|(gpus, nics, naming, draws)| {
        let nic = |number: usize| {
            let named = |style: &str| Some(DeviceName(format!("{style}{number}")));
            let label = format!("NIC{number}");
            match naming {
                Naming::Legend(style) => TopoNic {
                    label,
                    name: named(style),
                },
                Naming::PartialLegend => TopoNic {
                    label,
                    name: named("mlx5_").filter(|_| number.is_multiple_of(2)),
                },
                Naming::Older => TopoNic {
                    label: format!("mlx5_{number}"),
                    name: named("mlx5_"),
                },
            }
        };
        let gpu_count = gpus.len();
        let nics = (0..nics).map(nic).collect();
        Topology::new(gpus, nics, |a, b| {
            let draw = draws[(a * 31 + b * 7) % draws.len()];
            match draw % 6 {
                0 => TopoLevel::PIX,
                1 => TopoLevel::PXB,
                2 => TopoLevel::PHB,
                3 => TopoLevel::NODE,
                4 if b < gpu_count => TopoLevel::NV(draw % 18 + 1),
                _ => TopoLevel::SYS,
            }
        })
    })
}

/// The kinds of damage to an output.
#[derive(Clone, Debug)]
enum Damage {
    /// No blank between two neighbouring columns of the matrix, in any line.
    FusedColumns(Index),
    /// No tab between two neighbouring fields of one line.
    LostTab(Index, Index),
    /// No tabs from here to the end of a line: the fields beside a GPU run together.
    LostTabs(Index, usize),
    /// The last tabs of every GPU's row are gone.
    LostTabsEverywhere(usize),
    /// CPU lists of twelve characters at most, with whole elements.
    CutLists,
    /// Colour codes around the header.
    Colours,
    /// Tabs expanded to multiples of eight.
    Expanded,
    /// The header wrapped at this width.
    WrappedHeader(usize),
    /// Every line of the matrix wrapped at this width.
    Wrapped(usize),
    /// No blanks at the ends of lines.
    Trimmed,
    /// Blanks at the ends of lines.
    Padded,
}

/// Damage after which every field beside the GPUs is still separate, so that it is accepted.
fn harmless() -> impl Strategy<Value = Damage> {
    prop_oneof![
        3 => any::<Index>().prop_map(Damage::FusedColumns),
        1 => Just(Damage::CutLists),
        1 => Just(Damage::Colours),
        2 => Just(Damage::Expanded),
        2 => (20..400_usize).prop_map(Damage::WrappedHeader),
        1 => Just(Damage::Trimmed),
        1 => Just(Damage::Padded),
    ]
}

fn any_damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        6 => harmless(),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(line, field)| Damage::LostTab(line, field)),
        2 => (any::<Index>(), 1..5_usize).prop_map(|(line, tabs)| Damage::LostTabs(line, tabs)),
        2 => (1..5_usize).prop_map(Damage::LostTabsEverywhere),
        1 => (20..400_usize).prop_map(Damage::Wrapped),
    ]
}

/// The matrix as fields; damage to fields first, then a terminal's changes of lines.
fn damaged(topology: &Topology, damages: &[Damage]) -> String {
    let text = topology.to_string();
    let (matrix, legend) = text
        .split_once("\n\n")
        .expect("a blank line ends the matrix");
    let mut lines: Vec<Vec<String>> = matrix
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    let gpus = topology.gpus().len();
    let columns = gpus + topology.nics().len();
    let mut apart = columns;
    for damage in damages {
        match damage {
            Damage::FusedColumns(at) if apart > 1 => {
                apart -= 1;
                let at = 1 + at.index(apart);
                lines.iter_mut().for_each(|line| fuse(line, at));
            }
            Damage::LostTab(line, at) => {
                let line = &mut lines[line.index(columns + 1)];
                let at = at.index(line.len());
                fuse(line, at);
            }
            Damage::LostTabs(row, tabs) => lose_tabs(&mut lines[1 + row.index(gpus)], *tabs),
            Damage::LostTabsEverywhere(tabs) => {
                lines[1..=gpus]
                    .iter_mut()
                    .for_each(|line| lose_tabs(line, *tabs));
            }
            Damage::CutLists => lines[1..=gpus].iter_mut().for_each(|line| cut_list(line)),
            _ => {}
        }
    }
    let mut lines: Vec<String> = lines.iter().map(|line| line.join("\t")).collect();
    for damage in damages {
        match damage {
            Damage::Expanded => lines.iter_mut().for_each(|line| *line = expanded(line)),
            Damage::WrappedHeader(width) => lines[0] = wrapped(&lines[0], *width),
            Damage::Wrapped(width) => lines
                .iter_mut()
                .for_each(|line| *line = wrapped(line, *width)),
            Damage::Trimmed => lines
                .iter_mut()
                .for_each(|line| *line = line.trim_end().to_owned()),
            Damage::Padded => lines.iter_mut().for_each(|line| line.push_str("       ")),
            _ => {}
        }
    }
    if damages
        .iter()
        .any(|damage| matches!(damage, Damage::Colours))
    {
        lines[0] = format!("\u{1b}[4m{}\u{1b}[0m", lines[0]);
    }
    format!("{}\n\n{legend}", lines.join("\n"))
}

fn fuse(line: &mut Vec<String>, at: usize) {
    if at + 1 < line.len() {
        let next = line.remove(at + 1);
        line[at] += &next;
    }
}

fn lose_tabs(line: &mut Vec<String>, tabs: usize) {
    let kept = line.len().saturating_sub(tabs + 1);
    let run = line.split_off(kept).concat();
    line.push(run);
}

/// Cuts the CPU list between two elements; it is the fourth field from the end.
fn cut_list(line: &mut [String]) {
    if let Some(at) = line.len().checked_sub(4) {
        while line[at].len() > 12 {
            let Some((kept, _)) = line[at].rsplit_once(',') else {
                break;
            };
            line[at] = kept.to_owned();
        }
    }
}

fn expanded(line: &str) -> String {
    let mut out = String::new();
    for char in line.chars() {
        match char {
            '\t' => out += &" ".repeat(8 - out.len() % 8),
            char => out.push(char),
        }
    }
    out
}

fn wrapped(line: &str, width: usize) -> String {
    let chars: Vec<char> = line.chars().collect();
    let pieces = chars
        .chunks(width)
        .map(|piece| piece.iter().collect::<String>());
    pieces.collect::<Vec<_>>().join("\n")
}

/// The matrix and the NUMA nodes, without the CPU lists, which the tool itself truncates.
fn rendered(topology: &Topology) -> (Vec<i32>, Vec<TopoNic>, Vec<Vec<TopoLevel>>) {
    let numa = topology.gpus().iter().map(TopoGpu::numa_node);
    (
        numa.collect(),
        topology.nics().to_vec(),
        topology.levels().to_vec(),
    )
}

proptest! {
    #[test]
    fn printed_and_read_it_is_the_same(topology in topologies()) {
        prop_assert_eq!(topo::parse(&topology.to_string()), Ok(topology));
    }

    #[test]
    fn damage_that_leaves_the_fields_apart_is_read_through(
        topology in topologies(),
        damages in vec(harmless(), 1..4),
    ) {
        // An empty field is not visible once tabs are blanks.
        prop_assume!(topology.gpus().iter().all(|gpu| gpu.cpus.is_some()));
        let text = damaged(&topology, &damages);
        let read = topo::parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(rendered(&read), rendered(&topology));
    }

    #[test]
    fn a_changed_cell_is_refused(
        topology in topologies(),
        (row, column, level) in (any::<Index>(), any::<Index>(), any::<Index>()),
    ) {
        let text = topology.to_string();
        let rows = topology.levels().len();
        let (row, column) = (row.index(rows), column.index(rows));
        let words = [" X ", "PIX", "PXB", "PHB", "NODE", "SYS", "NV4"];
        let word = words[level.index(words.len())];
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut fields: Vec<&str> = lines[1 + row].split('\t').collect();
        prop_assume!(fields[1 + column].trim() != word.trim());
        let was = fields[1 + column].trim().to_owned();
        fields[1 + column] = word;
        lines[1 + row] = fields.join("\t");
        let gpus = topology.gpus().len();
        let has_links = was.starts_with("NV") || word.starts_with("NV");
        let read = topo::parse(&(lines.join("\n") + "\n"));
        if row < gpus && column < gpus && row != column && word != " X " && has_links {
            // Two GPUs may see their NVLinks differently, which concerns no NIC.
            let read = read.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(read.asymmetries().len(), 1);
            let same: Vec<_> = read.nic_levels().collect();
            prop_assert_eq!(same, topology.nic_levels().collect::<Vec<_>>());
        } else {
            prop_assert!(read.is_err());
        }
    }

    #[test]
    fn a_lost_or_doubled_cell_row_or_column_is_refused(
        topology in topologies(),
        (row, column, what) in (any::<Index>(), any::<Index>(), 0..5),
    ) {
        let text = topology.to_string();
        let rows = topology.levels().len();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (line, at) = (1 + row.index(rows), 1 + column.index(rows));
        let mut edit = |line: usize, edit: &dyn Fn(&mut Vec<&str>)| {
            let was = lines[line].clone();
            let mut fields: Vec<&str> = was.split('\t').collect();
            edit(&mut fields);
            lines[line] = fields.join("\t");
        };
        match what {
            0 => edit(line, &|fields| _ = fields.remove(at)),
            1 => edit(line, &|fields| fields.insert(at, fields[at])),
            2 => edit(0, &|fields| _ = fields.remove(at)),
            3 => drop(lines.remove(line)),
            _ => lines.insert(line, lines[line].clone()),
        }
        prop_assert!(topo::parse(&lines.join("\n")).is_err(), "{}", lines.join("\n"));
    }

    /// A legend that ends anywhere names no device by the beginning of its name.
    #[test]
    fn a_cut_legend_is_refused_or_names_fewer_devices(topology in topologies(), at in any::<Index>()) {
        let text = topology.to_string();
        let chars: Vec<char> = text.chars().collect();
        let cut: String = chars[..at.index(chars.len())].iter().collect();
        if let Ok(read) = topo::parse(&cut) {
            for (nic, whole) in read.nics().iter().zip(topology.nics()) {
                prop_assert!(nic.name.is_none() || nic.name == whole.name, "{:?}", cut);
            }
        }
    }

    #[test]
    fn arbitrary_text_is_survived(text in "(?s).{0,200}") {
        let _ = topo::parse(&text);
    }

    /// Words of the tool in any order get further into the parser than random text does.
    #[test]
    fn the_words_of_the_tool_in_any_order_are_survived(
        words in vec(select(vec![
            "GPU0", "GPU1", "NIC0", "NIC1", "NIC", "mlx5_0", "X", " X ", "PIX", "SYS", "NODE", "NV18", "NV",
            "NV999", "\t", "\n", " ", "\n\n", "CPU Affinity", "NUMA Affinity", "GPU NUMA ID", "0-23", "N/A", "0",
            "0-47,96-1430N/A", "99999999999", "-", ",", "Legend:", "NIC Legend:", "NIC0: mlx5_0", "NIC1:",
            "\u{1b}[4m", "\u{1b}[", "\u{1b}", "\r", "é", "\u{a0}",
        ]), 0..60),
    ) {
        let _ = topo::parse(&words.concat());
    }

    #[test]
    fn a_cut_or_overwritten_matrix_is_survived(
        topology in topologies(),
        at in any::<Index>(),
        instead in "(?s).{0,3}",
    ) {
        let text = topology.to_string();
        let chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        let cut: String = chars[..at].iter().collect();
        let rest: String = chars[at + 1..].iter().collect();
        let _ = topo::parse(&cut);
        let _ = topo::parse(&format!("{cut}{instead}{rest}"));
    }
}

/// The main law: 1,000 damaged matrices are parsed correctly or rejected.
#[test]
#[expect(
    clippy::disallowed_macros,
    clippy::print_stderr,
    reason = "a test may say how much it compared"
)]
fn no_damage_yields_a_different_matrix() {
    let config = Config {
        cases: 1000,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let read = std::cell::Cell::new(0);
    let cases = (topologies(), vec(any_damage(), 1..5));
    let law = runner.run(&cases, |(topology, damages)| {
        let text = damaged(&topology, &damages);
        if let Ok(parsed) = topo::parse(&text) {
            read.set(read.get() + 1);
            prop_assert_eq!(rendered(&parsed), rendered(&topology), "{}", text);
        }
        Ok(())
    });
    law.unwrap_or_else(|error| panic!("{error}"));
    eprintln!(
        "{} of 1000 damaged matrices read, the others refused",
        read.get()
    );
    // Rejecting all of them would be correct but useless.
    assert!(read.get() >= 300, "{} read", read.get());
}
