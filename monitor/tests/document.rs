//! The operator's page: its tables of flags and metrics are those of the program.

use std::fmt::Write as _;

use checks::flags::FLAGS;
use checks::metrics::METRICS;

const PAGE: &str = include_str!("../../docs/reference-monitor.md");

/// Checks that the page has this table between its marks.
fn check(mark: &str, table: &str) {
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (_, rest) = PAGE
        .split_once(&open)
        .expect("the table's beginning is marked");
    let (rendered, _) = rest.split_once(&close).expect("the table's end is marked");
    assert!(
        rendered == table,
        "docs/reference-monitor.md has another table; it should be:\n{table}"
    );
}

#[test]
fn the_table_of_flags_is_the_programs() {
    let mut table = String::from("\n| flag | default | what it is |\n|---|---|---|\n");
    for flag in FLAGS {
        let default = match flag.default {
            None => "unset".to_owned(),
            Some(default) => format!("`{}`", default.replace(',', ", ")),
        };
        writeln!(table, "| `--{}` | {default} | {} |", flag.name, flag.help).unwrap();
    }
    table.push('\n');
    check("flags", &table);
}

#[test]
fn the_table_of_metrics_is_the_programs() {
    let mut table = String::from("\n| metric | kind | labels | what it is |\n|---|---|---|---|\n");
    for series in METRICS {
        let labels: Vec<String> = series
            .labels
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let (name, kind) = (series.name, series.kind.word());
        writeln!(
            table,
            "| `{name}` | {kind} | {} | {} |",
            labels.join(", "),
            series.help
        )
        .unwrap();
    }
    table.push('\n');
    check("metrics", &table);
}
