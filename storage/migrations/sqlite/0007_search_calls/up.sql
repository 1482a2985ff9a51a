-- The words of each call as `domain::terms` makes them, by who said them, each once in its column; `rowid` is the call's id.
CREATE VIRTUAL TABLE call_terms USING fts5 (caller, agent, tokenize = 'ascii', detail = column);

-- Words and folded names are made in Rust, so what is here already waits for the next opening, which makes them before it
-- serves anything.
CREATE TABLE calls_to_index (
    call_id INTEGER NOT NULL PRIMARY KEY
) STRICT;

INSERT INTO calls_to_index (call_id) SELECT id FROM calls;

ALTER TABLE calls ADD COLUMN agent_folded TEXT NOT NULL DEFAULT '';

CREATE INDEX calls_by_agent_started ON calls (agent_folded, started_at);
CREATE INDEX calls_by_outcome_started ON calls (outcome, started_at);
CREATE INDEX csat_responses_by_score_submitted ON csat_responses (score, submitted_at);

-- The Monday on which the week of a score begins, in UTC. Weeks of 604,800,000,000 microseconds are counted from 200,000 of
-- them before Monday the 29th of December 1969, which was 259,200,000,000 before 1970: division cuts towards zero.
ALTER TABLE csat_responses ADD COLUMN week INTEGER NOT NULL GENERATED ALWAYS AS (
    ((submitted_at + 120960259200000000) / 604800000000 - 200000) * 604800000000 - 259200000000
) VIRTUAL;
