// Package reference declares what the built-in patterns have of their own: the four reference patterns over the demo's
// tools, and planning. A configuration file declares the same things for its patterns, so pattern code and the server know
// no built-in pattern.
//
//	a declaration ──▶ patterns.Spec ◀── [Operations]: how the orchestrator joins its three domains into a [Report]
//
// Read operations.go first.
package reference
