package policy

import (
	"maps"
	"slices"
	"strings"

	"patterngate/gateway/policy/expr"
)

// compiler compiles a policy. It compiles each text once for each set of types. Tools share a compiled text if the
// arguments that it reads have the same types.
type compiler struct {
	source  Source
	reached *reached
	params  params
	shapes  shapes

	base   *expr.Checker // with the variables that are the same for all tools
	scopes map[string]*expr.Checker
	made   map[string]compiled // by text and types
	texts  map[string]parsed   // by text
	faults []expr.Fault
	told   map[toldAt]bool
}

// compiled is the result of compiling a text with certain types.
type compiled struct {
	term   *term // nil: the text is wrong
	faults []expr.Fault
}

// parsed is a text after parsing.
type parsed struct {
	reads reads
	bad   bool
}

type toldAt struct {
	member string
	offset int
	reason string
}

func newCompiler(source Source, reach Reach) (*compiler, error) {
	c := &compiler{
		source: source, reached: newReached(reach), scopes: map[string]*expr.Checker{}, made: map[string]compiled{}, texts: map[string]parsed{},
		told: map[toldAt]bool{},
	}
	var faults []expr.Fault
	c.params, faults = readParams(source.Params)
	c.tell(faults...)
	var err error
	c.base, err = expr.NewChecker(c.variables()...)
	return c, err
}

// tell adds faults, each once.
func (c *compiler) tell(faults ...expr.Fault) {
	for _, f := range faults {
		at := toldAt{f.Member, f.Offset, f.Reason}
		if c.told[at] {
			continue
		}
		c.told[at] = true
		if f.Line == 0 {
			f.Line, f.Column = 1, 1
		}
		c.faults = append(c.faults, f)
	}
}

// read parses a text and stores which variables it reads.
func (c *compiler) read(text, member string) parsed {
	if p, known := c.texts[text]; known && !p.bad {
		return p
	}
	tree, faults := c.base.Parse(text)
	p := parsed{bad: tree == nil}
	if tree != nil {
		p.reads = readsOf(tree.Expr())
	}
	c.tell(of(member, faults)...)
	c.texts[text] = p
	return p
}

// compile compiles a text for a tool's calls. It returns nil if the text is wrong; the faults are then stored. The text
// may read the first above vars.
func (c *compiler) compile(text, member string, want expr.Type, t *judged, above int) *term {
	p := c.read(text, member)
	if p.bad {
		return nil
	}
	key, sound := c.key(text, p.reads, want, t, above)
	if known, ok := c.made[key]; ok {
		c.tell(of(member, slices.Clone(known.faults))...)
		return known.term
	}
	s, err := c.scope(p.reads, t, above)
	if err != nil {
		c.tell(expr.Fault{Member: member, Reason: noExpressions(err.Error())})
		return nil
	}
	means, faults := s.Check(text, want, c.below(above))
	if means == nil && !p.reads.of("args") { // again with the arguments, which a name without args could mean
		whole := reads{whole: map[string]bool{"args": true}, members: p.reads.members}
		maps.Copy(whole.whole, p.reads.whole)
		if typed, err := c.scope(whole, t, above); err == nil {
			_, faults = typed.Check(text, want, c.below(above))
		}
	}
	done := compiled{faults: slices.Clone(faults)}
	if means != nil && sound {
		done.term = newTerm(means, p.reads, c.listsFor(p.reads, t, above))
	}
	c.tell(of(member, faults)...)
	c.made[key] = done
	return done.term
}

// key returns a key for the text and the types that it reads. It returns false if a var that it reads could not be
// compiled.
func (c *compiler) key(text string, r reads, want expr.Type, t *judged, above int) (string, bool) {
	var b strings.Builder
	b.WriteString(text)
	b.WriteByte(0)
	b.WriteString(want.Signature())
	c.signArgs(&b, r, t)
	sound := true
	for i := range c.source.Vars[:above] {
		if !r.reads("vars", c.source.Vars[i].Name) {
			continue
		}
		v := c.varOf(i, t)
		b.WriteByte(0)
		if v == nil {
			sound = false
			continue
		}
		b.WriteString(v.sign)
	}
	if above < len(c.source.Vars) {
		b.WriteString("\x00above ")
		b.WriteString(c.source.Vars[above].Name)
	}
	return b.String(), sound
}

func (c *compiler) signArgs(b *strings.Builder, r reads, t *judged) {
	switch {
	case !r.of("args"):
	case r.whole["args"]:
		b.WriteString("\x00of ")
		b.WriteString(t.name)
	default:
		for _, name := range r.members["args"] {
			b.WriteByte(0)
			b.WriteString(t.signature(name))
		}
	}
}

// reads reports whether the text may read a member of a variable.
func (r reads) reads(variable, member string) bool {
	return r.whole[variable] || slices.Contains(r.members[variable], member)
}

// listsFor returns the vars that a text reads and that are lists with at most as many items as there are calls.
func (c *compiler) listsFor(r reads, t *judged, above int) map[string]bool {
	lists := map[string]bool{}
	for i, v := range c.source.Vars[:above] {
		if r.reads("vars", v.Name) {
			made := c.varOf(i, t)
			lists[v.Name] = made != nil && made.cost.calls
		}
	}
	return lists
}

// varOf returns a var compiled for a tool's calls; nil if it is wrong.
func (c *compiler) varOf(i int, t *judged) *term {
	v := c.source.Vars[i]
	return c.compile(v.Text, "vars."+v.Name, expr.Dyn(), t, i)
}

// scope returns the checker with what a text may read for a tool's calls: the arguments and the vars above it. It does
// not compile vars that the text does not read.
func (c *compiler) scope(r reads, t *judged, above int) (*expr.Checker, error) {
	var vars []expr.Field
	var key strings.Builder
	if r.of("args") {
		key.WriteString(t.name)
	}
	for i, v := range c.source.Vars[:above] {
		f := expr.Field{Name: v.Name}
		if r.reads("vars", v.Name) {
			if made := c.varOf(i, t); made != nil {
				f.Type = made.is
			}
		}
		key.WriteByte(0)
		key.WriteString(f.Type.Signature())
		vars = append(vars, f)
	}
	if s, known := c.scopes[key.String()]; known {
		return s, nil
	}
	own := []expr.Variable{{Name: "args", Type: expr.Dyn()}, {Name: "vars", Type: expr.MembersOnly(vars...)}}
	if r.of("args") {
		own[0].Type = t.args
	}
	s, err := c.base.With(own...)
	if err != nil {
		return nil, err
	}
	c.scopes[key.String()] = s
	return s, nil
}

// below returns a function that reports vars which are read before they are computed. It returns nil if the text may
// read all vars.
func (c *compiler) below(above int) func(variable, member string) []string {
	if above == len(c.source.Vars) {
		return nil
	}
	return func(variable, member string) (reasons []string) {
		if variable != "vars" {
			return nil
		}
		for i, v := range c.source.Vars[above:] {
			switch {
			case v.Name != member:
			case i == 0:
				reasons = append(reasons, varReadsItself(member))
			default:
				reasons = append(reasons, varBelow(member))
			}
		}
		return reasons
	}
}

// compileVars compiles the vars that no rule and no other var reads, so that their faults are reported too.
func (c *compiler) compileVars() {
	seen := map[string]bool{}
	for i, v := range c.source.Vars {
		if seen[v.Name] {
			c.tell(expr.Fault{Member: "vars." + v.Name, Reason: repeatedVar, Key: true})
		}
		seen[v.Name] = true
		if !c.isRead(v.Name) {
			c.varOf(i, &judged{name: noTool})
		}
	}
}

// isRead reports whether a rule or another var reads a var.
func (c *compiler) isRead(name string) bool {
	texts := []string{}
	for _, v := range c.source.Vars {
		texts = append(texts, v.Text)
	}
	for _, r := range c.source.Rules {
		texts = append(texts, r.When)
		for _, to := range r.Revise {
			texts = append(texts, to.Text)
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		p := c.texts[text]
		return p.reads.reads("vars", name)
	})
}
