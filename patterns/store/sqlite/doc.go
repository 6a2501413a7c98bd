// Package sqlite keeps runs in a state file: an SQLite database that several processes of one machine may have open.
//
//	Submit, Queue, Do ──► queue ──► writer: BEGIN, each change behind its fence, COMMIT ──► Done
//	View              ──► reader: one state of the file, while the writer works
//	Owner             ──► a locked file beside the state file: the system frees it when the process dies
//
// Changes that wait at the same time share one transaction and its fsync. The steps of a change are in steps*.go, the reads in
// reads*.go, and all statements in queries*.go. The scripts schema*.sql create and migrate the tables.
//
// Read journal.go first, then writer.go.
package sqlite
