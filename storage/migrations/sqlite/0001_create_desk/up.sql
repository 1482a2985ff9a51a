-- Instants are microseconds since 1970 in UTC. A `*_folded` column is the text beside it as `domain::text::fold` makes it:
-- comparing happens on those, since SQLite folds ASCII only and PostgreSQL by its locale.
-- A constraint is named `<table>_<what_holds>`, which is all that SQLite reports of a CHECK; `sql::errors` maps the names.

CREATE TABLE categories (
    slug TEXT NOT NULL PRIMARY KEY,
    label TEXT NOT NULL,
    for_tickets INTEGER NOT NULL CONSTRAINT categories_for_tickets_is_bool CHECK (for_tickets IN (0, 1)),
    for_articles INTEGER NOT NULL CONSTRAINT categories_for_articles_is_bool CHECK (for_articles IN (0, 1)),
    for_calls INTEGER NOT NULL CONSTRAINT categories_for_calls_is_bool CHECK (for_calls IN (0, 1))
) STRICT;

INSERT INTO categories (slug, label, for_tickets, for_articles, for_calls) VALUES
    ('general', 'General', 1, 1, 1),
    ('account', 'Account', 1, 1, 1),
    ('billing', 'Billing', 1, 1, 1),
    ('password_account', 'Password and sign-in', 1, 1, 1),
    ('email', 'E-mail', 1, 1, 1),
    ('network_vpn', 'Network and VPN', 1, 1, 1),
    ('hardware', 'Hardware', 1, 1, 1),
    ('software_licensing', 'Software and licensing', 1, 1, 1),
    ('security', 'Security', 1, 1, 1),
    ('server_outage', 'Server outage', 1, 1, 1),
    ('onboarding_offboarding', 'Onboarding and offboarding', 1, 1, 1);

-- AUTOINCREMENT: an id is never used twice, so that what was confirmed for a deleted row can't hit a new one.
CREATE TABLE customers (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,
    email TEXT NOT NULL,
    email_folded TEXT NOT NULL CONSTRAINT customers_email_unique UNIQUE,
    phone TEXT,
    organisation TEXT,
    organisation_folded TEXT,
    status TEXT NOT NULL CONSTRAINT customers_status_valid CHECK (status IN ('active', 'inactive')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CONSTRAINT customers_version_positive CHECK (version >= 1),
    CONSTRAINT customers_organisation_folded_too CHECK ((organisation IS NULL) = (organisation_folded IS NULL))
) STRICT;

CREATE INDEX customers_by_created ON customers (created_at);
CREATE INDEX customers_by_updated ON customers (updated_at);
CREATE INDEX customers_by_status_created ON customers (status, created_at);
CREATE INDEX customers_by_status_updated ON customers (status, updated_at);
CREATE INDEX customers_by_organisation_created ON customers (organisation_folded, created_at);
CREATE INDEX customers_by_organisation_updated ON customers (organisation_folded, updated_at);

-- Every team that has or had a ticket, in the first spelling seen.
CREATE TABLE teams (
    folded TEXT NOT NULL PRIMARY KEY,
    shown TEXT NOT NULL
) STRICT;

CREATE TABLE tickets (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    customer_id INTEGER NOT NULL CONSTRAINT tickets_customer_exists REFERENCES customers (id) ON DELETE CASCADE,
    channel TEXT NOT NULL CONSTRAINT tickets_channel_valid CHECK (channel IN ('email', 'portal', 'phone', 'chat')),
    subject TEXT NOT NULL,
    description TEXT NOT NULL,
    category TEXT NOT NULL CONSTRAINT tickets_category_exists REFERENCES categories (slug),
    priority TEXT NOT NULL CONSTRAINT tickets_priority_valid CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
    status TEXT NOT NULL CONSTRAINT tickets_status_valid CHECK (status IN ('open', 'in_progress', 'resolved', 'closed')),
    tier INTEGER NOT NULL CONSTRAINT tickets_tier_valid CHECK (tier IN (1, 2, 3)),
    assigned_team TEXT,
    team_folded TEXT CONSTRAINT tickets_team_exists REFERENCES teams (folded),
    assignee TEXT,
    assignee_folded TEXT,
    -- The customer's, repeated here: a list by organisation stays one walk along one index.
    organisation_folded TEXT,
    security_flag TEXT NOT NULL CONSTRAINT tickets_security_flag_valid CHECK (security_flag IN ('none', 'held', 'incident')),
    last_comment_by TEXT NOT NULL CONSTRAINT tickets_last_comment_by_valid CHECK (last_comment_by IN ('customer', 'team')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CONSTRAINT tickets_version_positive CHECK (version >= 1),
    CONSTRAINT tickets_team_folded_too CHECK ((assigned_team IS NULL) = (team_folded IS NULL)),
    CONSTRAINT tickets_assignee_folded_too CHECK ((assignee IS NULL) = (assignee_folded IS NULL))
) STRICT;

-- One index for each order alone and with each single filter; the row's id is the last part of every index of SQLite.
CREATE INDEX tickets_by_created ON tickets (created_at);
CREATE INDEX tickets_by_updated ON tickets (updated_at);
CREATE INDEX tickets_by_status_created ON tickets (status, created_at);
CREATE INDEX tickets_by_status_updated ON tickets (status, updated_at);
CREATE INDEX tickets_by_priority_created ON tickets (priority, created_at);
CREATE INDEX tickets_by_priority_updated ON tickets (priority, updated_at);
CREATE INDEX tickets_by_category_created ON tickets (category, created_at);
CREATE INDEX tickets_by_category_updated ON tickets (category, updated_at);
CREATE INDEX tickets_by_customer_created ON tickets (customer_id, created_at);
CREATE INDEX tickets_by_customer_updated ON tickets (customer_id, updated_at);
CREATE INDEX tickets_by_organisation_created ON tickets (organisation_folded, created_at);
CREATE INDEX tickets_by_organisation_updated ON tickets (organisation_folded, updated_at);
CREATE INDEX tickets_by_team_created ON tickets (team_folded, created_at);
CREATE INDEX tickets_by_team_updated ON tickets (team_folded, updated_at);
CREATE INDEX tickets_by_assignee_created ON tickets (assignee_folded, created_at);
CREATE INDEX tickets_by_assignee_updated ON tickets (assignee_folded, updated_at);
CREATE INDEX tickets_by_tier_created ON tickets (tier, created_at);
CREATE INDEX tickets_by_tier_updated ON tickets (tier, updated_at);
CREATE INDEX tickets_by_flag_created ON tickets (security_flag, created_at);
CREATE INDEX tickets_by_flag_updated ON tickets (security_flag, updated_at);
CREATE INDEX tickets_by_turn_created ON tickets (last_comment_by, created_at);
CREATE INDEX tickets_by_turn_updated ON tickets (last_comment_by, updated_at);
CREATE INDEX tickets_assigned_by_created ON tickets (created_at) WHERE assignee_folded IS NOT NULL;
CREATE INDEX tickets_assigned_by_updated ON tickets (updated_at) WHERE assignee_folded IS NOT NULL;

CREATE TABLE comments (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ticket_id INTEGER NOT NULL CONSTRAINT comments_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    author TEXT NOT NULL,
    origin TEXT NOT NULL CONSTRAINT comments_origin_valid CHECK (origin IN ('customer', 'team', 'system')),
    visibility TEXT NOT NULL CONSTRAINT comments_visibility_valid CHECK (visibility IN ('internal', 'public')),
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX comments_by_ticket_created ON comments (ticket_id, created_at);

-- The words of each ticket as `domain::terms` makes them, each once, with blanks between; `rowid` is the ticket's id.
-- The words hold no ASCII but letters and digits, so the tokenizer `ascii` only cuts at the blanks.
CREATE VIRTUAL TABLE ticket_terms USING fts5 (subject, body, comments, tokenize = 'ascii', detail = column);

CREATE TABLE articles (
    id INTEGER NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL,
    title TEXT NOT NULL,
    category TEXT NOT NULL CONSTRAINT articles_category_exists REFERENCES categories (slug),
    audience TEXT NOT NULL CONSTRAINT articles_audience_valid CHECK (audience IN ('customer', 'staff')),
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL CONSTRAINT articles_version_positive CHECK (version >= 1)
) STRICT;

CREATE INDEX articles_by_category ON articles (category);

CREATE TABLE article_blocks (
    article_id INTEGER NOT NULL CONSTRAINT article_blocks_article_exists REFERENCES articles (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    audience TEXT NOT NULL CONSTRAINT article_blocks_audience_valid CHECK (audience IN ('customer', 'staff')),
    body TEXT NOT NULL,
    PRIMARY KEY (article_id, position)
) STRICT;

-- A transcript is read whole and never changed, so it is one JSON text: [[speaker, second, text], ...].
CREATE TABLE calls (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    customer_id INTEGER CONSTRAINT calls_customer_exists REFERENCES customers (id) ON DELETE SET NULL,
    ticket_id INTEGER CONSTRAINT calls_ticket_exists REFERENCES tickets (id) ON DELETE SET NULL,
    started_at INTEGER NOT NULL,
    duration_seconds INTEGER NOT NULL CONSTRAINT calls_duration_not_negative CHECK (duration_seconds >= 0),
    agent TEXT NOT NULL,
    category TEXT NOT NULL CONSTRAINT calls_category_exists REFERENCES categories (slug),
    outcome TEXT NOT NULL CONSTRAINT calls_outcome_valid CHECK (outcome IN ('resolved', 'escalated', 'callback', 'unresolved')),
    turns TEXT NOT NULL
) STRICT;

CREATE INDEX calls_by_customer_started ON calls (customer_id, started_at);
CREATE INDEX calls_by_ticket ON calls (ticket_id);
CREATE INDEX calls_by_category_started ON calls (category, started_at);
CREATE INDEX calls_by_started ON calls (started_at);

CREATE TABLE csat_responses (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    call_id INTEGER CONSTRAINT csat_responses_call_exists REFERENCES calls (id) ON DELETE CASCADE,
    ticket_id INTEGER CONSTRAINT csat_responses_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    score INTEGER NOT NULL CONSTRAINT csat_responses_score_valid CHECK (score IN (1, 2, 3, 4, 5)),
    comment TEXT,
    category TEXT NOT NULL CONSTRAINT csat_responses_category_exists REFERENCES categories (slug),
    submitted_at INTEGER NOT NULL,
    CONSTRAINT csat_responses_about_one_thing CHECK ((call_id IS NULL) <> (ticket_id IS NULL))
) STRICT;

CREATE INDEX csat_responses_by_call ON csat_responses (call_id);
CREATE INDEX csat_responses_by_ticket ON csat_responses (ticket_id);
CREATE INDEX csat_responses_by_category_submitted ON csat_responses (category, submitted_at);
CREATE INDEX csat_responses_by_submitted ON csat_responses (submitted_at);

-- What another system calls a thing that was imported from it.
CREATE TABLE external_ids (
    kind TEXT NOT NULL CONSTRAINT external_ids_kind_valid CHECK (kind IN ('customer', 'ticket', 'comment', 'call', 'csat')),
    external_id TEXT NOT NULL,
    entity_id INTEGER NOT NULL,
    PRIMARY KEY (kind, external_id)
) STRICT;

CREATE INDEX external_ids_by_entity ON external_ids (kind, entity_id);

-- `payload` is what happened, as exact bytes; `prev`, `hash`, `mac` and `mac_kid` are for the chain over them.
-- The columns after those repeat parts of the payload so that lists can filter; `action` and `entity` have no CHECK, since
-- their vocabularies grow with the tools and this table must never be rebuilt.
CREATE TABLE audit_event (
    chain INTEGER NOT NULL,
    seq INTEGER NOT NULL CONSTRAINT audit_event_seq_positive CHECK (seq >= 1),
    event_id BLOB NOT NULL CONSTRAINT audit_event_id_unique UNIQUE,
    payload BLOB NOT NULL,
    prev BLOB,
    hash BLOB,
    mac BLOB,
    mac_kid TEXT,
    at_us INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    entity TEXT NOT NULL,
    entity_id INTEGER,
    outcome TEXT NOT NULL CONSTRAINT audit_event_outcome_valid CHECK (outcome IN ('applied', 'refused')),
    code TEXT,
    CONSTRAINT audit_event_key PRIMARY KEY (chain, seq)
) STRICT;

CREATE INDEX audit_event_by_at ON audit_event (chain, at_us);
CREATE INDEX audit_event_by_actor ON audit_event (chain, actor, seq);
CREATE INDEX audit_event_by_action ON audit_event (chain, action, seq);
CREATE INDEX audit_event_by_entity ON audit_event (chain, entity, seq);
CREATE INDEX audit_event_by_entity_id ON audit_event (chain, entity, entity_id, seq);
CREATE INDEX audit_event_by_outcome ON audit_event (chain, outcome, seq);

CREATE TRIGGER audit_event_is_never_updated BEFORE UPDATE ON audit_event
BEGIN
    SELECT RAISE(ABORT, 'audit_event_is_never_updated');
END;

CREATE TRIGGER audit_event_is_never_deleted BEFORE DELETE ON audit_event
BEGIN
    SELECT RAISE(ABORT, 'audit_event_is_never_deleted');
END;

-- INSERT OR REPLACE deletes without firing the trigger above.
CREATE TRIGGER audit_event_is_never_replaced BEFORE INSERT ON audit_event
WHEN EXISTS (SELECT 1 FROM audit_event WHERE chain = NEW.chain AND seq = NEW.seq)
    OR EXISTS (SELECT 1 FROM audit_event WHERE event_id = NEW.event_id)
BEGIN
    SELECT RAISE(ABORT, 'audit_event_is_never_replaced');
END;

-- The end of each chain; writers take its row first, so they queue there.
CREATE TABLE audit_head (
    chain INTEGER NOT NULL PRIMARY KEY,
    seq INTEGER NOT NULL CONSTRAINT audit_head_seq_not_negative CHECK (seq >= 0),
    hash BLOB
) STRICT;

INSERT INTO audit_head (chain, seq, hash) VALUES (1, 0, NULL);

CREATE TRIGGER audit_head_never_goes_back BEFORE UPDATE ON audit_head
WHEN NEW.seq < OLD.seq OR NEW.chain <> OLD.chain
BEGIN
    SELECT RAISE(ABORT, 'audit_head_never_goes_back');
END;

CREATE TRIGGER audit_head_is_never_deleted BEFORE DELETE ON audit_head
BEGIN
    SELECT RAISE(ABORT, 'audit_head_is_never_deleted');
END;

CREATE TRIGGER audit_head_is_never_replaced BEFORE INSERT ON audit_head
WHEN EXISTS (SELECT 1 FROM audit_head WHERE chain = NEW.chain)
BEGIN
    SELECT RAISE(ABORT, 'audit_head_is_never_replaced');
END;

-- The planner's statistics, written by hand for a desk of 100,000 tickets. Without any, SQLite takes every equality for
-- equally selective and may answer "open tickets of this customer" from all open tickets; and plans don't depend on who ran
-- ANALYZE when. The numbers are rows in the table, then rows for one value of each prefix of the index's columns.
ANALYZE sqlite_schema;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('customers', 'customers_by_created', '10000 2'),
    ('customers', 'customers_by_updated', '10000 2'),
    ('customers', 'customers_by_status_created', '10000 5000 2'),
    ('customers', 'customers_by_status_updated', '10000 5000 2'),
    ('customers', 'customers_by_organisation_created', '10000 20 2'),
    ('customers', 'customers_by_organisation_updated', '10000 20 2'),
    ('tickets', 'tickets_by_created', '100000 2'),
    ('tickets', 'tickets_by_updated', '100000 2'),
    ('tickets', 'tickets_by_status_created', '100000 25000 2'),
    ('tickets', 'tickets_by_status_updated', '100000 25000 2'),
    ('tickets', 'tickets_by_priority_created', '100000 25000 2'),
    ('tickets', 'tickets_by_priority_updated', '100000 25000 2'),
    ('tickets', 'tickets_by_category_created', '100000 9000 2'),
    ('tickets', 'tickets_by_category_updated', '100000 9000 2'),
    ('tickets', 'tickets_by_customer_created', '100000 10 2'),
    ('tickets', 'tickets_by_customer_updated', '100000 10 2'),
    ('tickets', 'tickets_by_organisation_created', '100000 200 2'),
    ('tickets', 'tickets_by_organisation_updated', '100000 200 2'),
    ('tickets', 'tickets_by_team_created', '100000 8000 2'),
    ('tickets', 'tickets_by_team_updated', '100000 8000 2'),
    ('tickets', 'tickets_by_assignee_created', '100000 2000 2'),
    ('tickets', 'tickets_by_assignee_updated', '100000 2000 2'),
    ('tickets', 'tickets_by_tier_created', '100000 33000 2'),
    ('tickets', 'tickets_by_tier_updated', '100000 33000 2'),
    ('tickets', 'tickets_by_flag_created', '100000 33000 2'),
    ('tickets', 'tickets_by_flag_updated', '100000 33000 2'),
    ('tickets', 'tickets_by_turn_created', '100000 50000 2'),
    ('tickets', 'tickets_by_turn_updated', '100000 50000 2'),
    ('tickets', 'tickets_assigned_by_created', '70000 2'),
    ('tickets', 'tickets_assigned_by_updated', '70000 2'),
    ('comments', 'comments_by_ticket_created', '300000 3 1'),
    ('audit_event', 'sqlite_autoindex_audit_event_1', '500000 1'),
    ('audit_event', 'sqlite_autoindex_audit_event_2', '500000 500000 1'),
    ('audit_event', 'audit_event_by_at', '500000 500000 2'),
    ('audit_event', 'audit_event_by_actor', '500000 500000 10000 1'),
    ('audit_event', 'audit_event_by_action', '500000 500000 70000 1'),
    ('audit_event', 'audit_event_by_entity', '500000 500000 100000 1'),
    ('audit_event', 'audit_event_by_entity_id', '500000 500000 100000 5 1'),
    ('audit_event', 'audit_event_by_outcome', '500000 500000 250000 1');
