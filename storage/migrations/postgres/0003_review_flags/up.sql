-- Flags that a person lifted. A review counts for the texts that the person saw: whatever is written later makes it void.
CREATE TABLE security_reviews (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id BIGINT NOT NULL CONSTRAINT security_reviews_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    lifted TEXT COLLATE "C" NOT NULL CONSTRAINT security_reviews_lifted_valid CHECK (lifted IN ('held', 'incident')),
    reviewer TEXT COLLATE "C" NOT NULL,
    reviewed_at BIGINT NOT NULL,
    void BOOLEAN NOT NULL
);

CREATE INDEX security_reviews_by_ticket ON security_reviews (ticket_id, void);
