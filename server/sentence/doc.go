// Package sentence words the texts of results: counts, lists of names, times, and texts from outside that are cut and
// escaped. A result's summary is made of its sentences, and so is the advice for a person.
//
//	names, reasons, times ──▶ Names, Reason, Label, Time ──▶ sentences ──▶ Paragraph ──▶ summary, next.say
//
// A text from outside cannot look like a line of Patterngate, see [Label]. The package knows no run and no result.
//
// Read paragraph.go first.
package sentence
