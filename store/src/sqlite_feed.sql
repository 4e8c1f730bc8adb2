-- Records every change of an event, like PostgreSQL's triggers, for analyzers that poll.
CREATE TRIGGER nicdrill_note_insert AFTER INSERT ON health_events BEGIN
    INSERT INTO datastore_changelog (table_name, record_id, operation, old_values, new_values)
    VALUES (
        'health_events', NEW.id, 'INSERT',
        NULL,
        json_object(
            'id', NEW.id,
            'node_name', NEW.node_name,
            'event_type', NEW.event_type,
            'severity', NEW.severity,
            'recommended_action', NEW.recommended_action,
            'node_quarantined', NEW.node_quarantined,
            'user_pods_eviction_status', NEW.user_pods_eviction_status,
            'user_pods_eviction_message', NEW.user_pods_eviction_message,
            'fault_remediated', NEW.fault_remediated,
            'last_remediation_timestamp', NEW.last_remediation_timestamp,
            'quarantine_finish_timestamp', NEW.quarantine_finish_timestamp,
            'drain_finish_timestamp', NEW.drain_finish_timestamp,
            'document', json(NEW.document),
            'created_at', NEW.created_at,
            'updated_at', NEW.updated_at
        )
    );
END;
CREATE TRIGGER nicdrill_note_update AFTER UPDATE ON health_events BEGIN
    INSERT INTO datastore_changelog (table_name, record_id, operation, old_values, new_values)
    VALUES (
        'health_events', NEW.id, 'UPDATE',
        json_object(
            'id', OLD.id,
            'node_name', OLD.node_name,
            'event_type', OLD.event_type,
            'severity', OLD.severity,
            'recommended_action', OLD.recommended_action,
            'node_quarantined', OLD.node_quarantined,
            'user_pods_eviction_status', OLD.user_pods_eviction_status,
            'user_pods_eviction_message', OLD.user_pods_eviction_message,
            'fault_remediated', OLD.fault_remediated,
            'last_remediation_timestamp', OLD.last_remediation_timestamp,
            'quarantine_finish_timestamp', OLD.quarantine_finish_timestamp,
            'drain_finish_timestamp', OLD.drain_finish_timestamp,
            'document', json(OLD.document),
            'created_at', OLD.created_at,
            'updated_at', OLD.updated_at
        ),
        json_object(
            'id', NEW.id,
            'node_name', NEW.node_name,
            'event_type', NEW.event_type,
            'severity', NEW.severity,
            'recommended_action', NEW.recommended_action,
            'node_quarantined', NEW.node_quarantined,
            'user_pods_eviction_status', NEW.user_pods_eviction_status,
            'user_pods_eviction_message', NEW.user_pods_eviction_message,
            'fault_remediated', NEW.fault_remediated,
            'last_remediation_timestamp', NEW.last_remediation_timestamp,
            'quarantine_finish_timestamp', NEW.quarantine_finish_timestamp,
            'drain_finish_timestamp', NEW.drain_finish_timestamp,
            'document', json(NEW.document),
            'created_at', NEW.created_at,
            'updated_at', NEW.updated_at
        )
    );
END;
CREATE TRIGGER nicdrill_note_delete AFTER DELETE ON health_events BEGIN
    INSERT INTO datastore_changelog (table_name, record_id, operation, old_values, new_values)
    VALUES (
        'health_events', OLD.id, 'DELETE',
        json_object(
            'id', OLD.id,
            'node_name', OLD.node_name,
            'event_type', OLD.event_type,
            'severity', OLD.severity,
            'recommended_action', OLD.recommended_action,
            'node_quarantined', OLD.node_quarantined,
            'user_pods_eviction_status', OLD.user_pods_eviction_status,
            'user_pods_eviction_message', OLD.user_pods_eviction_message,
            'fault_remediated', OLD.fault_remediated,
            'last_remediation_timestamp', OLD.last_remediation_timestamp,
            'quarantine_finish_timestamp', OLD.quarantine_finish_timestamp,
            'drain_finish_timestamp', OLD.drain_finish_timestamp,
            'document', json(OLD.document),
            'created_at', OLD.created_at,
            'updated_at', OLD.updated_at
        ),
        NULL
    );
END;
