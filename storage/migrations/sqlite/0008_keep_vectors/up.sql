-- What a model made of each article, one row for all of its windows: what a search by meaning compares. It is derived from the
-- article as it was at `version` and can be made again, so it isn't audited.
CREATE TABLE article_vectors (
    article_id INTEGER NOT NULL PRIMARY KEY
        CONSTRAINT article_vectors_article_exists REFERENCES articles (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    model TEXT NOT NULL,
    windows BLOB NOT NULL
) STRICT;

-- The same of each call, which never changes.
CREATE TABLE call_vectors (
    call_id INTEGER NOT NULL PRIMARY KEY
        CONSTRAINT call_vectors_call_exists REFERENCES calls (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    windows BLOB NOT NULL
) STRICT;
