package transport

import "fmt"

// This file has the texts of the package that people read: answers of the transports, and what is wrong with their configuration.

// The server is busy or stops.

const (
	stoppingNothingRan = "the server is stopping; nothing ran"
	busyStopping       = "busy: the server is stopping; nothing ran"
	busyStoppingOnly   = "busy: the server is stopping"
)

func busyCalls(most int64) string {
	return fmt.Sprintf("busy: %d calls are running, which is the limit; try again; nothing ran", most)
}

const (
	busyLong     = "busy: too many long requests are in progress; try again; nothing ran"
	busySessions = "busy: there are too many sessions, and all of them are in use; try again; nothing ran"
	busyStreams  = "busy: there are too many streams; try again"
	cancelled    = "the call was cancelled"
)

// Messages that are not JSON-RPC.

const (
	idInUse           = "Invalid Request: an earlier request with this id is not answered yet"
	oneObject         = "Invalid Request: a message is one JSON-RPC object; batches are not supported"
	oneDocument       = "Parse error: a message is one JSON document"
	idForm            = "Invalid Request: an id is a string or a number of at most 2^53-1"
	versionForm       = "Invalid Request: jsonrpc must be \"2.0\""
	methodNeeded      = "Invalid Request: method is missing"
	repeatedMember    = "Parse error: a member is repeated; send each member of the message once"
	noResponsesWanted = "Invalid Request: this server sends no requests, so it takes no responses"
	lineTooLong       = "the line is longer than 4 MiB"
)

// Subscriptions and answers.

func subscriptionLimit(n, size int) string {
	return fmt.Sprintf("at most %d subscriptions of %d bytes each", n, size)
}

const (
	subscriptionTooLong = "a subscription is too long"
)

func noAnswerWritten(method string) string {
	return fmt.Sprintf("no answer was written to %s", method)
}

// Requests over HTTP.

const (
	bodyEnded       = "the body ended early"
	bodyTookTooLong = "the body took longer than %v"
	bodyTooLarge    = "a request has at most %d bytes"
)

func versionsSpoken(versions string) string {
	return fmt.Sprintf("Unsupported protocol version; this server speaks %s", versions)
}

const (
	unsupportedVersion = "Unsupported protocol version"
	sessionMissing     = "Mcp-Session-Id is missing; call initialize first"
	sessionIDMissing   = "Mcp-Session-Id is missing"
	sessionUnknown     = "there is no such session; call initialize again"
	noSuchSession      = "there is no such session"
	wantEventStream    = "Accept: want text/event-stream"
	noBody             = "%s has no body"
	givenTwice         = "%s: given twice"
	noSessions         = "%s 2026-07-28 has no sessions; use POST"
	knownPaths         = "this server has /mcp and /healthz"
	wantMethod         = "use POST, GET or DELETE"
	wantJSON           = "Content-Type: want application/json"
	wantNoEncoding     = "Content-Encoding: want none"
	wantAccept         = "Accept: want application/json, text/event-stream"
	panicked           = "panic: %v\n%s"
)

// Who can connect.

const (
	hostNotAllowed     = "%s is not a name of this server; add it to http.hosts"
	originNotAllowed   = "pages of this origin cannot connect; add it to http.origins"
	otherUser          = "without tokens only the user who started this server can connect; set http.token_file"
	tokenUnknown       = "this token is not known"
	tokenMissing       = "a bearer token is missing"
	unknownSocketTable = "a table of sockets in an unknown format"
)

// The configuration of HTTP.

const (
	listenForm       = "listen %q: want host:port"
	originForm       = "origin %q: want scheme://host as browsers write it"
	hostForm         = "host %q: want a name or address, with or without a port"
	positiveLimits   = "body bytes and session idle: want numbers above 0"
	tokensNeeded     = "listen %s is not loopback: tokens are needed"
	tokensNeededHere = "this system does not tell which user is at the other end of a loopback connection: tokens are needed"
)

// The file of tokens.

const (
	tokensTooLong   = "more than %d bytes"
	noTokenLine     = "no token; write a line name: token"
	noColon         = "no colon; write name: token"
	tokenNameForm   = "a name is 1 to 64 letters, digits, _ and -"
	tokenLength     = "%s: a token has %d to %d characters; make one with openssl rand -hex 32"
	tokenCharacters = "%s: a token is letters, digits and -._~+/, then = as padding"
	tooManyTokens   = "more than %d tokens"
	tokenNameTwice  = "%s: given twice, first at line %d"
	tokenTwice      = "%s: the same token as %s at line %d"
)
