DROP TABLE ticket_originals;
DROP TABLE payment_verifications;
DROP TABLE idempotency_keys;
DROP TABLE pending_changes;
DROP TABLE deployment;
