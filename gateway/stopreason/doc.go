// Package stopreason is the closed list of reasons why a run ends. Each [Reason] has its name, what it means, where it can
// occur, what a reader does next and the exit code of a call. A stop_reason that is not in the list is a fault.
//
// [Lookup] finds the row of a reason with names filled in: tool_denied:issue_refund has the row tool_denied:T. [All] lists the
// rows; docs/stop-reasons.md is made of them.
//
// Read stopreason.go first; registry.go and registry_planning.go are the rows.
package stopreason
