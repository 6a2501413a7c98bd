package assembly

import (
	"cmp"
	"fmt"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
	"patterngate/patterns/llm/openai"
	"patterngate/server/settings"
)

// These models answer a pattern's questions:
//
//	llm ◀─ patterns.NAME.llm ─┬─ role ──▶ one chain for all questions
//	                          └─ else plan ──▶ decisions, final ──▶ texts (llm itself if a role is not declared)
//
//	chain = the role's model ─▶ its fallback ─▶ the fallback's

// answerers makes the models of a configuration. Models with equal settings are shared, with their connections and what
// they learned about their server.
type answerers struct {
	config  *Loaded
	secrets *secrets
	made    map[string]*openai.Client
}

func (c *Loaded) answerers(environ []string) *answerers {
	a := &answerers{config: c, secrets: newSecrets(environ), made: map[string]*openai.Client{}}
	if c.own != nil {
		a.secrets = c.own.secrets
	}
	return a
}

// answerer holds the model for a pattern's questions, with its prices.
type answerer struct {
	model      patterns.Model
	prices     patterns.Prices
	configured bool // the user configured it: it is not the offline rules
	repairs    int
}

// of returns the answerer of a pattern. The zero Pattern gives the answerer of the llm section itself.
func (a *answerers) of(p settings.Pattern) (answerer, error) {
	c := a.config.LLM.LaidOver(p.LLM)
	if c.Resolved() == "rules" {
		return answerer{model: offline.New()}, nil
	}
	ours := p.Name != "" && p.IsOwn() && p.Kind != gateway.Call
	format := openai.Format(cmp.Or(c.ResponseFormat, map[bool]string{true: string(openai.AutoFormat), false: string(openai.JSONObject)}[ours]))
	decide, decidePrice, err := a.chain(c, p.LLM, cmp.Or(c.Role, settings.PlanRole), format)
	if err != nil {
		return answerer{}, err
	}
	who := answerer{model: decide, prices: patterns.Prices{Decide: decidePrice, Write: decidePrice}, configured: true, repairs: repairsOf(c, ours)}
	if c.Role != "" {
		return who, nil
	}
	write, writePrice, err := a.chain(c, p.LLM, settings.FinalRole, format)
	if who.prices.Write = writePrice; err != nil || write == decide {
		return who, err
	}
	who.model = openai.Team{Decide: decide, Write: write}
	return who, nil
}

// repairsOf returns how often a model gets its refused reply back.
func repairsOf(c settings.LLM, ours bool) int {
	switch {
	case c.RepairTurns != nil:
		return *c.RepairTurns
	case ours:
		return 1
	}
	return 0
}

// chain returns a role's model with its fallbacks, and the highest of their prices.
func (a *answerers) chain(c settings.LLM, p settings.PatternLLM, name string, format openai.Format) (patterns.Model, patterns.Price, error) {
	var models []*openai.Client
	var dearest patterns.Price
	role, known := c.RoleNamed(name) // a role that is not declared uses llm itself
	if p.Model != "" {
		role.Model, role.Price = p.Model, settings.PriceUnless(known && cmp.Or(role.Model, a.config.LLM.Model) != p.Model, role.Price)
	}
	for step := 0; ; step++ {
		price := c.PriceOf(role, a.config.LLM.Model)
		dearest.InputUSD, dearest.OutputUSD = max(dearest.InputUSD, price.InputUSD), max(dearest.OutputUSD, price.OutputUSD)
		m, err := a.model(c, p, role, format, price)
		if err != nil {
			return nil, patterns.Price{}, err
		}
		models = append(models, m)
		next, more := c.RoleNamed(role.Fallback)
		if role = next; !more || step == settings.MaxFallbacks {
			break
		}
	}
	if len(models) == 1 {
		return models[0], dearest, nil
	}
	chain, err := openai.NewChain(models[0], models[1:]...)
	return chain, dearest, err
}

// model makes a role's model. A key goes only to the server next to which it is set. A role with a server of its own and
// without a key sends a placeholder.
func (a *answerers) model(c settings.LLM, p settings.PatternLLM, role settings.ModelRole, format openai.Format, price patterns.Price) (*openai.Client, error) {
	config, key := c.OpenAI(), c.Key
	config.Format, config.Price = format, price
	config.Model = cmp.Or(role.Model, config.Model)
	if role.BaseURL != "" || role.Key.Set() {
		config.BaseURL, config.APIKey, key = cmp.Or(role.BaseURL, config.BaseURL), "", role.Key
	}
	if role.Timeout != nil {
		config.Timeout = *role.Timeout
	}
	if role.Temperature != nil && p.Temperature == nil {
		config.Temperature = *role.Temperature
	}
	words := fmt.Sprintf("%q %q %v %t %v %v %v %v %v", config.BaseURL, config.Model, key, config.APIKey != "", config.Timeout, config.MaxRetries, config.Temperature, format, price)
	if m, made := a.made[words]; made {
		return m, nil
	}
	config.Key = a.secrets.of(key)
	a.secrets.mask.Add(config.APIKey)
	m, err := openai.New(config)
	if err == nil {
		a.made[words] = m
	}
	return m, err
}
