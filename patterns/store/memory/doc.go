// Package memory is a store that keeps runs in this process. They end with it.
//
//	Submit, Queue, Do ──► queue ──► one goroutine at a time: fence, steps, events, all under one lock ──► Done
//	View              ──► the same maps, under the lock for readers
//
// A change that is refused leaves nothing behind: its writes note how to undo them. No other process can use the store, so
// it takes events that are not sealed yet. It makes their stored form when somebody reads that.
//
// Read store.go first, then change.go.
package memory
