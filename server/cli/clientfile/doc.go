// Package clientfile reads and edits the configuration files of MCP clients, such as Claude Desktop's or Codex's. It changes one server's
// entry and keeps everything else as the user wrote it: comments, order, indentation, line ends.
//
//	Client ──path──► Read ──► File ──PlanWrite, PlanUndo──► Change ──Apply──► the file, with a backup beside it
//	                                       │
//	                                     Format: JSON with comments, or TOML
//
// A change is refused if the file would differ in more than the entry. A file that somebody changed since it was read is not written.
//
// Read change.go first, then text.go, which says what a Format does.
package clientfile
