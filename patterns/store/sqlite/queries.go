package sqlite

// The statements that are prepared on a state file. A test reads the plan of each and refuses one that reads all runs
// or all events: each constant is a whole statement, and none stands elsewhere.
const (
	insert1 = "INSERT INTO events(n, seq, at, kind, key, body, hash) VALUES (?,?,?,?,?,?,?)"
	insert2 = insert1 + ",(?,?,?,?,?,?,?)"
	insert3 = insert2 + ",(?,?,?,?,?,?,?)"

	// The fenced ones insert nothing where the run's row has another epoch: the fence costs no statement of its own.
	insertFenced1 = "INSERT INTO events(n, seq, at, kind, key, body, hash) " + fenced
	insertFenced2 = insertFenced1 + " UNION ALL " + fenced
	insertFenced3 = insertFenced2 + " UNION ALL " + fenced
	fenced        = "SELECT n,?,?,?,?,?,? FROM runs WHERE n = ? AND epoch = ?"

	// The guarded ones insert nothing either where any kill switch is on: who is refused then looks whether it is meant.
	insertGuarded1 = "INSERT INTO events(n, seq, at, kind, key, body, hash) " + guarded
	insertGuarded2 = insertGuarded1 + " UNION ALL " + guarded
	insertGuarded3 = insertGuarded2 + " UNION ALL " + guarded
	guarded        = fenced + " AND NOT EXISTS (SELECT 1 FROM switches)"

	selectEpoch = "SELECT epoch FROM runs WHERE n = ?"

	// What is known of time: the newest event of each unfinished run. One that rests has it in its row.
	clockFromRests = "SELECT max(newest) FROM runs WHERE state IN ('ready', 'parked', 'running')"
	clockFromLives = "SELECT max((SELECT at FROM events WHERE events.n = runs.n ORDER BY seq DESC LIMIT 1)) FROM runs WHERE state = 'running'"

	countTables = "SELECT count(*) FROM sqlite_schema"
)
