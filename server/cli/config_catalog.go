package cli

import (
	"encoding/json"
	"net/netip"
	"time"

	"patterngate/catalog"
	"patterngate/server/settings/grammar"
)

// CatalogConfig is what a file declares of a team's own tools (spec/config.md section 4). The zero CatalogConfig is none.
type CatalogConfig struct {
	Declared      bool   // the file has a catalog
	Pin           string // the lock's path, absolute; "" without a file
	AllowNetworks []netip.Prefix
	Expose        []string
	Servers       []ServerConfig   // in the order of the file
	HTTP          []HTTPToolConfig // in the order of the file
}

// ServerConfig is one MCP server behind the gate. Just one of Stdio and HTTP is set.
type ServerConfig struct {
	Name                  string
	Enabled               bool
	Stdio                 *StdioConfig
	HTTP                  *EndpointConfig
	Timeout, StartTimeout time.Duration
	MaxParallel           int
	Breaker               BreakerConfig
	Tools                 []ServerToolConfig // in the order of the file
	At                    grammar.Position   // of the entry, for faults found later
}

// BreakerConfig says when a server is left alone for a while.
type BreakerConfig struct {
	Failures int
	Open     time.Duration
}

// StdioConfig is a program that speaks MCP on its standard input and output.
type StdioConfig struct {
	Command string // as it is written
	Path    string // where it was found; "" where it was not
	Args    []Value
	Env     []EnvConfig
	Dir     string // absolute; "": the present directory
}

// EnvConfig is one variable that a program sees: passed on from our own environment, or set.
type EnvConfig struct {
	Name string
	Pass bool
	Value
}

// EndpointConfig is a server at a URL.
type EndpointConfig struct {
	URL     string
	Headers []HeaderConfig
	CAFile  string
}

// HeaderConfig is one header of a request: a text, or a secret behind a prefix.
type HeaderConfig struct {
	Name, Prefix string
	Value
}

// Value is a text, or a reference to a secret.
type Value struct {
	Text   string
	Secret SecretRef // zero: Text counts
}

// SecretRef is where a secret stands: one of env:NAME, file:PATH and a program. The zero SecretRef is none.
type SecretRef struct {
	Env, File string
	Exec      []string
}

// Set reports whether it refers to a secret.
func (s SecretRef) Set() bool { return s.Env != "" || s.File != "" || len(s.Exec) > 0 }

// ToolConfig are the members that servers' and http tools have in common.
type ToolConfig struct {
	Name        string // of the tool in our catalog
	Enabled     bool
	Effect      catalog.Effect
	Idempotent  bool
	Title       string
	Description string
	Phrase      string
	MaxResult   int
	Retry       catalog.Retry
	Rate        RateConfig // zero: no limit
	Once        string     // CEL; "": none
	Reconcile   *ReconcileConfig
	Policy      string // that judges it in every pattern; "": none
	Redact      []string
	At          grammar.Position // of the entry, for faults found later
}

// RateConfig is how often a tool may be called. The zero RateConfig does not limit.
type RateConfig struct {
	Calls, Burst int
	Per          time.Duration
}

// ReconcileConfig says how a call in doubt is settled (spec/config.md section 6).
type ReconcileConfig struct {
	Tool     string
	Args     []grammar.NamedExpression
	Happened string
	Output   []grammar.NamedExpression // nil: the look-up's observation
	Settle   time.Duration
}

// ServerToolConfig is one tool of a server.
type ServerToolConfig struct {
	ToolConfig
	Upstream string     // its name at the server; Name is `as`, else this
	Fix      []FixValue // arguments that are set here
	Bound    json.RawMessage
	Timeout  time.Duration // the server's where the tool has none
}

// FixValue is an argument that the configuration sets: a decoded value, or a secret.
type FixValue struct {
	Name   string
	Value  any
	Secret SecretRef
}

// HTTPToolConfig is a tool that is a request. Input, OutputSchema, and Bound of a server's tool, are objects `name: schema` in
// the order of the file, as catalog.CompileArguments takes them; nil where there is none.
type HTTPToolConfig struct {
	ToolConfig
	Request      RequestConfig
	Input        json.RawMessage
	Output       []grammar.NamedExpression // CEL over args and response; nil: the response itself
	OutputSchema json.RawMessage
}

// RequestConfig is how an http tool asks (spec/config.md section 4, request).
type RequestConfig struct {
	Method, URL       string
	Query             []NamedTemplate
	Headers           []HeaderConfig
	Body              Body
	Form              bool // body_format
	IdempotencyHeader string
	Success, Absent   []string // codes and "2xx"
	Redirects         int
	CAFile            string
	Timeout           time.Duration
}

// NamedTemplate is one query member: its template, or a secret.
type NamedTemplate struct {
	Name, Text string
	Secret     SecretRef // zero: Text counts
}

// Body says what a request carries: nothing, the arguments not used elsewhere, or a mapping. The zero Body is nothing.
type Body struct {
	Args    bool
	Mapping map[string]any // decoded; nil: none
}
