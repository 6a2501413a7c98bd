// Package ledger is a world outside: a process of its own in which the effects of the demo's tools happen and are counted,
// whatever becomes of who called them. The demo, prove and the crash tests ask it what really was done.
//
//	tool ──one line over loopback──▶ Ledger ──▶ file, appended only      Enter: done, or done again
//	who checks ──"list"───────────────┘                                  List: each arrival, in order
//
// It counts each arrival; who pays twice finds two entries. Requests are taken strictly one after the other, in the order
// in which they reached this machine's queue: what a process that was killed had sent stands before what is asked after
// its death. One connection is one request.
package ledger
