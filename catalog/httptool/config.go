package httptool

import (
	"crypto/x509"
	"time"

	"patterngate/catalog"
)

// Config is the definition of a tool (spec/config.md section 4, request). Optional members default as the grammar says
// when they are zero. Timeout and Body are exceptions: the reader of the configuration must set the method's default
// Body.
type Config struct {
	// Name is the tool's name, for the causes of faults.
	Name string
	// Method is GET, HEAD, POST, PUT, PATCH or DELETE.
	Method string
	// URL is absolute. {name} is allowed in its path segments and after = in its query.
	URL     string
	Query   []Template
	Headers []Header
	Body    Body
	// Form sends the body as application/x-www-form-urlencoded; otherwise the body is JSON.
	Form bool
	// IdempotencyHeader is the header with the call's key; "": none.
	IdempotencyHeader string
	// Success are codes and classes ("201", "2xx") of replies that are results; nil: "2xx".
	Success []string
	// Absent are codes that mean "there is none". nil: "404" and "410" for a read, otherwise none. Only a read may have
	// any.
	Absent []string
	// Redirects is how many redirects are followed: only to the same origin, and only for GET and HEAD.
	Redirects int
	// Roots are the certificates that sign servers' certificates (ca_file); nil: the system's. Tools with the same pool
	// share connections.
	Roots *x509.CertPool
	// Timeout limits a call, from before its connection until its reply is read; 0: only the context does.
	Timeout time.Duration
	Effect  catalog.Effect
	// Repeatable means that the same key twice acts once (idempotent). A read is always repeatable.
	Repeatable bool
	// Arguments returns an argument's JSON type ("" for several or any), and whether the argument exists. nil: there
	// are no arguments.
	Arguments func(name string) (kind string, ok bool)
	// Near returns the argument whose name is close, for faults; "" or a nil Near: none.
	Near func(name string) string
	// Output returns the observation for a call's arguments and its reply; nil: the reply is the observation. An error
	// means that the result is unreadable.
	Output func(args map[string]any, response Response) (any, error)
	// Client makes the connections. It is required.
	Client *Client
}

// Template is one query member. Its text may contain {name}. An argument that is a list, and alone in the text, repeats
// the member. An argument that is absent or null removes it. If Secret is set, it is the value and Text is ignored.
type Template struct {
	Name, Text string
	Secret     catalog.Secret
}

// Header is one header of the request: Text, or Prefix and Secret. It takes no arguments.
type Header struct {
	Name, Text, Prefix string
	Secret             catalog.Secret // nil: Text is used
}

// Body describes a request's body. The zero Body is no body.
type Body struct {
	// Args sends every argument that is not in URL or query, as one object.
	Args bool
	// Mapping is a decoded object. A text that is only {name} becomes the argument with its type; if the argument is
	// absent, the member is left out. Other texts are templates, and other values stay. nil: none.
	Mapping map[string]any
}

// Response is a reply as an output expression sees it.
type Response struct {
	Status  int
	Headers map[string]string // by lower-case name; values of the same name are joined by ", "
	Body    any               // a decoded JSON value, a text, or nil if there is no body
}

// Fault is one error in a [Config], in the form of a configuration's faults.
type Fault struct {
	Path       string // below the tool: request.url, request.headers.Host
	Reason     string // what is wrong
	Got        string // the current value, if it says more than the reason
	Want       string // what would be right
	DidYouMean string // the known name that is close
}
