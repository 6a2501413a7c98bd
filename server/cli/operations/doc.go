// Package operations holds the commands with which an operator acts on running servers, through the state file that they share:
// kill-switch, reload and state.
//
//	kill-switch on, off ──▶ switches in the state file ◀── every server reads them before each call
//	reload ──▶ request in the state file ──▶ every server that serves the same configuration file: its answer
//	state backup ──▶ a copy of the state file
//
// If an approver key is enrolled, what permits more than before needs a signature. Read killswitch.go first, then reload.go.
package operations
