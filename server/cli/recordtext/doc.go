// Package recordtext writes the record of a run, as [record.Story] holds it, as text for a terminal. The commands about runs and approvals
// use it.
//
//	record.Story ──[Timeline]──► one line for each row, as [RowWords] words it
//	record.Receipt ──[Receipt]──► a [Page]: labelled lines, folded to a width
//
// Text from outside is cut, and control characters in it are spelled out. Read timeline.go first, then words.go.
package recordtext
