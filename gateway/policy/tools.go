package policy

import (
	"cmp"
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// Names for the final answer as rules see it.
const (
	finalName  = "final"
	noEffect   = "none"
	finalField = "answer"
)

// judged is a tool, or the final answer, as rules see it.
type judged struct {
	name   string
	tool   catalog.Tool // zero if only the name is known, or for the final answer
	made   bool         // the catalog has it
	args   expr.Type    // dyn: unknown
	result expr.Type
	facts  map[string]any // the variable tool
	signed map[string]string
}

func newJudged(tool catalog.Tool) *judged {
	j := &judged{name: tool.Name, tool: tool, made: true, args: expr.FromSchema(tool.Asked(), tool.Name), result: expr.ResultOf(tool.Output, tool.Name)}
	j.facts = readied(map[string]any{
		"name": tool.Name, "effect": string(tool.Effect), "server": cmp.Or(tool.Server, tool.Origin), "idempotent": tool.Idempotent,
	})
	return j
}

// unmade returns a tool of which only the name is known: a held tool, or a pattern that is used like a tool.
func unmade(name, server string) *judged {
	return &judged{name: name, facts: readied(map[string]any{"name": name, "effect": "", "server": server, "idempotent": false})}
}

func newFinal() *judged {
	return &judged{
		name: finalName, args: expr.Arguments(finalName, expr.Field{Name: finalField, Type: expr.String()}),
		facts: readied(map[string]any{"name": finalName, "effect": noEffect, "server": "", "idempotent": false}),
	}
}

func (j *judged) isFinal() bool { return !j.made && j.name == finalName }

// held reports whether the tool's arguments are unknown.
func (j *judged) held() bool { return !j.made && j.name != finalName }

// signature returns a text that identifies the type of an argument; "absent" if there is no such argument.
func (j *judged) signature(name string) string {
	if s, known := j.signed[name]; known {
		return s
	}
	s := "absent"
	switch j.args.Kind() {
	case expr.ObjectKind:
		if f, ok := j.args.Field(name); ok {
			s = f.Type.Signature()
			if f.Optional {
				s += "?"
			}
		}
	default:
		s = "in " + j.args.Signature()
	}
	if j.signed == nil {
		j.signed = map[string]string{}
	}
	j.signed[name] = s
	return s
}

// reached are the tools that a policy judges.
type reached struct {
	names   []string // all tools that exist, for suggestions
	all     map[string]*judged
	judged  []string // those that the policy judges, including final if it judges it
	nobody  bool     // no pattern and no tool names the policy
	alone   bool     // the policy judges some tools in every pattern
	reach   Reach
	catalog *catalog.Catalog
}

func newReached(reach Reach) *reached {
	r := &reached{all: map[string]*judged{}, reach: reach, catalog: reach.Catalog}
	add := func(j *judged) {
		if _, twice := r.all[j.name]; !twice {
			r.all[j.name] = j
			r.names = append(r.names, j.name)
		}
	}
	for _, name := range reach.Catalog.Names() {
		tool, _ := reach.Catalog.Tool(name)
		add(newJudged(tool))
	}
	for _, name := range reach.Unknown {
		add(unmade(name, ""))
	}
	for _, p := range reach.Patterns {
		for _, name := range p.Tools {
			add(unmade(name, "pattern"))
		}
	}
	r.all[finalName] = newFinal()
	r.nobody, r.alone = len(reach.Patterns) == 0 && len(reach.Alone) == 0, len(reach.Alone) > 0
	r.judged = r.judgedNames()
	return r
}

func (r *reached) judgedNames() []string {
	if r.nobody {
		return append(slices.Clone(r.names), finalName)
	}
	var names []string
	for _, p := range r.reach.Patterns {
		names = append(names, p.Tools...)
		if p.Kind == gateway.Supervisor {
			names = append(names, finalName)
		}
	}
	for _, name := range r.reach.Alone {
		if r.all[name] != nil {
			names = append(names, name)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		twice := seen[name]
		seen[name] = true
		return twice
	})
}

// declares reports whether the configuration declares a tool. The final answer counts as declared.
func (r *reached) declares(name string) bool {
	_, made := r.catalog.Tool(name)
	return made || name == finalName || slices.Contains(r.reach.Unknown, name)
}

// judges reports whether the policy judges a tool's calls, or the final answer.
func (r *reached) judges(name string) bool { return slices.Contains(r.judged, name) }

// tools returns the tools that the policy judges, without the final answer.
func (r *reached) tools() []*judged {
	var all []*judged
	for _, name := range r.judged {
		if name != finalName {
			all = append(all, r.all[name])
		}
	}
	return all
}

// seen returns the names that earlier calls may have.
func (r *reached) seen() []string {
	if r.alone || r.nobody {
		return r.names // also tools of patterns without this policy
	}
	return slices.DeleteFunc(slices.Clone(r.judged), func(name string) bool { return name == finalName })
}
