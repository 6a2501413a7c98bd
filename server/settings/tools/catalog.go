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

// Catalog holds the servers and tools that a file declares (spec/config.md section 4). The zero Catalog declares none.
type Catalog struct {
	Declared      bool   // the file has a catalog
	Pin           string // the lock's path, absolute; "" without a file
	AllowNetworks []netip.Prefix
	Expose        []string
	Servers       []Server   // in the order of the file
	HTTP          []HTTPTool // in the order of the file
}

// Server is one MCP server whose tools Patterngate calls. Exactly one of Stdio and HTTP is set.
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

// Breaker says after how many failures in a row Patterngate stops calling a server, and for how long.
type Breaker struct {
	Failures int
	Open     time.Duration
}

// Stdio is a program that speaks MCP on its standard input and output.
type Stdio struct {
	Command string // as written in the file
	Path    string // where the program was found; "": not found
	Args    []Value
	Env     []Variable
	Dir     string // absolute; "": the working directory
}

// Variable is one environment variable of a program: passed on from Patterngate's environment, or set.
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

// SecretRef says where a secret is: env:NAME, file:PATH or a program. The zero SecretRef refers to none.
type SecretRef struct {
	Env, File string
	Exec      []string
}

// Set reports whether it refers to a secret.
func (s SecretRef) Set() bool { return s.Env != "" || s.File != "" || len(s.Exec) > 0 }

// Tool holds the members that the tools of servers and http tools have in common.
type Tool struct {
	Name        string // of the tool in the catalog
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
	Policy      string // judges it in every pattern; "": none
	Redact      []string
	At          grammar.Position // of the entry, for faults found later
}

// Rate limits how often a tool can be called. The zero Rate does not limit.
type Rate struct {
	Calls, Burst int
	Per          time.Duration
}

// Reconcile says how an unknown outcome of a call is settled (spec/config.md section 6).
type Reconcile struct {
	Tool     string
	Args     []grammar.NamedExpression
	Happened string
	Output   []grammar.NamedExpression // nil: the observation of the tool that was asked
	Settle   time.Duration
}

// ServerTool is one tool of a server.
type ServerTool struct {
	Tool
	Upstream string  // its name at the server; Name is `as` if set, else this
	Fix      []Fixed // arguments that the configuration sets
	Bound    json.RawMessage
	Timeout  time.Duration // the server's if the tool has none
}

// Fixed is an argument that the configuration sets: a decoded value, or a secret.
type Fixed struct {
	Name   string
	Value  any
	Secret SecretRef
}

// HTTPTool is a tool that sends an HTTP request. Input, OutputSchema and the Bound of a [ServerTool] are objects `name:
// schema` in the order of the file, as catalog.CompileArguments takes them. They are nil if the file sets none.
type HTTPTool struct {
	Tool
	Request      Request
	Input        json.RawMessage
	Output       []grammar.NamedExpression // CEL over args and response; nil: the response itself
	OutputSchema json.RawMessage
}

// Request is the request of an http tool (spec/config.md section 4, request).
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

// NamedTemplate is one query parameter: a template, or a secret.
type NamedTemplate struct {
	Name, Text string
	Secret     SecretRef // zero: Text counts
}

// Body is the body of a request: nothing, the arguments not used elsewhere, or a mapping. The zero Body is nothing.
type Body struct {
	Args    bool
	Mapping map[string]any // decoded; nil: none
}

// Start returns the directory in which the program starts. It is the working directory if the file sets none.
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

// Placed is a tool of the file and the place where the file declares it.
type Placed struct {
	*Tool
	Server string // "http" for a request
	Path   *yamldoc.Path
	Named  *yamldoc.Path // path of the key that gives its name
}

// Tools returns the enabled tools of enabled servers, and the enabled http tools, in the order of the file.
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

// FindCommands sets the path of each enabled server's program, from the PATH of environ. The path stays "" if the program
// is not found.
func (c *Catalog) FindCommands(environ []string) {
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Enabled && s.Stdio != nil {
			s.Stdio.Path, _ = machine.FindProgram(s.Stdio.Command, machine.Lookup(environ, "PATH"))
		}
	}
}
