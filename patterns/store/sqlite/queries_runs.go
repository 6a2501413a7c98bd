package sqlite

// The statements of the runs' rows. The test of queries.go reads them too.
const (
	insertRow = `INSERT INTO runs (n, pattern, kind, principal, client, config, request, args, began, state, owner, epoch, newest, parent)
		VALUES (?,?,?,?,?,?,?,?,?,'running',?,1,?,?)`
	selectEqual = "SELECT n, state, args, coalesce(ended, 0), delivered, canceled, coalesce(stop_reason, '') FROM runs WHERE request = ? ORDER BY began DESC LIMIT 1"

	rowColumns = `n, pattern, principal, client, config, began, state, coalesce(owner, ''), epoch, coalesce(wake, 0), canceled, length, head,
		coalesce(waiting_kind, ''), turn, coalesce(waits_key, ''), coalesce(expires, 0), coalesce(ended, 0), coalesce(status, ''),
		coalesce(stop_reason, ''), coalesce(phase, ''), coalesce(summary, ''), coalesce(parent, 0)`
	selectRow    = "SELECT " + rowColumns + " FROM runs WHERE n = ?"
	selectMark   = "SELECT principal, state, epoch, turn, coalesce(waits_key, '') FROM runs WHERE n = ?"
	selectEvents = "SELECT seq, at, kind, key, body, hash FROM events WHERE n = ? ORDER BY seq"

	updateParked = `UPDATE runs SET state = CASE WHEN canceled OR ? THEN 'ready' ELSE 'parked' END, owner = NULL, wake = ?, length = ?, head = ?, newest = ?,
		waiting_kind = ?, turn = ?, waits_key = ?, expires = ?, phase = ?, summary = ? WHERE n = ?`
	updateEnded = `UPDATE runs SET state = 'ended', owner = NULL, wake = NULL, length = ?, head = ?, newest = ?, waiting_kind = NULL, turn = 0,
		waits_key = NULL, expires = NULL, ended = ?, status = ?, stop_reason = ?, phase = ?, summary = ? WHERE n = ?`
	updateLate   = "UPDATE runs SET length = ?, head = ?, newest = ? WHERE n = ? AND state IN ('parked', 'ended')"
	updateLength = "UPDATE runs SET length = ?, head = ?, newest = ? WHERE n = ?"
	updateTaken  = `UPDATE runs SET state = 'running', owner = ?, epoch = epoch + 1, wake = NULL, waiting_kind = NULL, turn = 0, waits_key = NULL,
		expires = NULL WHERE n = ? AND state = ? AND epoch = ? AND canceled = ?`
	updateSettled = `UPDATE runs SET state = 'ready', epoch = epoch + 1, wake = NULL, length = ?, head = ?, newest = ?, waiting_kind = NULL, turn = 0,
		waits_key = NULL, expires = NULL WHERE n = ? AND state = 'parked' AND epoch = ?`
	updateSeized    = "UPDATE runs SET state = 'ready', owner = NULL, epoch = epoch + 1 WHERE n = ? AND state = 'running'"
	updateSeizedFor = "UPDATE runs SET owner = ?, epoch = epoch + 1 WHERE n = ? AND state = 'running'"
	updateGivenUp   = "UPDATE runs SET state = 'ready', owner = NULL, epoch = epoch + 1 WHERE n = ? AND state = 'running' AND owner = ? AND epoch = ?"
	updateReleased  = "UPDATE runs SET state = 'ready', owner = NULL, epoch = epoch + 1 WHERE state = 'running' AND owner = ?"
	updateBroken    = `UPDATE runs SET state = 'broken', owner = NULL, wake = NULL, epoch = epoch + 1, status = 'stopped', stop_reason = 'record_broken',
		summary = ?, ended = ? WHERE n = ? AND state <> 'broken'`
	updateLacking   = "UPDATE runs SET waiting_kind = 'retry' WHERE n = ? AND state = 'ready' AND epoch = ?"
	updateCanceled  = "UPDATE runs SET canceled = 1, state = 'ready', epoch = epoch + 1 WHERE n = ? AND state IN ('ready', 'parked') AND NOT canceled AND epoch = ?"
	updateRecalled  = "UPDATE runs SET canceled = 1 WHERE n = ? AND state = 'running'"
	updateDelivered = "UPDATE runs SET delivered = 1 WHERE n = ? AND principal = ? AND state = 'ended'"

	selectReady    = "SELECT " + rowColumns + " FROM runs WHERE state = 'ready'"
	selectDue      = "SELECT " + rowColumns + " FROM runs WHERE state = 'parked' AND config = ? AND wake <= ?"
	selectConfigs  = "SELECT hash FROM configs"
	selectNextWake = "SELECT min(wake) FROM runs WHERE state = 'parked' AND config = ? AND wake > ?"
	selectOwners   = "SELECT DISTINCT owner FROM runs WHERE state = 'running' AND owner <> ?"
	selectMine     = "SELECT n, epoch FROM runs WHERE state = 'running' AND owner = ?"
	selectCanceled = "SELECT n FROM runs WHERE state = 'running' AND owner = ? AND canceled"

	selectIDs    = "SELECT n FROM runs WHERE principal = ? ORDER BY began DESC, n DESC LIMIT 200"
	selectNewest = "SELECT n, state FROM runs WHERE principal = ? AND parent IS NULL ORDER BY began DESC, n DESC LIMIT 50"
	selectOf     = "SELECT " + rowColumns + " FROM runs WHERE principal = ? AND began <= ? AND (began, n) < (?, ?) ORDER BY began DESC, n DESC LIMIT ?"
	// It takes one step in the index for each principal. DISTINCT would read the whole index.
	selectWhose = `WITH RECURSIVE whose(principal) AS (SELECT min(principal) FROM runs
		UNION ALL SELECT (SELECT min(runs.principal) FROM runs WHERE runs.principal > whose.principal) FROM whose WHERE principal IS NOT NULL)
		SELECT principal FROM whose WHERE principal IS NOT NULL`

	selectLast = "SELECT coalesce(max(seq), 0) FROM events WHERE n = ?"

	insertConfig  = "INSERT INTO configs VALUES (?,?) ON CONFLICT DO NOTHING"
	selectConfig  = "SELECT body FROM configs WHERE hash = ?"
	selectBetween = "SELECT n FROM runs WHERE n BETWEEN ? AND ? LIMIT 20"

	// It leaves out all runs below unfinished runs: a parent may not have read their results yet, and would begin them again.
	selectOld = `WITH RECURSIVE needed(n) AS (SELECT n FROM runs WHERE state IN ('running', 'ready', 'parked')
			UNION SELECT runs.n FROM runs JOIN needed ON runs.parent = needed.n)
		SELECT ` + rowColumns + ` FROM runs WHERE state = 'ended' AND ended < ? AND n NOT IN needed`
	insertTombstone  = "INSERT INTO tombstones VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING"
	deleteEvents     = "DELETE FROM events WHERE n = ?"
	deleteRun        = "DELETE FROM runs WHERE n = ?"
	selectTombstones = "SELECT run_id, pattern, stop_reason, began, ended, events, head FROM tombstones ORDER BY began DESC"

	insertRedacted = "INSERT INTO redacted VALUES (?,?,?) ON CONFLICT DO NOTHING"
	selectRedacted = "SELECT hash, value FROM redacted WHERE n = ?"
	deleteRedacted = "DELETE FROM redacted WHERE n = ?"
)

// The statements of child runs. The test of queries.go reads them too.
const (
	selectStanding = "SELECT state, epoch FROM runs WHERE n = ?"
	selectBelow    = `WITH RECURSIVE below(n) AS (SELECT n FROM runs WHERE parent = ? UNION SELECT runs.n FROM runs JOIN below ON runs.parent = below.n)
		SELECT n FROM below`
	// Those of them that are over, if all runs between them and the given one are over too.
	selectOverBelow = `WITH RECURSIVE below(n) AS (SELECT n FROM runs WHERE parent = ? AND state IN ('ended', 'broken')
			UNION SELECT runs.n FROM runs JOIN below ON runs.parent = below.n WHERE runs.state IN ('ended', 'broken'))
		SELECT n FROM below`

	// They cancel child runs that a run does not need any more: all of them, or the child run of one call.
	updateUnneeded = `UPDATE runs SET canceled = 1, epoch = epoch + (state <> 'running'), state = CASE state WHEN 'running' THEN state ELSE 'ready' END
		WHERE parent = ? AND state IN ('running', 'ready', 'parked') AND NOT canceled`
	updateDropped = `UPDATE runs SET canceled = 1, epoch = epoch + (state <> 'running'), state = CASE state WHEN 'running' THEN state ELSE 'ready' END
		WHERE n = ? AND parent = ? AND state IN ('running', 'ready', 'parked') AND NOT canceled`
	// It cancels child runs whose parents are over or gone.
	updateOrphaned = `UPDATE runs SET canceled = 1, epoch = epoch + (state <> 'running'), state = CASE state WHEN 'running' THEN state ELSE 'ready' END
		WHERE state IN ('running', 'ready', 'parked') AND parent IS NOT NULL AND NOT canceled
		AND NOT EXISTS (SELECT 1 FROM runs above WHERE above.n = runs.parent AND above.state IN ('running', 'ready', 'parked'))`
)
