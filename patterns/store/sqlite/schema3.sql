-- Migration 3: stored plans. A row is one plan as it was left between runs; it is strict as the tables of migration 2 are,
-- and nothing prunes it.

CREATE TABLE plans (
	id        INTEGER PRIMARY KEY, -- the 64 bits of the id plan_%016x
	principal TEXT NOT NULL,       -- for others it does not exist
	pattern   TEXT NOT NULL,       -- the name under which it was made
	version   INTEGER NOT NULL,    -- counts what was stored, from 1: compare-and-set
	revision  INTEGER NOT NULL,    -- of its subtasks
	created   INTEGER NOT NULL,    -- times are microseconds since 1970
	changed   INTEGER NOT NULL,
	run       INTEGER,             -- the number of the run that has claimed it
	under     INTEGER,             -- of the waiting run that has it again unless the claimant changes it
	sha256    BLOB NOT NULL,       -- of the body
	body      BLOB NOT NULL        -- in canonical form; last, so that others are read without it
) STRICT;
CREATE INDEX plans_mine ON plans(principal, pattern, created);
CREATE INDEX plans_created ON plans(created);

CREATE TABLE plan_shares (             -- of approvals of whole plans: what was spent of them
	ap    INTEGER NOT NULL,        -- the approval
	share TEXT NOT NULL,           -- the id of the subtask
	once  TEXT NOT NULL,           -- idempotency key of the call that it was spent on
	PRIMARY KEY (ap, share)
) STRICT, WITHOUT ROWID;
