-- What tells this store from any other: a token made by one is nothing to another (design section 6).
CREATE TABLE deployment (
    "only" BIGINT NOT NULL PRIMARY KEY CONSTRAINT deployment_one_row CHECK ("only" = 1),
    id TEXT COLLATE "C" NOT NULL
);

INSERT INTO deployment ("only", id) VALUES (1, replace(gen_random_uuid()::text, '-', ''));

-- Changes that were previewed. `record` is the exact bytes that the token's tag covers; `operation`, `entity_id`,
-- `arguments` and `shown` are bound by its digest, and the columns after those only serve look-ups.
CREATE TABLE pending_changes (
    number BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_id BYTEA NOT NULL CONSTRAINT pending_changes_token_unique UNIQUE,
    record BYTEA NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    entity_id BIGINT NOT NULL,
    arguments TEXT COLLATE "C" NOT NULL,
    shown TEXT COLLATE "C" NOT NULL,
    idempotency_key TEXT COLLATE "C",
    actor TEXT COLLATE "C" NOT NULL,
    client TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    required TEXT COLLATE "C" NOT NULL CONSTRAINT pending_changes_required_valid CHECK (required IN ('token', 'person')),
    state TEXT COLLATE "C" NOT NULL CONSTRAINT pending_changes_state_valid CHECK (state IN ('pending', 'approved', 'spent', 'refused', 'declined', 'expired', 'revoked')),
    closed_as TEXT COLLATE "C",
    method TEXT COLLATE "C" CONSTRAINT pending_changes_method_valid CHECK (method IN ('token_only', 'elicitation_form', 'operator_terminal', 'approval_page')),
    approver TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    spent_at BIGINT,
    answer TEXT COLLATE "C",
    -- When the row may be forgotten: until then a repeated call is told what became of it.
    keep_until BIGINT NOT NULL,
    CONSTRAINT pending_changes_spent_has_answer CHECK ((state = 'spent') = (answer IS NOT NULL))
);

CREATE INDEX pending_changes_by_actor ON pending_changes (actor, state, number);
CREATE INDEX pending_changes_by_state ON pending_changes (state, number);
CREATE INDEX pending_changes_by_keep ON pending_changes (keep_until);

-- Writes that named a key of their own, so that a repeated call finds them.
CREATE TABLE idempotency_keys (
    actor TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    answer TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (actor, tool, key)
);

CREATE INDEX idempotency_keys_by_created ON idempotency_keys (created_at);

-- What staff found out about a requested change of payment details.
CREATE TABLE payment_verifications (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id BIGINT NOT NULL CONSTRAINT payment_verifications_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    channel_on_file TEXT COLLATE "C" NOT NULL,
    confirmer TEXT COLLATE "C" NOT NULL,
    approver TEXT COLLATE "C" NOT NULL,
    entered_by TEXT COLLATE "C" NOT NULL,
    entered_at BIGINT NOT NULL
);

CREATE INDEX payment_verifications_by_ticket ON payment_verifications (ticket_id);

-- The customer's own words, kept when staff corrects a ticket's subject or description.
CREATE TABLE ticket_originals (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id BIGINT NOT NULL CONSTRAINT ticket_originals_ticket_once UNIQUE
        CONSTRAINT ticket_originals_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    subject TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    replaced_at BIGINT NOT NULL
);
