// Package llmtest is a model server for tests, as net/http/httptest is a web server for tests: it listens on
// loopback, speaks Chat Completions, answers from a script and remembers what it was asked.
//
//	script ─► Server ◄── POST /v1/chat/completions ── the client under test
//	             │  next Reply, in order: a completion, a status, a fault of the line
//	             └► Requests(): what came, byte for byte, with the payload decoded on demand
//
// A client under test meets real sockets, so its time-outs, broken connections and bounds are the real ones.
package llmtest
