// Package clientfile reads and edits the configuration files of MCP clients, for example Claude Desktop and Codex.
// It changes the entry of one server and keeps everything else as the user wrote it: comments, order, indentation,
// line ends.
//
//	Client ──path──► Read ──► File ──PlanWrite, PlanUndo──► Change ──Apply──► the file, with a backup beside it
//	                                       │
//	                                     Format: JSON with comments, or TOML
//
// The package refuses a change if the file would differ in more than the entry. It does not write a file that somebody
// changed after Read.
//
// Read change.go first. Then read text.go, which describes [Format].
package clientfile
