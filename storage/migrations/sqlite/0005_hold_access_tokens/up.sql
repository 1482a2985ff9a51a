-- Personal access tokens: only their hashes, so that a copy of the database lets nobody in.
CREATE TABLE access_tokens (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL CONSTRAINT access_tokens_digest_unique UNIQUE
        CONSTRAINT access_tokens_digest_is_sha256 CHECK (length(digest) = 32),
    subject TEXT NOT NULL,
    label TEXT NOT NULL,
    -- Words separated by blanks, as in the claim of that name.
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    last_used_at INTEGER,
    CONSTRAINT access_tokens_expire_later CHECK (expires_at > created_at)
) STRICT;
