-- Migration 4: kill switches, and what was done under business keys. The tables are strict as those of migration 2 are.

CREATE TABLE switches (
	tool      TEXT NOT NULL,    -- whose calls it stops, or
	pattern   TEXT NOT NULL,    -- whose runs; both empty: everything
	reason    TEXT NOT NULL,
	by        TEXT NOT NULL,
	channel   TEXT NOT NULL,
	assurance TEXT NOT NULL,
	at        INTEGER NOT NULL, -- microseconds since 1970
	PRIMARY KEY (tool, pattern)
) STRICT, WITHOUT ROWID;

CREATE TABLE acted (                   -- the first act under each business key; nothing prunes it
	tool   TEXT NOT NULL,
	once   TEXT NOT NULL,          -- the key
	args   BLOB NOT NULL,          -- 16 random bytes, and the SHA-256 of them and the whole arguments
	n      INTEGER NOT NULL,       -- the run that has it
	effect TEXT NOT NULL,          -- the key of the attempt in that run that took it
	act    TEXT NOT NULL,          -- the key of the first attempt at the same act
	body   BLOB,                   -- the outcome as the record has it; NULL: in flight or in doubt
	PRIMARY KEY (tool, once)
) STRICT;

CREATE TABLE reloads (                 -- who asked the programs that serve to load their configuration again
	n         INTEGER PRIMARY KEY,
	at        INTEGER NOT NULL,
	path      TEXT NOT NULL,       -- of the configuration
	hash      TEXT NOT NULL,       -- that it shall have; what is signed
	asked     INTEGER NOT NULL,    -- 1: programs are to do it; 0: one did it by itself, as at a signal
	by        TEXT NOT NULL,
	channel   TEXT NOT NULL,
	act       BLOB,                -- the signed act; NULL: unsigned
	signature TEXT NOT NULL
) STRICT;

CREATE TABLE reload_answers (          -- what became of it in each program, both hashes and what it loosened among it
	n     INTEGER NOT NULL,
	owner TEXT NOT NULL,
	at    INTEGER NOT NULL,
	body  TEXT NOT NULL,           -- JSON
	PRIMARY KEY (n, owner)
) STRICT, WITHOUT ROWID;
