// Package redaction keeps values out of the records of runs (spec/config.md section 2, redact).
//
//	body ──collect: values at the places──► known ──hide: places, and texts that equal or hold a known value──► record
//	                                          └──► table of hidden values ──Reveal──► body, for a process that continues the run
//
// In the record a hidden value is {"$redacted":"sha256:..."}: a hash over 16 random bytes and the canonical form of the value.
// The values themselves are in a table of the run. Only replay reads the table, and the transaction that ends the run empties it.
//
// In one run a value always has the same hash. A record is never changed: an event keeps a value if it was recorded before the value
// was seen at one of the places. Values that the caller sends at one of the places are known before the first event.
//
// Known values are found in decoded texts, and in escaped JSON inside them. Texts of 4 bytes or more are found anywhere. Numbers of 3
// characters or more are found however they are written, for example 800.00. Shorter values, true and false are hidden only at the places
// and in members with the same name.
//
// A place may belong to one tool: see tools.go. Values that rules computed from values at the places are hidden too: see computed.go.
//
// Read values.go first.
package redaction
