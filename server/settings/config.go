package settings

import (
	_ "embed"
	"fmt"
	"sync"
	"time"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns/llm/openai"
	"patterngate/server"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// Config is the effective configuration: the embedded default, changed by the file, the environment and the flags in that
// order (spec/config.md sections 8 and 9). It holds values only: package assembly makes a running server from it. The zero
// Config allows nothing.
type Config struct {
	LLM    LLM
	Demo   demo.Config
	Log    Log
	Limits Limits
	HTTP   HTTP
	Wait   Wait
	// Results says which channel of a result a client's model reads, by the client's name. Other clients read both.
	Results map[string]server.Channel
	// State is the file in which runs are recorded, or :memory:. It is empty if nothing names it and there is no state
	// directory.
	State string
	// StateUsual is true if no flag, variable or file sets State; see [Config.UsualState].
	StateUsual bool
	// Inbox is the address of the approval page, host:port of this machine, or off.
	Inbox string
	// Notify says how people are notified that a call waits for a decision.
	Notify Notify
	// Redact are pointers to values that records hold only as salted hashes.
	Redact []string
	// Patterns are the built-in patterns in the order in which they are listed, then the file's own. Disabled ones are
	// included.
	Patterns []Pattern
	// DemoEnabled is auto, true or false; see [Config.DemoOn].
	DemoEnabled string
	// Offer lists the MCP tools that clients see; nil: all.
	Offer []string
	// Catalog holds the tools that the file declares.
	Catalog tools.Catalog
	// Policies are the embedded policy, then the file's own in the order of the file.
	Policies []rules.Policy

	BuiltinPolicy bool // for a run that began when the embedded policy was built in
}

// LLM says which provider and models answer questions.
type LLM struct {
	Provider   string        // auto, openai or rules
	Model      string        // never blank
	BaseURL    string        // absolute http or https; empty means OpenAI's
	Timeout    time.Duration // of one request
	MaxRetries int
	// Temperature is 0 to 2.
	Temperature float64
	// Models are further models by role. The role plan makes every decision, final writes every text, and the file can add
	// other roles.
	Models []ModelRole
	// Role, ResponseFormat and RepairTurns apply to patterns that do not set their own. "" and nil mean the roles plan and
	// final, and the defaults of the kind.
	Role, ResponseFormat string
	RepairTurns          *int
	Key                  tools.SecretRef // where the key is, as the file says; the zero SecretRef means OPENAI_API_KEY
	APIKey               Secret          // value of OPENAI_API_KEY; not set if Key names another place
	Referred             bool            // Key leads somewhere, as far as Patterngate can tell without reading it
}

// keyed reports whether there is a key, as far as Patterngate can tell without reading it.
func (c LLM) keyed() bool { return c.APIKey.Set() || c.Referred }

// Resolved returns the provider in force: openai or rules.
func (c LLM) Resolved() string {
	if c.Provider == "openai" || c.Provider == "auto" && c.reachable() {
		return "openai"
	}
	return "rules"
}

// OpenAI returns the settings of the model's adapter if Resolved is openai. It does not contain a key that the file refers
// to.
func (c LLM) OpenAI() openai.Config {
	return openai.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey.Reveal(), Model: c.Model, Timeout: c.Timeout, MaxRetries: c.MaxRetries, Temperature: c.Temperature,
	}
}

// Log says what is logged and in which format.
type Log struct {
	Level  string // debug, info, warn, error; empty means the command's own: info for serve, else warn
	Format string // text or json
}

// Limits bounds the server.
type Limits struct {
	Grace          time.Duration // for running calls at shutdown
	ResultBytes    int           // of a whole result
	ConcurrentRuns int           // calls under way at once
	ParkedRuns     int           // of one principal; they wait in memory for their caller
}

// Wait says how long runs wait, and how long calls wait for runs.
type Wait struct {
	Caller  time.Duration // for their caller's next proposal
	Default time.Duration // a call for its run, if the call does not say
	Max     time.Duration // a call for its run, at most
	Join    time.Duration // how long an equal call gets a result that was never delivered
}

// Pattern returns the pattern of that name.
func (c Config) Pattern(name string) (Pattern, bool) {
	if p, known := c.pattern(name); known {
		return *p, true
	}
	return Pattern{}, false
}

// Secret is a text that no fmt verb prints. The zero Secret is not set.
type Secret struct{ reveal func() string }

// NewSecret returns a secret with that text. An empty text returns the zero Secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{func() string { return text }}
}

// Set reports whether there is a secret.
func (s Secret) Set() bool { return s.reveal != nil }

// Reveal returns the text, or "" if there is none.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// String returns *** for a secret that is set, else "".
func (s Secret) String() string {
	if !s.Set() {
		return ""
	}
	return "***"
}

// Default is the embedded default configuration, default.yaml.
//
//go:embed default.yaml
var Default []byte

// Sources says where a configuration comes from. The zero value means the embedded default alone.
type Sources struct {
	Path      string   // --config, or an argument
	LogLevel  string   // --log-level
	LogFormat string   // --log-format
	HTTP      string   // --http
	TokenFile string   // --token-file
	State     string   // --state
	Inbox     string   // --inbox
	Environ   []string // as os.Environ returns it; the last of two equal names counts
	// Argument says that Path is an argument of the command.
	Argument bool
	// Known are the names that a pattern's allow lists can hold without a warning, by pattern. A pattern that is not in it
	// has the names of the embedded default.
	Known map[string][]string
	// Instead are files that replace policies of the configuration, by the policy's name. Commands that compare policies
	// set it.
	Instead map[string]string
	// Texts replace the contents of files, by path. Commands that are about to write these files set it.
	Texts map[string][]byte
}

// Document is a configuration with the places of its values. [Read] returns it.
type Document struct {
	Config
	Path string // of the file; empty if the embedded default is in force

	Root     *yamldoc.Node // of the file, for faults that are found later
	Text     []byte
	said     map[string]yamldoc.Place // where each value that is set comes from, by path
	Compiled tools.Compiled           // the schemas of the file's arguments
}

// Read reads a configuration and checks it across keys. It starts nothing. It returns all faults and warnings together, in the order
// in which it found them. With a fault the document is incomplete: use it only to find more faults. An error means that the
// embedded default is wrong.
//
// Read reads the files of the configuration and checks who can write them. It looks for the programs that the configuration names.
// It does not use the network or the working directory.
//
//	default.yaml ──▶ file ──▶ environment ──▶ flags ──▶ checks across keys ──▶ Document
func Read(in Sources) (Document, *yamldoc.Faults, error) {
	var d Document
	faults := &yamldoc.Faults{}
	read := newLoader(faults, in.Home)
	grammar.NotesOf[rules.Notes](read.Reader).Texts = in.Texts
	if err := d.Config.Embed(in.Known); err != nil {
		return Document{}, faults, err
	}
	keys := d.Config.Keys(in.known(d.Config))
	if text, found := in.file(faults); found != "" {
		d.Path = found
		if text != nil {
			read.File(yamldoc.Read(found, text, faults), keys)
			d.Root, d.Text = read.Root, text
		}
	}
	read.instead(in, &d.Config)
	read.overrides(in, keys)
	read.key(in, &d.LLM)
	read.across(d.LLM)
	read.acrossHTTP(d.HTTP)
	read.acrossWait(d.Wait)
	if d.State == "" {
		d.State, d.StateUsual = d.UsualState(in.Environ), true
	}
	read.acrossInbox(&d.Config, in.Environ)
	read.acrossTools(&d.Config)
	read.acrossPolicies(&d.Config)
	read.acrossCatalog(&d, in.Environ)
	read.acrossPlanning(&d.Config)
	read.acrossOffer(&d.Config)
	d.said, d.Compiled = read.Places, tools.CompiledIn(read.Reader)
	return d, faults, nil
}

// Embed sets c to the embedded default. known are the names that allow lists can hold without a warning, by pattern.
func (c *Config) Embed(known map[string][]string) error {
	*c = Config{Patterns: builtinPatterns()}
	document, faults := embeddedDocument()
	read := newLoader(&faults, nil)
	grammar.NotesOf[rules.Notes](read.Reader).Embeds = true
	read.File(document, c.Keys(known))
	if err := faults.Err(); err != nil {
		return fmt.Errorf("the embedded configuration: %w", err)
	}
	return nil
}

// embeddedDocument returns the embedded default as a document, with its faults. It is parsed once, since nothing changes it.
var embeddedDocument = sync.OnceValues(func() (*yamldoc.Node, yamldoc.Faults) {
	var faults yamldoc.Faults
	return yamldoc.Read("default.yaml", Default, &faults), faults
})

// known returns the names that allow lists can hold without a warning, by pattern. They come from in.Known, else from the
// embedded default. A planning pattern can name any tool of the demo.
func (in Sources) known(embedded Config) map[string][]string {
	known := make(map[string][]string, len(embedded.Patterns))
	for _, p := range embedded.Patterns {
		if known[p.Name] = p.Tools; p.Kind == gateway.Planning {
			known[p.Name] = DemoTools
		}
		if names, ok := in.Known[p.Name]; ok {
			known[p.Name] = names
		}
	}
	return known
}

// EmbeddedPattern returns a built-in pattern as the embedded default has it. For another name it returns the zero Pattern.
func EmbeddedPattern(name string) Pattern {
	p, _ := embeddedConfig().Pattern(name)
	return p
}

var embeddedConfig = sync.OnceValue(func() Config {
	var c Config
	_ = c.Embed(nil) // Read reports this error
	return c
})

// builtinPatterns returns the built-in patterns with the default budgets of their kinds.
func builtinPatterns() []Pattern {
	list := make([]Pattern, 0, len(BuiltinPatterns))
	for _, name := range BuiltinPatterns {
		kind := builtinKinds[name]
		list = append(list, Pattern{Name: name, Kind: kind, Budget: gateway.DefaultBudget(kind), Goal: GoalName, Approver: newApprover()})
	}
	return list
}

// loader reads a whole configuration and checks it across keys.
type loader struct{ *grammar.Reader }

// newLoader returns a loader that adds to faults. The function home replaces ~/ in paths; nil means no replacement.
func newLoader(faults *yamldoc.Faults, home func(path string) string) *loader {
	return &loader{grammar.NewReader(faults, home)}
}
