package policy

import (
	"maps"
	"slices"
	"strconv"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/gateway/policy/expr"
	"patterngate/ijson"
)

// rows checks the names and types in the tests. It does not run the tests.
func (c *compiler) rows() {
	names := map[string]bool{}
	for i, row := range c.source.Tests {
		at := "tests[" + strconv.Itoa(i) + "]"
		if names[row.Name] {
			c.tell(expr.Fault{Member: at + ".name", Reason: repeatedName})
		}
		names[row.Name] = true
		c.rowCall(row, at)
		for j, e := range row.Effects {
			c.rowEffect(e, at+".effects["+strconv.Itoa(j)+"]")
		}
		shape, pattern := c.shapes.input.is, row.Pattern
		if pattern != "" {
			k := slices.IndexFunc(c.reached.reach.Patterns, func(p Reached) bool { return p.Name == pattern })
			if k < 0 {
				c.tellAt(at+".pattern", expr.UnknownName(noPatternPrefix, pattern, c.patternNames()))
			} else if s := c.reached.reach.Patterns[k].Input; s != nil {
				shape = expr.FromSchema(s, "")
			}
		}
		c.rowMembers(row.Input, shape, at+".input", noInput)
		_, faults := c.params.over(row.Params)
		for _, f := range faults {
			c.tellAt(at+"."+f.Member, f)
		}
	}
}

func (c *compiler) tellAt(member string, f expr.Fault) {
	f.Member = member
	c.tell(f)
}

func (c *compiler) patternNames() []string {
	var names []string
	for _, p := range c.reached.reach.Patterns {
		names = append(names, p.Name)
	}
	return names
}

func (c *compiler) rowCall(row Row, at string) {
	name := row.Call.Tool
	t := c.reached.all[name]
	switch {
	case t == nil:
		c.tellAt(at+".call.tool", expr.UnknownName(noTool, name, append(slices.Clone(c.reached.names), finalName)))
		return
	case !c.reached.judges(name):
		c.tellAt(at+".call.tool", expr.Fault{Reason: notReached(name)})
		return
	}
	if t.made {
		c.rowArgs(t, row.Call.Args, at+".call.args")
	} else {
		c.rowMembers(row.Call.Args, t.args, at+".call.args", hasNoArgument(name))
	}
	if t.args.Kind() != expr.ObjectKind {
		return
	}
	for _, arg := range slices.Sorted(maps.Keys(row.WantArgs)) {
		if _, ok := t.args.Field(arg); !ok {
			f := expr.UnknownName(hasNoArgument(name), arg, t.args.Names())
			f.Key = true
			c.tellAt(at+".want_args."+arg, f)
		}
	}
}

// rowArgs checks a test's arguments against the tool's whole schema.
func (c *compiler) rowArgs(t *judged, args map[string]any, member string) {
	if !finite(args) {
		c.tellAt(member, expr.Fault{Reason: notJSONValue})
		return
	}
	for _, m := range t.tool.Check(t.tool.Filled(args)) {
		at, tokens := member, m.Pointer.Tokens()
		if m.Kind != catalog.MismatchMissing {
			for _, token := range tokens {
				at += "." + token
			}
		}
		name := string(m.Pointer)
		if len(tokens) == 1 {
			name = tokens[0]
		}
		switch m.Kind {
		case catalog.MismatchUnknown:
			f := expr.Fault{Reason: hasNoArgumentNamed(t.name, name), Key: true}
			if len(tokens) == 1 && t.args.Kind() == expr.ObjectKind {
				f = expr.UnknownName(hasNoArgument(t.name), name, slices.DeleteFunc(t.args.Names(), func(n string) bool { _, set := t.tool.Fixed[n]; return set }))
				f.Key = true
			}
			c.tellAt(at, f)
		case catalog.MismatchMissing:
			c.tellAt(at, expr.Fault{Reason: needsArgument(t.name, name), Want: m.Want})
		default:
			c.tellAt(at, expr.Fault{Reason: argumentMisfits(name, t.name), Want: m.Want})
		}
	}
}

// rowMembers checks the names and types of members, but not their bounds.
func (c *compiler) rowMembers(given map[string]any, t expr.Type, member, lacks string) {
	if !finite(given) {
		c.tellAt(member, expr.Fault{Reason: notJSONValue})
		return
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := member + "." + name
		if t.Kind() == expr.ObjectKind {
			if _, ok := t.Field(name); !ok {
				f := expr.UnknownName(lacks, name, t.Names())
				f.Key = true
				c.tellAt(at, f)
				continue
			}
		}
		of := t.MemberType(name)
		if _, err := of.Convert(given[name], ""); err != nil {
			c.tellAt(at, expr.Fault{Reason: gotButNeeded(ijson.Cut(string(shownValue(given[name])), maxShownValue), of.String())})
		}
	}
}

// statuses are the states of an effect.
var statuses = []string{string(gateway.Finished), string(gateway.Failed), string(gateway.Reserved), string(gateway.InDoubt)}

func (c *compiler) rowEffect(e RowEffect, at string) {
	t := c.reached.all[e.Tool]
	if t == nil || t.isFinal() {
		c.tellAt(at+".tool", expr.UnknownName(noTool, e.Tool, c.reached.names))
		return
	}
	if e.Status != "" && !slices.Contains(statuses, string(e.Status)) {
		c.tellAt(at+".status", expr.UnknownName(noStatus, string(e.Status), statuses))
	}
	c.rowMembers(e.Args, t.args, at+".args", hasNoArgument(e.Tool))
	result := e.Result
	if _, isError := result["error"]; isError { // every tool may return one
		result = maps.Clone(result)
		delete(result, "error")
	}
	c.rowMembers(result, t.result, at+".result", resultHasNoMember(e.Tool))
	done := e.Status == "" || e.Status == gateway.Finished
	_, failed := gateway.Reported(any(e.Result))
	switch {
	case e.OK == nil || !*e.OK:
	case !done:
		c.tellAt(at+".ok", expr.Fault{Reason: okOnlyDone})
	case failed:
		c.tellAt(at+".ok", expr.Fault{Reason: okWithError})
	}
	if !(e.SecondsAgo >= 0) {
		c.tellAt(at+".seconds_ago", expr.Fault{Reason: "below 0"})
	}
}
