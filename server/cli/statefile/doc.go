// Package statefile gives commands access to a state file: the recorded runs, the calls that wait for approval, and the
// approver keys. It opens the file for one command at a time.
//
//	a command ──[Opener.WithRuns]──► [Runs]: find, read, decide, check, prune
//	          ──[Opener.WithApprovals]──► [Questions]: list, show, decide
//
// Package server/cli finds and opens the file. It sets the functions of [Opener]. Read statefile.go.
package statefile
