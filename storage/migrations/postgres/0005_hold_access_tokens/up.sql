-- Personal access tokens: only their hashes, so that a copy of the database lets nobody in.
CREATE TABLE access_tokens (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest BYTEA NOT NULL CONSTRAINT access_tokens_digest_unique UNIQUE
        CONSTRAINT access_tokens_digest_is_sha256 CHECK (length(digest) = 32),
    subject TEXT COLLATE "C" NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    -- Words separated by blanks, as in the claim of that name.
    scopes TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    last_used_at BIGINT,
    CONSTRAINT access_tokens_expire_later CHECK (expires_at > created_at)
);
