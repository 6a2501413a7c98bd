// Package prompts has the texts that a language model is asked with: one for each decision of a pattern and one for each
// final text, and the instructions of a pattern that a file declares.
//
//	kind ──▶ Of or OfOwn ──▶ the prompts ──▶ WithInstructions ──▶ System adds the answer's schema and the marks
//	                                                                     around data
//
// Read prompts.go first.
package prompts
