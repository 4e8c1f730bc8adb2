//! Why a matrix is refused, and where. Start at [`TopoError`].

use thiserror::Error;

use super::glyphs::Place;
use crate::TopoLevel;

/// A text that is no matrix, or that could be more than one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {fault}")]
pub struct TopoError {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1; colour codes and tabs count as they are in the text.
    pub column: usize,
    /// What is wrong there.
    pub fault: TopoFault,
}

impl TopoError {
    pub(super) fn at(place: Place, fault: TopoFault) -> Self {
        Self {
            line: place.line,
            column: place.column,
            fault,
        }
    }
}

/// What is wrong with the text of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopoFault {
    /// A control character, or a sequence that moves the cursor: the text is not in reading order.
    #[error("found control character `{0}`\nhint: tabs, line ends and colour codes are allowed")]
    Control(String),
    /// No line begins with `GPU0`.
    #[error(
        "found no header, the line that names the columns from `GPU0` on\nhint: give the whole output of `nvidia-smi topo -m`"
    )]
    NoHeader,
    /// The first line with `GPU0` is its row.
    #[error(
        "found the row of `GPU0` where the header belongs\nhint: give the line above it too: it names the columns from `GPU0` on"
    )]
    RowBeforeHeader,
    /// Nothing but a header.
    #[error("found no row of `GPU0`\nhint: rows begin with their label and `X` on the diagonal")]
    NoRows,
    /// A row's label out of order, or there twice.
    #[error(
        "found row `{found}`, expected {expected}\nhint: a row is lost, doubled or out of order"
    )]
    Label {
        /// The label.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// A column without its row, or a row without its column.
    #[error(
        "found `{found}` in the header, expected column `{expected}`\nhint: columns and rows are the same devices in the same order"
    )]
    Column {
        /// What stands there.
        found: String,
        /// The row that has no column.
        expected: String,
    },
    /// The end of the header is none of the tool's.
    #[error(
        "found `{found}` after the last row's column in the header\nhint: allowed: nothing, or `CPU Affinity`, `NUMA Affinity` and `GPU NUMA ID`, in this order; a further label has lost its row"
    )]
    Titles {
        /// What stands there.
        found: String,
    },
    /// No level where a cell belongs.
    #[error(
        "found `{found}` in row `{row}`, expected its level for `{column}`\nhint: allowed: X, PIX, PXB, PHB, NODE, SYS, NV<n>, one for each column"
    )]
    Cell {
        /// What stands there.
        found: String,
        /// The row.
        row: String,
        /// The column whose level is missing.
        column: String,
    },
    /// `X` beside the diagonal, or another level on it.
    #[error(
        "found level `{level}` in row `{row}` for `{column}`\nhint: `X` is a device's level to itself and to no other; a cell was lost or added"
    )]
    Diagonal {
        /// The level.
        level: TopoLevel,
        /// The row.
        row: String,
        /// The column.
        column: String,
    },
    /// The two cells of a pair differ.
    #[error(
        "found level `{level}` in row `{row}` for `{column}`, but `{mirrored}` in row `{column}` for `{row}`\nhint: the two cells of a pair are equal; one of them was changed"
    )]
    Mirror {
        /// The level here.
        level: TopoLevel,
        /// The row.
        row: String,
        /// The column.
        column: String,
        /// The level in the other cell.
        mirrored: TopoLevel,
    },
    /// Something after the last cell of a NIC's row, or beside a GPU where the header has no title.
    #[error("found `{found}` after the last cell of row `{row}`\nhint: no column is named for it")]
    Leftover {
        /// What stands there.
        found: String,
        /// The row.
        row: String,
    },
    /// What stands beside a GPU does not fill the columns.
    #[error(
        "found `{found}` beside `{row}`, expected {expected}\nhint: a field is lost, cut or damaged"
    )]
    Affinity {
        /// What stands there.
        found: String,
        /// The GPU.
        row: String,
        /// The fields that the header names.
        expected: &'static str,
    },
    /// CPU list and NUMA node run together, and where one ends cannot be known.
    #[error(
        "found `{found}` beside `{row}`: CPU list and NUMA node run together ({readings} ways to part them, none proven)\nhint: take the output from a pipe, where tabs part the fields"
    )]
    RunTogether {
        /// What stands there.
        found: String,
        /// The GPU.
        row: String,
        /// In how many ways it can be parted; one way alone may still lack proof.
        readings: usize,
    },
    /// A line of the legend that is none.
    #[error("found `{found}` in the NIC legend\nhint: allowed: `NIC<n>: <device>`, one a line")]
    Legend {
        /// What stands there.
        found: String,
    },
    /// A legend entry for a NIC that is no column, or for the second time.
    #[error(
        "found a legend entry for `{label}`, which is {why}\nhint: the legend names each column once; a row or a column may be lost"
    )]
    LegendLabel {
        /// The label.
        label: String,
        /// Why it may not stand there.
        why: &'static str,
    },
    /// Two NICs of one name.
    #[error(
        "found device `{0}` twice in the NIC legend\nhint: each NIC has its own name; one was cut"
    )]
    NameTwice(String),
    /// Rows apart from the matrix.
    #[error("found a row of a matrix after its end\nhint: give one output, its rows together")]
    RowApart,
}
