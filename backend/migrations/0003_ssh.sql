-- The way through SSH, as its JSON on the wire; what is secret of it stays in memory.
ALTER TABLE connection ADD COLUMN ssh TEXT;
