package tools

import (
	"encoding/json"
	"net/netip"
	"os"
	"time"

	"patterngate/catalog"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// Catalog is what a file declares of a team's own tools (spec/config.md section 4). The zero CatalogConfig is none.
type Catalog struct {
	Declared      bool   // the file has a catalog
	Pin           string // the lock's path, absolute; "" without a file
	AllowNetworks []netip.Prefix
	Expose        []string
	Servers       []Server   // in the order of the file
	HTTP          []HTTPTool // in the order of the file
}

// Server is one MCP server behind the gate. Just one of Stdio and HTTP is set.
type Server struct {
	Name                  string
	Enabled               bool
	Stdio                 *Stdio
	HTTP                  *Endpoint
	Timeout, StartTimeout time.Duration
	MaxParallel           int
	Breaker               Breaker
	Tools                 []ServerTool     // in the order of the file
	At                    grammar.Position // of the entry, for faults found later
}

// Breaker says when a server is left alone for a while.
type Breaker struct {
	Failures int
	Open     time.Duration
}

// Stdio is a program that speaks MCP on its standard input and output.
type Stdio struct {
	Command string // as it is written
	Path    string // where it was found; "" where it was not
	Args    []Value
	Env     []Variable
	Dir     string // absolute; "": the present directory
}

// Variable is one variable that a program sees: passed on from our own environment, or set.
type Variable struct {
	Name string
	Pass bool
	Value
}

// Endpoint is a server at a URL.
type Endpoint struct {
	URL     string
	Headers []Header
	CAFile  string
}

// Header is one header of a request: a text, or a secret behind a prefix.
type Header struct {
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

// Tool are the members that servers' and http tools have in common.
type Tool struct {
	Name        string // of the tool in our catalog
	Enabled     bool
	Effect      catalog.Effect
	Idempotent  bool
	Title       string
	Description string
	Phrase      string
	MaxResult   int
	Retry       catalog.Retry
	Rate        Rate   // zero: no limit
	Once        string // CEL; "": none
	Reconcile   *Reconcile
	Policy      string // that judges it in every pattern; "": none
	Redact      []string
	At          grammar.Position // of the entry, for faults found later
}

// Rate is how often a tool may be called. The zero RateConfig does not limit.
type Rate struct {
	Calls, Burst int
	Per          time.Duration
}

// Reconcile says how a call in doubt is settled (spec/config.md section 6).
type Reconcile struct {
	Tool     string
	Args     []grammar.NamedExpression
	Happened string
	Output   []grammar.NamedExpression // nil: the look-up's observation
	Settle   time.Duration
}

// ServerTool is one tool of a server.
type ServerTool struct {
	Tool
	Upstream string  // its name at the server; Name is `as`, else this
	Fix      []Fixed // arguments that are set here
	Bound    json.RawMessage
	Timeout  time.Duration // the server's where the tool has none
}

// Fixed is an argument that the configuration sets: a decoded value, or a secret.
type Fixed struct {
	Name   string
	Value  any
	Secret SecretRef
}

// HTTPTool is a tool that is a request. Input, OutputSchema, and Bound of a server's tool, are objects `name: schema` in
// the order of the file, as catalog.CompileArguments takes them; nil where there is none.
type HTTPTool struct {
	Tool
	Request      Request
	Input        json.RawMessage
	Output       []grammar.NamedExpression // CEL over args and response; nil: the response itself
	OutputSchema json.RawMessage
}

// Request is how an http tool asks (spec/config.md section 4, request).
type Request struct {
	Method, URL       string
	Query             []NamedTemplate
	Headers           []Header
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

// Start is the directory in which the program starts: the present one where the file says none.
func (c *Stdio) Start() string {
	if c.Dir != "" {
		return c.Dir
	}
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// Placed is a tool of the file and where it is declared.
type Placed struct {
	*Tool
	Server string // "http" for a request
	Path   *yamldoc.Path
	Named  *yamldoc.Path // where its name stands
}

// Tools are those that are enabled, of enabled servers, in the order of the file.
func (c *Catalog) Tools() []Placed {
	var list []Placed
	root := (*yamldoc.Path)(nil).Key("catalog")
	for i := range c.Servers {
		s := &c.Servers[i]
		for j := range s.Tools {
			t := &s.Tools[j]
			if !s.Enabled || !t.Enabled {
				continue
			}
			path := root.Key("servers").Key(s.Name).Key("tools").Key(t.Upstream)
			d := Placed{&t.Tool, s.Name, path, path}
			if t.Name != t.Upstream {
				d.Named = path.Key("as")
			}
			list = append(list, d)
		}
	}
	for i := range c.HTTP {
		if t := &c.HTTP[i]; t.Enabled {
			path := root.Key("http").Key(t.Name)
			list = append(list, Placed{&t.Tool, "http", path, path})
		}
	}
	return list
}

// FindCommands says where each server's program is, in an environment; what is not found stays "". A server that is off has
// none.
func (c *Catalog) FindCommands(environ []string) {
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Enabled && s.Stdio != nil {
			s.Stdio.Path, _ = machine.FindProgram(s.Stdio.Command, machine.Lookup(environ, "PATH"))
		}
	}
}
