package settings

import (
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
	fields.Keep = func() any { // in the order of the file
		return grammar.OrderedJSON(len(a.Fields), func(i int) (string, []byte) { return a.Fields[i].Name, ijson.Canonical(a.Fields[i].Text) })
	}
	fields.Show = func() any {
		if a.Fields == nil {
			return nil
		}
		return fields.Keep()
	}
	return []grammar.Key{
		fields.Means("The members of the joined result, each with a name: CEL over tasks.WORKER {id, observation, attempts}, failed, input and the fields above. A member that cannot be computed is listed in missing."),
		healthItems.Key("health", &a.Health).Means("Rules for the health; the first true rule counts: {is: red, yellow or green, when: CEL}. If none is true: unknown if anything is missing or could not be computed, else green."),
	}
}

var healthItems = grammar.Items[Health]{
	Fits: func(string) bool { return false }, Most: maxHealthRules,
	Keys: func(h *Health) []grammar.Key {
		return []grammar.Key{
			grammar.Word("is", &h.Is, healthWords...).Need(wantColour).Means("The colour. Required."),
			grammar.Expression("when", &h.When).Need(wantCondition).Means("CEL of type bool over what fields see, and all fields. Required."),
		}
	},
}

// kept returns the aggregate as JSON text that keeps the order of the fields.
func (a *Aggregate) kept() string { return string(grammar.KeptText(a.keys())) }

// keptAggregate reads the text that kept made. It ignores what it cannot read.
func keptAggregate(text string) *Aggregate {
	a, faults := &Aggregate{}, &yamldoc.Faults{}
	grammar.NewReader(faults, nil).Group(yamldoc.Read("", []byte(text), faults), nil, a.keys(), grammar.UnknownKey)
	if len(a.Fields) == 0 {
		a.Fields = nil
	}
	a.Health = slices.DeleteFunc(a.Health, func(h Health) bool { return h.Is == "" })
	return a
}
