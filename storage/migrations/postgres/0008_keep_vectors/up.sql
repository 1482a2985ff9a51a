-- What a model made of each article, one row for all of its windows: what a search by meaning compares. It is derived from the
-- article as it was at `version` and can be made again, so it isn't audited.
CREATE TABLE article_vectors (
    article_id BIGINT NOT NULL PRIMARY KEY
        CONSTRAINT article_vectors_article_exists REFERENCES articles (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    windows BYTEA NOT NULL
);

-- The same of each call, which never changes.
CREATE TABLE call_vectors (
    call_id BIGINT NOT NULL PRIMARY KEY
        CONSTRAINT call_vectors_call_exists REFERENCES calls (id) ON DELETE CASCADE,
    model TEXT COLLATE "C" NOT NULL,
    windows BYTEA NOT NULL
);
