// Package reference sets the parts of a patterns.Spec that only built-in patterns have: the four reference patterns over
// the demo's tools, and planning. Pattern code reads the spec and knows no built-in pattern. The server knows only
// [Report].
//
//	kind ──▶ [Declare] ──▶ patterns.Spec: which arguments are filled in, how models are asked, texts for callers
//	         [Operations] ─▶ Spec.Aggregate: joins the orchestrator's three domains into a [Report]
//
// Read declare.go first.
package reference
