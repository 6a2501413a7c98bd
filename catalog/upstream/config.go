package upstream

import (
	"crypto/x509"
	"log/slog"
	"net/netip"
	"time"

	"patterngate/catalog"
)

// ServerConfig describes how to reach and run a server (spec/config.md section 4, servers.NAME). Exactly one of Program
// and Endpoint is set.
type ServerConfig struct {
	Name     string
	Program  *ProgramConfig
	Endpoint *EndpointConfig
	// StartTimeout limits a start: the process, the handshake and the list of tools. Timeout is how long calls may
	// continue in a session that was replaced. 0: 60 s each.
	StartTimeout, Timeout time.Duration
	Who                   Identity
	// Log receives starts and ends of sessions. At debug level it also receives the child's standard error, limited in
	// size and without control characters. It never receives arguments and results. nil: discarded.
	Log *slog.Logger
	// Changed is called with the server's name when its tools have changed: after its tools/list_changed, and after a
	// restart. It runs in another goroutine and may call the server. nil: it is not called.
	Changed func(server string)
	// Admit checks a tool's definition in the session that receives the call; an error becomes [catalog.NotSent]. So a
	// call never reaches a tool whose definition changed after a look at [Server.Present]. nil: all tools are allowed.
	Admit func(Definition) error
}

// ProgramConfig is a server that is started as a child. It sees only the environment variables in Env. The client uses
// its standard input and output.
type ProgramConfig struct {
	Command string // path of the executable
	Args    []Argument
	Env     []Variable
	Dir     string // "": the current directory
}

// Argument is one argument of a program: a secret if Secret is set, otherwise a text.
type Argument struct {
	Text   string
	Secret catalog.Secret
}

// Variable is one variable of a program's environment: a secret if Secret is set, otherwise a text.
type Variable struct {
	Name, Text string
	Secret     catalog.Secret
}

// EndpointConfig is a server that is reached over Streamable HTTP. Proxies of the environment are not used, and no
// redirect leaves the URL's origin.
type EndpointConfig struct {
	URL     string
	Headers []Header
	Roots   *x509.CertPool // the trusted certificates; nil: the system's
	// Judge returns an error for an address that must not be dialled. It is called after its name was resolved. An
	// IPv4-mapped address comes as IPv4. nil: all addresses are allowed.
	Judge func(netip.Addr) error
}

// Header is one header of each request: Prefix and Secret if Secret is set, otherwise Text. After a 401 the secret is
// read again and the request repeated once. A call that must not be sent twice is not repeated.
type Header struct {
	Name, Text string
	Prefix     string
	Secret     catalog.Secret
}

// defaultTimeout replaces times that are 0.
const defaultTimeout = 60 * time.Second

// settled returns the config with its defaults.
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

// secrets returns all secrets of the config.
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
