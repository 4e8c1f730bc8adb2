-- NVSentinel's layout.
CREATE TABLE IF NOT EXISTS health_events (
    id UUID PRIMARY KEY,
    node_name TEXT NOT NULL,
    event_type TEXT NOT NULL,
    severity TEXT,
    recommended_action TEXT,
    node_quarantined TEXT,
    user_pods_eviction_status TEXT DEFAULT 'NotStarted',
    user_pods_eviction_message TEXT,
    fault_remediated BOOLEAN,
    last_remediation_timestamp TIMESTAMPTZ,
    quarantine_finish_timestamp TIMESTAMPTZ,
    drain_finish_timestamp TIMESTAMPTZ,
    document JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS datastore_changelog (
    id BIGSERIAL PRIMARY KEY,
    table_name TEXT NOT NULL,
    record_id UUID NOT NULL,
    operation TEXT NOT NULL,
    old_values JSONB,
    new_values JSONB,
    changed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    processed BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE TABLE IF NOT EXISTS resume_tokens (
    client_name TEXT PRIMARY KEY,
    resume_token JSONB,
    last_updated TIMESTAMPTZ NOT NULL DEFAULT now()
);
-- The run and drill of each row.
CREATE TABLE IF NOT EXISTS nicdrill_runs (
    id UUID PRIMARY KEY,
    started TIMESTAMPTZ NOT NULL,
    seed TEXT NOT NULL,
    asked JSONB NOT NULL
);
CREATE TABLE IF NOT EXISTS nicdrill_events (
    event_id UUID PRIMARY KEY,
    run UUID NOT NULL,
    drill TEXT NOT NULL,
    arm TEXT NOT NULL,
    poll BIGINT NOT NULL,
    place BIGINT NOT NULL
);
