package upstream

import "fmt"

// This file has the texts of the package that people read: what is wrong with a server and its answers.

// A call and its answer.

const (
	answerTooLong         = "the server's answer is longer than %d bytes"
	callTooLarge          = "too large to be sent"
	asksForInput          = "the server asks for input during the call, which Patterngate does not give"
	callArguments         = "call %s: arguments: %w"
	structuredContentOf   = "call %s: structured content: %w"
	neitherResultNorError = "the server answered with neither a result nor an error"
	callBytes             = "%w: the call is %d bytes long as JSON, and a server takes at most %d"
	callerGaveUp          = "the caller gave up"
	failedWithoutWords    = "the tool reports a failure without any text"
	structuredContent     = "structured content: %w"
)

func linkShown(uri string) string {
	return fmt.Sprintf("[a link to %q]", uri)
}

func contentShown(kind, mime string, n int) string {
	return fmt.Sprintf("[%s, %s, %d bytes]", kind, mime, n)
}

const (
	unknownContent = "[content of an unknown kind]"
	unknownType    = "of an unknown type"
	repeatedMember = "the server's answer repeats a member"
	notToolResult  = "the server's answer is not a tool result: %w"
)

// Starting and stopping a server.

const (
	startFailed        = "start %s: %w"
	handshakeWith      = "handshake with %s: %w"
	handshakeFailed    = "handshake: %w"
	badArgument        = "argument %d: %w"
	badVariable        = "variable %s: %w"
	badHeader          = "header %s: %w"
	messageTooLong     = "the server sent a message of more than %d bytes"
	lineTooLong        = "a line is too long"
	sessionClosed      = "the server closed the session"
	serverNotReading   = "the server does not read its input"
	noRequestsAnswered = "this client answers no requests"
	serverEnded        = "the server ended: %w"
	serverEndedCleanly = "the server ended"
	lastLineSaid       = "%w; the last line on its standard error: %s"
	serverNotEnding    = "the server does not end"
	notStarted         = "the server has not started yet: %w"
	notRestarted       = "not started again yet: %w"
	noAnswerWithin     = "the server did not answer within %v"
	serverNotRunning   = "the server does not run"
)

// Its address.

const (
	notServerURL     = "%q is not the URL of a server; write one such as http://127.0.0.1:8765/mcp"
	userInURL        = "the URL has a user; give the secret as a bearer token, outside of the URL"
	badTokenByte     = "the bearer token has white space or a character beyond ASCII at byte %d; give it exactly as the server shows it"
	tokenInClear     = "http://%s would show the bearer token to everyone on the way; use https"
	otherOrigin      = "the server redirects to another origin, %s; if you trust it, use that URL"
	redirectDrops    = "the server redirects to %s in a way that drops the request; use that URL"
	redirectWrite    = "the server redirects a call that must not be sent twice; use the URL that it redirects to"
	tooManyRedirects = "the server redirects more than %d times"
	notAnyServerURL  = "not the URL of a server"
)

// Its tools.

const (
	noTool         = "the server has no tool %q"
	argumentFault  = "argument %s: %w"
	argumentsFault = "arguments: %w"
	listTooLong    = "tools/list: more than %d tools or %d bytes"
	samePage       = "tools/list: the server gives the same page again and again"
	tooManyPages   = "tools/list: more than %d pages"
)

// Log lines.

const (
	serverSays     = "the server says"
	serverSaysMore = "the server says more than is logged"
	serverRuns     = "the server runs"
	toolsChanged   = "the server's tools have changed"
)
