-- The tables of SQLite's first step, column for column, and constraint for constraint but where a type says the same; a test
-- compares both catalogs. Every text is in the collation "C", so that texts are in the order of their bytes here as there.

CREATE TABLE categories (
    slug TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    label TEXT COLLATE "C" NOT NULL,
    for_tickets BOOLEAN NOT NULL,
    for_articles BOOLEAN NOT NULL,
    for_calls BOOLEAN NOT NULL
);

INSERT INTO categories (slug, label, for_tickets, for_articles, for_calls) VALUES
    ('general', 'General', TRUE, TRUE, TRUE),
    ('account', 'Account', TRUE, TRUE, TRUE),
    ('billing', 'Billing', TRUE, TRUE, TRUE),
    ('password_account', 'Password and sign-in', TRUE, TRUE, TRUE),
    ('email', 'E-mail', TRUE, TRUE, TRUE),
    ('network_vpn', 'Network and VPN', TRUE, TRUE, TRUE),
    ('hardware', 'Hardware', TRUE, TRUE, TRUE),
    ('software_licensing', 'Software and licensing', TRUE, TRUE, TRUE),
    ('security', 'Security', TRUE, TRUE, TRUE),
    ('server_outage', 'Server outage', TRUE, TRUE, TRUE),
    ('onboarding_offboarding', 'Onboarding and offboarding', TRUE, TRUE, TRUE);

-- A sequence: an id is never used twice, so that what was confirmed for a deleted row can't hit a new one.
CREATE TABLE customers (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    name_folded TEXT COLLATE "C" NOT NULL,
    email TEXT COLLATE "C" NOT NULL,
    email_folded TEXT COLLATE "C" NOT NULL CONSTRAINT customers_email_unique UNIQUE,
    phone TEXT COLLATE "C",
    organisation TEXT COLLATE "C",
    organisation_folded TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL CONSTRAINT customers_status_valid CHECK (status IN ('active', 'inactive')),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL CONSTRAINT customers_version_positive CHECK (version >= 1),
    CONSTRAINT customers_organisation_folded_too CHECK ((organisation IS NULL) = (organisation_folded IS NULL))
);

CREATE INDEX customers_by_created ON customers (created_at, id);
CREATE INDEX customers_by_updated ON customers (updated_at, id);
CREATE INDEX customers_by_status_created ON customers (status, created_at, id);
CREATE INDEX customers_by_status_updated ON customers (status, updated_at, id);
CREATE INDEX customers_by_organisation_created ON customers (organisation_folded, created_at, id);
CREATE INDEX customers_by_organisation_updated ON customers (organisation_folded, updated_at, id);

-- Every team that has or had a ticket, in the first spelling seen.
CREATE TABLE teams (
    folded TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    shown TEXT COLLATE "C" NOT NULL
);

CREATE TABLE tickets (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id BIGINT NOT NULL CONSTRAINT tickets_customer_exists REFERENCES customers (id) ON DELETE CASCADE,
    channel TEXT COLLATE "C" NOT NULL CONSTRAINT tickets_channel_valid CHECK (channel IN ('email', 'portal', 'phone', 'chat')),
    subject TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    category TEXT COLLATE "C" NOT NULL CONSTRAINT tickets_category_exists REFERENCES categories (slug),
    priority TEXT COLLATE "C" NOT NULL CONSTRAINT tickets_priority_valid CHECK (priority IN ('low', 'medium', 'high', 'urgent')),
    status TEXT COLLATE "C" NOT NULL CONSTRAINT tickets_status_valid CHECK (status IN ('open', 'in_progress', 'resolved', 'closed')),
    tier SMALLINT NOT NULL CONSTRAINT tickets_tier_valid CHECK (tier IN (1, 2, 3)),
    assigned_team TEXT COLLATE "C",
    team_folded TEXT COLLATE "C" CONSTRAINT tickets_team_exists REFERENCES teams (folded),
    assignee TEXT COLLATE "C",
    assignee_folded TEXT COLLATE "C",
    -- The customer's, repeated here: a list by organisation stays one walk along one index.
    organisation_folded TEXT COLLATE "C",
    security_flag TEXT COLLATE "C" NOT NULL CONSTRAINT tickets_security_flag_valid CHECK (security_flag IN ('none', 'held', 'incident')),
    last_comment_by TEXT COLLATE "C" NOT NULL CONSTRAINT tickets_last_comment_by_valid CHECK (last_comment_by IN ('customer', 'team')),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL CONSTRAINT tickets_version_positive CHECK (version >= 1),
    CONSTRAINT tickets_team_folded_too CHECK ((assigned_team IS NULL) = (team_folded IS NULL)),
    CONSTRAINT tickets_assignee_folded_too CHECK ((assignee IS NULL) = (assignee_folded IS NULL))
);

-- One index for each order alone and with each single filter; the id settles rows of the same instant.
CREATE INDEX tickets_by_created ON tickets (created_at, id);
CREATE INDEX tickets_by_updated ON tickets (updated_at, id);
CREATE INDEX tickets_by_status_created ON tickets (status, created_at, id);
CREATE INDEX tickets_by_status_updated ON tickets (status, updated_at, id);
CREATE INDEX tickets_by_priority_created ON tickets (priority, created_at, id);
CREATE INDEX tickets_by_priority_updated ON tickets (priority, updated_at, id);
CREATE INDEX tickets_by_category_created ON tickets (category, created_at, id);
CREATE INDEX tickets_by_category_updated ON tickets (category, updated_at, id);
CREATE INDEX tickets_by_customer_created ON tickets (customer_id, created_at, id);
CREATE INDEX tickets_by_customer_updated ON tickets (customer_id, updated_at, id);
CREATE INDEX tickets_by_organisation_created ON tickets (organisation_folded, created_at, id);
CREATE INDEX tickets_by_organisation_updated ON tickets (organisation_folded, updated_at, id);
CREATE INDEX tickets_by_team_created ON tickets (team_folded, created_at, id);
CREATE INDEX tickets_by_team_updated ON tickets (team_folded, updated_at, id);
CREATE INDEX tickets_by_assignee_created ON tickets (assignee_folded, created_at, id);
CREATE INDEX tickets_by_assignee_updated ON tickets (assignee_folded, updated_at, id);
CREATE INDEX tickets_by_tier_created ON tickets (tier, created_at, id);
CREATE INDEX tickets_by_tier_updated ON tickets (tier, updated_at, id);
CREATE INDEX tickets_by_flag_created ON tickets (security_flag, created_at, id);
CREATE INDEX tickets_by_flag_updated ON tickets (security_flag, updated_at, id);
CREATE INDEX tickets_by_turn_created ON tickets (last_comment_by, created_at, id);
CREATE INDEX tickets_by_turn_updated ON tickets (last_comment_by, updated_at, id);
CREATE INDEX tickets_assigned_by_created ON tickets (created_at, id) WHERE assignee_folded IS NOT NULL;
CREATE INDEX tickets_assigned_by_updated ON tickets (updated_at, id) WHERE assignee_folded IS NOT NULL;

CREATE TABLE comments (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id BIGINT NOT NULL CONSTRAINT comments_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    author TEXT COLLATE "C" NOT NULL,
    origin TEXT COLLATE "C" NOT NULL CONSTRAINT comments_origin_valid CHECK (origin IN ('customer', 'team', 'system')),
    visibility TEXT COLLATE "C" NOT NULL CONSTRAINT comments_visibility_valid CHECK (visibility IN ('internal', 'public')),
    body TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX comments_by_ticket_created ON comments (ticket_id, created_at, id);

-- The words of each ticket as `domain::terms` makes them, each once in its column, with blanks between; `rowid` is the
-- ticket's id. `terms` only indexes them: no configuration of PostgreSQL says what a word is.
CREATE TABLE ticket_terms (
    rowid BIGINT NOT NULL PRIMARY KEY,
    subject TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    comments TEXT COLLATE "C" NOT NULL,
    terms TSVECTOR NOT NULL GENERATED ALWAYS AS (
        array_to_tsvector(array_remove(string_to_array(subject || ' ' || body || ' ' || comments, ' '), ''))
    ) STORED
);

CREATE INDEX ticket_terms_by_term ON ticket_terms USING gin (terms);

CREATE TABLE articles (
    id BIGINT NOT NULL PRIMARY KEY,
    slug TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    category TEXT COLLATE "C" NOT NULL CONSTRAINT articles_category_exists REFERENCES categories (slug),
    audience TEXT COLLATE "C" NOT NULL CONSTRAINT articles_audience_valid CHECK (audience IN ('customer', 'staff')),
    updated_at BIGINT NOT NULL,
    version BIGINT NOT NULL CONSTRAINT articles_version_positive CHECK (version >= 1)
);

CREATE INDEX articles_by_category ON articles (category);

CREATE TABLE article_blocks (
    article_id BIGINT NOT NULL CONSTRAINT article_blocks_article_exists REFERENCES articles (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    audience TEXT COLLATE "C" NOT NULL CONSTRAINT article_blocks_audience_valid CHECK (audience IN ('customer', 'staff')),
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (article_id, position)
);

-- A transcript is read whole and never changed, so it is one JSON text: [[speaker, second, text], ...].
CREATE TABLE calls (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id BIGINT CONSTRAINT calls_customer_exists REFERENCES customers (id) ON DELETE SET NULL,
    ticket_id BIGINT CONSTRAINT calls_ticket_exists REFERENCES tickets (id) ON DELETE SET NULL,
    started_at BIGINT NOT NULL,
    duration_seconds BIGINT NOT NULL CONSTRAINT calls_duration_not_negative CHECK (duration_seconds >= 0),
    agent TEXT COLLATE "C" NOT NULL,
    category TEXT COLLATE "C" NOT NULL CONSTRAINT calls_category_exists REFERENCES categories (slug),
    outcome TEXT COLLATE "C" NOT NULL CONSTRAINT calls_outcome_valid CHECK (outcome IN ('resolved', 'escalated', 'callback', 'unresolved')),
    turns TEXT COLLATE "C" NOT NULL
);

CREATE INDEX calls_by_customer_started ON calls (customer_id, started_at, id);
CREATE INDEX calls_by_ticket ON calls (ticket_id);
CREATE INDEX calls_by_category_started ON calls (category, started_at, id);
CREATE INDEX calls_by_started ON calls (started_at, id);

CREATE TABLE csat_responses (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    call_id BIGINT CONSTRAINT csat_responses_call_exists REFERENCES calls (id) ON DELETE CASCADE,
    ticket_id BIGINT CONSTRAINT csat_responses_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    score SMALLINT NOT NULL CONSTRAINT csat_responses_score_valid CHECK (score IN (1, 2, 3, 4, 5)),
    comment TEXT COLLATE "C",
    category TEXT COLLATE "C" NOT NULL CONSTRAINT csat_responses_category_exists REFERENCES categories (slug),
    submitted_at BIGINT NOT NULL,
    CONSTRAINT csat_responses_about_one_thing CHECK ((call_id IS NULL) <> (ticket_id IS NULL))
);

CREATE INDEX csat_responses_by_call ON csat_responses (call_id);
CREATE INDEX csat_responses_by_ticket ON csat_responses (ticket_id);
CREATE INDEX csat_responses_by_category_submitted ON csat_responses (category, submitted_at, id);
CREATE INDEX csat_responses_by_submitted ON csat_responses (submitted_at, id);

-- What another system calls a thing that was imported from it.
CREATE TABLE external_ids (
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT external_ids_kind_valid CHECK (kind IN ('customer', 'ticket', 'comment', 'call', 'csat')),
    external_id TEXT COLLATE "C" NOT NULL,
    entity_id BIGINT NOT NULL,
    PRIMARY KEY (kind, external_id)
);

CREATE INDEX external_ids_by_entity ON external_ids (kind, entity_id);

-- `payload` is what happened, as exact bytes; `prev`, `hash`, `mac` and `mac_kid` are for the chain over them.
-- The columns after those repeat parts of the payload so that lists can filter; `action` and `entity` have no CHECK, since
-- their vocabularies grow with the tools and this table must never be rebuilt.
CREATE TABLE audit_event (
    chain SMALLINT NOT NULL,
    seq BIGINT NOT NULL CONSTRAINT audit_event_seq_positive CHECK (seq >= 1),
    event_id BYTEA NOT NULL CONSTRAINT audit_event_id_unique UNIQUE,
    payload BYTEA NOT NULL,
    prev BYTEA,
    hash BYTEA,
    mac BYTEA,
    mac_kid TEXT COLLATE "C",
    at_us BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    entity TEXT COLLATE "C" NOT NULL,
    entity_id BIGINT,
    outcome TEXT COLLATE "C" NOT NULL CONSTRAINT audit_event_outcome_valid CHECK (outcome IN ('applied', 'refused')),
    code TEXT COLLATE "C",
    CONSTRAINT audit_event_key PRIMARY KEY (chain, seq)
);

CREATE INDEX audit_event_by_at ON audit_event (chain, at_us);
CREATE INDEX audit_event_by_actor ON audit_event (chain, actor, seq);
CREATE INDEX audit_event_by_action ON audit_event (chain, action, seq);
CREATE INDEX audit_event_by_entity ON audit_event (chain, entity, seq);
CREATE INDEX audit_event_by_entity_id ON audit_event (chain, entity, entity_id, seq);
CREATE INDEX audit_event_by_outcome ON audit_event (chain, outcome, seq);

-- One function refuses all: what it refuses is the name of the trigger.
CREATE FUNCTION deskgate_refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_NAME;
END
$$;

CREATE TRIGGER audit_event_is_never_updated BEFORE UPDATE ON audit_event
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();

CREATE TRIGGER audit_event_is_never_deleted BEFORE DELETE ON audit_event
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();

CREATE TRIGGER audit_event_is_never_emptied BEFORE TRUNCATE ON audit_event
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();

-- The end of each chain; writers take its row first, so they queue there.
CREATE TABLE audit_head (
    chain SMALLINT NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL CONSTRAINT audit_head_seq_not_negative CHECK (seq >= 0),
    hash BYTEA
);

INSERT INTO audit_head (chain, seq, hash) VALUES (1, 0, NULL);

CREATE TRIGGER audit_head_never_goes_back BEFORE UPDATE ON audit_head
FOR EACH ROW WHEN (NEW.seq < OLD.seq OR NEW.chain <> OLD.chain) EXECUTE FUNCTION deskgate_refuse();

CREATE TRIGGER audit_head_is_never_deleted BEFORE DELETE ON audit_head
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();

CREATE TRIGGER audit_head_is_never_emptied BEFORE TRUNCATE ON audit_head
FOR EACH STATEMENT EXECUTE FUNCTION deskgate_refuse();
