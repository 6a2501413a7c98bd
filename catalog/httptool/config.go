package httptool

import (
	"crypto/x509"
	"time"

	"patterngate/catalog"
)

// Config writes a tool down (spec/config.md section 4, request). The zero values of its optional members are the
// grammar's defaults, but for Body, whose default by method is the reader's part, and Timeout.
type Config struct {
	// Name is the tool's, for causes of faults.
	Name string
	// Method is GET, HEAD, POST, PUT, PATCH or DELETE.
	Method string
	// URL is absolute; {name} may stand in its path segments and after = in its query.
	URL     string
	Query   []Template
	Headers []Header
	Body    Body
	// Form sends the body as application/x-www-form-urlencoded; else it is JSON.
	Form bool
	// IdempotencyHeader carries the call's key; "" is none.
	IdempotencyHeader string
	// Success are codes and classes ("201", "2xx") of replies that are results; nil: "2xx".
	Success []string
	// Absent are codes that say "there is none"; nil: of a read "404" and "410", else none. Only a read has any.
	Absent []string
	// Redirects is how many are followed: to the same origin, for GET and HEAD.
	Redirects int
	// Roots are the certificates that sign servers' (ca_file); nil: the system's. Tools that share a pool share connections.
	Roots *x509.CertPool
	// Timeout bounds a call, from before its connection until its reply was read; 0: the context alone does.
	Timeout time.Duration
	Effect  catalog.Effect
	// Repeatable: the same key twice acts once (idempotent); a read always is.
	Repeatable bool
	// Arguments gives an argument's JSON type ("" where it has several or any), and whether there is such an argument.
	// nil: there is none.
	Arguments func(name string) (kind string, ok bool)
	// Near is the argument whose name comes near, for faults; "" or a nil Near: none.
	Near func(name string) string
	// Output makes the observation of a call's arguments and its reply; nil: the reply is it. Its error is a result that
	// cannot be read.
	Output func(args map[string]any, response Response) (any, error)
	// Client makes the connections; required.
	Client *Client
}

// Template is one query member: its text may hold {name}. An argument that is a list, alone in a text, repeats the member;
// one that is absent or null drops it. With a Secret that is its value, and Text does not count.
type Template struct {
	Name, Text string
	Secret     catalog.Secret
}

// Header is one header of the request: Text, or Secret behind Prefix. It takes no arguments.
type Header struct {
	Name, Text, Prefix string
	Secret             catalog.Secret // nil: Text counts
}

// Body says what a request carries. The zero Body is nothing.
type Body struct {
	// Args: every argument that is in neither URL nor query, as one object.
	Args bool
	// Mapping is a decoded object: a text that is just {name} becomes the argument with its type (absent: the member is
	// left out), other texts are templates, other values stay. nil: none.
	Mapping map[string]any
}

// Response is a reply as an output expression sees it.
type Response struct {
	Status  int
	Headers map[string]string // by lower-case name; several of a name joined by ", "
	Body    any               // a decoded JSON value, a text, or nil where there was none
}

// Fault is one thing that is wrong with a [Config], in the form of a configuration's faults.
type Fault struct {
	Path       string // below the tool: request.url, request.headers.Host
	Reason     string // what is wrong
	Got        string // what stands there, where that says more than the reason
	Want       string // what would have been right
	DidYouMean string // the one known name that comes near
}
