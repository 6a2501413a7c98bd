package settings

import (
	"encoding/json"
	"slices"

	"patterngate/ijson"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// healthWords are the colours that a rule can give.
var healthWords = []string{"red", "yellow", "green"}

const (
	maxAggregateFields = 50
	maxHealthRules     = 20
)

// aggregateKey returns the key that says how the results of tasks are joined. A new value replaces the whole old one.
func aggregateKey(name string, target **Aggregate) grammar.Key {
	key := grammar.Held(name, target, func() Aggregate { return Aggregate{} }, (*Aggregate).keys)
	key.Keep = func() any { // the order of fields matters
		if *target == nil {
			return nil
		}
		return (*target).kept()
	}
	read := key.Read
	key.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		if n.Kind == yamldoc.Text && n.At == (yamldoc.Place{}) { // of a snapshot
			*target = keptAggregate(n.Text)
			return
		}
		read(r, n, path)
	}
	return key
}

func (a *Aggregate) keys() []grammar.Key {
	fields := grammar.Expressions("fields", &a.Fields, grammar.ServerNames)
	read := fields.Read
	fields.Read = func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
		if read(r, n, path); n.Kind == yamldoc.Mapping {
			grammar.CheckMost(r, n, path, len(n.Members), maxAggregateFields)
		}
	}
	fields.Show = func() any {
		if a.Fields == nil {
			return nil
		}
		return json.RawMessage(a.fields())
	}
	return []grammar.Key{
		fields.Means("What the joined result has, name by name: CEL over tasks.WORKER {id, observation, attempts}, failed, input and the fields above. One that errs is listed in missing."),
		healthItems.Key("health", &a.Health).Means("Rules of its health, the first that is true counts: {is: red, yellow or green, when: CEL}. Else unknown where anything is missing or erred, else green."),
	}
}

var healthItems = grammar.Items[Health]{
	Fits: func(string) bool { return false }, Most: maxHealthRules,
	Keys: func(h *Health) []grammar.Key {
		return []grammar.Key{
			grammar.Word("is", &h.Is, healthWords...).Need("red, yellow or green?").Means("The colour. Required."),
			grammar.Expression("when", &h.When).Need(`write CEL: "size(failed) > 0"`).Means("CEL of type bool over what fields see, and all fields. Required."),
		}
	},
	Value: func(h *Health) map[string]any { return map[string]any{"is": h.Is, "when": h.When} },
}

// fields returns the expressions as a JSON object in the order of the file.
func (a *Aggregate) fields() []byte {
	members := make([]Member, len(a.Fields))
	for i, f := range a.Fields {
		members[i] = Member{f.Name, ijson.Canonical(f.Text)}
	}
	return ObjectText(members)
}

// kept returns the aggregate as JSON text that keeps the order of the fields.
func (a *Aggregate) kept() string {
	health := make([]any, len(a.Health))
	for i := range a.Health {
		health[i] = healthItems.Value(&a.Health[i])
	}
	return string(ObjectText([]Member{{"fields", a.fields()}, {"health", ijson.Canonical(health)}}))
}

// keptAggregate reads the text that kept made. It ignores what it cannot read.
func keptAggregate(text string) *Aggregate {
	a := &Aggregate{}
	for _, m := range Members(json.RawMessage(text)) {
		switch m.Name {
		case "fields":
			for _, f := range Members(m.Value) {
				expression, _ := grammar.RawValue(f.Value).(string)
				a.Fields = append(a.Fields, grammar.NamedExpression{Name: f.Name, Text: expression})
			}
		case "health":
			list, _ := grammar.RawValue(m.Value).([]any)
			for _, item := range list {
				rule, _ := item.(map[string]any)
				h := Health{}
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
