-- NVSentinel's layout, in SQLite's types: UUIDs and timestamps are texts (RFC 3339, UTC), JSON is text.
CREATE TABLE IF NOT EXISTS health_events (
    id TEXT PRIMARY KEY,
    node_name TEXT NOT NULL,
    event_type TEXT NOT NULL,
    severity TEXT,
    recommended_action TEXT,
    node_quarantined TEXT,
    user_pods_eviction_status TEXT DEFAULT 'NotStarted',
    user_pods_eviction_message TEXT,
    fault_remediated INTEGER,
    last_remediation_timestamp TEXT,
    quarantine_finish_timestamp TEXT,
    drain_finish_timestamp TEXT,
    document TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE TABLE IF NOT EXISTS datastore_changelog (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    table_name TEXT NOT NULL,
    record_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    old_values TEXT,
    new_values TEXT,
    changed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    processed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS resume_tokens (
    client_name TEXT PRIMARY KEY,
    resume_token TEXT,
    last_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
-- The run and drill of each row.
CREATE TABLE IF NOT EXISTS nicdrill_runs (
    id TEXT PRIMARY KEY,
    started TEXT NOT NULL,
    seed TEXT NOT NULL,
    asked TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS nicdrill_events (
    event_id TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    drill TEXT NOT NULL,
    arm TEXT NOT NULL,
    poll INTEGER NOT NULL,
    place INTEGER NOT NULL
);
