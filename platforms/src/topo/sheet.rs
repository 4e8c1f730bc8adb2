//! The lines of the matrix: the header, the rows, and the lines below.
//!
//! A terminal wraps long lines: what follows the header up to the row of `GPU0` belongs to the
//! header, and a line without a label at its start belongs to the row above. They are joined
//! without a blank, because a terminal wraps in the middle of a word; cells that run together can
//! still be read, because no level is a prefix of another.

use super::error::{TopoError, TopoFault};
use super::glyphs::{Glyph, Place, Reader, compact};
use super::parse::take_level;

/// The lines of the matrix.
pub(super) struct Sheet<'a> {
    /// The header, joined.
    pub(super) header: Vec<Glyph>,
    /// The rows, joined.
    pub(super) rows: Vec<Row>,
    /// The lines below the matrix.
    pub(super) below: &'a [Vec<Glyph>],
}

/// A row of the matrix.
pub(super) struct Row {
    /// Its label: `GPU0`, `NIC3`, or a device's name.
    pub(super) label: String,
    pub(super) place: Place,
    /// What follows the label.
    pub(super) content: Vec<Glyph>,
}

impl<'a> Sheet<'a> {
    /// Finds the matrix among the lines.
    pub(super) fn find(lines: &'a [Vec<Glyph>]) -> Result<Self, TopoError> {
        let start = Place { line: 1, column: 1 };
        let header_at = lines
            .iter()
            .position(|line| names_the_first_gpu(line))
            .ok_or_else(|| TopoError::at(start, TopoFault::NoHeader))?;
        let (header, lines) = lines[header_at..].split_first().expect("it was found");
        let header_place = Reader::new(header, start).place();
        if is_first_row(header) {
            return Err(TopoError::at(header_place, TopoFault::RowBeforeHeader));
        }
        let rows_at = lines
            .iter()
            .position(|line| is_first_row(line))
            .ok_or_else(|| TopoError::at(header_place, TopoFault::NoRows))?;
        let (wrapped, lines) = lines.split_at(rows_at);
        let header = header.iter().chain(wrapped.iter().flatten()).copied();
        let (rows, below) = read_rows(lines);
        let apart = below
            .iter()
            .find(|line| row(line).is_some_and(|row| row.has_cells()));
        if let Some(place) = apart.and_then(|line| line.first()).map(|first| first.place) {
            return Err(TopoError::at(place, TopoFault::RowApart));
        }
        Ok(Self {
            header: header.collect(),
            rows,
            below,
        })
    }
}

fn read_rows(mut lines: &[Vec<Glyph>]) -> (Vec<Row>, &[Vec<Glyph>]) {
    let mut rows: Vec<Row> = Vec::new();
    while let Some((line, below)) = lines.split_first() {
        let text = compact(line);
        if text.is_empty() {
            // Blank lines end the matrix, unless rows follow them.
            let next = below.iter().find(|line| !compact(line).is_empty());
            if !next
                .and_then(|line| row(line))
                .is_some_and(|row| row.has_cells())
            {
                break;
            }
        } else if text.starts_with("Legend:") || text.starts_with("NICLegend:") {
            break;
        } else if let Some(row) = row(line) {
            rows.push(row);
        } else if let Some(above) = rows.last_mut() {
            above.content.extend(line);
        }
        lines = below;
    }
    (rows, lines)
}

/// The row that begins in this line, if there is one.
///
/// Names of devices begin with a lower-case letter, levels do not.
fn row(line: &[Glyph]) -> Option<Row> {
    let mut reader = Reader::new(line, Place { line: 0, column: 0 });
    reader.skip_blanks();
    let place = reader.place();
    let numbered = ["GPU", "NIC"].into_iter().find(|kind| reader.take(kind));
    let label = match numbered {
        Some(kind) => match reader.take_while(|char| char.is_ascii_digit()) {
            number if number.is_empty() => return None,
            number => format!("{kind}{number}"),
        },
        None if reader.peek().is_some_and(|char| char.is_ascii_lowercase()) => reader
            .take_while(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.')),
        None => return None,
    };
    let row = Row {
        label,
        place,
        content: reader.rest().to_vec(),
    };
    let begins = match numbered {
        Some(_) => reader.peek() != Some(':'),
        None => row.has_cells(),
    };
    begins.then_some(row)
}

impl Row {
    fn has_cells(&self) -> bool {
        let mut reader = Reader::new(&self.content, self.place);
        reader.skip_blanks();
        take_level(&mut reader).is_some()
    }
}

/// Whether the line begins with the label `GPU0`; `GPU0:` and `GPU01` are not labels.
fn names_the_first_gpu(line: &[Glyph]) -> bool {
    let mut reader = Reader::new(line, Place { line: 0, column: 0 });
    reader.skip_blanks();
    let ends = |char: char| char.is_whitespace() || char.is_alphabetic();
    reader.take("GPU0") && reader.peek().is_none_or(ends)
}

fn is_first_row(line: &[Glyph]) -> bool {
    compact(line).starts_with("GPU0X")
}
