package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cel.dev/cel-go/common/types"

	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// rule is one compiled rule, without its expressions.
type rule struct {
	id, say   string
	at        int // index in the file
	decision  gateway.Decision
	reason    string
	need      []string
	retryable bool
	expires   time.Duration
	least     gateway.Assurance
	matches   []string // tools that the policy judges and the rule matches
}

// bound is a rule compiled for one tool's calls.
type bound struct {
	*rule
	when   *term    // nil: always
	always bool     // when is true for every call
	set    []setter // of a revise
}

// setter is an argument that a revise sets, by an expression or to a value.
type setter struct {
	name  string
	term  *term
	value any
	want  expr.Type
}

// rules compiles all rules. It stores the faults that it finds.
func (c *compiler) rules() (all []*rule, byTool map[string][]bound) {
	byTool = map[string][]bound{}
	ids := map[string]int{}
	for i, r := range c.source.Rules {
		at := "rules[" + strconv.Itoa(i) + "]"
		if first, twice := ids[r.ID]; twice {
			c.tell(expr.Fault{Member: at + ".id", Reason: repeatedID(r.ID, first+1)})
		} else {
			ids[r.ID] = i
		}
		c.reserved(r, at)
		made := &rule{id: r.ID, say: r.Say, at: i}
		outcome := c.outcome(r, made, at)
		made.matches = c.matches(r, at)
		c.needs(r, made, at)
		all = append(all, made)
		for _, name := range made.matches {
			b, ok := c.bind(r, made, c.reached.all[name], at, outcome)
			if !ok {
				break // the other tools would give the same faults, or ones that do not matter yet
			}
			byTool[name] = append(byTool[name], b)
		}
		c.fires(byTool, made, at)
	}
	return all, byTool
}

// others are reasons that calls have without a rule, each with its meaning. A rule with such a name would be mistaken
// for one of them.
var others = map[string]string{
	gateway.Allowlisted:                  reasonOfNoPolicy,
	gateway.NoRuleMatched:                reasonOfNoRule,
	gateway.ReviseNotConvergent:          reasonOfEndless,
	"once_reused":                        reasonOfUsedKey,
	strings.TrimSuffix(policyError, ":"): reasonOfErrors,
}

// reserved reports ids and reasons that a rule must not have.
func (c *compiler) reserved(r RuleSource, at string) {
	refuse := func(member, name string) {
		if says, taken := others[name]; taken {
			c.tell(expr.Fault{Member: at + member, Reason: reservedReason(name, says)})
		}
	}
	refuse(".id", r.ID)
	if r.Block != nil {
		refuse(".block.reason", r.Block.Reason)
	}
	if r.Escalate != nil {
		refuse(".escalate.reason", r.Escalate.Reason)
	}
}

// outcome reads what a rule does. It returns false if that is wrong.
func (c *compiler) outcome(r RuleSource, made *rule, at string) bool {
	var set []string
	if r.Block != nil {
		set = append(set, "block")
		made.decision, made.reason, made.need, made.retryable = gateway.Block, r.Block.Reason, r.Block.Need, r.Block.Retryable
	}
	if r.Revise != nil {
		set = append(set, "revise")
		made.decision = gateway.Revise
	}
	if r.Escalate != nil {
		set = append(set, "escalate")
		made.decision, made.reason, made.expires, made.least = gateway.Escalate, r.Escalate.Reason, r.Escalate.Expires, r.Escalate.Least
	}
	if r.Approve {
		set = append(set, "approve")
		made.decision = gateway.Approve
	}
	if made.reason == "" {
		made.reason = r.ID
	}
	numbers := []string{2: "two", 3: "three", 4: "four"}
	switch {
	case len(set) == 0:
		c.tell(expr.Fault{Member: at, Reason: noOutcome, Want: outcomes})
	case len(set) > 1:
		c.tell(expr.Fault{Member: at, Reason: severalOutcomes(numbers[len(set)], listed(set), numbers[len(set)])})
	case r.Revise != nil && len(r.Revise) == 0:
		c.tell(expr.Fault{Member: at + ".revise", Reason: changesNothing, Want: reviseForm})
		return false
	}
	return len(set) == 1
}

// listed returns words as a list in a sentence: a, b and c.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// matches returns the tools that a rule judges. These are the tools that it names, if the policy judges them. Without
// names, they are all tools but not the final answer.
func (c *compiler) matches(r RuleSource, at string) []string {
	if r.Match == nil {
		all := slices.DeleteFunc(slices.Clone(c.reached.judged), func(name string) bool { return name == finalName })
		if len(all) == 0 {
			c.tell(expr.Fault{Member: at, Reason: neverReached})
		}
		return all
	}
	var names []string
	sound := true
	for i, name := range r.Match {
		switch {
		case c.reached.all[name] == nil:
			f := expr.UnknownName(noTool, name, append(slices.Clone(c.reached.names), finalName))
			f.Member = at + ".match[" + strconv.Itoa(i) + "]"
			c.tell(f)
			sound = false
		case c.reached.judges(name) && !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	switch {
	case len(r.Match) == 0:
		c.tell(expr.Fault{Member: at + ".match", Reason: neverMatched})
	case sound && len(names) == 0 && slices.Equal(r.Match, []string{finalName}):
		c.tell(expr.Fault{Member: at + ".match", Reason: neverFinal})
	case sound && len(names) == 0:
		c.tell(expr.Fault{Member: at + ".match", Reason: neverReachedTools(ijson.Cut(strings.Join(r.Match, ", "), 120))})
	}
	return names
}

// needs checks what a block asks for: existing tools, or arguments of the tools that the rule matches.
func (c *compiler) needs(r RuleSource, made *rule, at string) {
	for i, name := range made.need {
		known := c.reached.all[name] != nil && name != finalName
		var names []string
		for _, tool := range made.matches {
			t := c.reached.all[tool]
			if t.args.Kind() != expr.ObjectKind {
				known = true // the arguments are unknown
				continue
			}
			names = append(names, t.args.Names()...)
		}
		if known || slices.Contains(names, name) {
			continue
		}
		slices.Sort(names)
		f := expr.UnknownName(neitherToolNorArgument, name, append(slices.Compact(names), c.reached.names...))
		f.Member = at + ".block.need[" + strconv.Itoa(i) + "]"
		c.tell(f)
	}
}

// bind compiles a rule for one tool's calls. It returns false if something is wrong, and stores the faults.
func (c *compiler) bind(r RuleSource, made *rule, t *judged, at string, outcome bool) (bound, bool) {
	b := bound{rule: made}
	sound := outcome
	if r.When != "" {
		b.when = c.compile(r.When, at+".when", expr.Bool(), t, len(c.source.Vars))
		sound = sound && b.when != nil
		if b.when != nil && t.held() && (b.when.reads.of("args") || c.varsRead(b.when.reads, "args")) {
			c.tell(expr.Fault{Member: at + ".when", Reason: typeUnknown(t.name), Warning: true})
		}
	}
	for _, to := range r.Revise {
		s, ok := c.setter(to, t, at+".revise."+to.Argument)
		b.set = append(b.set, s)
		sound = sound && ok
	}
	return b, sound
}

// setter compiles one argument that a revise sets.
func (c *compiler) setter(to ReviseSource, t *judged, member string) (setter, bool) {
	s := setter{name: to.Argument, value: to.Value}
	wrong := func(f expr.Fault, key bool) (setter, bool) {
		f.Member, f.Key = member, key
		c.tell(f)
		return s, false
	}
	if t.isFinal() {
		return wrong(expr.Fault{Reason: finalNotRevised}, true)
	}
	if _, isSet := t.tool.Fixed[to.Argument]; isSet {
		return wrong(expr.Fault{Reason: argumentIsSet(to.Argument, t.name)}, true)
	}
	switch t.args.Kind() {
	case expr.ObjectKind:
		f, ok := t.args.Field(to.Argument)
		if !ok {
			free := slices.DeleteFunc(t.args.Names(), func(name string) bool { _, isSet := t.tool.Fixed[name]; return isSet })
			return wrong(expr.UnknownName(hasNoArgument(t.name), to.Argument, free), true)
		}
		s.want = f.Type
	case expr.MapKind:
		s.want = t.args.Item()
	}
	if to.Text != "" {
		s.term = c.compile(to.Text, member, s.want, t, len(c.source.Vars))
		return s, s.term != nil
	}
	if f, ok := fitsArgument(to.Value, s.want); !ok {
		return wrong(f, false)
	}
	return s, true
}

// fitsArgument checks a number or bool that a revise sets.
func fitsArgument(v any, t expr.Type) (expr.Fault, bool) {
	_, isNumber := v.(float64)
	_, isBool := v.(bool)
	shown := ijson.Cut(string(shownValue(v)), maxShownValue)
	switch _, err := t.Convert(v, ""); {
	case !isNumber && !isBool || !finite(v):
		return expr.Fault{Reason: "got " + shown, Want: expressionOrValue}, false
	case err != nil:
		return expr.Fault{Reason: gotButNeeded(shown, t.String())}, false
	case t.Values() != nil && !slices.ContainsFunc(t.Values(), func(value any) bool { return ijson.Equal(value, v) }):
		var texts []string
		for _, value := range t.Values() {
			texts = append(texts, ijson.Cut(string(ijson.Canonical(value)), maxShownValue))
		}
		return expr.UnknownName(notAmongValues(shown), "", texts), false
	}
	return expr.Fault{}, true
}

// varsRead reports whether one of the vars in r reads a variable, itself or through other vars.
func (c *compiler) varsRead(r reads, variable string) bool {
	for _, v := range c.source.Vars {
		if !r.reads("vars", v.Name) {
			continue
		}
		of := c.texts[v.Text].reads
		if of.of(variable) || !of.whole["vars"] && c.varsRead(of, variable) {
			return true
		}
	}
	return false
}

// fires reports a rule whose condition is false, or has an error, for every call.
func (c *compiler) fires(byTool map[string][]bound, made *rule, at string) {
	for _, name := range made.matches {
		for _, b := range byTool[name] {
			if b.rule != made || b.when == nil {
				continue
			}
			switch v := b.when.foretell(nothingKnown{}); {
			case v == types.False:
				c.tell(expr.Fault{Member: at + ".when", Reason: neverTrue})
			case types.IsError(v):
				c.tell(expr.Fault{Member: at + ".when", Reason: alwaysFails})
			}
			return
		}
	}
}
