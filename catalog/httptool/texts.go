package httptool

import "fmt"

// This file has the texts of the package that people read: what is wrong with an HTTP tool, its calls and its replies.

// Arguments in the URL, the body and text.

func urlBytes(most string) string {
	return fmt.Sprintf("at most %s bytes in the URL", most)
}

const (
	decodablePath = "a path that can be decoded"
	valueInPath   = "a value: it is part of the URL's path"
	wordInPath    = "a text, number or boolean: it is part of the URL's path"
	safeSegment   = "a text that makes no empty, . or .. path segment"
	wordsInQuery  = "a text, number or boolean, or a list of these: it is part of the URL's query"
	wordInQuery   = "a text, number or boolean: it is part of the URL's query"
	wordInText    = "a text, number or boolean: it is part of a text"
	wordsInForm   = "a text, number or boolean, or a list of these: it is part of a form"
	formMembers   = "a form's member is a text, number, boolean or a list of these"
	aText         = "a text"
	anObject      = "an object"
	listInList    = "a list inside a list"
)

// The URL.

const (
	fixedPart = "an argument can stand only in a path segment or a query value"
)

func inScheme(name string) string {
	return fmt.Sprintf("{%s} is in the scheme", name)
}

const (
	notAbsolute  = "not an absolute URL"
	wantAbsolute = "write https://HOST/PATH"
)

func fragmentNotSent(fragment string) string {
	return fmt.Sprintf("#%s is never sent", fragment)
}

const (
	wantRemoved = "remove it"
	userPart    = "user part"
)

func inPart(name, part string) string {
	return fmt.Sprintf("{%s} is in the %s", name, part)
}

const (
	aUserPart         = "a user part"
	wantAuthorization = "write a header: Authorization: {secret: \"env:NAME\", prefix: \"Bearer \"}"
	noHost            = "no host"
	wantHost          = "write a host's name or address, and a port from 1 to 65535 if it needs one"
	theURLPath        = "the URL's path"
)

func pathSegment(text string) string {
	return fmt.Sprintf("a path segment %s", text)
}

const (
	wantRealPath = "write the path without it"
)

func inQueryName(name string) string {
	return fmt.Sprintf("{%s} is in a query name", name)
}

const (
	theURLQuery = "the URL's query; write a list in query"
)

func notInURL(quoted string) string {
	return fmt.Sprintf("%s is not allowed in a URL", quoted)
}

// Templates.

const (
	wantPlaceholder = "write {name} for an argument, {{ and }} for braces"
)

func noArgument(name string) string {
	return fmt.Sprintf("no argument %s", name)
}

const (
	wantInput = "use one of input"
)

func ofType(name, kind string) string {
	return fmt.Sprintf("{%s} is of type %s", name, kind)
}

func onlyWords(place string) string {
	return fmt.Sprintf("only a text, number or boolean can be part of %s", place)
}

const (
	unclosedBrace = "a { without its }"
	strayBrace    = "a } without its {"
	emptyBraces   = "{} names no argument"
)

// Query, headers and body.

const (
	unknownMethod   = "unknown method"
	unnamedQuery    = "a query member without a name"
	wantQueryName   = "write its name"
	queryBesideText = "a query value with other text around it"
)

func inHeader(name string) string {
	return fmt.Sprintf("{%s} is in a header", name)
}

const (
	wantNoArgument   = "headers take no arguments; write {{ for a brace"
	controlCharacter = "a control character"
	wantOneLine      = "write one line of text"
)

func notHeader(quoted string) string {
	return fmt.Sprintf("not a header name: %s", quoted)
}

const (
	headerForm = "letters, digits and -"
)

func setByConnection(name string) string {
	return fmt.Sprintf("the connection sets %s", name)
}

func repeatedHeader(name string) string {
	return fmt.Sprintf("repeated header %s", name)
}

const (
	wantOnce = "write it once"
)

func noBodyFor(method string) string {
	return fmt.Sprintf("a %s request has no body", method)
}

const (
	wantNoBody     = "write body: none"
	argsAndMapping = "args and a mapping"
	wantOne        = "keep one"
)

func notJSON(why string) string {
	return fmt.Sprintf("not JSON: %s", why)
}

const (
	wantJSON = "write values that JSON can hold"
)

// Status codes, redirects and times.

const (
	notCode        = "not a status code"
	wantCodes      = "write codes from 200 to 599"
	orClasses      = " or classes like \"2xx\""
	noClient       = "no client"
	wantClient     = "a client to connect with"
	noSuccess      = "no code is a success"
	wantSuccess    = "write \"2xx\""
	absentOnlyRead = "only a tool of effect read can have absent"
)

func inSuccessToo(code string) string {
	return fmt.Sprintf("%s is in success too", code)
}

const (
	wantInOne     = "write it in one of them"
	outOfRange    = "out of range"
	wantRedirects = "write a number from 0 to 5"
)

func notRedirected(method string) string {
	return fmt.Sprintf("a %s request is not redirected", method)
}

const (
	wantSeconds = "write a number of seconds: 30"
)

// Networks.

const (
	hostNoAddress = "%s has no address"
)

func networkRefused(address any, class string) string {
	return fmt.Sprintf("%s is %s; add its network to catalog.allow_networks", address, class)
}

const (
	metadataService    = "a cloud's metadata service"
	unspecifiedAddress = "an unspecified address"
	loopbackAddress    = "a loopback address"
	privateAddress     = "a private address"
	carrierAddress     = "an address shared behind a carrier"
	linkLocalAddress   = "a link-local address"
	reservedAddress    = "a reserved address"
	multicastAddress   = "a multicast address"
	noAddress          = "no address"
)

// The request and the reply.

func checkSecret(name string) string { return fmt.Sprintf(" (check the secret of %s)", name) }

const (
	badArgument         = "%s: argument %s: %s"
	querySecret         = "the secret of query member %s: %w"
	headerSecret        = "the secret of header %s: %w"
	headerSecretControl = "the secret of header %s has a control character"
	noKey               = "the call has no key that a header could carry"
	replyUnread         = "%s: reading the reply: %w"
	replyTooLong        = "the reply is longer than %d bytes"
	replyNotGzip        = "the reply is not gzip: %w"
	replyEncoding       = "the reply has content encoding %q"
	replyNotJSON        = "the reply is not JSON: %w"
	replyNotUTF8        = "the reply is not UTF-8"
	replyContentType    = "the reply has content type %q"
	replyNoContentType  = "the reply has no content type that can be read: %w"
	replyCharset        = "the reply has charset %q"
)
