// Package recordtest makes records of runs for tests, as net/http/httptest makes servers. The records are written by hand in
// the form of an engine's, with fixed times and ids, so that texts made of them can be golden files. [Hostile] has bad
// values on purpose.
//
//	[Recorder] ──▶ events, each sealed to the one before ──▶ [Refund], [Waiting], ... or all by name: [All]
//
// The approval in them is signed by [Key]. Read recorder.go first.
package recordtest
