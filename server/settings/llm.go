package settings

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"patterngate/patterns"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// keyKey returns the key that says where the model's API key is. A file needs it only if the API key is not in
// OPENAI_API_KEY.
func keyKey(name string, c *LLM) grammar.Key {
	return grammar.Key{
		Name: name, Takes: "`{secret}`", Form: func() map[string]any { return tools.SecretForm },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			if !tools.IsReference(n) {
				tools.RefuseLiteral(r, n, path, wantSecretRef(KeyReference))
				return
			}
			if ref, _, ok := tools.ReadReference(r, n, path, false); ok {
				c.Key = ref
			}
		},
		Show: func() any { return c.Key.Shown() },
	}
}

// key finds the model's API key: in its variable, else where the file says (spec/config.md section 9). A key that the file
// sets next to a base_url is sent only to that URL.
func (r *loader) key(in Sources, c *LLM) {
	own := machine.Lookup(in.Environ, KeyVariable)
	llm := (*yamldoc.Path)(nil).Key("llm")
	from := r.Places[llm.Key("base_url").String()]
	c.Referred = false
	switch c.APIKey = NewSecret(own); {
	case own != "" || !c.Key.Set():
		if own != "" {
			c.Key = tools.SecretRef{}
		}
	case from.Source != "" && from.Line == 0:
		path := llm.Key("api_key")
		r.Faults.Add(r.Places[path.String()], path, yamldoc.Fault{
			Reason: keyElsewhere(from.Source), Want: wantKeyToo(KeyVariable, from.Source),
		})
	default:
		c.Referred = c.Key.Nowhere(in.Environ) == ""
	}
	if c.Resolved() == "openai" && strings.ContainsFunc(own, func(c rune) bool { return c <= ' ' || c > '~' }) {
		r.Faults.Add(yamldoc.Place{Source: KeyVariable}, nil, yamldoc.Fault{
			Reason: badKeyCharacters, Want: wantKeyAsGiven,
		})
	}
}

// KeyReference is the reference to the default place of the API key. A snapshot holds it instead of the key.
const KeyReference = "env:" + KeyVariable

// SecretReference returns KeyReference in the form of the file, for outputs that must not contain the API key.
func SecretReference() map[string]any { return map[string]any{"secret": KeyReference} }

// reachable reports whether there is a server for every question: the one of llm, or one next to each role that is asked.
func (c LLM) reachable() bool {
	if c.keyed() || c.BaseURL != "" {
		return true
	}
	roles := []string{PlanRole, FinalRole}
	if c.Role != "" {
		roles = []string{c.Role}
	}
	return !slices.ContainsFunc(roles, func(name string) bool {
		m, _ := c.RoleNamed(name)
		return m.BaseURL == "" && !m.Key.Set()
	})
}

// PriceOf returns the price of a role's model. It comes from the role, or from another role with the same model on the same
// server. It is zero if no role has it. standing is the model of the llm section itself, which a pattern can override.
func (c LLM) PriceOf(m ModelRole, standing string) patterns.Price {
	price := m.Price
	if price == nil {
		model, server := cmp.Or(m.Model, c.Model), cmp.Or(m.BaseURL, c.BaseURL)
		at := slices.IndexFunc(c.Models, func(other ModelRole) bool {
			return other.Price != nil && cmp.Or(other.Model, standing) == model && cmp.Or(other.BaseURL, c.BaseURL) == server
		})
		if at < 0 {
			return patterns.Price{}
		}
		price = c.Models[at].Price
	}
	return patterns.Price{InputUSD: price.InputUSD, OutputUSD: price.OutputUSD}
}

// AsksOthers reports whether an enabled pattern gets its answers from another provider than the llm section sets.
func (c Config) AsksOthers() bool {
	return slices.ContainsFunc(c.Patterns, func(p Pattern) bool {
		return p.Enabled && c.LLM.LaidOver(p.LLM).Resolved() != c.LLM.Resolved()
	})
}

// Snapshot returns the llm group as a run's snapshot keeps it. The rules need no server, so only the provider stays if
// others is false. others is true if a pattern uses another provider.
func (c LLM) Snapshot(group any, others bool) map[string]any {
	all, _ := group.(map[string]any)
	all = maps.Clone(all)
	switch {
	case c.Resolved() != "rules":
		all["provider"] = "openai"
	case !others: // no pattern uses another provider
		return map[string]any{"provider": "rules"}
	}
	return all
}

// ModelRole is a model for some of the questions. A member that is not set takes the value of [LLM].
type ModelRole struct {
	Name           string
	At             grammar.Position
	Model, BaseURL string          // "": not set
	Key            tools.SecretRef // sent only to the base_url next to it
	Timeout        *time.Duration
	Temperature    *float64
	Price          *Price // nil: not set
	Fallback       string // the role that answers if this one's server is unreachable; "": none
}

// Price is the cost of a million tokens, in and out.
type Price struct{ InputUSD, OutputUSD float64 }

// PlanRole and FinalRole are the roles that every pattern knows.
const (
	PlanRole  = "plan"
	FinalRole = "final"
)

// RoleNamed returns the role of that name.
func (c LLM) RoleNamed(name string) (ModelRole, bool) {
	for _, m := range c.Models {
		if m.Name == name {
			return m, true
		}
	}
	return ModelRole{}, false
}

const (
	maxRepairs      = 3    // of repair_turns
	maxModelSeconds = 3600 // of timeout_seconds
)

// providers and responseFormats are the words that llm and a pattern's llm take.
var (
	providers       = []string{"auto", "openai", "rules"}
	responseFormats = []string{"json_object", "json_schema", "auto"}
)

var modelEntries = grammar.Entries[ModelRole]{
	Names: grammar.ServerNames,
	Named: func(m *ModelRole) string { return m.Name },
	Fresh: func(name string, at grammar.Position) ModelRole { return ModelRole{Name: name, At: at} },
	Keys:  (*ModelRole).keys,
}

func (m *ModelRole) keys() []grammar.Key {
	return []grammar.Key{
		grammar.OptionalText("model", &m.Model, faultOfModel).Means("The model's name. Not set: `llm.model`."),
		grammar.OptionalText("base_url", &m.BaseURL, faultOfURL).Means("Its server. Not set: `llm.base_url`."),
		roleKeyKey("api_key", &m.Key).Means("Its key, as a reference. It is sent only to the base_url beside it. Not set: the key of llm; with its own base_url a placeholder."),
		grammar.OptionalSeconds("timeout_seconds", &m.Timeout, maxModelSeconds).Means("How long one request can take. Not set: `llm.timeout_seconds`."),
		grammar.OptionalNumber("temperature", &m.Temperature, grammar.Bounds{Max: maxTemperature}).Means("How much its wording varies. Not set: `llm.temperature`."),
		grammar.Held("price", &m.Price, func() Price { return Price{} }, func(p *Price) []grammar.Key {
			return []grammar.Key{
				grammar.USD("input_usd", &p.InputUSD).Need(wantInPrice).Means("USD for a million input tokens. Required."),
				grammar.USD("output_usd", &p.OutputUSD).Need(wantOutPrice).Means("USD for a million output tokens. Required."),
			}
		}).Means("What a million tokens cost. max_cost_usd needs it."),
		grammar.Spelled("fallback", &m.Fallback, grammar.ServerNames).Means("The role that answers if this model cannot be reached or answers 5xx. At most two steps."),
	}
}

// roleKeyKey returns the key that says where the API key of a role is.
func roleKeyKey(name string, target *tools.SecretRef) grammar.Key {
	var c LLM
	key := keyKey(name, &c)
	read := key.Read
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		*target = c.Key
	}
	key.Show = func() any { return target.Shown() }
	return key
}

// keys returns the keys of a pattern's llm section.
func (l *PatternLLM) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Word("provider", &l.Provider, providers...).Means("The source of what a caller of this pattern omits. Not set: `llm.provider`. rules propose tools that write only if the pattern itself or llm says rules."),
		grammar.Spelled("role", &l.Role, grammar.ServerNames).Means("The entry of `llm.models` that answers all of its questions. Not set: plan for decisions, final for texts."),
		grammar.OptionalText("model", &l.Model, faultOfModel).Means("The model of this pattern. Not set: llm.model."),
		grammar.OptionalNumber("temperature", &l.Temperature, grammar.Bounds{Max: maxTemperature}).Means("The temperature of this pattern. Not set: llm.temperature."),
		grammar.Word("response_format", &l.ResponseFormat, responseFormats...).Means("How decisions are requested. Not set: `llm.response_format`, else json_object for a built-in pattern and auto for your own."),
		grammar.OptionalCount("repair_turns", &l.RepairTurns, 0, maxRepairs).Means("How often the model is asked again after faults. Not set: `llm.repair_turns`, else 0 for a built-in pattern and 1 for your own."),
	}
}

// LaidOver returns c with the members that the pattern sets replaced.
func (c LLM) LaidOver(p PatternLLM) LLM {
	if p.Provider != "" {
		c.Provider = p.Provider
	}
	if p.Model != "" {
		c.Model = p.Model
	}
	if p.Temperature != nil {
		c.Temperature = *p.Temperature
	}
	if p.Role != "" {
		c.Role = p.Role
	}
	if p.ResponseFormat != "" {
		c.ResponseFormat = p.ResponseFormat
	}
	if p.RepairTurns != nil {
		c.RepairTurns = p.RepairTurns
	}
	return c
}
