//! Parses the output of `nvidia-smi topo -m`, and rejects ambiguous texts.
//!
//! It relies on redundancy, because damage rarely affects all of it:
//!
//! - the labels of the rows, each alone at the start of its line, are the columns: the header must
//!   have the same labels in the same order, whatever blanks it lost or gained;
//! - no level is a prefix of another, so cells that run together can be read one by one, and every
//!   row has exactly one for each column;
//! - `X` is on the diagonal and nowhere else, and the two cells of a pair are equal; between two GPUs
//!   NVLinks may differ ([`NvLinkAsymmetry`]).
//!
//! So a lost, added or changed cell is always detected, and refused if it is a NIC's. Rows that are lost together with their
//! columns and legend entries cannot be detected.

use std::collections::BTreeSet;

use super::affinity::{self, Beside};
use super::error::{TopoError, TopoFault};
use super::glyphs::{self, Place, Reader};
use super::sheet::{Row, Sheet};
use super::{NvLinkAsymmetry, TopoNic, Topology, legend};
use crate::{DeviceName, TopoLevel};

/// Parses the output of `nvidia-smi topo -m`: from a pipe, or wrapped, coloured and expanded by a
/// terminal. Lines before the header and below the legend are ignored.
///
/// # Errors
///
/// The place at which the text is not a matrix, or ambiguous.
pub fn parse(text: &str) -> Result<Topology, TopoError> {
    let lines = glyphs::lines(text)?;
    let sheet = Sheet::find(&lines)?;
    let gpus = check_labels(&sheet.rows)?;
    let titles = read_header(&sheet)?;
    let labels: Vec<&str> = sheet.rows.iter().map(|row| row.label.as_str()).collect();
    let mut levels = Vec::new();
    let mut beside = Vec::new();
    for (number, row) in sheet.rows.iter().enumerate() {
        let mut reader = Reader::new(&row.content, row.place);
        levels.push(read_cells(&mut reader, number, &labels)?);
        if number < gpus {
            beside.push(Beside::new(&row.label, reader));
        } else {
            check_end(reader, &row.label)?;
        }
    }
    let asymmetries = check_mirror(&levels, &labels, gpus)?;
    let mut names = legend::read(sheet.below, &labels[gpus..])?;
    let nics = labels[gpus..].iter().map(|&label| TopoNic {
        label: label.to_owned(),
        name: match is_number(label) {
            true => names.remove(label),
            false => Some(DeviceName::from(label)),
        },
    });
    Ok(Topology {
        gpus: affinity::read(&beside, titles)?,
        nics: nics.collect(),
        levels: levels
            .into_iter()
            .map(|row| row.into_iter().map(|(level, _)| level).collect())
            .collect(),
        asymmetries,
    })
}

/// Whether the label is `NIC<n>`, so that only a legend has the device's name.
fn is_number(label: &str) -> bool {
    label.starts_with("NIC")
}

/// Checks the labels; returns how many rows are GPUs. These come first, and numbered labels count
/// from 0.
fn check_labels(rows: &[Row]) -> Result<usize, TopoError> {
    let is_gpu = |row: &&Row| row.label.starts_with("GPU");
    let gpus = rows.iter().take_while(is_gpu).count();
    let numbered = rows.get(gpus).is_some_and(|row| is_number(&row.label));
    let mut seen = BTreeSet::new();
    for (number, row) in rows.iter().enumerate() {
        let expected = match number.checked_sub(gpus) {
            None => format!("`GPU{number}`"),
            Some(nic) if numbered => format!("`NIC{nic}`"),
            Some(_) => "the name of another device".to_owned(),
        };
        let is_name = !is_gpu(&row) && !is_number(&row.label);
        let fits = match number >= gpus && !numbered {
            true => is_name,
            false => expected == format!("`{}`", row.label),
        };
        if !fits || !seen.insert(&row.label) {
            let found = row.label.clone();
            return Err(TopoError::at(
                row.place,
                TopoFault::Label { found, expected },
            ));
        }
    }
    Ok(gpus)
}

/// Compares the header with the labels of the rows; returns the number of titles after them.
fn read_header(sheet: &Sheet) -> Result<usize, TopoError> {
    const TITLES: [&str; 3] = ["CPUAffinity", "NUMAAffinity", "GPUNUMAID"];
    let mut reader = Reader::new(&sheet.header, Place { line: 1, column: 1 });
    for row in &sheet.rows {
        let was = reader.clone();
        // `NIC1` is also a prefix of `NIC10`.
        let whole = reader.take_through_blanks(&row.label)
            && !(reader.peek().is_some_and(|char| char.is_ascii_digit()));
        if !whole {
            reader = was;
            reader.skip_blanks();
            let fault = TopoFault::Column {
                found: reader.found(),
                expected: row.label.clone(),
            };
            return Err(TopoError::at(reader.place(), fault));
        }
    }
    let titles = TITLES
        .iter()
        .take_while(|title| reader.take_through_blanks(title));
    let titles = titles.count();
    reader.skip_blanks();
    match reader.peek() {
        None => Ok(titles),
        Some(_) => {
            let found = reader.found();
            Err(TopoError::at(reader.place(), TopoFault::Titles { found }))
        }
    }
}

fn read_cells(
    reader: &mut Reader,
    number: usize,
    labels: &[&str],
) -> Result<Vec<(TopoLevel, Place)>, TopoError> {
    let row = || labels[number].to_owned();
    let mut cells = Vec::new();
    for (other, column) in labels.iter().enumerate() {
        reader.skip_blanks();
        let place = reader.place();
        let found = reader.found();
        let level = take_level(reader).ok_or_else(|| {
            let (row, column) = (row(), (*column).to_owned());
            TopoError::at(place, TopoFault::Cell { found, row, column })
        })?;
        if (level == TopoLevel::X) != (number == other) {
            let (row, column) = (row(), (*column).to_owned());
            return Err(TopoError::at(
                place,
                TopoFault::Diagonal { level, row, column },
            ));
        }
        cells.push((level, place));
    }
    Ok(cells)
}

fn check_end(mut reader: Reader, row: &str) -> Result<(), TopoError> {
    reader.skip_blanks();
    match reader.peek() {
        None => Ok(()),
        Some(_) => {
            let (found, row) = (reader.found(), row.to_owned());
            Err(TopoError::at(
                reader.place(),
                TopoFault::Leftover { found, row },
            ))
        }
    }
}

/// Takes the next level, whatever follows it.
pub(super) fn take_level(reader: &mut Reader) -> Option<TopoLevel> {
    const WORDS: [TopoLevel; 6] = [
        TopoLevel::X,
        TopoLevel::PIX,
        TopoLevel::PXB,
        TopoLevel::PHB,
        TopoLevel::NODE,
        TopoLevel::SYS,
    ];
    let word = WORDS
        .into_iter()
        .find(|level| reader.take(&level.to_string()));
    word.or_else(|| {
        let mut ahead = reader.clone();
        let links = ahead
            .take("NV")
            .then(|| ahead.take_while(|char| char.is_ascii_digit()))?;
        let links = links.parse().ok().filter(|_| !links.starts_with('0'))?;
        *reader = ahead;
        Some(TopoLevel::NV(links))
    })
}

/// Compares the two cells of each pair; returns the pairs of GPUs whose NVLinks differ.
fn check_mirror(
    levels: &[Vec<(TopoLevel, Place)>],
    labels: &[&str],
    gpus: usize,
) -> Result<Vec<NvLinkAsymmetry>, TopoError> {
    let mut asymmetries = Vec::new();
    for (row, cells) in levels.iter().enumerate() {
        for (column, &(level, place)) in cells.iter().enumerate().take(row) {
            let (mirrored, _) = levels[column][row];
            if level == mirrored {
                continue;
            }
            let has_links =
                matches!(level, TopoLevel::NV(_)) || matches!(mirrored, TopoLevel::NV(_));
            let (name, other) = (labels[column].to_owned(), labels[row].to_owned());
            if row < gpus && has_links {
                asymmetries.push(NvLinkAsymmetry {
                    gpu: name,
                    level: mirrored,
                    other,
                    mirrored: level,
                });
                continue;
            }
            let fault = TopoFault::Mirror {
                level,
                row: other,
                column: name,
                mirrored,
            };
            return Err(TopoError::at(place, fault));
        }
    }
    Ok(asymmetries)
}
