package settings

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/policy"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/rules"
	"patterngate/server/settings/yamldoc"
)

// variables are the environment variables that set a key of the file (spec/config.md section 9).
var variables = []struct{ Name, Path string }{
	{"PATTERNGATE_LLM_PROVIDER", "llm.provider"},
	{"OPENAI_BASE_URL", "llm.base_url"},
	{"OPENAI_MODEL", "llm.model"},
	{"OPENAI_TIMEOUT_SECONDS", "llm.timeout_seconds"},
	{"PATTERNGATE_LOG_LEVEL", "log.level"},
	{"PATTERNGATE_LOG_FORMAT", "log.format"},
	{"PATTERNGATE_HTTP", "http.listen"},
	{"PATTERNGATE_TOKEN_FILE", "http.token_file"},
	{stateVariable, "state"},
	{"PATTERNGATE_INBOX", "inbox"},
}

const (
	// PathVariable is the environment variable with the path of the configuration file.
	PathVariable = "PATTERNGATE_CONFIG"
	// stateVariable is the environment variable with the path of the state file.
	stateVariable = "PATTERNGATE_STATE"
	// KeyVariable is the environment variable with the model's API key.
	KeyVariable  = "OPENAI_API_KEY"
	ownVariables = "PATTERNGATE_"
)

// overrides reads the environment and then the flags. The environment replaces values of the file, and the flags replace
// both. An empty variable or flag counts as not set.
func (r *loader) overrides(in Sources, keys []grammar.Key) {
	for _, v := range variables {
		r.override(v.Name, v.Path, machine.Lookup(in.Environ, v.Name), keys)
	}
	r.override("--log-level", "log.level", in.LogLevel, keys)
	r.override("--log-format", "log.format", in.LogFormat, keys)
	r.override("--http", "http.listen", in.HTTP, keys)
	r.override(tokenFileFlag, "http.token_file", in.TokenFile, keys)
	r.override("--state", "state", in.State, keys)
	r.override("--inbox", "inbox", in.Inbox, keys)
	r.strangers(in.Environ)
}

// override reads the text of a variable or flag as the value of a key.
func (r *loader) override(source, path, text string, keys []grammar.Key) {
	if text == "" {
		return
	}
	at := yamldoc.Place{Source: source}
	var here *yamldoc.Path
	for _, step := range strings.Split(path, ".") {
		here = here.Key(step)
		i := slices.IndexFunc(keys, func(k grammar.Key) bool { return k.Name == step })
		if below, group := keys[i].Show().([]grammar.Key); group {
			keys = below
			continue
		}
		n := &yamldoc.Node{Kind: yamldoc.Text, At: at, Text: text}
		if keys[i].Numeric {
			n = yamldoc.Scalar(text, at, here, r.Faults)
		}
		if n.Kind != yamldoc.Unreadable && n.Kind != yamldoc.Null {
			r.Places[path] = at
			keys[i].Read(r.Reader, n, here)
		}
	}
}

// strangers warns about variables that begin with PATTERNGATE_ and that Patterngate does not know.
func (r *loader) strangers(environ []string) {
	known := []string{PathVariable, UrlVariable, TokenVariable, LedgerVariable}
	for _, v := range variables {
		known = append(known, v.Name)
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, ownVariables) || value == "" || slices.Contains(known, name) {
			continue
		}
		f := yamldoc.Fault{Reason: unknownVariable, DidYouMean: gateway.NearTyped(name, known)}
		if f.DidYouMean == "" {
			f.Want = noEffect
		}
		r.Faults.Warn(yamldoc.Place{Source: name}, nil, f)
	}
}

// across checks that provider openai has a key or a server.
func (r *loader) across(c LLM) {
	if c.Provider != "openai" || c.APIKey.Set() || c.Key.Set() || c.reachable() {
		return
	}
	path := (*yamldoc.Path)(nil).Key("llm").Key("provider")
	r.Faults.Add(r.Places[path.String()], path, yamldoc.Fault{Reason: noKey})
}

// instead reads the policy files that replace policies of the configuration.
func (r *loader) instead(in Sources, c *Config) {
	for _, name := range slices.Sorted(maps.Keys(in.Instead)) {
		path, err := filepath.Abs(in.Instead[name])
		if err != nil {
			path = in.Instead[name]
		}
		file := &yamldoc.Node{Kind: yamldoc.Text, Text: path}
		n := (&yamldoc.Node{Kind: yamldoc.Mapping, Members: []yamldoc.Member{{Key: "file", Value: file.Counted()}}}).Counted()
		p := rules.Policy{Source: policy.Source{Name: name}}
		rules.ReadPolicy(r.Reader, &p, n, (*yamldoc.Path)(nil).Key("policies").Key(name))
		rules.ReplaceOrAdd(&c.Policies, p)
	}
}

// UrlVariable is the environment variable with the URL of a running server.
const UrlVariable = "PATTERNGATE_URL"

// TokenVariable is the environment variable with the token for a running server. There is no flag for it: a flag would show
// the token to every program of this machine.
const TokenVariable = "PATTERNGATE_TOKEN"

// LedgerVariable is the environment variable that says where the demo's effects happen, as host:port/book. Only
// Patterngate's own demo, prove and tests use it. It is not part of the configuration: simulated effects stay simulated if
// they are counted.
const LedgerVariable = "PATTERNGATE_LEDGER"
