// Package inbox starts the page on which people decide approvals and look at runs, and holds the command that opens it in a browser. The
// page itself is package server/web.
//
//	                 ┌─ the port is free ─────────────▶ serve the page here
//	a question waits ┼─ a server over the same state ─▶ its page is the one
//	                 └─ the page of another state ────▶ try the next port
//
//	"patterngate inbox" ──▶ the same search ──▶ a token for one sign-in ──▶ browser, or terminal
//
// A server starts a [Page], which waits for the first question. The page decides and never executes. Read page.go first, then place.go.
package inbox
