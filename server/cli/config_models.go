package cli

import (
	"time"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// ModelRole is a model for some of the questions. What it does not say is that of [LLMConfig].
type ModelRole struct {
	Name           string
	At             grammar.Position
	Model, BaseURL string          // "": not said
	Key            tools.SecretRef // goes only to the base_url beside it
	Timeout        *time.Duration
	Temperature    *float64
	Price          *Price // nil: nobody said it
	Fallback       string // the role that answers instead where this one's server cannot be reached; "": none
}

// Price is what a million tokens cost.
type Price struct{ InputUSD, OutputUSD float64 }

// The roles that every pattern knows.
const (
	planRole  = "plan"
	finalRole = "final"
)

// Role is the role of that name.
func (c LLMConfig) role(name string) (ModelRole, bool) {
	for _, m := range c.Models {
		if m.Name == name {
			return m, true
		}
	}
	return ModelRole{}, false
}

// How replies are asked for, and how often a refused one is asked for again.
const (
	maxRepairs = 3
)

var responseFormats = []string{"json_object", "json_schema", "auto"}

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
		roleKeyKey("api_key", &m.Key).Means("Where its key stands; it goes only to the base_url beside it. Not set: with a base_url of its own a placeholder is sent, else the key of llm."),
		grammar.OptionalSeconds("timeout_seconds", &m.Timeout, 3600).Means("How long one request may take. Not set: `llm.timeout_seconds`."),
		grammar.OptionalNumber("temperature", &m.Temperature, grammar.Bounds{Max: maxTemperature}).Means("How freely it words its replies. Not set: `llm.temperature`."),
		grammar.Held("price", &m.Price, func() Price { return Price{} }, func(p *Price) []grammar.Key {
			return []grammar.Key{
				grammar.USD("input_usd", &p.InputUSD).Need("write what a million tokens in cost").Means("USD for a million tokens in. Required."),
				grammar.USD("output_usd", &p.OutputUSD).Need("write what a million tokens out cost").Means("USD for a million tokens out. Required."),
			}
		}).Means("What a million tokens cost; max_cost_usd needs it."),
		grammar.Spelled("fallback", &m.Fallback, grammar.ServerNames).Means("The role that answers where this one cannot be reached or answers 5xx; at most two steps."),
	}
}

// roleKeyKey is where the key of a role stands.
func roleKeyKey(name string, target *tools.SecretRef) grammar.Key {
	var c LLMConfig
	key := keyKey(name, &c)
	read := key.Read
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		*target = c.Key
	}
	key.Show = func() any { return target.Shown() }
	return key
}

// keys are what a pattern says of its model.
func (l *PatternLLM) keys() []grammar.Key {
	return []grammar.Key{
		grammar.Word("provider", &l.Provider, "auto", "openai", "rules").Means("Who proposes here what a caller leaves out. Not set: `llm.provider`. rules may propose tools that write only where the pattern itself or llm says rules."),
		grammar.Spelled("role", &l.Role, grammar.ServerNames).Means("The one of `llm.models` that answers all of its questions. Not set: plan for decisions, final for texts."),
		grammar.OptionalText("model", &l.Model, faultOfModel).Means("The model of this pattern. Not set: llm.model."),
		grammar.OptionalNumber("temperature", &l.Temperature, grammar.Bounds{Max: maxTemperature}).Means("The temperature of this pattern. Not set: llm.temperature."),
		grammar.Word("response_format", &l.ResponseFormat, responseFormats...).Means("How decisions are asked for. Not set: `llm.response_format`, else json_object of a built-in pattern and auto of your own."),
		grammar.OptionalCount("repair_turns", &l.RepairTurns, 0, maxRepairs).Means("How often the model is shown what is wrong with its reply and asked again. Not set: `llm.repair_turns`, else 0 of a built-in pattern and 1 of your own."),
	}
}

// laidOver is who answers for a pattern that may say otherwise.
func (c LLMConfig) laidOver(p PatternLLM) LLMConfig {
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
