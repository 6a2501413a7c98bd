// Package pins keeps what people accepted of other people's tools: the lock file (spec/config.md section 10).
//
//	a server's tools/list ──Definition──Hash──┐
//	                                          ├─ equal: may be called; else Compare says what a person is to accept
//	patterngate.lock ──Read──▶ Lock.Tool ─────┘            │
//	        ▲                                              ▼
//	        └────────────Write◀──────────────────── Lock.Accept
//
// A lock holds each accepted definition whole, so that no server has to run for its tools to be known. It accepts nothing by
// itself: that an acceptance is by whom it says, and that its signature counts, is judged by those who read it. Whether others
// may write to the file is judged by who names the file, as for every file of the configuration.
package pins
