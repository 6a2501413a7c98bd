// Package pins keeps the lock file: the definitions of other servers' tools that people have accepted (spec/config.md
// section 10).
//
//	a server's tools/list ──Definition──Hash──┐
//	                                          ├─ equal: may be called; else Compare lists what a person must accept
//	patterngate.lock ──Read──▶ Lock.Tool ─────┘            │
//	        ▲                                              ▼
//	        └────────────Write◀──────────────────── Lock.Accept
//
// A lock contains the whole definition of each accepted tool, so that its tools are known without a running server.
//
// The package verifies no acceptance. Its readers must check the person and the signature of each acceptance. The
// caller that names the file must check whether other users may write to it, as for every file of the configuration.
package pins
