-- Every row of the log carries its link and what seals it. Rows of older builds have neither; the first opening seals them once, and
-- the trigger lets exactly that step pass: all four columns from nothing to a value, and nothing else touched.
DROP TRIGGER audit_event_is_never_updated ON audit_event;

CREATE TRIGGER audit_event_is_never_updated BEFORE UPDATE ON audit_event
FOR EACH ROW WHEN ((
    OLD.prev IS NULL AND OLD.hash IS NULL AND OLD.mac IS NULL AND OLD.mac_kid IS NULL
    AND octet_length(NEW.prev) = 32 AND octet_length(NEW.hash) = 32 AND octet_length(NEW.mac) = 32
    AND NEW.mac_kid IS NOT NULL
    AND NEW.chain = OLD.chain AND NEW.seq = OLD.seq AND NEW.event_id = OLD.event_id AND NEW.payload = OLD.payload
    AND NEW.at_us = OLD.at_us AND NEW.actor = OLD.actor AND NEW.action = OLD.action AND NEW.entity = OLD.entity
    AND NEW.entity_id IS NOT DISTINCT FROM OLD.entity_id AND NEW.outcome = OLD.outcome
    AND NEW.code IS NOT DISTINCT FROM OLD.code
) IS NOT TRUE)
EXECUTE FUNCTION deskgate_refuse();

CREATE TRIGGER audit_event_is_sealed BEFORE INSERT ON audit_event
FOR EACH ROW WHEN ((
    octet_length(NEW.prev) = 32 AND octet_length(NEW.hash) = 32 AND octet_length(NEW.mac) = 32
    AND NEW.mac_kid IS NOT NULL
) IS NOT TRUE)
EXECUTE FUNCTION deskgate_refuse();

-- A head that moves names the link of the row that it points at.
CREATE TRIGGER audit_head_is_linked BEFORE UPDATE ON audit_head
FOR EACH ROW WHEN (
    (NEW.seq > OLD.seq AND (octet_length(NEW.hash) = 32) IS NOT TRUE) OR (OLD.hash IS NOT NULL AND NEW.hash IS NULL)
)
EXECUTE FUNCTION deskgate_refuse();

-- Signed notes of where a chain stood (promises D.5). What they prove lies in the copies outside; these are for finding the last one.
CREATE TABLE audit_checkpoint (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chain SMALLINT NOT NULL,
    seq BIGINT NOT NULL CONSTRAINT audit_checkpoint_seq_positive CHECK (seq >= 1),
    at_us BIGINT NOT NULL,
    note TEXT COLLATE "C" NOT NULL,
    CONSTRAINT audit_checkpoint_place UNIQUE (chain, seq)
);

CREATE TRIGGER audit_checkpoint_is_never_updated BEFORE UPDATE ON audit_checkpoint
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();

CREATE TRIGGER audit_checkpoint_is_never_deleted BEFORE DELETE ON audit_checkpoint
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();

CREATE TRIGGER audit_checkpoint_is_never_emptied BEFORE TRUNCATE ON audit_checkpoint
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();
