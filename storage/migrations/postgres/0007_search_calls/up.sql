-- The words of each call as `domain::terms` makes them, by who said them, each once in its column; `rowid` is the call's id.
-- `terms` only indexes them.
CREATE TABLE call_terms (
    rowid BIGINT NOT NULL PRIMARY KEY,
    caller TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    terms TSVECTOR NOT NULL GENERATED ALWAYS AS (
        array_to_tsvector(array_remove(string_to_array(caller || ' ' || agent, ' '), ''))
    ) STORED
);

CREATE INDEX call_terms_by_term ON call_terms USING gin (terms);

-- Words and folded names are made in Rust, so what is here already waits for the next opening, which makes them before it
-- serves anything.
CREATE TABLE calls_to_index (
    call_id BIGINT NOT NULL PRIMARY KEY
);

INSERT INTO calls_to_index (call_id) SELECT id FROM calls;

ALTER TABLE calls ADD COLUMN agent_folded TEXT COLLATE "C" NOT NULL DEFAULT '';

CREATE INDEX calls_by_agent_started ON calls (agent_folded, started_at);
CREATE INDEX calls_by_outcome_started ON calls (outcome, started_at);
CREATE INDEX csat_responses_by_score_submitted ON csat_responses (score, submitted_at);

-- The Monday on which the week of a score begins, in UTC. Weeks of 604,800,000,000 microseconds are counted from 200,000 of
-- them before Monday the 29th of December 1969, which was 259,200,000,000 before 1970: division cuts towards zero.
ALTER TABLE csat_responses ADD COLUMN week BIGINT NOT NULL GENERATED ALWAYS AS (
    ((submitted_at + 120960259200000000) / 604800000000 - 200000) * 604800000000 - 259200000000
) STORED;
