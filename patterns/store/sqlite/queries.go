package sqlite

// The statements that are prepared on a state file. A test reads the query plan of each, and fails if it reads all runs or all events.
// So each constant is a whole statement, and these statements are only in the files queries*.go.
const (
	insert1 = "INSERT INTO events(n, seq, at, kind, key, body, hash) VALUES (?,?,?,?,?,?,?)"
	insert2 = insert1 + ",(?,?,?,?,?,?,?)"
	insert3 = insert2 + ",(?,?,?,?,?,?,?)"

	// The fenced statements insert nothing if the run's row has another epoch. So the fence needs no statement of its own.
	insertFenced1 = "INSERT INTO events(n, seq, at, kind, key, body, hash) " + fenced
	insertFenced2 = insertFenced1 + " UNION ALL " + fenced
	insertFenced3 = insertFenced2 + " UNION ALL " + fenced
	fenced        = "SELECT n,?,?,?,?,?,? FROM runs WHERE n = ? AND epoch = ?"

	// The guarded statements also insert nothing if any kill switch is on. The writer then checks whether that switch concerns the change.
	insertGuarded1 = "INSERT INTO events(n, seq, at, kind, key, body, hash) " + guarded
	insertGuarded2 = insertGuarded1 + " UNION ALL " + guarded
	insertGuarded3 = insertGuarded2 + " UNION ALL " + guarded
	guarded        = fenced + " AND NOT EXISTS (SELECT 1 FROM switches)"

	selectEpoch = "SELECT epoch FROM runs WHERE n = ?"

	// The newest time of unfinished runs. A run that is not running has it in its row; a running one, in its newest event.
	clockFromRests = "SELECT max(newest) FROM runs WHERE state IN ('ready', 'parked', 'running')"
	clockFromLives = "SELECT max((SELECT at FROM events WHERE events.n = runs.n ORDER BY seq DESC LIMIT 1)) FROM runs WHERE state = 'running'"

	countTables = "SELECT count(*) FROM sqlite_schema"
)
