//! The tables, as far as they are written: theirs, in NVSentinel's layout, and ours beside them.
//!
//! The statements that make them are `sqlite.sql` and `postgres.sql`. A table that is there already is
//! used as it is, if it has the columns that are written.

/// A table and the columns that are written into it.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [&'static str],
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

/// The feed of changes, which a trigger writes.
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

/// Whatever is written.
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
    /// The first column that is written and is not among these.
    pub(super) fn missing(&self, found: &[String]) -> Option<&'static str> {
        let mut columns = self.columns.iter().copied();
        columns.find(|column| !found.iter().any(|there| there == column))
    }
}
