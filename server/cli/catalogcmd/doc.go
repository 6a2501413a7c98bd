// Package catalogcmd holds the command catalog, which shows the tools behind the gate, tries one, and accepts what other servers
// declare of their tools.
//
//	configuration, lock ──▶ list: each tool, and why it is held or unavailable
//	      │      └──────▶ accept: what servers declare now, compared ──▶ shown ──▶ confirmed, signed ──▶ the lock
//	      └──▶ test: one call of a tool that only reads
//
// After a first approver key is enrolled, [Commands.Held] offers to sign what was accepted before. Read list.go first, then
// accept.go.
package catalogcmd
