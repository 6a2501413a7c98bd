package catalog

import "time"

// Doubt is a call whose outcome is unknown, as a [Reconcile] sees it (spec/config.md section 6, effect).
type Doubt struct {
	Key, RunID, Tool string         // Key is the idempotency key
	Args             map[string]any // all arguments as they were sent
	At               time.Time      // when it was sent
}
