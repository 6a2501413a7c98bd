-- Migration 5: the calls of earlier runs by their tools, for rules that look at them.

-- Of a call's intent and of outcomes: the name of the effect, which for a call is its tool's. A call's intent is told by the member
-- that its body begins with.
ALTER TABLE events ADD COLUMN tool TEXT GENERATED ALWAYS AS (
	CASE WHEN kind = 'outcome' OR kind = 'intent' AND substr(body, 1, 11) = x'7b22656666656374223a22'
	THEN rtrim(rtrim(replace(key, rtrim(key, replace(key, '/', '')), ''), '0123456789'), '#') END
) VIRTUAL;
CREATE INDEX events_tool ON events(tool, at) WHERE tool IS NOT NULL;
CREATE INDEX tombstones_ended ON tombstones(ended); -- up to when calls may be missing

CREATE TABLE settled (             -- what was found out about calls whose own outcomes do not say it
	n       INTEGER NOT NULL,
	once    TEXT NOT NULL,     -- the idempotency key of the act
	state   TEXT NOT NULL,     -- ok or failed
	attempt TEXT NOT NULL,     -- the key of the newest of its attempts of which that is known
	PRIMARY KEY (n, once)
) STRICT, WITHOUT ROWID;
