// Package memory is a store in memory. What it holds is lost when the process ends.
//
//	Submit, Queue, Do ──► queue ──► one goroutine at a time: fence, steps, events, all under one lock ──► Done
//	View              ──► the same maps, under the lock for readers
//
// A change that is refused leaves nothing behind: its writes note how to undo them.
//
// The engine in memory keeps plans, kill switches, business keys and the rows of its runs here. The events of its runs
// are in their execution.Record, where they need no stored form until somebody reads them.
//
// Read store.go first, then change.go.
package memory
