package sqlite

// The statements of stored plans. The test of queries.go reads them too.
const (
	planColumns = "id, principal, pattern, version, revision, created, changed, coalesce(run, 0), coalesce(under, 0), sha256"

	selectPlan     = "SELECT " + planColumns + " FROM plans WHERE id = ?"
	selectPlanBody = "SELECT " + planColumns + ", body FROM plans WHERE id = ?"
	insertPlan     = "INSERT INTO plans (id, principal, pattern, version, revision, created, changed, run, under, sha256, body) VALUES (?,?,?,?,?,?,?,?,NULL,?,?) ON CONFLICT DO NOTHING"
	updateHolder   = "UPDATE plans SET run = ?, under = ? WHERE id = ?"
	updatePlan     = "UPDATE plans SET version = ?, revision = ?, changed = ?, run = ?, under = ?, sha256 = ?, body = ? WHERE id = ?"

	selectStands = "SELECT state, coalesce(waiting_kind, ''), coalesce(waits_key, '') FROM runs WHERE n = ?"

	// The created and id arguments say where the page begins. The first statement reads the index of a principal and pattern.
	selectMyPlans  = "SELECT id FROM plans WHERE principal = ? AND pattern = ? AND created <= ? AND (created, id) < (?, ?) ORDER BY created DESC, id DESC LIMIT ?"
	selectAllPlans = `SELECT id FROM plans WHERE created <= ? AND (created, id) < (?, ?) AND (? = '' OR principal = ?) AND (? = '' OR pattern = ?)
		ORDER BY created DESC, id DESC LIMIT ?`
)
