-- Migration 1. application_id says whose file this is, user_version which migrations it has.

CREATE TABLE runs (
	n            INTEGER PRIMARY KEY,           -- the 64 bits of the id run_%016x
	pattern      TEXT NOT NULL,                 -- the tool that it was begun by
	kind         TEXT NOT NULL DEFAULT '',
	principal    TEXT NOT NULL,
	client       TEXT NOT NULL DEFAULT '',
	config       TEXT NOT NULL,                 -- hash of what it was begun with, see configs
	request      BLOB,                          -- what makes calls equal: single flight, idempotency key
	args         BLOB,                          -- hash of the arguments
	began        INTEGER NOT NULL,              -- times are microseconds since 1970
	state        TEXT NOT NULL,                 -- running (has an owner) | ready | parked | ended | broken
	owner        TEXT,                          -- name of a lock file
	epoch        INTEGER NOT NULL,              -- the fence: raised whenever the run changes hands
	wake         INTEGER,                       -- parked: when the next timer or expiry is due
	canceled     INTEGER NOT NULL DEFAULT 0,
	length       INTEGER NOT NULL DEFAULT 0,    -- events at the last rest: a chain cannot tell that its tail is gone
	head         BLOB,                          -- hash of the newest of them
	newest       INTEGER NOT NULL DEFAULT 0,    -- its time: the clock goes on from there, see clockFromRests
	waiting_kind TEXT,
	turn         INTEGER NOT NULL DEFAULT 0,
	waits_key    TEXT,
	expires      INTEGER,
	ended        INTEGER,
	status       TEXT,
	stop_reason  TEXT,
	phase        TEXT,
	summary      TEXT,
	delivered    INTEGER NOT NULL DEFAULT 0
);

-- None is partial: SQLite does not see that state = 'ready' implies state <> 'ended' and would read every run.
-- newest at the end of the first lets the clock be set without reading the rows of all that wait.
CREATE INDEX runs_state ON runs(state, config, wake, newest);
CREATE INDEX runs_principal ON runs(principal, began);
CREATE INDEX runs_request ON runs(request, began); -- the newest equal call is asked for

-- Events of all runs stand in the order of their commits, so that runs which write at the same time fill one page and not
-- a page each. A row is never changed; the index says which are a run's.
CREATE TABLE events (
	id   INTEGER PRIMARY KEY,
	n    INTEGER NOT NULL,
	seq  INTEGER NOT NULL,
	at   INTEGER NOT NULL,
	kind TEXT NOT NULL,
	key  TEXT NOT NULL,
	body BLOB NOT NULL,
	hash BLOB NOT NULL
);
CREATE UNIQUE INDEX events_run ON events(n, seq);

CREATE TABLE configs (                          -- what runs were begun with; references, never secret values
	hash TEXT PRIMARY KEY,
	body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE redacted (                         -- values that stand in the chain as salted hashes, until their run ends
	n     INTEGER NOT NULL,
	hash  BLOB NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (n, hash)
) WITHOUT ROWID;

CREATE TABLE tombstones (                       -- what stays of pruned runs
	run_id      TEXT PRIMARY KEY,
	pattern     TEXT NOT NULL,
	principal   TEXT NOT NULL,
	stop_reason TEXT NOT NULL,
	began       INTEGER NOT NULL,
	ended       INTEGER NOT NULL,
	events      INTEGER NOT NULL,
	head        BLOB NOT NULL
) WITHOUT ROWID;
