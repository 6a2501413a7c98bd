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

// Config is the effective configuration: the embedded default with the file, the environment and the flags laid over
// it (spec/config.md sections 8 and 9). It holds values only; [cli.Load] makes
// things of it. The zero Config allows nothing.
type Config struct {
	LLM    LLM
	Demo   demo.Config
	Log    Log
	Limits Limits
	HTTP   HTTP
	Wait   Wait
	// Results says which channel of a result the model of a client reads, by the client's name; others read both.
	Results map[string]server.Channel
	// State is the file in which runs are recorded, or :memory:. Empty where nobody named one and there is no state
	// directory.
	State string
	// StateUsual is true if neither a flag, a variable nor the file names State; see [Config.UsualState].
	StateUsual bool
	// Inbox is where people decide about calls, host:port of this machine, or off.
	Inbox string
	// Notify says how they are told that one waits.
	Notify Notify
	// Redact are pointers to values that records keep only as salted hashes.
	Redact []string
	// Patterns are the built-in ones in the order in which they are listed, then the file's own, disabled ones too.
	Patterns []Pattern
	// DemoEnabled is auto, true or false; see [Config.DemoOn].
	DemoEnabled string
	// Catalog are a team's own tools.
	Catalog tools.Catalog
	// Policies are the embedded one, then the file's own in its order.
	Policies []rules.Policy

	BuiltinPolicy bool // of a run that was begun when the embedded policy was built in
}

// LLM says who answers questions.
type LLM struct {
	Provider   string        // auto, openai or rules
	Model      string        // never blank
	BaseURL    string        // absolute http or https; empty means OpenAI's
	Timeout    time.Duration // of one request
	MaxRetries int
	// Temperature is 0 to 2.
	Temperature float64
	// Models are other ones by their roles: plan makes every decision, final writes every text, others are the file's own.
	Models []ModelRole
	// Role, ResponseFormat and RepairTurns are those of patterns that say nothing; "" and nil: plan and final, and what their kind has.
	Role, ResponseFormat string
	RepairTurns          *int
	Key                  tools.SecretRef // where the key stands, as the file says it; the zero SecretRef is OPENAI_API_KEY
	APIKey               Secret          // of OPENAI_API_KEY; not set where Key says another place
	Referred             bool            // Key leads somewhere, as far as can be seen without reading it
}

// keyed reports whether there is a key, as far as can be seen without reading it.
func (c LLM) keyed() bool { return c.APIKey.Set() || c.Referred }

// Resolved is the provider in force: openai or rules.
func (c LLM) Resolved() string {
	if c.Provider == "openai" || c.Provider == "auto" && c.reachable() {
		return "openai"
	}
	return "rules"
}

// OpenAI is what the model's adapter needs where Resolved is openai. A key that the file refers to is none of it.
func (c LLM) OpenAI() openai.Config {
	return openai.Config{
		BaseURL: c.BaseURL, APIKey: c.APIKey.Reveal(), Model: c.Model, Timeout: c.Timeout, MaxRetries: c.MaxRetries, Temperature: c.Temperature,
	}
}

// Log says what is logged.
type Log struct {
	Level  string // debug, info, warn, error; empty means the command's own: info for serve, else warn
	Format string // text or json
}

// Limits bounds the server.
type Limits struct {
	Grace          time.Duration // for running calls at the end
	ResultBytes    int           // of a whole result
	ConcurrentRuns int           // calls under way at once
	ParkedRuns     int           // of one principal, waiting for their caller in memory
}

// Wait says how long runs, and calls for them, wait.
type Wait struct {
	Caller  time.Duration // for their caller's next proposal
	Default time.Duration // a call for its run, where it does not say
	Max     time.Duration // a call for its run, at most
	Join    time.Duration // a result that was never delivered, for an equal call
}

// Pattern returns the pattern of that name.
func (c Config) Pattern(name string) (Pattern, bool) {
	for _, p := range c.Patterns {
		if p.Name == name {
			return p, true
		}
	}
	return Pattern{}, false
}

// Secret is a text that is never printed, whatever the verb. The zero Secret is not set.
type Secret struct{ reveal func() string }

func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{func() string { return text }}
}

// Set reports whether there is a secret.
func (s Secret) Set() bool { return s.reveal != nil }

// Reveal returns the text; "" where there is none.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// String is *** for every secret, and empty where there is none.
func (s Secret) String() string {
	if !s.Set() {
		return ""
	}
	return "***"
}

//go:embed default.yaml
var Default []byte

// Sources is where a configuration comes from. The zero value means the embedded default alone.
type Sources struct {
	Path      string   // --config
	LogLevel  string   // --log-level
	LogFormat string   // --log-format
	HTTP      string   // --http
	TokenFile string   // --token-file
	State     string   // --state
	Inbox     string   // --inbox
	Environ   []string // as os.Environ gives it; of two equal names the last counts
	// Known are the names that a pattern's allow lists may hold without a warning, by pattern. A pattern that is not
	// in it has the names of the embedded default.
	Known map[string][]string
	// Instead are files of policies that stand in for those of the configuration, by the policy's name; for who compares.
	Instead map[string]string
	// Texts stand in for those of files, by their paths; for who is about to write them.
	Texts map[string][]byte
}

// Document is a configuration with the places of its values. [Read] returns it.
type Document struct {
	Config
	Path string // of the file; empty where the embedded default is in force

	Root     *yamldoc.Node // of the file, for faults that are found later
	Text     []byte
	said     map[string]yamldoc.Place // where each value that was said comes from, by path
	Compiled tools.Compiled           // the schemas of the file's arguments
}

// Read reads a configuration and checks it across keys. It makes nothing of it. All faults and warnings come at once, in the order in
// which they were found; with a fault the document is not whole, and is good only to find more. An error says that the embedded
// default is wrong.
//
// Only the file is read, and its directory's mode, and a program that it names is looked for; neither network nor working directory
// matters.
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
	d.said, d.Compiled = read.Places, tools.CompiledIn(read.Reader)
	return d, faults, nil
}

// Embed fills c with the embedded default.
func (c *Config) Embed(known map[string][]string) error {
	*c = Config{Patterns: builtinPatterns()}
	faults := &yamldoc.Faults{}
	read := newLoader(faults, nil)
	grammar.NotesOf[rules.Notes](read.Reader).Embeds = true
	read.File(yamldoc.Read("default.yaml", Default, faults), c.Keys(known))
	if err := faults.Err(); err != nil {
		return fmt.Errorf("the embedded configuration: %w", err)
	}
	return nil
}

// known are the names without a warning: those given, else the embedded default's; planning may name any tool of the demo.
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

// EmbeddedPattern is a built-in pattern as it is embedded.
func EmbeddedPattern(name string) Pattern {
	p, _ := embeddedConfig().Pattern(name)
	return p
}

var embeddedConfig = sync.OnceValue(func() Config {
	var c Config
	_ = c.Embed(nil) // who loads a configuration is told
	return c
})

// builtinPatterns are the reference patterns with the figures that no file sets yet.
func builtinPatterns() []Pattern {
	list := make([]Pattern, 0, len(BuiltinPatterns))
	for _, name := range BuiltinPatterns {
		kind := BuiltinKinds[name]
		list = append(list, Pattern{Name: name, Kind: kind, Budget: gateway.DefaultBudget(kind), Goal: GoalName, Approver: newApprover()})
	}
	return list
}

// loader reads a whole configuration and checks it across keys.
type loader struct{ *grammar.Reader }

// newLoader returns a loader that adds to faults. The function home replaces ~/ in paths; nil leaves it.
func newLoader(faults *yamldoc.Faults, home func(path string) string) *loader {
	return &loader{grammar.NewReader(faults, home)}
}
