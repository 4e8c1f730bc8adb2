//! Why a matrix is rejected, and where. Start at [`TopoError`].

use thiserror::Error;

use super::glyphs::Place;
use crate::TopoLevel;

/// A text that is not a matrix, or is ambiguous.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {fault}\nhint: {}", .fault.hint())]
pub struct TopoError {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1; colour codes and tabs count as they are in the text.
    pub column: usize,
    /// The fault at that place.
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

/// A fault in the text of a matrix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopoFault {
    /// A control character, or a sequence that moves the cursor: the text is not in reading order.
    #[error("found control character `{0}`")]
    Control(String),
    /// No line begins with `GPU0`.
    #[error("found no header, the line that names the columns from `GPU0` on")]
    NoHeader,
    /// The text is of a tool of AMD without what it tells of GPUs, or no text for people: JSON or CSV.
    #[error("found another output than the text of one of the tools")]
    OtherForm,
    /// The first line with `GPU0` is its row.
    #[error("found the row of `GPU0` where the header belongs")]
    RowBeforeHeader,
    /// There is a header but no row.
    #[error("found no row of `GPU0`")]
    NoRows,
    /// A row's label is out of order or repeated.
    #[error("found row `{found}`, expected {expected}")]
    Label {
        /// The label.
        found: String,
        /// The labels that may be there.
        expected: String,
    },
    /// A column without its row, or a row without its column.
    #[error("found `{found}` in the header, expected column `{expected}`")]
    Column {
        /// The text at that place.
        found: String,
        /// The row that has no column.
        expected: String,
    },
    /// The end of the header is not one that the tool prints.
    #[error("found `{found}` after the last row's column in the header")]
    Titles {
        /// The text at that place.
        found: String,
    },
    /// A cell is not a level.
    #[error("found `{found}` in row `{row}`, expected its level for `{column}`")]
    Cell {
        /// The text at that place.
        found: String,
        /// The row.
        row: String,
        /// The column whose level is missing.
        column: String,
    },
    /// `X` outside the diagonal, or another level on it.
    #[error("found level `{level}` in row `{row}` for `{column}`")]
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
        "found level `{level}` in row `{row}` for `{column}`, but `{mirrored}` in row `{column}` for `{row}`"
    )]
    Mirror {
        /// The level of this cell.
        level: TopoLevel,
        /// The row.
        row: String,
        /// The column.
        column: String,
        /// The level in the other cell.
        mirrored: TopoLevel,
    },
    /// Text after the last cell of a NIC's row, or beside a GPU without a title in the header.
    #[error("found `{found}` after the last cell of row `{row}`")]
    Leftover {
        /// The text at that place.
        found: String,
        /// The row.
        row: String,
    },
    /// The fields beside a GPU do not match the columns.
    #[error("found `{found}` beside `{row}`, expected {expected}")]
    Affinity {
        /// The text at that place.
        found: String,
        /// The GPU.
        row: String,
        /// The fields that the header names.
        expected: &'static str,
    },
    /// CPU list and NUMA node run together, and the split is ambiguous.
    #[error(
        "found `{found}` beside `{row}`: CPU list and NUMA node run together ({readings} ways to part them, none proven)"
    )]
    RunTogether {
        /// The text at that place.
        found: String,
        /// The GPU.
        row: String,
        /// The number of possible splits; a single one may still lack proof.
        readings: usize,
    },
    /// A line of the legend is invalid.
    #[error("found `{found}` in the NIC legend")]
    Legend {
        /// The text at that place.
        found: String,
    },
    /// A legend entry for a NIC without a column, or a repeated one.
    #[error("found a legend entry for `{label}`, which is {why}")]
    LegendLabel {
        /// The label.
        label: String,
        /// Why it is not allowed.
        why: &'static str,
    },
    /// The text ends right after a name, which may be the beginning of a longer one.
    #[error("found the end of the text after `{0}` in the NIC legend, within a name perhaps")]
    LegendCut(String),
    /// Two NICs with the same name.
    #[error("found device `{0}` twice in the NIC legend")]
    NameTwice(String),
    /// Rows that are separated from the matrix.
    #[error("found a row of a matrix after its end")]
    RowApart,
}

impl TopoFault {
    /// The hint.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Control(..) => "tabs, line ends and colour codes are allowed",
            Self::NoHeader | Self::OtherForm => {
                "give the whole output of `nvidia-smi topo -m`, or of `rocm-smi --showtopo` or `amd-smi topology`, as text and neither as JSON nor as CSV"
            }
            Self::RowBeforeHeader => {
                "give the line above it too: it names the columns from `GPU0` on"
            }
            Self::NoRows => "rows begin with their label and `X` on the diagonal",
            Self::Label { .. } => "a row is lost, doubled or out of order",
            Self::Column { .. } => "columns and rows are the same devices in the same order",
            Self::Titles { .. } => {
                "allowed: nothing, or `CPU Affinity`, `NUMA Affinity` and `GPU NUMA ID`, in this order; a further label has lost its row"
            }
            Self::Cell { .. } => "allowed: X, PIX, PXB, PHB, NODE, SYS, NV<n>, one for each column",
            Self::Diagonal { .. } => {
                "`X` is a device's level to itself and to no other; a cell was lost or added"
            }
            Self::Mirror { .. } => "the two cells of a pair are equal; one of them was changed",
            Self::Leftover { .. } => "no column is named for it",
            Self::Affinity { .. } => "a field is lost, cut or damaged",
            Self::RunTogether { .. } => "take the output from a pipe, where tabs part the fields",
            Self::Legend { .. } => "allowed: `NIC<n>: <device>`, one a line",
            Self::LegendLabel { .. } => {
                "the legend names each column once; a row or a column may be lost"
            }
            Self::LegendCut(..) => "give the whole output; its last line has an end too",
            Self::NameTwice(..) => "each NIC has its own name; one was cut",
            Self::RowApart => "give one output, its rows together",
        }
    }
}
