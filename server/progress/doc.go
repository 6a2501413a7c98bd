// Package progress sends a run's lines to the client that waits for it, as notifications/progress.
//
//	engine ─▶ Tell ─▶ the newest line ─▶ send, at most every 100 ms ─▶ client
//	                                        End: one last line, then nothing
//
// A line that comes too soon waits, and a newer one replaces it. The engine never waits for a client.
//
// Read progress.go, which is all of it.
package progress
