DROP TABLE audit_checkpoint;
DROP TRIGGER audit_head_is_linked;
DROP TRIGGER audit_event_is_sealed;
DROP TRIGGER audit_event_is_never_updated;
CREATE TRIGGER audit_event_is_never_updated BEFORE UPDATE ON audit_event
BEGIN
    SELECT RAISE(ABORT, 'audit_event_is_never_updated');
END;
