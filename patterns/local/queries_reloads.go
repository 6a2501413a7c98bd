package local

// The statements of reloads. They are read by the same test as those of queries.go.
const (
	insertReload        = "INSERT INTO reloads (at, path, hash, asked, by, channel, act, signature) VALUES (?,?,?,?,?,?,?,?)"
	selectNewestReload  = "SELECT coalesce(max(n), 0) FROM reloads"
	selectReloads       = "SELECT n, at, path, hash, by, channel, act, signature, " + signedBefore + " FROM reloads r WHERE n > ? AND asked = 1 ORDER BY n LIMIT ?"
	signedBefore        = "EXISTS (SELECT 1 FROM reloads o WHERE o.n < r.n AND o.signature = r.signature AND r.signature <> '')"
	insertReloadAnswer  = "INSERT INTO reload_answers (n, owner, at, body) VALUES (?,?,?,?)"
	selectReloadAnswers = "SELECT owner, body FROM reload_answers WHERE n = ? ORDER BY owner"
)
