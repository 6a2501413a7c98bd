package upstream

import (
	"crypto/x509"
	"log/slog"
	"net/netip"
	"time"

	"patterngate/catalog"
)

// ServerConfig says where a server is and how it is kept (spec/config.md section 4, servers.NAME). Just one of Program and
// Endpoint is set.
type ServerConfig struct {
	Name     string
	Program  *ProgramConfig
	Endpoint *EndpointConfig
	// StartTimeout bounds a start: the process, the handshake and the list of tools. Timeout is how long calls may still go
	// on in a session that was replaced. 0: 60 s each.
	StartTimeout, Timeout time.Duration
	Who                   Identity
	// Log hears of starts and ends, at debug also of what a child writes to standard error, bounded and without control
	// characters; never of arguments and results. nil: discarded.
	Log *slog.Logger
	// Changed is told the server's name when its tools are others than before: after its tools/list_changed, and after a
	// restart. It is called from another goroutine and may call the server. nil: nobody is told.
	Changed func(server string)
	// Admit judges a tool as the very session declares it to which a call is about to go; an error is [catalog.NotSent].
	// So a definition that changed between a look at [Server.Present] and the call is not called. nil: all are called.
	Admit func(Definition) error
}

// ProgramConfig is a server that is started as a child. It sees no more of our environment than Env says, and is spoken to
// over its standard input and output.
type ProgramConfig struct {
	Command string // path of the executable
	Args    []Argument
	Env     []Variable
	Dir     string // "": the present directory
}

// Argument is one argument of a program: a text, or a secret where that is set.
type Argument struct {
	Text   string
	Secret catalog.Secret
}

// Variable is one variable of a program's environment: a text, or a secret where that is set.
type Variable struct {
	Name, Text string
	Secret     catalog.Secret
}

// EndpointConfig is a server that is reached over Streamable HTTP. No proxy of the environment is used, and no redirect
// leaves the URL's origin.
type EndpointConfig struct {
	URL     string
	Headers []Header
	Roots   *x509.CertPool // whose certificates are believed; nil: the system's
	// Judge refuses an address that is about to be dialled, after its name was resolved; an IPv4-mapped one comes as IPv4.
	// nil: all are dialled.
	Judge func(netip.Addr) error
}

// Header is one header of each request: Text, or Prefix and Secret where that is set. After a 401 the secret is read again
// and the request repeated once.
type Header struct {
	Name, Text string
	Prefix     string
	Secret     catalog.Secret
}

// defaultTimeout stands for times that are 0.
const defaultTimeout = 60 * time.Second

// settled returns the config with its defaults put in.
func (c ServerConfig) settled() ServerConfig {
	if c.StartTimeout <= 0 {
		c.StartTimeout = defaultTimeout
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// secrets are all secrets of the config.
func (c ServerConfig) secrets() []catalog.Secret {
	var all []catalog.Secret
	if p := c.Program; p != nil {
		for _, a := range p.Args {
			all = append(all, a.Secret)
		}
		for _, v := range p.Env {
			all = append(all, v.Secret)
		}
	}
	if e := c.Endpoint; e != nil {
		for _, h := range e.Headers {
			all = append(all, h.Secret)
		}
	}
	return withoutNil(all)
}

func withoutNil(all []catalog.Secret) []catalog.Secret {
	var some []catalog.Secret
	for _, s := range all {
		if s != nil {
			some = append(some, s)
		}
	}
	return some
}
