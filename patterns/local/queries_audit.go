package local

// The statements of an audit. They read all rows on purpose, and only when somebody asks for an audit.

// selectTables is the text by which each table, index, view and trigger was made.
const selectTables = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"

// audit is a check of rows. It finds each row that its query selects.
type audit struct{ words, query string }

// audits are the checks of rows against one another. Each selects the number of a run, or NULL, and a detail that is put behind the
// words. A run that was pruned has a tombstone, and what outlives it by design points at that.
var audits = []audit{
	{"events of a missing run, from event", `SELECT n, min(seq) FROM events WHERE n NOT IN (SELECT n FROM runs) GROUP BY n`},
	{"a run without events in state", `SELECT n, state FROM runs WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.n = runs.n)`},
	{"hidden values of a missing run, count", `SELECT n, count(*) FROM redacted WHERE n NOT IN (SELECT n FROM runs) GROUP BY n`},
	{"settled calls of a missing run, count", `SELECT n, count(*) FROM settled WHERE n NOT IN (SELECT n FROM runs) GROUP BY n`},
	{"a request for approval of a missing run:", `SELECT n, printf('ap_%016x', ap) FROM approvals WHERE n NOT IN (SELECT n FROM runs)`},
	{"a request for approval that no event asks for:", `SELECT n, printf('ap_%016x', ap) FROM approvals WHERE n IN (SELECT n FROM runs)
		AND NOT EXISTS (SELECT 1 FROM events WHERE events.n = approvals.n AND events.seq = approvals.seq AND kind = 'intent')`},
	{"a request for approval is missing, asked for by event", `SELECT n, seq FROM events WHERE kind = 'intent' AND json_valid(CAST(body AS TEXT))
		AND json_extract(CAST(body AS TEXT), '$.effect_kind') = 'human' AND json_type(CAST(body AS TEXT), '$.object') = 'object'
		AND n IN (SELECT n FROM runs) AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.n = events.n AND approvals.seq = events.seq)`},
	{"a spent share of a missing approval:", `SELECT NULL, printf('ap_%016x', ap) FROM plan_shares WHERE ap NOT IN (SELECT ap FROM approvals)`},
	{"a plan is claimed by a missing run:", `SELECT run, printf('plan_%016x', id) FROM plans WHERE run IS NOT NULL
		AND run NOT IN (SELECT n FROM runs) AND printf('run_%016x', run) NOT IN (SELECT run_id FROM tombstones)`},
	{"a business key of a missing run, for tool", `SELECT n, tool FROM acted WHERE n NOT IN (SELECT n FROM runs)
		AND printf('run_%016x', n) NOT IN (SELECT run_id FROM tombstones)`},
	{"a child run whose parent is missing:", `SELECT n, printf('run_%016x', parent) FROM runs WHERE parent IS NOT NULL
		AND parent NOT IN (SELECT n FROM runs) AND printf('run_%016x', parent) NOT IN (SELECT run_id FROM tombstones)`},
	{"a run was pruned but still has a row, in state", `SELECT n, state FROM runs WHERE printf('run_%016x', n) IN (SELECT run_id FROM tombstones)`},
}

// auditFormat makes of one of the audits a query that selects whether the run is known, its number and the detail, of a number of rows.
var auditFormat = "SELECT n IS NOT NULL, coalesce(n, 0), CAST(detail AS TEXT) FROM (SELECT NULL AS n, NULL AS detail WHERE 0 UNION ALL %s) LIMIT %d"
