// Package wording turns recorded values, and text from outside, into the words that package web puts on its pages.
//
//	text of a model, tool or client ──Visible, Clip, Name, Lines──▶ text in which nothing is hidden
//	JSON                            ──PrettyJSON, JSONBlock──────▶ indented text, cut if it is long
//	time, duration, number          ──MomentOf, Duration, Count──▶ words
//	row of a record, plan, subtask  ──RowTitle, PlanStatus, …────▶ words, and the CSS class of their colour
//
// The results are plain text: html/template escapes them when a page is made. Every text from outside passes through this package
// before it is shown, so a model cannot hide or reorder characters on a page.
//
// Read text.go first. The file run.go words the parts of a run's record, and plan.go those of a stored plan.
package wording
