package cli

import (
	"encoding/json"
	"slices"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// healthWords are the colours that a rule can give.
var healthWords = []string{"red", "yellow", "green"}

const (
	maxAggregateFields = 50
	maxHealthRules     = 20
)

// aggregateKey is how the results of tasks are joined; replaced whole.
func aggregateKey(name string, target **AggregateConfig) configKey {
	key := heldKey(name, target, func() AggregateConfig { return AggregateConfig{} }, (*AggregateConfig).keys)
	key.keep = func() any { // fields are read in their order
		if *target == nil {
			return nil
		}
		return (*target).kept()
	}
	read := key.read
	key.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind == yamldoc.Text && n.At == (yamldoc.Place{}) { // of a snapshot
			*target = keptAggregate(n.Text)
			return
		}
		read(r, n, path)
	}
	return key
}

func (a *AggregateConfig) keys() []configKey {
	fields := expressionsKey("fields", &a.Fields, serverNames)
	read := fields.read
	fields.read = func(r *configReader, n *yamldoc.Node, path *yamldoc.Path) {
		if read(r, n, path); n.Kind == yamldoc.Mapping {
			checkMost(r, n, path, len(n.Members), maxAggregateFields)
		}
	}
	fields.show = func() any {
		if a.Fields == nil {
			return nil
		}
		return json.RawMessage(a.fields())
	}
	return []configKey{
		fields.means("What the joined result has, name by name: CEL over tasks.WORKER {id, observation, attempts}, failed, input and the fields above. One that errs is listed in missing."),
		healthItems.key("health", &a.Health).means("Rules of its health, the first that is true counts: {is: red, yellow or green, when: CEL}. Else unknown where anything is missing or erred, else green."),
	}
}

var healthItems = items[HealthConfig]{
	fits: func(string) bool { return false }, most: maxHealthRules,
	keys: func(h *HealthConfig) []configKey {
		return []configKey{
			wordKey("is", &h.Is, healthWords...).need("red, yellow or green?").means("The colour. Required."),
			expressionKey("when", &h.When).need(`write CEL: "size(failed) > 0"`).means("CEL of type bool over what fields see, and all fields. Required."),
		}
	},
	value: func(h *HealthConfig) map[string]any { return map[string]any{"is": h.Is, "when": h.When} },
}

// fields are the expressions as an object in their order.
func (a *AggregateConfig) fields() []byte {
	members := make([]rawMember, len(a.Fields))
	for i, f := range a.Fields {
		members[i] = rawMember{f.Name, ijson.Canonical(f.Text)}
	}
	return objectText(members)
}

// kept is all of it as a text in which their order stands.
func (a *AggregateConfig) kept() string {
	health := make([]any, len(a.Health))
	for i := range a.Health {
		health[i] = healthItems.value(&a.Health[i])
	}
	return string(objectText([]rawMember{{"fields", a.fields()}, {"health", ijson.Canonical(health)}}))
}

// keptAggregate is what kept said; what is not readable joins nothing.
func keptAggregate(text string) *AggregateConfig {
	a := &AggregateConfig{}
	for _, m := range rawMembers(json.RawMessage(text)) {
		switch m.name {
		case "fields":
			for _, f := range rawMembers(m.value) {
				expression, _ := rawValue(f.value).(string)
				a.Fields = append(a.Fields, NamedExpression{Name: f.name, Text: expression})
			}
		case "health":
			list, _ := rawValue(m.value).([]any)
			for _, item := range list {
				rule, _ := item.(map[string]any)
				h := HealthConfig{}
				h.Is, _ = rule["is"].(string)
				h.When, _ = rule["when"].(string)
				if slices.Contains(healthWords, h.Is) {
					a.Health = append(a.Health, h)
				}
			}
		}
	}
	return a
}
