-- Migration 2: questions that runs put to people, approver keys, sign-ins to the page. The tables are strict: somebody's row
-- of other types would be an error to all who read it, where it has to count for nothing.

CREATE TABLE approvals (
	ap        INTEGER PRIMARY KEY,          -- the 64 bits of the id ap_%016x
	n         INTEGER NOT NULL,             -- the run
	seq       INTEGER NOT NULL,             -- the event that asks; what is asked stands there and is believed only there
	rule      TEXT NOT NULL,
	digest    TEXT NOT NULL,
	since     INTEGER NOT NULL,             -- times are microseconds since 1970
	expires   INTEGER NOT NULL,
	shown     BLOB NOT NULL,                -- JSON for who looks: phase, effect, phrase
	schema    BLOB,                         -- of the arguments, for who changes them
	state     TEXT NOT NULL DEFAULT 'open', -- open | answered | taken (into the record) | nobody answered: expired | over
	answer    BLOB,                         -- the decision, in canonical form
	args      BLOB,                         -- of an edit, until it is taken
	signature TEXT NOT NULL DEFAULT '',
	channel   TEXT NOT NULL DEFAULT '',
	refused   INTEGER NOT NULL DEFAULT 0,   -- attempts that were recorded
	consumed  TEXT                          -- idempotency key of the call that it was spent on
) STRICT;
CREATE INDEX approvals_since ON approvals(since);
CREATE INDEX approvals_state ON approvals(state, since);
CREATE INDEX approvals_run ON approvals(n, state);

CREATE TABLE keys (                         -- approver keys in the order of their enrolment
	pos              INTEGER PRIMARY KEY,
	id               TEXT NOT NULL UNIQUE,
	name             TEXT NOT NULL,
	public           BLOB NOT NULL,
	enrolled         INTEGER NOT NULL,      -- seconds since 1970, as signed
	signed_by        TEXT NOT NULL,
	nonce            TEXT NOT NULL,
	signature        TEXT NOT NULL,
	removed          INTEGER,
	removed_by       TEXT NOT NULL DEFAULT '',
	remove_nonce     TEXT NOT NULL DEFAULT '',
	remove_signature TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE acts (                         -- signed acts that were done: each counts once
	nonce TEXT PRIMARY KEY,
	at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE signins (                      -- to the page: SHA-256 of what is shown once
	token BLOB PRIMARY KEY,
	until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE state (id TEXT NOT NULL) STRICT; -- which file this is; one row
INSERT INTO state VALUES (lower(hex(randomblob(16))));
