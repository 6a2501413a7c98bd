package local

// The statements by which an audit compares rows with events. They read all rows on purpose, too.

// contents are the checks of what rows say against events. A value of an event that was redacted is an object and no text, and is
// not compared. What an approval's row says is never believed by the engine, but people and reports read it.
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

// spentBy are the calls that spent an approval a, by their idempotency keys.
var spentBy = `SELECT json_extract(CAST(i.body AS TEXT), '$.idempotency_key') FROM events i WHERE i.n = a.n AND i.seq > a.seq AND i.kind = 'intent'
	AND json_valid(CAST(i.body AS TEXT)) AND json_extract(CAST(i.body AS TEXT), '$.grant') = printf('ap_%016x', a.ap)`

// What is known by a hash of its own content: plans, configurations, and requests for approval by the keys of their events.
var (
	selectPlanSums   = "SELECT id, sha256, body FROM plans"
	selectConfigSums = "SELECT hash, body FROM configs"
	selectAskedKeys  = "SELECT ap, a.n, key FROM approvals a JOIN events e ON e.n = a.n AND e.seq = a.seq"
)
