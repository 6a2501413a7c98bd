package sqlite

// The statements of an audit. They read all rows on purpose, and run only when a person asks for an audit.

// selectTables reads the SQL text that created each table, index, view and trigger.
const selectTables = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"

// audit is a check of rows. It finds each row that its query selects.
type audit struct{ words, query string }

// audits are the checks of rows against one another. Each selects the number of a run, or NULL, and a detail that follows the words.
// A pruned run has a tombstone. Rows that outlive the run by design refer to the tombstone.
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

// auditFormat makes a query of an audit. The query selects whether the run is known, its number and the detail, of at most a given
// number of rows.
var auditFormat = "SELECT n IS NOT NULL, coalesce(n, 0), CAST(detail AS TEXT) FROM (SELECT NULL AS n, NULL AS detail WHERE 0 UNION ALL %s) LIMIT %d"

// The statements by which an audit compares rows with events. They read all rows on purpose, too.

// contents are the checks of rows against events. A redacted value of an event is an object and not a text, and is not compared. The
// engine never believes the row of an approval, but people and reports read it.
var contents = []audit{
	{"a run with a state or times that Patterngate does not write:", `SELECT n, state FROM runs WHERE state NOT IN ('running', 'ready', 'parked', 'ended', 'broken')
		OR typeof(began) <> 'integer' OR typeof(length) <> 'integer'`},
	{"a run whose configuration is missing:", `SELECT n, config FROM runs WHERE length(config) = 71 AND config NOT IN (SELECT hash FROM configs)`},
	{"a request for approval differs from its event:", `SELECT a.n, printf('ap_%016x', ap) FROM approvals a JOIN events e ON e.n = a.n AND e.seq = a.seq
		WHERE kind = 'intent' AND json_valid(CAST(body AS TEXT)) AND (since <> at
		OR json_type(CAST(body AS TEXT), '$.rule') = 'text' AND rule <> json_extract(CAST(body AS TEXT), '$.rule')
		OR json_type(CAST(body AS TEXT), '$.digest') = 'text' AND digest <> json_extract(CAST(body AS TEXT), '$.digest')
		OR json_type(CAST(body AS TEXT), '$.object.expires') = 'text' AND expires <> unixepoch(json_extract(CAST(body AS TEXT), '$.object.expires')) * 1000000)`},
	{"the state of a request for approval differs from its record:", `SELECT n, printf('ap_%016x %s', ap, state) FROM (SELECT a.n, ap, state, (SELECT coalesce(
			CASE WHEN json_valid(CAST(o.body AS TEXT)) THEN json_extract(CAST(o.body AS TEXT), '$.state') END, 'other') FROM events o
			WHERE o.n = a.n AND o.seq > a.seq AND o.kind = 'outcome' AND o.key = e.key LIMIT 1) AS came
		FROM approvals a JOIN events e ON e.n = a.n AND e.seq = a.seq)
		WHERE CASE state WHEN 'open' THEN came IS NOT NULL WHEN 'answered' THEN came IS 'ok' WHEN 'taken' THEN came IS NULL
			WHEN 'expired' THEN came IS 'ok' WHEN 'over' THEN came IS 'ok' ELSE 1 END`},
	{"the decision about a request for approval differs from its record:", `SELECT a.n, printf('ap_%016x', ap) FROM approvals a JOIN events e ON e.n = a.n AND e.seq = a.seq
		JOIN events o ON o.n = a.n AND o.seq > a.seq AND o.kind = 'outcome' AND o.key = e.key
		WHERE a.state = 'taken' AND json_valid(CAST(o.body AS TEXT)) AND json_extract(CAST(o.body AS TEXT), '$.state') = 'ok' AND instr(o.body, CAST('"$redacted"' AS BLOB)) = 0
		AND (signature <> coalesce(json_extract(CAST(o.body AS TEXT), '$.signature'), '') OR channel <> json_extract(CAST(o.body AS TEXT), '$.channel')
		OR answer IS NOT NULL AND CAST(answer AS TEXT) <> json_extract(CAST(o.body AS TEXT), '$.decision'))`},
	{"the call that spent an approval differs from its record:", `SELECT a.n, printf('ap_%016x', ap) FROM approvals a WHERE consumed IS NOT (` + spentBy + ` ORDER BY i.seq LIMIT 1)`},
	{"a share of an approval is marked as spent, but no call in its record spent it:", `SELECT a.n, printf('ap_%016x %s', a.ap, share) FROM plan_shares s JOIN approvals a ON a.ap = s.ap
		WHERE NOT EXISTS (` + spentBy + ` AND json_extract(CAST(i.body AS TEXT), '$.share') = s.share AND json_extract(CAST(i.body AS TEXT), '$.idempotency_key') = s.once)`},
	{"a call spent a share of an approval that is not marked as spent, event", `SELECT i.n, i.seq FROM approvals a JOIN events i ON i.n = a.n AND i.seq > a.seq AND i.kind = 'intent'
		WHERE json_valid(CAST(i.body AS TEXT)) AND json_extract(CAST(i.body AS TEXT), '$.grant') = printf('ap_%016x', a.ap)
		AND json_type(CAST(i.body AS TEXT), '$.share') = 'text'
		AND NOT EXISTS (SELECT 1 FROM plan_shares s WHERE s.ap = a.ap AND s.share = json_extract(CAST(i.body AS TEXT), '$.share'))`},
	{"a settled call that is not in its run's record:", `SELECT n, once FROM settled s WHERE state NOT IN ('ok', 'failed') OR NOT EXISTS (SELECT 1 FROM events e
		WHERE e.n = s.n AND e.kind = 'intent' AND e.key = s.attempt AND json_valid(CAST(body AS TEXT)) AND json_extract(CAST(body AS TEXT), '$.idempotency_key') = s.once)`},
}

// spentBy selects the idempotency keys of the calls that spent an approval a.
var spentBy = `SELECT json_extract(CAST(i.body AS TEXT), '$.idempotency_key') FROM events i WHERE i.n = a.n AND i.seq > a.seq AND i.kind = 'intent'
	AND json_valid(CAST(i.body AS TEXT)) AND json_extract(CAST(i.body AS TEXT), '$.grant') = printf('ap_%016x', a.ap)`

// The rows that have a hash of their own content: plans and configurations. The ids of requests for approval derive from the keys of
// their events.
var (
	selectPlanSums   = "SELECT id, sha256, body FROM plans"
	selectConfigSums = "SELECT hash, body FROM configs"
	selectAskedKeys  = "SELECT ap, a.n, key FROM approvals a JOIN events e ON e.n = a.n AND e.seq = a.seq"
)
