//! Rows of cells, aligned in columns. Start at [`aligned`].

/// The rows as lines; each cell but a row's last is padded to the widest of its column, and two spaces
/// part the columns.
pub(in crate::pages) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(&widths);
            let line: String = cells
                .map(|(cell, width)| format!("{cell:<width$}  "))
                .collect();
            format!("{}\n", line.trim_end())
        })
        .collect()
}

/// A row of such a table.
pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(ToOwned::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::{aligned, row};

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_spaces() {
        let rows = [
            row(["port", "state"]),
            row(["1", "Down (FM Bounce)"]),
            row(["12"]),
        ];
        assert_eq!(aligned(&rows), "port  state\n1     Down (FM Bounce)\n12\n");
    }
}
