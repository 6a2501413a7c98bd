package policy

import (
	"slices"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
)

// The closing answer as rules see it.
const (
	finalName  = "final"
	noEffect   = "none"
	finalField = "answer"
)

// judged is a tool, or the closing answer, as rules see it.
type judged struct {
	name   string
	tool   catalog.Tool // zero: only its name is known, or it is the closing answer
	made   bool         // the catalog has it
	args   expr.Type    // dyn: not known
	result expr.Type
	facts  map[string]any // the variable tool
	signed map[string]string
}

func newJudged(tool catalog.Tool) *judged {
	j := &judged{name: tool.Name, tool: tool, made: true, args: expr.FromSchema(tool.Asked(), tool.Name), result: expr.ResultOf(tool.Output, tool.Name)}
	server := tool.Server
	if server == "" && tool.Demo {
		server = "demo"
	}
	j.facts = readied(map[string]any{"name": tool.Name, "effect": string(tool.Effect), "server": server, "idempotent": tool.Idempotent})
	return j
}

// unmade is a tool of which only the name is known: held, or a pattern that is used like a tool.
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

// held reports that the arguments are not known.
func (j *judged) held() bool { return !j.made && j.name != finalName }

// signature tells the types of an argument apart; "absent" where there is none of that name.
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
	names   []string // all that there are, for who names one
	all     map[string]*judged
	judged  []string // those that the policy judges, final among them where it is
	nobody  bool     // no pattern and no tool names the policy
	alone   bool     // some are judged in any pattern
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

// declares reports whether the configuration declares a tool. The closing answer counts as declared.
func (r *reached) declares(name string) bool {
	_, made := r.catalog.Tool(name)
	return made || name == finalName || slices.Contains(r.reach.Unknown, name)
}

// judges reports whether the policy judges a tool's calls, or the closing answer.
func (r *reached) judges(name string) bool { return slices.Contains(r.judged, name) }

// tools are those that the policy judges, without the closing answer.
func (r *reached) tools() []*judged {
	var all []*judged
	for _, name := range r.judged {
		if name != finalName {
			all = append(all, r.all[name])
		}
	}
	return all
}

// seen are the names that a call before may have.
func (r *reached) seen() []string {
	if r.alone || r.nobody {
		return r.names // of a pattern that is not this policy's
	}
	return slices.DeleteFunc(slices.Clone(r.judged), func(name string) bool { return name == finalName })
}
