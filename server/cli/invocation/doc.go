// Package invocation holds what every command needs of one start of the program: the console, and the flags that name the
// configuration and the state file. It finds, checks and opens both.
//
//	flags, environment ──[Invocation.Load]──► configuration ──[StateFile]──► runs, approvals, approver keys
//	                                               └─────────────────────► the tools and patterns that a server would offer
//
// It prints warnings and explains what went wrong, with the exit code. It runs no command. Read invocation.go first, then
// opener.go; state.go decides which place is safe for a state file.
package invocation
