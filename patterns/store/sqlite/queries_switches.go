package sqlite

// The statements of kill switches and business keys. The test of queries.go reads them too.
const (
	selectSwitches = "SELECT tool, pattern, reason, by, channel, assurance, at FROM switches ORDER BY at, tool, pattern"
	insertSwitch   = "INSERT INTO switches (tool, pattern, reason, by, channel, assurance, at) VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET reason = excluded.reason, by = excluded.by, channel = excluded.channel, assurance = excluded.assurance, at = excluded.at"
	deleteSwitch   = "DELETE FROM switches WHERE tool = ? AND pattern = ?"

	// A run whose row is gone has ended long ago.
	selectActed = `SELECT args, n, act, effect, body, coalesce((SELECT state FROM runs WHERE runs.n = acted.n), 'ended') = 'ended'
		FROM acted WHERE tool = ? AND once = ?`
	insertActed   = "INSERT INTO acted (tool, once, args, n, act, effect) VALUES (?,?,?,?,?,?)"
	updateAdopted = "UPDATE acted SET n = ?, act = ?, effect = '' WHERE tool = ? AND once = ? AND body IS NULL AND n = ? AND act = ?"
	updateActed   = "UPDATE acted SET body = ? WHERE tool = ? AND once = ? AND n = ? AND act = ?"
	deleteActed   = "DELETE FROM acted WHERE tool = ? AND once = ? AND n = ? AND act = ? AND (? OR effect = ?) AND body IS NULL"
)

// The statements of reloads. The test of queries.go reads them too.
const (
	insertReload        = "INSERT INTO reloads (at, path, hash, asked, by, channel, act, signature) VALUES (?,?,?,?,?,?,?,?)"
	selectNewestReload  = "SELECT coalesce(max(n), 0) FROM reloads"
	selectReloads       = "SELECT n, at, path, hash, by, channel, act, signature, " + signedBefore + " FROM reloads r WHERE n > ? AND asked = 1 ORDER BY n LIMIT ?"
	signedBefore        = "EXISTS (SELECT 1 FROM reloads o WHERE o.n < r.n AND o.signature = r.signature AND r.signature <> '')"
	insertReloadAnswer  = "INSERT INTO reload_answers (n, owner, at, body) VALUES (?,?,?,?)"
	selectReloadAnswers = "SELECT owner, body FROM reload_answers WHERE n = ? ORDER BY owner"
)
