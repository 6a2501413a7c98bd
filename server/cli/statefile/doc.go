// Package statefile gives commands access to a state file: the recorded runs, the calls that wait for approval, the
// approver keys, kill switches and requests to reload. It opens the file for one command at a time.
//
//	a command ──[Opener.WithRuns]──► [Runs]: find, read, decide, check, prune
//	          ──[Opener.WithApprovals]──► [Questions]: list, show, decide
//
// Package invocation finds and opens the file. It sets the functions of [Opener], except Serving, which package cli sets. Read
// statefile.go.
package statefile
