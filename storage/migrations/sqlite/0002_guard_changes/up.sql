-- What tells this store from any other: a token made by one is nothing to another (design section 6).
CREATE TABLE deployment (
    only INTEGER NOT NULL PRIMARY KEY CONSTRAINT deployment_one_row CHECK (only = 1),
    id TEXT NOT NULL
) STRICT;

INSERT INTO deployment (only, id) VALUES (1, lower(hex(randomblob(16))));

-- Changes that were previewed. `record` is the exact bytes that the token's tag covers; `operation`, `entity_id`,
-- `arguments` and `shown` are bound by its digest, and the columns after those only serve look-ups.
CREATE TABLE pending_changes (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    token_id BLOB NOT NULL CONSTRAINT pending_changes_token_unique UNIQUE,
    record BLOB NOT NULL,
    operation TEXT NOT NULL,
    entity_id INTEGER NOT NULL,
    arguments TEXT NOT NULL,
    shown TEXT NOT NULL,
    idempotency_key TEXT,
    actor TEXT NOT NULL,
    client TEXT NOT NULL,
    channel TEXT NOT NULL,
    required TEXT NOT NULL CONSTRAINT pending_changes_required_valid CHECK (required IN ('token', 'person')),
    state TEXT NOT NULL CONSTRAINT pending_changes_state_valid CHECK (state IN ('pending', 'approved', 'spent', 'refused', 'declined', 'expired', 'revoked')),
    closed_as TEXT,
    method TEXT CONSTRAINT pending_changes_method_valid CHECK (method IN ('token_only', 'elicitation_form', 'operator_terminal', 'approval_page')),
    approver TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    decided_at INTEGER,
    spent_at INTEGER,
    answer TEXT,
    -- When the row may be forgotten: until then a repeated call is told what became of it.
    keep_until INTEGER NOT NULL,
    CONSTRAINT pending_changes_spent_has_answer CHECK ((state = 'spent') = (answer IS NOT NULL))
) STRICT;

CREATE INDEX pending_changes_by_actor ON pending_changes (actor, state, number);
CREATE INDEX pending_changes_by_state ON pending_changes (state, number);
CREATE INDEX pending_changes_by_keep ON pending_changes (keep_until);

-- Writes that named a key of their own, so that a repeated call finds them.
CREATE TABLE idempotency_keys (
    actor TEXT NOT NULL,
    tool TEXT NOT NULL,
    key TEXT NOT NULL,
    digest BLOB NOT NULL,
    answer TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (actor, tool, key)
) STRICT;

CREATE INDEX idempotency_keys_by_created ON idempotency_keys (created_at);

-- What staff found out about a requested change of payment details.
CREATE TABLE payment_verifications (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ticket_id INTEGER NOT NULL CONSTRAINT payment_verifications_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    channel_on_file TEXT NOT NULL,
    confirmer TEXT NOT NULL,
    approver TEXT NOT NULL,
    entered_by TEXT NOT NULL,
    entered_at INTEGER NOT NULL
) STRICT;

CREATE INDEX payment_verifications_by_ticket ON payment_verifications (ticket_id);

-- The customer's own words, kept when staff corrects a ticket's subject or description.
CREATE TABLE ticket_originals (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ticket_id INTEGER NOT NULL CONSTRAINT ticket_originals_ticket_once UNIQUE
        CONSTRAINT ticket_originals_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    description TEXT NOT NULL,
    replaced_at INTEGER NOT NULL
) STRICT;
