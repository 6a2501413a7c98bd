-- Migration 6: runs that another run's call began.

ALTER TABLE runs ADD COLUMN parent INTEGER;                              -- its number; NULL: nobody's call did
CREATE INDEX runs_parent ON runs(parent) WHERE parent IS NOT NULL;       -- WHERE parent = ? says that it is not NULL
