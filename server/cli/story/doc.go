// Package story plays the calls of the command demo and tells their results as a story of at most 35 lines. It shows the
// question, the plan, the answer with its figures, the person who decides, the attacks, and the payment that a crash did
// not repeat. Every figure comes from a result.
//
//	[Teller] ──calls──▶ server, over any client ──▶ [Result] ──▶ lines for a person, or [Act] values for --json
//
// The commands of package trial start the processes and kill them; this package starts none. Read teller.go first, then
// acts.go and chapters.go. texts.go has every sentence.
package story
