ALTER TABLE csat_responses DROP COLUMN week;
DROP INDEX csat_responses_by_score_submitted;
DROP INDEX calls_by_outcome_started;
DROP INDEX calls_by_agent_started;
ALTER TABLE calls DROP COLUMN agent_folded;
DROP TABLE calls_to_index;
DROP TABLE call_terms;
