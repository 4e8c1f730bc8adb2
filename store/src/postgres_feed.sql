-- Records every change of an event, and notifies listeners.
CREATE OR REPLACE FUNCTION nicdrill_note_change() RETURNS trigger AS $$
DECLARE
    before JSONB;
    after JSONB;
    noted BIGINT;
BEGIN
    IF TG_OP <> 'INSERT' THEN before := to_jsonb(OLD); END IF;
    IF TG_OP <> 'DELETE' THEN after := to_jsonb(NEW); END IF;
    INSERT INTO datastore_changelog (table_name, record_id, operation, old_values, new_values)
    VALUES (TG_TABLE_NAME, (COALESCE(after, before) ->> 'id')::uuid, TG_OP, before, after)
    RETURNING id INTO noted;
    PERFORM pg_notify('nvsentinel_changes', json_build_object(
        'id', noted,
        'table', TG_TABLE_NAME,
        'operation', TG_OP,
        'record_id', COALESCE(after, before) ->> 'id'
    )::text);
    RETURN NULL;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER nicdrill_note_change AFTER INSERT OR UPDATE OR DELETE ON health_events
    FOR EACH ROW EXECUTE FUNCTION nicdrill_note_change();
