package policy

import (
	"slices"
	"strconv"

	"patterngate/catalog"
	"patterngate/gateway/policy/expr"
)

// AggregateSource is the source of an aggregate: how the results of an orchestrator's tasks are joined (spec/config.md
// section 7).
type AggregateSource struct {
	Workers []Hand
	Input   *catalog.Schema // of the pattern's own input fields; nil: it has none
	Fields  []Named         // in the order of the file; a field may read those above it
	Health  []HealthRule
}

// Hand is a worker and the schema of its result. A nil Output means that the schema is unknown.
type Hand struct {
	Name   string
	Output *catalog.Schema
}

// HealthRule gives the aggregate's colour if its expression is true.
type HealthRule struct{ Is, When string }

// Colours are the colours that a [HealthRule] may give.
var Colours = []string{"red", "yellow", "green"}

// HealthUnknown is the colour if facts or an expression's value are missing.
const HealthUnknown = "unknown"

// Limits of an aggregate.
const (
	MaxFields      = 50       // also the limit for rules of health
	MaxField       = 16 << 10 // bytes of one field as JSON
	maxFieldsBytes = 64 << 10 // of all of them
)

// Aggregate joins the results of tasks. It is safe for concurrent use and never panics.
type Aggregate struct {
	tasks, fields map[string]expr.Type // types of the observations by worker; types of the fields
	input, failed expr.Type
	compute       []joiner
	health        []joiner
}

// joiner is one expression of an aggregate.
type joiner struct {
	name, is string // name of the field; the colour
	text     string
	*expr.Expression
}

// NewAggregate compiles the expressions of an aggregate, which read tasks, failed, fields and input. The member of a
// fault is fields.NAME, health.N.is or health.N.when, with N from 0. The Aggregate is nil if a fault is more than a
// warning.
func NewAggregate(in AggregateSource) (*Aggregate, []expr.Fault) {
	base, err := expr.NewChecker()
	if err != nil {
		return nil, []expr.Fault{{Line: 1, Column: 1, Reason: noExpressions(err.Error())}}
	}
	c := newJoins(in, base)
	for i := range in.Fields {
		c.field(i)
	}
	for i := range in.Health {
		c.rule(i)
	}
	if expr.HasErrors(c.faults) {
		return nil, c.faults
	}
	return c.made, c.faults
}

// joins compiles an aggregate.
type joins struct {
	source AggregateSource
	base   *expr.Checker
	common []expr.Variable
	above  []expr.Field // the compiled fields
	made   *Aggregate
	faults []expr.Fault
}

func newJoins(in AggregateSource, base *expr.Checker) *joins {
	a := &Aggregate{tasks: map[string]expr.Type{}, fields: map[string]expr.Type{}, input: expr.Object()}
	if in.Input != nil {
		a.input = expr.FromSchema(in.Input, "")
	}
	// A worker without a finished task is absent, and so is a field with an error. Reading one is no fault: the field
	// that reads it is missing.
	var tasks []expr.Field
	var names []string
	for _, w := range in.Workers {
		a.tasks[w.Name] = expr.ResultOf(w.Output, w.Name)
		names = append(names, w.Name)
		tasks = append(tasks, expr.Field{Name: w.Name, Type: expr.Object(
			expr.Field{Name: "id", Type: expr.String()}, expr.Field{Name: "observation", Type: a.tasks[w.Name]}, expr.Field{Name: "attempts", Type: expr.Int()})})
	}
	a.failed = expr.List(expr.Object(
		expr.Field{Name: "id", Type: expr.String()}, expr.Field{Name: "worker", Type: expr.String(names...)},
		expr.Field{Name: "critical", Type: expr.Bool()}, expr.Field{Name: "stop_reason", Type: expr.String()}))
	return &joins{
		source: in, made: a, base: base,
		common: []expr.Variable{{Name: "tasks", Type: expr.ObjectOf("worker", tasks...)}, {Name: "failed", Type: a.failed}, {Name: "input", Type: a.input}},
	}
}

// field compiles a field. Later fields may read it, even if it has a fault.
func (c *joins) field(i int) {
	f, member := c.source.Fields[i], "fields."+c.source.Fields[i].Name
	switch {
	case i == MaxFields:
		c.tell(member, expr.Fault{Reason: tooManyFields(MaxFields), Key: true})
	case slices.ContainsFunc(c.source.Fields[:i], func(n Named) bool { return n.Name == f.Name }):
		c.tell(member, expr.Fault{Reason: repeatedField, Key: true})
	}
	if i >= MaxFields {
		return
	}
	e, is := c.compile(f.Text, member, expr.Dyn(), i)
	is = is.Decoded()
	c.above = append(c.above, expr.Field{Name: f.Name, Type: is})
	c.made.fields[f.Name] = is
	c.made.compute = append(c.made.compute, joiner{name: f.Name, text: f.Text, Expression: e})
}

func (c *joins) rule(i int) {
	h, member := c.source.Health[i], "health."+strconv.Itoa(i)
	if i >= MaxFields {
		if i == MaxFields {
			c.tell(member+".when", expr.Fault{Reason: tooManyRules(MaxFields)})
		}
		return
	}
	if !slices.Contains(Colours, h.Is) {
		c.tell(member+".is", expr.UnknownName(noColour, h.Is, Colours))
	}
	e, _ := c.compile(h.When, member+".when", expr.Bool(), len(c.source.Fields))
	c.made.health = append(c.made.health, joiner{name: member + ".when", is: h.Is, text: h.When, Expression: e})
}

// compile compiles a text that may read the first above fields.
func (c *joins) compile(text, member string, want expr.Type, above int) (*expr.Expression, expr.Type) {
	fields := expr.ObjectOf("field", slices.Clone(c.above)...)
	variables := append(slices.Clone(c.common), expr.Variable{Name: "fields", Type: fields})
	scope, err := c.base.With(variables...)
	if err != nil {
		c.tell(member, expr.Fault{Reason: noExpressions(err.Error())})
		return nil, expr.Dyn()
	}
	means, faults := scope.Check(text, want, c.below(above))
	c.faults = append(c.faults, of(member, expr.WithoutAbsence(faults))...)
	if means == nil {
		return nil, expr.Dyn()
	}
	return means.Expression(), means.Type
}

// below returns a function that reports fields which are read before they are computed.
func (c *joins) below(above int) func(variable, member string) []string {
	return func(variable, member string) []string {
		if variable != "fields" {
			return nil
		}
		switch at := slices.IndexFunc(c.source.Fields, func(n Named) bool { return n.Name == member }); {
		case at < above || at < 0:
			return nil
		case at == above:
			return []string{fieldReadsItself(member)}
		}
		return []string{fieldBelow(member)}
	}
}

func (c *joins) tell(member string, f expr.Fault) {
	f.Member, f.Line, f.Column = member, max(f.Line, 1), max(f.Column, 1)
	c.faults = append(c.faults, f)
}

// NewReroute compiles a text over result. It says whether the result of a route means that another route must take
// over. The function is nil if a fault is more than a warning. It returns false if the text has no value. It is safe
// for concurrent use.
func NewReroute(text string, output *catalog.Schema) (func(observation any) bool, []expr.Fault) {
	e, faults := expr.NewScope(expr.Variable{Name: "result", Type: expr.ResultOf(output, "")}).Compile(text, expr.Bool())
	faults = expr.WithoutAbsence(faults)
	if e == nil {
		return nil, faults
	}
	if !e.Reads("result") {
		faults = append(faults, expr.Fault{Line: 1, Column: 1, Reason: sameForAll, Warning: true})
	}
	return func(observation any) bool {
		if !finite(observation) {
			return false
		}
		v, err := e.Eval(map[string]any{"result": observation})
		yes, _ := v.(bool)
		return err == nil && yes
	}, faults
}
