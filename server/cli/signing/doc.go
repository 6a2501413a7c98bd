// Package signing lets the person at the terminal sign an act with an approver key. Commands that decide or change something use it.
//
//	a command ──[Request]──► [Signer] ──► key file beside the state file
//	                             │
//	                             └──► passphrase, typed at the terminal that controls the process
//	                                       └──► signature
//
// Read signer.go first.
package signing
