package assembly

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/llm/prompts"
	"patterngate/server/settings"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// patternParts holds what is made from the declaration of a pattern, apart from the tools. It does not change.
//
//	Pattern ───────┬─ input, answer ──▶ schemas ────────────┐
//	               ├─ instructions ───▶ template ───────────┼─▶ patternParts ──▶ patterns.Spec
//	               └─ aggregate, reroute ──▶ CEL over tools ┘                └─▶ catalog.Tool, if another pattern calls it
type patternParts struct {
	input        *catalog.Schema // of its arguments besides the kind's own; nil: none
	answer       *catalog.Schema // of its final answer; nil: any text
	asked        *catalog.Schema // of goal and input together: the arguments of a pattern that another calls
	defaults     map[string]any
	instructions prompts.Instructions
	joins        joins
}

// patternSet holds the parts of all patterns over a catalog.
type patternSet struct {
	catalog string // hash of the catalog that they were made for
	by      map[string]*patternParts
}

// partsMaker makes the parts of patterns and records their faults.
type partsMaker struct {
	config   *Loaded
	all      *catalog.Catalog
	compiled tools.Compiled
	faults   []ownFault
	at       []string
}

// makeParts makes the parts of all enabled patterns. It returns faults with their places.
func (c *Loaded) makeParts(all *catalog.Catalog, compiled tools.Compiled) (*patternSet, []ownFault) {
	m := &partsMaker{config: c, all: all, compiled: compiled}
	set := &patternSet{catalog: all.Hash(), by: map[string]*patternParts{}}
	for i := range c.Patterns {
		if p := &c.Patterns[i]; p.Enabled {
			m.at = []string{"patterns", p.Name}
			set.by[p.Name] = m.parts(p)
		}
	}
	return set, m.faults
}

func (m *partsMaker) fault(f yamldoc.Fault, path ...string) {
	m.faults = append(m.faults, ownFault{path: slices.Concat(m.at, path), offset: -1, Fault: f})
}

// unknown records a fault at a key that must not be there.
func (m *partsMaker) unknown(f yamldoc.Fault, path ...string) {
	m.faults = append(m.faults, ownFault{path: slices.Concat(m.at, path), offset: -1, key: true, Fault: f})
}

// parts makes the parts of one pattern.
func (m *partsMaker) parts(p *settings.Pattern) *patternParts {
	parts := &patternParts{}
	if p.Kind == gateway.Call {
		return parts
	}
	m.arguments(p)
	if p.Input != nil {
		read := m.compiled.Of(p.Input)
		parts.input, parts.defaults = read.Schema, read.Defaults // its faults were reported when it was read
	}
	if p.Answer != nil {
		parts.answer = m.compiled.Of(p.Answer).Schema
		if n := len(parts.answer.JSON()); parts.answer != nil && n > maxListedOutput {
			m.fault(yamldoc.Fault{Reason: schemaTooLarge, Got: schemaBytes(n), Want: wantAtMost(yamldoc.NumberText(maxListedOutput))}, "answer")
		}
	}
	parts.asked = m.asked(p)
	parts.instructions = m.instructions(p, parts)
	parts.joins = m.joins(p, parts)
	return parts
}

// commonArguments are the arguments that patterns of several kinds take. No input can have one of these names, so that a
// pattern can change its kind.
var commonArguments = []string{
	"goal", "plan", "route", "actions", "finalize", "run_id", "turn", "continue_with", "max_wait_seconds", "idempotency_key", "dry_run",
}

// planningArguments are the further arguments of kind planning.
var planningArguments = []string{
	"strategy", "max_depth", "max_subtasks", "context", "parent_plan_id", "plan_id", "expected_revision", "parallel", "max_concurrent",
	"on_subtask_failure", "max_retries", "retry_delay_seconds", "max_steps", "results", "reason", "failed_subtask", "hints",
}

// ownArguments returns the argument names of a kind, which no input can have.
func ownArguments(kind gateway.Kind) []string {
	if kind == gateway.Planning {
		return slices.Concat(commonArguments, planningArguments)
	}
	return commonArguments
}

// arguments refuses inputs of a pattern whose names are not free.
func (m *partsMaker) arguments(p *settings.Pattern) {
	taken := ownArguments(p.Kind)
	goal := p.Goal != settings.GoalName && slices.Contains(taken, p.Goal)
	if goal {
		m.fault(yamldoc.Fault{Reason: isKindArgument(p.Goal, string(p.Kind)), Want: wantOtherName}, "goal_argument")
	}
	for _, member := range settings.Members(p.Input) {
		switch name := member.Name; {
		case !grammar.ServerNames.Fits.MatchString(name):
			m.unknown(yamldoc.Fault{Reason: notName, Want: grammar.ServerNames.Want}, "input", name)
		case name == p.Goal && !goal:
			m.unknown(yamldoc.Fault{Reason: isGoalArgument(name), Want: wantOtherNames}, "input", name)
		case slices.Contains(taken, name):
			m.unknown(yamldoc.Fault{Reason: isKindArgument(name, string(p.Kind)), Want: wantOtherName}, "input", name)
		case p.Name == builtinOrchestrator && slices.Contains(orchestratorInputs, name) && m.config.inputChanged(p, name):
			m.unknown(yamldoc.Fault{Reason: isPartOf(name, p.Name), Want: wantRemoved}, "input", name)
		}
	}
}

// builtinOrchestrator is the pattern whose inputs its workers and its model know by name.
const builtinOrchestrator = "run_orchestrator"

var orchestratorInputs = []string{"report_date", "region"}

// inputChanged reports whether the file changes an input of a built-in pattern.
func (c *Loaded) inputChanged(p *settings.Pattern, name string) bool {
	return !ijson.Equal(inputNamed(p.Input, name), inputNamed(settings.EmbeddedPattern(p.Name).Input, name))
}

func inputNamed(input json.RawMessage, name string) any {
	for _, m := range settings.Members(input) {
		if m.Name == name {
			return grammar.RawValue(m.Value)
		}
	}
	return nil
}

// maxGoal is the maximum length of a goal in bytes.
const maxGoal = 16 << 10

// asked returns the schema of the arguments of a pattern that another pattern calls: its goal and its inputs.
func (m *partsMaker) asked(p *settings.Pattern) *catalog.Schema {
	goal := json.RawMessage(fmt.Sprintf(`{"type":"string","minLength":1,"maxLength":%d,"description":"What is wanted, in plain words, with every id, date and amount that matters."}`, maxGoal))
	members := []settings.Member{{Name: p.Goal, Value: goal}}
	for _, input := range settings.Members(p.Input) {
		if input.Name != p.Goal {
			members = append(members, input)
		}
	}
	schema, _, _ := catalog.CompileArguments(settings.ObjectText(members)) // its faults are reported as those of input
	return schema
}

// instructions compiles the text that a model gets besides Patterngate's own prompts.
func (m *partsMaker) instructions(p *settings.Pattern, parts *patternParts) prompts.Instructions {
	if p.Instructions == "" {
		return prompts.Instructions{}
	}
	var names []string
	if parts.input != nil {
		names = parts.input.PropertyNames()
	}
	in, f := prompts.NewInstructions(p.Instructions, names)
	if f != nil {
		m.faults = append(m.faults, ownFault{
			path: slices.Concat(m.at, []string{"instructions"}), offset: f.Offset,
			Fault: yamldoc.Fault{Reason: f.Reason, Got: f.Got, Want: f.Want, DidYouMean: f.DidYouMean},
		})
	}
	return in
}

// inputsOf returns the schema of a spec's inputs. For run_orchestrator it leaves out those that the kind itself has.
func inputsOf(p settings.Pattern, parts *patternParts) *catalog.Schema {
	if parts == nil || parts.input == nil || p.Name != builtinOrchestrator {
		return parts.inputs()
	}
	rest := slices.DeleteFunc(settings.Members(p.Input), func(m settings.Member) bool { return slices.Contains(orchestratorInputs, m.Name) })
	if len(rest) == 0 {
		return nil
	}
	schema, _, _ := catalog.CompileArguments(settings.ObjectText(rest))
	return schema
}

func (p *patternParts) inputs() *catalog.Schema {
	if p == nil {
		return nil
	}
	return p.input
}

// words returns a function that makes the instructions for one run, or nil if there are none.
func (p *patternParts) words() func(patterns.Inputs) (string, error) {
	if p == nil {
		return nil
	}
	in := p.instructions
	if in == (prompts.Instructions{}) {
		return nil
	}
	return func(inputs patterns.Inputs) (string, error) { return in.Words(inputs) }
}

// memberSteps splits the name of a member, such as fields.NAME or health.N.when, into the steps of a path.
func memberSteps(member string) (steps []string) {
	for _, step := range strings.Split(member, ".") {
		if i := yamldoc.Index(step); i >= 0 {
			step = "[" + step + "]"
		}
		steps = append(steps, step)
	}
	return steps
}

// makePatterns makes the parts of the loaded patterns and adds their faults.
func (r *loading) makePatterns(l *Loaded) {
	if l.own == nil || !l.composed() {
		return
	}
	all, err := l.catalog()
	if err != nil { // serving it reports this error
		return
	}
	told := faultyPaths(r.Faults.Found)
	parts, faults := l.makeParts(all, l.Compiled)
	r.take(l, faults, told)
	l.parts = parts
}

// composed reports whether the file declares a pattern, adds something to one, or has policies of its own.
func (c *Loaded) composed() bool {
	return c.ownPolicies() || slices.ContainsFunc(c.Patterns, func(p settings.Pattern) bool {
		return p.IsOwn() && p.Kind != gateway.Call || len(p.Hands) > 0 || p.Instructions != "" || p.Answer != nil || p.Aggregate != nil ||
			!p.IsOwn() && (p.GoalName() != "" || string(p.Input) != string(settings.EmbeddedPattern(p.Name).Input))
	})
}

// patternSet returns the parts of the patterns over the catalog that is served. It reuses those made at load time if the
// catalog is the same.
func (c *Loaded) patternSet(all *catalog.Catalog) (*patternSet, error) {
	if c.parts != nil && c.parts.catalog == all.Hash() {
		return c.parts, nil
	}
	set, faults := c.makeParts(all, nil)
	for _, f := range faults {
		if !f.warning {
			return nil, fmt.Errorf("%s: %s", yamldoc.PathOf(f.path), f.Reason)
		}
	}
	return set, nil
}
