package local

// The statements of child runs. They are read by the same test as those of queries.go.
const (
	selectStanding = "SELECT state, epoch FROM runs WHERE n = ?"
	selectBelow    = `WITH RECURSIVE below(n) AS (SELECT n FROM runs WHERE parent = ? UNION SELECT runs.n FROM runs JOIN below ON runs.parent = below.n)
		SELECT n FROM below`
	// Of those, the ones that are over, as far as all between are.
	selectOverBelow = `WITH RECURSIVE below(n) AS (SELECT n FROM runs WHERE parent = ? AND state IN ('ended', 'broken')
			UNION SELECT runs.n FROM runs JOIN below ON runs.parent = below.n WHERE runs.state IN ('ended', 'broken'))
		SELECT n FROM below`

	// What a run began and does not need any more is cancelled: all of it, or the child run of one call.
	updateUnneeded = `UPDATE runs SET canceled = 1, epoch = epoch + (state <> 'running'), state = CASE state WHEN 'running' THEN state ELSE 'ready' END
		WHERE parent = ? AND state IN ('running', 'ready', 'parked') AND NOT canceled`
	updateDropped = `UPDATE runs SET canceled = 1, epoch = epoch + (state <> 'running'), state = CASE state WHEN 'running' THEN state ELSE 'ready' END
		WHERE n = ? AND parent = ? AND state IN ('running', 'ready', 'parked') AND NOT canceled`
	// Of those whose parents did not live to do it.
	updateOrphaned = `UPDATE runs SET canceled = 1, epoch = epoch + (state <> 'running'), state = CASE state WHEN 'running' THEN state ELSE 'ready' END
		WHERE state IN ('running', 'ready', 'parked') AND parent IS NOT NULL AND NOT canceled
		AND NOT EXISTS (SELECT 1 FROM runs above WHERE above.n = runs.parent AND above.state IN ('running', 'ready', 'parked'))`
)
