ALTER TABLE pending_changes DROP COLUMN seal;
