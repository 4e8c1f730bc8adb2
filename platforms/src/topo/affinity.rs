//! The fields beside a GPU: CPU affinity, NUMA affinity, and the NUMA node of its memory.
//!
//! In output from a pipe, tabs separate the fields and empty fields are visible. Otherwise every
//! field that the header names must be present, `N/A` included; only a GPU without any known value
//! shows `N/A` in the last column alone.
//!
//! Fields that lost the tabs between them are split at `N/A`, which is certain. A CPU list and a
//! NUMA node that run together, as in `0-47,96-1430N/A`, are split only if exactly one split gives
//! two ascending lists, the whole is not a list of nodes, the other rows show that no field is
//! missing, and no two CPU lists overlap afterwards, because a CPU belongs to one node.

use super::TopoGpu;
use super::error::{TopoError, TopoFault};
use super::glyphs::{Place, Reader, text};

const UNKNOWN: &str = "N/A";

/// The highest NUMA node that a kernel can have: `NODES_SHIFT` is at most 10 (Linux, mm/Kconfig).
const NUMA_NODE_MAX: u32 = 1023;

/// The part of a GPU's row after its cells.
pub(super) struct Beside<'a> {
    row: &'a str,
    place: Place,
    found: String,
    text: String,
}

impl<'a> Beside<'a> {
    /// The rest of this GPU's row.
    pub(super) fn new(row: &'a str, reader: Reader) -> Self {
        let text = text(reader.rest());
        let mut first = reader;
        first.skip_blanks();
        let found = match text.trim() {
            "" => first.found(),
            text => text.to_owned(),
        };
        Self {
            row,
            place: first.place(),
            found,
            text,
        }
    }

    fn refuse(&self, columns: usize) -> TopoError {
        let (found, row) = (self.found.clone(), self.row.to_owned());
        let fault = match columns {
            0 => TopoFault::Leftover { found, row },
            1 => TopoFault::Affinity {
                found,
                row,
                expected: "a list of CPUs",
            },
            2 => TopoFault::Affinity {
                found,
                row,
                expected: "a list of CPUs and a NUMA node",
            },
            _ => TopoFault::Affinity {
                found,
                row,
                expected: "a list of CPUs, a NUMA node, and `N/A` or the number of a node",
            },
        };
        TopoError::at(self.place, fault)
    }

    fn refuse_run(&self, readings: usize) -> TopoError {
        let fault = TopoFault::RunTogether {
            found: self.found.clone(),
            row: self.row.to_owned(),
            readings,
        };
        TopoError::at(self.place, fault)
    }
}

/// The result of reading one row by itself.
enum Reading<'a> {
    /// Its fields.
    Parted([&'a str; 3]),
    /// A CPU list and a NUMA node without a separator.
    RunTogether(&'a str),
}

/// Reads the fields beside the GPUs; `columns` is the number of the three titles in the header.
pub(super) fn read(rows: &[Beside], columns: usize) -> Result<Vec<TopoGpu>, TopoError> {
    let readings = rows.iter().map(|row| {
        let reading = by_tabs(&row.text, columns).or_else(|| by_words(&row.text, columns));
        reading.ok_or_else(|| row.refuse(columns))
    });
    let readings: Vec<Reading> = readings.collect::<Result<_, _>>()?;
    let gpus = rows
        .iter()
        .zip(&readings)
        .map(|(row, reading)| -> Result<TopoGpu, TopoError> {
            let [cpus, numa, numa_id] = match reading {
                Reading::Parted(fields) => *fields,
                Reading::RunTogether(text) => part(row, text, &readings)?,
            };
            let known = |field: &str| (!matches!(field, "" | UNKNOWN)).then(|| field.to_owned());
            Ok(TopoGpu {
                cpus: known(cpus),
                numa: known(numa),
                numa_id: numa_id.parse().ok(),
            })
        });
    let gpus: Vec<TopoGpu> = gpus.collect::<Result<_, _>>()?;
    for ((row, reading), gpu) in rows.iter().zip(&readings).zip(&gpus) {
        let parted = matches!(reading, Reading::RunTogether(_));
        let meets_another = |cpus| {
            let mut others = gpus.iter().filter_map(|gpu| gpu.cpus.as_deref());
            others.any(|other| overlap(cpus, other))
        };
        if parted && gpu.cpus.as_deref().is_some_and(meets_another) {
            return Err(row.refuse_run(1));
        }
    }
    Ok(gpus)
}

/// The fields in output from a pipe: separated by tabs, with two tabs before the last.
fn by_tabs(text: &str, columns: usize) -> Option<Reading<'_>> {
    let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
    let fields = match (columns, fields.as_slice()) {
        (1, &["", cpus]) => [cpus, "", ""],
        (2, &["", cpus, numa]) => [cpus, numa, ""],
        (3, &["", cpus, numa, "", numa_id]) => [cpus, numa, numa_id],
        _ => return None,
    };
    let [cpus, numa, numa_id] = fields;
    let fits = (cpus.is_empty() || is_cpus(cpus))
        && (numa.is_empty() || is_numa(numa))
        && (columns < 3 || is_numa_id(numa_id));
    fits.then_some(Reading::Parted(fields))
}

/// The fields as words; `N/A` is a word wherever it occurs.
fn by_words(text: &str, columns: usize) -> Option<Reading<'_>> {
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while let Some(at) = rest.find(UNKNOWN) {
            let (before, unknown) = rest[..at + UNKNOWN.len()].split_at(at);
            words.extend(
                [before, unknown]
                    .into_iter()
                    .filter(|word| !word.is_empty()),
            );
            rest = &rest[at + UNKNOWN.len()..];
        }
        words.extend(Some(rest).filter(|word| !word.is_empty()));
    }
    let fields = match (columns, words.as_slice()) {
        (0, &[]) => ["", "", ""],
        (1, &[cpus]) if is_cpus(cpus) => [cpus, "", ""],
        (2, &[UNKNOWN]) | (3, &[UNKNOWN] | &[UNKNOWN, UNKNOWN]) => ["", "", UNKNOWN],
        (2, &[cpus, numa]) if is_cpus(cpus) && is_numa(numa) => [cpus, numa, ""],
        (3, &[cpus, numa, numa_id]) if is_cpus(cpus) && is_numa(numa) && is_numa_id(numa_id) => {
            [cpus, numa, numa_id]
        }
        // Only a field that also runs together with `N/A` proves that its tabs are lost.
        (3, &[run, UNKNOWN]) if text.split_whitespace().count() == 1 && is_cpus(run) => {
            return Some(Reading::RunTogether(run));
        }
        _ => return None,
    };
    Some(Reading::Parted(fields))
}

/// Splits a CPU list from the NUMA node that follows it without a separator.
fn part<'a>(
    row: &Beside,
    run: &'a str,
    readings: &[Reading<'a>],
) -> Result<[&'a str; 3], TopoError> {
    let ways: Vec<(&str, &str)> = (1..run.len())
        .map(|at| run.split_at(at))
        .filter(|(cpus, numa)| list(cpus).is_some() && is_numa(numa))
        .collect();
    let &[(cpus, numa)] = ways.as_slice() else {
        return Err(row.refuse_run(ways.len()));
    };
    // If the whole were a list of nodes, the CPU list would be the empty field.
    if is_numa(run) {
        return Err(row.refuse_run(ways.len()));
    }
    // If the whole were a CPU list, the node would be the `N/A`, and the last field cut off.
    let has_all_fields = |other: &Reading| match other {
        Reading::Parted([_, numa, numa_id]) => list(numa).is_some() && is_numa_id(numa_id),
        Reading::RunTogether(other) => overlap(run, other),
    };
    match readings.iter().any(has_all_fields) {
        true => Ok([cpus, numa, UNKNOWN]),
        false => Err(row.refuse_run(1)),
    }
}

/// Whether this is a CPU list; the tool truncates long ones, so it may end anywhere.
fn is_cpus(field: &str) -> bool {
    let is_list = |field: &str| {
        field.starts_with(|char: char| char.is_ascii_digit())
            && field
                .chars()
                .all(|char| matches!(char, '0'..='9' | ',' | '-'))
    };
    field == UNKNOWN || is_list(field)
}

fn is_numa(field: &str) -> bool {
    let last = list(field).and_then(|ranges| ranges.last().copied());
    field == UNKNOWN || last.is_some_and(|(_, node)| node <= NUMA_NODE_MAX)
}

fn is_numa_id(field: &str) -> bool {
    field == UNKNOWN || number(field).is_some_and(|node| node <= NUMA_NODE_MAX)
}

/// The ranges of a list such as `0-55,112-167`, as first and last; they must ascend.
fn list(text: &str) -> Option<Vec<(u32, u32)>> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (number(first)?, number(last)?);
        let ascends = ranges.last().is_none_or(|&(_, before)| before < first);
        if first > last || !ascends || (first == last && range.contains('-')) {
            return None;
        }
        ranges.push((first, last));
    }
    Some(ranges)
}

/// A number as the tool prints it: digits without a leading zero.
fn number(text: &str) -> Option<u32> {
    let digits = text.chars().all(|char| char.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

/// Whether two CPU lists differ and have CPUs in common.
fn overlap(a: &str, b: &str) -> bool {
    let (Some(a), Some(b)) = (list(a), list(b)) else {
        return false;
    };
    let meet =
        |&(first, last): &(u32, u32)| b.iter().any(|&(from, to)| first <= to && from <= last);
    a != b && a.iter().any(meet)
}
