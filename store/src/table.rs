//! The tables that are written: NVSentinel's, and nicdrill's own.
//!
//! `sqlite.sql` and `postgres.sql` have the statements that create them. An existing table is used as
//! it is, if it has the required columns.

/// A table and the columns that are written.
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
    pub(super) fn missing(&self, found: &[String]) -> Option<&'static str> {
        let mut columns = self.columns.iter().copied();
        columns.find(|column| !found.iter().any(|there| there == column))
    }
}
