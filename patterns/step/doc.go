// Package step holds what all patterns do at each step of a run. They get an intent, pass the gate, call a tool, find out what
// happened, and ask a person if a rule requires one. Packages kinds and planexecute build on it.
//
//	Log.ReadIntent ──► intent ──► Log.Call ──► gate ──► permit ──► Log.Perform ──► outcome ──► ledger
//	   │   ▲                         │    ▲                           │    ▲
//	   ▼   │                         ▼    │                           ▼    │
//	 model or caller               a person, if a rule asks         retry, look up, settle
//
// A [Log] is the state of one run. It holds values only, and is built again when the run is replayed. A [Stop] says why a run
// ends before it did what it was asked to do.
//
// Read log.go first, then through.go.
package step
