// Package operations holds the commands kill-switch and reload, with which an operator acts on running servers through the state file
// that they share, and the command state, which copies that file.
//
//	kill-switch on, off ──▶ switches in the state file ◀── every process checks them before each call and each question to a model
//	reload ──▶ request in the state file ──▶ every serving process answers; only those of the same configuration file reload
//	state backup ──▶ a copy of the state file
//
// If an approver key is enrolled, turning a switch off needs a signature, and so does a reload that permits more. Read killswitch.go first, then reload.go.
package operations
