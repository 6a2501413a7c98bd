package settings

import (
	"maps"
	"slices"
	"strconv"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// reservedTools are the MCP tools that the server always has.
var reservedTools = []string{"run_status", "run_wait", "run_cancel", "list_runs", "describe_catalog"}

// demoKey returns a key whose value is auto, true or false.
func demoKey(name string, target *string) grammar.Key {
	const takes = autoOrBool
	return grammar.Key{
		Name: name, Takes: takes, Form: func() map[string]any { return map[string]any{"enum": []any{"auto", true, false}} },
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			switch {
			case n.Kind == yamldoc.Bool:
				*target = strconv.FormatBool(n.Flag)
			case n.Kind == yamldoc.Text && n.Text == "auto":
				*target = n.Text
			default:
				r.Wrong(n, path, "write "+takes)
			}
		},
		Show: func() any {
			if *target == "true" || *target == "false" {
				return *target == "true"
			}
			return grammar.OrNil(*target)
		},
	}
}

// DemoOn reports whether the demo's tools exist: as demo.enabled says. With auto, they exist while the file has no catalog
// and no pattern of its own.
func (c Config) DemoOn() bool {
	switch c.DemoEnabled {
	case "true":
		return true
	case "false":
		return false
	}
	return !c.Catalog.Declared && !slices.ContainsFunc(c.Patterns, Pattern.IsOwn)
}

// Exposed returns the patterns that catalog.expose declares: of kind call, each under its tool's name. They are not in
// Patterns, since a file with the same name in both is refused.
func (c Config) Exposed() []Pattern {
	list := make([]Pattern, 0, len(c.Catalog.Expose))
	for _, tool := range c.Catalog.Expose {
		p := newCall(tool, grammar.Position{})
		if p.Tool, p.Approver.Kind = tool, patterns.InboxApprover; c.State == MemoryState {
			p.Approver.Kind = patterns.RejectApprover
		}
		list = append(list, p)
	}
	return list
}

// patternsKey returns the key of the patterns section: the built-in patterns, which a file can change, and the file's own.
func patternsKey(name string, c *Config, list func() []grammar.Key) grammar.Key {
	return grammar.Key{
		Name: name, Takes: mappingOfNames,
		Read: func(r *grammar.Reader, n *yamldoc.Node, path *yamldoc.Path) {
			builtin := list()
			ours, others := *n, []yamldoc.Member(nil)
			ours.Members = nil
			for _, m := range n.Members {
				if slices.Contains(grammar.NamesOf(builtin), m.Key) {
					ours.Members = append(ours.Members, m)
				} else {
					others = append(others, m)
				}
			}
			r.Group(&ours, path, builtin, grammar.UnknownKey)
			for _, m := range others { // last: the keys of the built-in patterns point into the list that now grows
				readOwnPattern(r, m, path.Key(m.Key), c)
			}
		},
		Ordered: true, // tools/list has the same order
		Others:  ownPatternSchema,
		Show:    func() any { return list() },
		Below: func() []grammar.Key {
			p := newCall("NAME", grammar.Position{})
			return p.Keys(nil)
		},
	}
}

// readOwnPattern reads a pattern that is not built in. Its kind decides which keys it has.
func readOwnPattern(r *grammar.Reader, m yamldoc.Member, path *yamldoc.Path, c *Config) {
	n := m.Value
	if n.Kind == yamldoc.Null || n.Kind == yamldoc.Unreadable {
		return
	}
	near := gateway.NearTyped(m.Key, BuiltinPatterns)
	kind := n.Member("kind")
	switch {
	case !grammar.ToolName.MatchString(m.Key):
		r.Faults.Add(m.At, path, yamldoc.Fault{Reason: notName, Want: grammar.ToolNames.Want})
		return
	case n.Kind != yamldoc.Mapping:
		r.Wrong(n, path, wantKind(yamldoc.Alternatives(OwnKinds)))
		return
	case (kind == nil || kind.Kind == yamldoc.Null) && near != "":
		r.Faults.Add(m.At, path, yamldoc.Fault{Reason: unknownPattern, DidYouMean: near})
		return
	case kind == nil || kind.Kind == yamldoc.Null:
		r.Faults.Add(n.At, path.Key("kind"), yamldoc.Fault{Reason: "missing", Want: "write " + yamldoc.Alternatives(OwnKinds)})
		return
	}
	word, ok := r.Word(kind, path.Key("kind"), OwnKinds)
	if !ok {
		return
	}
	if len(c.Patterns) >= MaxPatterns {
		r.Faults.Add(m.At, path, yamldoc.Fault{Reason: tooManyPatterns(yamldoc.NumberText(MaxPatterns)), Want: wantRemoved})
		return
	}
	r.Places[path.String()] = n.At
	p := newPattern(m.Key, gateway.Kind(word), grammar.Position{Line: m.At.Line, Column: m.At.Column})
	keys := p.Keys(nil)
	if r.Members(n, path, keys, unknownOf(p.Kind)) && p.Enabled {
		r.Missing(n, path, keys)
	}
	c.Patterns = append(c.Patterns, p)
}

// MaxPatterns is the maximum number of patterns in a configuration. Clients accept fewer in tools/list.
const MaxPatterns = 1000

// acrossTools sets the tools and allow lists that the file does not set. A built-in pattern gets the demo's tools if the
// demo is on, else none. An allow list that is not set allows all of the pattern's tools.
func (r *loader) acrossTools(c *Config) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if p.Kind == gateway.Call {
			continue
		}
		here := (*yamldoc.Path)(nil).Key("patterns").Key(p.Name)
		said := func(path *yamldoc.Path) bool { _, ok := r.Places[path.String()]; return ok }
		if !said(here.Key("tools")) {
			if c.DemoOn() && !p.IsOwn() && len(p.Hands) == 0 {
				continue
			}
			p.Tools = []string{}
		}
		maps.DeleteFunc(p.Budget.PerTool, func(tool string, _ gateway.CallLimit) bool { // limits of the demo's tools, if the pattern has others
			return !slices.Contains(p.CallNames(), tool) && !said(here.Key("budget").Key("per_tool").Key(tool))
		})
		if p.Kind == gateway.Planning { // for planning, nil already allows all
			continue
		}
		if !said(here.Key("allow").Key("policy")) {
			p.Policy = slices.Clone(p.CallNames())
		}
		if !said(here.Key("allow").Key("execution")) {
			p.Execution = slices.Clone(p.CallNames())
		}
	}
}

// ToolNames returns the names of all enabled tools: those of servers, those of http and, if the demo is on, its tools.
func (c Config) ToolNames() []string {
	var names []string
	for _, t := range c.Catalog.Tools() {
		names = append(names, t.Name)
	}
	if c.DemoOn() {
		names = append(names, DemoTools...)
	}
	return names
}
