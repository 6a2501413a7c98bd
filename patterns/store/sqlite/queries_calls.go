package sqlite

// The statements of calls by their tools. The test of queries.go reads them too.
const (
	callColumns      = "events.n, events.at, events.kind, events.key, events.body"
	selectCalls      = "SELECT " + callColumns + " FROM events WHERE tool = ? AND at >= ? AND n <> ? ORDER BY at, id"
	selectCallsOf    = "SELECT " + callColumns + " FROM events JOIN runs ON runs.n = events.n WHERE tool = ? AND at >= ? AND events.n <> ? AND runs.principal = ? ORDER BY at, id"
	selectCallsMark  = "SELECT count(*), coalesce(max(id), 0) FROM (SELECT id FROM events WHERE tool = ? AND at >= ? LIMIT ?)"
	selectEventHash  = "SELECT hash FROM events WHERE id = ?"
	selectBuriedMark = "SELECT count(*), coalesce(max(ended), 0) FROM tombstones WHERE ended >= ?"
	selectBuried     = "SELECT coalesce(max(ended), 0) FROM tombstones WHERE ended >= ?"
	selectSettled    = "SELECT state, attempt FROM settled WHERE n = ? AND once = ?"
	upsertSettled    = "INSERT INTO settled (n, once, state, attempt) VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET state = excluded.state, attempt = excluded.attempt"
	deleteSettlings  = "DELETE FROM settled WHERE n = ?"
)
