// Package approvals holds the commands about calls that wait for a person: list, watch, show, approve and reject, and about the keys that
// sign decisions.
//
//	AP ──FindApproval──▶ id ──Approval──▶ Asked ──▶ show
//	                                        └──Answered──(terminal, key)──▶ Decide ──▶ what was decided, how the run continues
//
// The commands decide and execute nothing: a process that continues runs reads the decision. Read approvals.go first, then decide.go.
package approvals
