//! The tables that are written: NVSentinel's, and nicdrill's own.
//!
//! `sqlite.sql` and `postgres.sql` have the statements that create them. An existing table is used as
//! it is, if it has the required columns.

/// A table and the columns that are written.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [&'static str],
}

/// The columns of whole numbers; what is written to the others are texts.
const NUMBERS: [&str; 2] = ["poll", "place"];

/// A column of a table that was found, with the type that it was declared with.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) declared: String,
}

/// The events, in NVSentinel's layout.
pub(super) const EVENTS: Table = Table {
    name: "health_events",
    columns: &[
        "id",
        "node_name",
        "event_type",
        "severity",
        "recommended_action",
        "document",
        "created_at",
        "updated_at",
    ],
};

/// The change feed, which a trigger writes.
pub(super) const CHANGES: Table = Table {
    name: "datastore_changelog",
    columns: &[
        "id",
        "table_name",
        "record_id",
        "operation",
        "old_values",
        "new_values",
    ],
};

/// All tables that are written.
pub(super) const TABLES: [Table; 4] = [
    EVENTS,
    CHANGES,
    Table {
        name: "nicdrill_runs",
        columns: &["id", "started", "seed", "asked"],
    },
    Table {
        name: "nicdrill_events",
        columns: &["event_id", "run", "drill", "arm", "poll", "place"],
    },
];

impl Table {
    /// The first required column that is not among these.
    pub(super) fn missing(&self, found: &[Column]) -> Option<&'static str> {
        let mut columns = self.columns.iter().copied();
        columns.find(|column| !found.iter().any(|there| there.name == *column))
    }

    /// The first column that does not keep what is written to it: its name, its type, and what is written. SQLite puts a
    /// value into any column, and changes it by the column's affinity ("Datatypes In SQLite", 3.1).
    pub(super) fn unfit(&self, found: &[Column]) -> Option<(&'static str, String, &'static str)> {
        // The number of a change is given by the table.
        let written = self.columns.iter().copied();
        let written = written.filter(|column| (self.name, *column) != (CHANGES.name, "id"));
        for column in written {
            let Some(there) = found.iter().find(|there| there.name == column) else {
                continue;
            };
            let declared = there.declared.to_uppercase();
            let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
            let is_number = has(&["INT", "REAL", "FLOA", "DOUB", "NUM", "DEC", "BOOL"]);
            let is_text = !is_number && has(&["CHAR", "CLOB", "TEXT", "BLOB"]);
            let wanted = match NUMBERS.contains(&column) {
                true if is_text => "whole numbers",
                false if is_number => "texts",
                _ => continue,
            };
            return Some((column, there.declared.clone(), wanted));
        }
        None
    }
}
