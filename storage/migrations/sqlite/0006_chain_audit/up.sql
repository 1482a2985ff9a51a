-- Every row of the log carries its link and what seals it. Rows of older builds have neither; the first opening seals them once, and
-- the trigger lets exactly that step pass: all four columns from nothing to a value, and nothing else touched.
DROP TRIGGER audit_event_is_never_updated;

CREATE TRIGGER audit_event_is_never_updated BEFORE UPDATE ON audit_event
WHEN NOT (
    OLD.prev IS NULL AND OLD.hash IS NULL AND OLD.mac IS NULL AND OLD.mac_kid IS NULL
    AND length(NEW.prev) = 32 AND length(NEW.hash) = 32 AND length(NEW.mac) = 32 AND NEW.mac_kid IS NOT NULL
    AND NEW.chain IS OLD.chain AND NEW.seq IS OLD.seq AND NEW.event_id IS OLD.event_id AND NEW.payload IS OLD.payload
    AND NEW.at_us IS OLD.at_us AND NEW.actor IS OLD.actor AND NEW.action IS OLD.action AND NEW.entity IS OLD.entity
    AND NEW.entity_id IS OLD.entity_id AND NEW.outcome IS OLD.outcome AND NEW.code IS OLD.code
)
BEGIN
    SELECT RAISE(ABORT, 'audit_event_is_never_updated');
END;

CREATE TRIGGER audit_event_is_sealed BEFORE INSERT ON audit_event
WHEN length(NEW.prev) IS NOT 32 OR length(NEW.hash) IS NOT 32 OR length(NEW.mac) IS NOT 32 OR NEW.mac_kid IS NULL
BEGIN
    SELECT RAISE(ABORT, 'audit_event_is_sealed');
END;

-- A head that moves names the link of the row that it points at.
CREATE TRIGGER audit_head_is_linked BEFORE UPDATE ON audit_head
WHEN (NEW.seq > OLD.seq AND length(NEW.hash) IS NOT 32) OR (OLD.hash IS NOT NULL AND NEW.hash IS NULL)
BEGIN
    SELECT RAISE(ABORT, 'audit_head_is_linked');
END;

-- Signed notes of where a chain stood (promises D.5). What they prove lies in the copies outside; these are for finding the last one.
CREATE TABLE audit_checkpoint (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    chain INTEGER NOT NULL,
    seq INTEGER NOT NULL CONSTRAINT audit_checkpoint_seq_positive CHECK (seq >= 1),
    at_us INTEGER NOT NULL,
    note TEXT NOT NULL,
    CONSTRAINT audit_checkpoint_place UNIQUE (chain, seq)
) STRICT;

CREATE TRIGGER audit_checkpoint_is_never_updated BEFORE UPDATE ON audit_checkpoint
BEGIN
    SELECT RAISE(ABORT, 'audit_checkpoint_is_never_updated');
END;

CREATE TRIGGER audit_checkpoint_is_never_deleted BEFORE DELETE ON audit_checkpoint
BEGIN
    SELECT RAISE(ABORT, 'audit_checkpoint_is_never_deleted');
END;

CREATE TRIGGER audit_checkpoint_is_never_replaced BEFORE INSERT ON audit_checkpoint
WHEN EXISTS (SELECT 1 FROM audit_checkpoint WHERE id = NEW.id OR (chain = NEW.chain AND seq = NEW.seq))
BEGIN
    SELECT RAISE(ABORT, 'audit_checkpoint_is_never_replaced');
END;
