// Package reference declares what the built-in patterns have of their own: the four reference patterns over the demo's
// tools, and planning. Pattern code and the server find it in the spec and know no built-in pattern.
//
//	kind ──▶ [Declare] ──▶ patterns.Spec: arguments that are filled, how questions are sent, words for callers
//	         [Operations] ─▶ Spec.Aggregate: joins the orchestrator's three domains into a [Report]
//
// Read declare.go first.
package reference
