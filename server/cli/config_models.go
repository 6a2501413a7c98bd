package cli

import (
	"time"

	"patterngate/server/settings/yamldoc"
)

// ModelRole is a model for some of the questions. What it does not say is that of [LLMConfig].
type ModelRole struct {
	Name           string
	At             Position
	Model, BaseURL string    // "": not said
	Key            SecretRef // goes only to the base_url beside it
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

var modelEntries = entries[ModelRole]{
	names: serverNames,
	named: func(m *ModelRole) string { return m.Name },
	fresh: func(name string, at Position) ModelRole { return ModelRole{Name: name, At: at} },
	keys:  (*ModelRole).keys,
}

func (m *ModelRole) keys() []configKey {
	return []configKey{
		optionalTextKey("model", &m.Model, faultOfModel).means("The model's name. Not set: `llm.model`."),
		optionalTextKey("base_url", &m.BaseURL, faultOfURL).means("Its server. Not set: `llm.base_url`."),
		roleKeyKey("api_key", &m.Key).means("Where its key stands; it goes only to the base_url beside it. Not set: with a base_url of its own a placeholder is sent, else the key of llm."),
		optionalSecondsKey("timeout_seconds", &m.Timeout, 3600).means("How long one request may take. Not set: `llm.timeout_seconds`."),
		optionalNumberKey("temperature", &m.Temperature, bounds{max: maxTemperature}).means("How freely it words its replies. Not set: `llm.temperature`."),
		heldKey("price", &m.Price, func() Price { return Price{} }, func(p *Price) []configKey {
			return []configKey{
				usdKey("input_usd", &p.InputUSD).need("write what a million tokens in cost").means("USD for a million tokens in. Required."),
				usdKey("output_usd", &p.OutputUSD).need("write what a million tokens out cost").means("USD for a million tokens out. Required."),
			}
		}).means("What a million tokens cost; max_cost_usd needs it."),
		spelledKey("fallback", &m.Fallback, serverNames).means("The role that answers where this one cannot be reached or answers 5xx; at most two steps."),
	}
}

// roleKeyKey is where the key of a role stands.
func roleKeyKey(name string, target *SecretRef) configKey {
	var c LLMConfig
	key := keyKey(name, &c)
	read := key.read
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		read(r, n, path)
		*target = c.Key
	}
	key.show = func() any { return target.shown() }
	return key
}

// keys are what a pattern says of its model.
func (l *PatternLLM) keys() []configKey {
	return []configKey{
		wordKey("provider", &l.Provider, "auto", "openai", "rules").means("Who proposes here what a caller leaves out. Not set: `llm.provider`. rules may propose tools that write only where the pattern itself or llm says rules."),
		spelledKey("role", &l.Role, serverNames).means("The one of `llm.models` that answers all of its questions. Not set: plan for decisions, final for texts."),
		optionalTextKey("model", &l.Model, faultOfModel).means("The model of this pattern. Not set: llm.model."),
		optionalNumberKey("temperature", &l.Temperature, bounds{max: maxTemperature}).means("The temperature of this pattern. Not set: llm.temperature."),
		wordKey("response_format", &l.ResponseFormat, responseFormats...).means("How decisions are asked for. Not set: `llm.response_format`, else json_object of a built-in pattern and auto of your own."),
		optionalCountKey("repair_turns", &l.RepairTurns, 0, maxRepairs).means("How often the model is shown what is wrong with its reply and asked again. Not set: `llm.repair_turns`, else 0 of a built-in pattern and 1 of your own."),
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
