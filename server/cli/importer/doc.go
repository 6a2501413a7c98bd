// Package importer holds the command init, which writes a first configuration. It can take over the MCP servers of a client.
//
//	client's file ──▶ [ClientServer] ──▶ [Server], in the form of the new file ──▶ started once: its tools
//	                                                                                    │ a person says what each tool does
//	client's file: Patterngate instead ◀── asked for ── configuration, lock, secrets ◀──┘
//
// Nothing that a person did not confirm comes into force. The command doctor reads client's files with this package too. Read
// importer.go first, then read.go and entry.go.
package importer
