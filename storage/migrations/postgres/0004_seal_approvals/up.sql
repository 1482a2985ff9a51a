-- What proves that a person approved a change elsewhere: a tag over the token's row and the method, made with the key that the
-- database does not hold. Approvals that were given before it have to be given again.
ALTER TABLE pending_changes ADD COLUMN seal TEXT COLLATE "C";
