// Package catalogcmd holds the command catalog, which shows the tools behind the gate, tries one, and accepts what other servers
// declare of their tools.
//
//	configuration, lock ──▶ list: each tool, and why it is held or unavailable
//	      │      └──────▶ accept: what servers declare now, compared ──▶ shown ──▶ confirmed ──▶ signed if a key is enrolled ──▶ the lock
//	      └──▶ test: one call of a tool that only reads
//
// [Commands.Held] returns the tools whose acceptance no longer counts, for example after a first approver key was enrolled.
// [HeldLines.Offer] offers to sign them. Read list.go first, then accept.go.
package catalogcmd
