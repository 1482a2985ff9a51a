DROP TABLE audit_checkpoint;
DROP TRIGGER audit_head_is_linked ON audit_head;
DROP TRIGGER audit_event_is_sealed ON audit_event;
DROP TRIGGER audit_event_is_never_updated ON audit_event;
CREATE TRIGGER audit_event_is_never_updated BEFORE UPDATE ON audit_event
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();
