// Package recordtext writes the record of a run as text for a terminal. A [record.Story] holds the record. The commands
// about runs and approvals use this package.
//
//	record.Story ──[Timeline]──► one line for each row, in the words of [RowWords]
//	record.Receipt ──[Receipt]──► a [Page]: labelled lines, folded to a width
//	result ──[Result]──► its members, sorted, as a replay test compares them
//
// Text from outside is cut, and its control characters are spelled out. Read timeline.go first, then words.go.
package recordtext
