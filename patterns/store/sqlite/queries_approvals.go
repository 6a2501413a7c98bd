package sqlite

// The statements of approvals, keys and sign-ins. The test of queries.go reads them too.
const (
	insertApproval = `INSERT INTO approvals (ap, n, seq, rule, digest, since, expires, shown, schema) VALUES (?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING`

	approvalColumns = `a.ap, a.n, a.seq, a.digest, a.since, a.expires, a.shown, a.state, a.answer, a.args, a.signature, a.channel, a.refused,
		coalesce(a.consumed, ''), r.state, r.canceled, r.pattern, r.principal, a.rule, coalesce(r.parent, 0)`
	selectSchema   = "SELECT schema FROM approvals WHERE ap = ?"
	selectApproval = "SELECT " + approvalColumns + " FROM approvals a JOIN runs r ON r.n = a.n WHERE a.ap = ?"
	// The open questions that have not expired, of runs that have not ended. The first three arguments say where the page begins.
	selectOpen = "SELECT " + approvalColumns + ` FROM approvals a JOIN runs r ON r.n = a.n
		WHERE a.state = 'open' AND a.since <= ? AND (a.since, a.ap) < (?, ?) AND a.expires > ? AND r.state IN ('parked', 'running', 'ready') AND NOT r.canceled
		ORDER BY a.since DESC, a.ap DESC`
	selectAsked = "SELECT " + approvalColumns + ` FROM approvals a JOIN runs r ON r.n = a.n
		WHERE a.since <= ? AND (a.since, a.ap) < (?, ?) ORDER BY a.since DESC, a.ap DESC`
	countOpen       = `SELECT count(*) FROM approvals a JOIN runs r ON r.n = a.n WHERE a.state = 'open' AND a.expires > ? AND r.state IN ('parked', 'running', 'ready') AND NOT r.canceled`
	selectAnswered  = "SELECT ap, answer, args, signature, channel FROM approvals WHERE n = ? AND state = 'answered'"
	selectGrant     = "SELECT answer, signature, coalesce(consumed, '') FROM approvals WHERE ap = ? AND n = ? AND state = 'taken'"
	selectApBetween = "SELECT ap FROM approvals WHERE ap BETWEEN ? AND ? LIMIT 20"
	selectEvent     = "SELECT seq, at, kind, key, body, hash FROM events WHERE n = ? AND seq = ?"

	updateAnswered = `UPDATE approvals SET state = 'answered', answer = ?, args = ?, signature = ?, channel = ?
		WHERE ap = ? AND state = 'open' AND digest = ? AND expires > ?
		AND EXISTS (SELECT 1 FROM runs WHERE runs.n = approvals.n AND runs.state IN ('parked', 'running', 'ready') AND NOT runs.canceled)`
	updateDecided   = `UPDATE runs SET state = 'ready', epoch = epoch + 1, wake = NULL WHERE n = ? AND state = 'parked'`
	updateHeard     = "UPDATE approvals SET state = 'taken', args = NULL WHERE ap = ? AND n = ? AND state = 'answered'"
	updateClosed    = "UPDATE approvals SET state = ? WHERE ap = ? AND n = ? AND state = 'open'"
	updateSpent     = "UPDATE approvals SET consumed = ? WHERE ap = ? AND n = ? AND state = 'taken' AND (consumed IS NULL OR consumed = ?)"
	updateBegun     = "UPDATE approvals SET consumed = coalesce(consumed, ?) WHERE ap = ? AND n = ? AND state = 'taken'"
	updateRefused   = "UPDATE approvals SET refused = refused + 1 WHERE ap = ? AND refused < ?"
	updateNoted     = "UPDATE runs SET length = ?, head = ?, newest = ?, epoch = epoch + 1 WHERE n = ? AND state = 'parked' AND epoch = ?"
	updateForgotten = "UPDATE approvals SET answer = NULL, args = NULL, shown = CAST('{}' AS BLOB) WHERE n = ?"
	deleteAsked     = "DELETE FROM approvals WHERE n = ?"
	selectShare     = "SELECT once FROM plan_shares WHERE ap = ? AND share = ?"
	insertShare     = "INSERT INTO plan_shares (ap, share, once) VALUES (?,?,?) ON CONFLICT DO UPDATE SET once = once WHERE once = excluded.once"
	deleteShares    = "DELETE FROM plan_shares WHERE ap IN (SELECT ap FROM approvals WHERE n = ?)"

	selectKeys = `SELECT id, name, public, enrolled, signed_by, nonce, signature, coalesce(removed, 0), removed_by, remove_nonce, remove_signature
		FROM keys ORDER BY pos`
	insertKey = "INSERT INTO keys (id, name, public, enrolled, signed_by, nonce, signature) VALUES (?,?,?,?,?,?,?)"
	updateKey = "UPDATE keys SET removed = ?, removed_by = ?, remove_nonce = ?, remove_signature = ? WHERE id = ? AND removed IS NULL"
	insertAct = "INSERT INTO acts VALUES (?,?) ON CONFLICT DO NOTHING"

	insertSignIn  = "INSERT INTO signins VALUES (?,?) ON CONFLICT DO NOTHING"
	deleteSignIn  = "DELETE FROM signins WHERE token = ? AND until > ?"
	deleteSignIns = "DELETE FROM signins WHERE until <= ?"
	selectStateID = "SELECT id FROM state"
)
