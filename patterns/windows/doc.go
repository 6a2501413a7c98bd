// Package windows shows policies what earlier runs did: the calls in a window of time, put together from what was recorded of them.
//
//	Table (Stored over a store, or Memory) ──intents and outcomes──► Calls ──Look.Windows──► gateway.Seen, which a rule reads
//
// A Look remembers what it read, and reads it again only if the calls have changed since. A call's windows are read when it is judged, and
// again in the transaction that records its intent.
//
// Read look.go first.
package windows
