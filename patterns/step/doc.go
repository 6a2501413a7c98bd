// Package step holds what all patterns do at each step of a run: ask for an intent, pass the gate, call a tool, find out what happened,
// and ask a person if a rule wants that. Packages kinds and planexecute are made of it.
//
//	Log.Accepted ──► intent ──► Log.Through ──► gate ──► permit ──► Log.Perform ──► outcome ──► ledger
//	   │   ▲                        │    ▲                             │    ▲
//	   ▼   │                        ▼    │                             ▼    │
//	 model or caller              a person, where a rule asks      retry, look up, settle
//
// A [Log] is what one run remembers. It holds values only and is built again when the run is replayed. A [Stop] says why a run ends
// before it did what it was asked to do.
//
// Read log.go first, then through.go.
package step
