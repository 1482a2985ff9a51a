-- Flags that a person lifted. A review counts for the texts that the person saw: whatever is written later makes it void.
CREATE TABLE security_reviews (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ticket_id INTEGER NOT NULL CONSTRAINT security_reviews_ticket_exists REFERENCES tickets (id) ON DELETE CASCADE,
    lifted TEXT NOT NULL CONSTRAINT security_reviews_lifted_valid CHECK (lifted IN ('held', 'incident')),
    reviewer TEXT NOT NULL,
    reviewed_at INTEGER NOT NULL,
    void INTEGER NOT NULL CONSTRAINT security_reviews_void_is_bool CHECK (void IN (0, 1))
) STRICT;

CREATE INDEX security_reviews_by_ticket ON security_reviews (ticket_id, void);
