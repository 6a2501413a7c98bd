// Package setup holds the command that configures a client to start Patterngate. The command prints the entry for the
// client's file, or writes it.
//
//	CLIENT ──▶ its file here ──▶ read, bounded ──▶ merge or remove ──▶ nothing else differs? ──▶ backup ──▶ rename
//	                └─ without a flag: block, file and checks are printed, nothing is read
//
// The edits themselves are in server/cli/clientfile. Read setup.go first.
package setup
