// Package envelope is the one shape of all results, and how a result becomes the two channels of an answer: structured
// content and text. Both channels are made of the same [Envelope] and have the same bound.
//
//	Envelope ─▶ Fitted ─▶ view ─┬─▶ AppendJSON ─▶ structuredContent ─┐
//	  ▲         (plans)         └─▶ text       ─▶ content            ├─▶ fits? ── yes ─▶ answer
//	  │                                                              │
//	 Kept, from a record              cut, squeeze ◀── no ───────────┘
//
// The order of the members is the contract's. The published output schemas are made of the same structs, see [Schema].
// The package does not decide what a result says; package outcome does.
//
// Read envelope.go first, then cut.go.
package envelope
