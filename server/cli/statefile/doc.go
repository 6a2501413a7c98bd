// Package statefile is what commands see of a state file: the recorded runs, the calls that wait for approval, and the approver keys. It
// opens the file for one command at a time.
//
//	a command ──[Opener.WithRuns]──► [Runs]: find, read, decide, check, prune
//	          ──[Opener.WithApprovals]──► [Questions]: list, show, decide
//
// How a file is found and opened, server/cli says: it fills in the functions of [Opener]. Read statefile.go.
package statefile
