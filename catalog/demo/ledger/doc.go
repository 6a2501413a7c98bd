// Package ledger is an external world in a process of its own. The effects of the demo's tools happen and are counted
// there, also if the calling process dies. The demo, prove and the crash tests ask it which effects happened.
//
//	tool ──one line over loopback──▶ Ledger ──▶ file, appended only      Enter: done, or done again
//	a check ──"list"──────────────────┘                                  List: each arrival, in order
//
// The ledger counts each arrival, so a double payment has two entries. It handles requests strictly one after the
// other, in the order in which they reached the machine's queue. So the requests of a killed process come before a
// request that is made after its death. Each connection has one request.
package ledger
