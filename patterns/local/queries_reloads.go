package local

// The statements of reloads that were asked for in the state file.
const (
	insertReload        = "INSERT INTO reloads (at, path, hash, by, channel, act, signature) VALUES (?,?,?,?,?,?,?)"
	selectNewestReload  = "SELECT coalesce(max(n), 0) FROM reloads"
	selectReloads       = "SELECT n, at, path, hash, by, channel, act, signature FROM reloads WHERE n > ? ORDER BY n LIMIT 16"
	insertReloadAnswer  = "INSERT INTO reload_answers (n, owner, at, body) VALUES (?,?,?,?)"
	selectReloadAnswers = "SELECT body FROM reload_answers WHERE n = ? ORDER BY owner"
)
