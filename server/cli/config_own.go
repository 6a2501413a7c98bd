package cli

import (
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// reservedTools are the MCP tools that the server has of its own.
var reservedTools = []string{"run_status", "run_wait", "run_cancel", "list_runs", "describe_catalog"}

// demoKey is auto, true or false.
func demoKey(name string, target *string) configKey {
	return configKey{
		name: name, takes: "auto, true or false", form: map[string]any{"enum": []any{"auto", true, false}},
		read: func(r *configReader, n *yamlNode, path *keyPath) {
			switch {
			case n.kind == yamlBool && n.flag:
				*target = "true"
			case n.kind == yamlBool:
				*target = "false"
			case n.kind == yamlText && n.text == "auto":
				*target = "auto"
			default:
				r.wrong(n, path, "write auto, true or false")
			}
		},
		show: func() any {
			if *target == "true" || *target == "false" {
				return *target == "true"
			}
			return orNil(*target)
		},
	}
}

// DemoOn reports whether the demo's tools are there: as demo.enabled says, by itself while the file has no catalog and no
// pattern of its own.
func (c Config) DemoOn() bool {
	switch c.DemoEnabled {
	case "true":
		return true
	case "false":
		return false
	}
	return !c.Catalog.Declared && !slices.ContainsFunc(c.Patterns, PatternConfig.own)
}

// own reports a pattern that is not built in.
func (p PatternConfig) own() bool { return !slices.Contains(builtinNames, p.Name) }

// Equipped reports whether a pattern has a tool. One that has none is not listed.
func (p PatternConfig) Equipped() bool { return len(p.Tools) > 0 || p.Tool != "" }

// Exposed are the patterns that catalog.expose declares: of kind call, each under its tool's name. They are not among
// Patterns, since a file that says both is refused.
func (c Config) Exposed() []PatternConfig {
	list := make([]PatternConfig, 0, len(c.Catalog.Expose))
	for _, tool := range c.Catalog.Expose {
		p := newCall(tool, Position{})
		if p.Tool, p.Approver.Kind = tool, patterns.InboxApprover; c.State == memoryState {
			p.Approver.Kind = patterns.RejectApprover
		}
		list = append(list, p)
	}
	return list
}

// newCall is a pattern of kind call of which nothing was said.
func newCall(name string, at Position) PatternConfig {
	return PatternConfig{
		Name: name, Kind: gateway.Call, Enabled: true, At: at, Budget: gateway.DefaultBudget(gateway.Call),
		Approver: patterns.Approver{CapUSD: 800, Expires: 24 * time.Hour, Least: gateway.UserAssurance},
	}
}

// callKeys are those of kind call beside those of every kind.
func (p *PatternConfig) callKeys() []configKey {
	return []configKey{
		oneToolKey("tool", &p.Tool).need("write the tool that it calls").means("The tool that it calls: one gated, recorded call. Required."),
		groupKey("approver", approverKeys(&p.Approver)...),
	}
}

// patternsKey are the built-in patterns, which a file lays over, and the file's own.
func patternsKey(name string, c *Config, list func() []configKey) configKey {
	return configKey{
		name: name,
		read: func(r *configReader, n *yamlNode, path *keyPath) {
			builtin := list()
			ours, others := *n, []yamlMember(nil)
			ours.members = nil
			for _, m := range n.members {
				if slices.Contains(keyNames(builtin), m.key) {
					ours.members = append(ours.members, m)
				} else {
					others = append(others, m)
				}
			}
			r.group(&ours, path, builtin, unknownKey)
			for _, m := range others { // behind the others, whose keys point into the list that now grows
				r.ownPattern(m, path.key(m.key), c)
			}
		},
		show: func() any { return list() },
		below: func() []configKey {
			p := newCall("NAME", Position{})
			return p.keys(nil)
		},
	}
}

// ownPattern reads a pattern that is not built in. Its kind decides what else it has.
func (r *configReader) ownPattern(m yamlMember, path *keyPath, c *Config) {
	n := m.value
	if n.kind == yamlNull || n.kind == yamlBad {
		return
	}
	near := gateway.Near(m.key, builtinNames)
	kind := n.member("kind")
	switch {
	case !toolName.MatchString(m.key):
		r.faults.add(m.at, path, Fault{Reason: "not a name", Want: toolNames.want})
		return
	case n.kind != yamlMapping:
		r.wrong(n, path, "write a mapping with kind: call and tool: NAME")
		return
	case (kind == nil || kind.kind == yamlNull) && near != "":
		r.faults.add(m.at, path, Fault{Reason: "unknown pattern", DidYouMean: near})
		return
	case kind == nil || kind.kind == yamlNull:
		r.faults.add(n.at, path.key("kind"), Fault{Reason: "missing", Want: "write kind: call"})
		return
	}
	word, ok := r.word(kind, path.key("kind"), ownKinds)
	if !ok {
		return
	}
	if word != string(gateway.Call) {
		r.faults.add(kind.at, path.key("kind"), Fault{Reason: "own patterns of kind " + word + " come with a later version", Want: "write call"})
		return
	}
	r.places[path.String()] = n.at
	p := newCall(m.key, Position{m.at.line, m.at.column})
	keys := p.keys(nil)
	if r.members(n, path, keys, unknownKey) && p.Enabled {
		r.missing(n, path, keys)
	}
	c.Patterns = append(c.Patterns, p)
}

// ownKinds are the kinds that a pattern of the file's own can name.
var ownKinds = []string{
	string(gateway.TaskDecomposition), string(gateway.Orchestrator), string(gateway.Routing), string(gateway.Supervisor),
	string(gateway.Planning), string(gateway.Call),
}

// acrossTools gives each built-in its tools: as the file says, else those of the demo where it is on. Allow lists that the
// file does not say are all of them.
func (r *configReader) acrossTools(c *Config) {
	for i := range c.Patterns {
		p := &c.Patterns[i]
		if p.Kind == gateway.Call {
			continue
		}
		here := (*keyPath)(nil).key("patterns").key(p.Name)
		said := func(path *keyPath) bool { _, ok := r.places[path.String()]; return ok }
		if !said(here.key("tools")) {
			if c.DemoOn() {
				continue
			}
			p.Tools = []string{}
		}
		if p.Kind == gateway.Planning { // there not said is all already
			continue
		}
		if !said(here.key("allow").key("policy")) {
			p.Policy = slices.Clone(p.Tools)
		}
		if !said(here.key("allow").key("execution")) {
			p.Execution = slices.Clone(p.Tools)
		}
	}
}

// ToolNames are the names of all tools that are declared: of servers, of http and, where it is on, of the demo. What is not
// enabled is not among them.
func (c Config) ToolNames() []string {
	var names []string
	for _, t := range c.Catalog.tools() {
		names = append(names, t.Name)
	}
	if c.DemoOn() {
		names = append(names, demoTools...)
	}
	return names
}

// catalogTool is a tool of the file and where it is declared.
type catalogTool struct {
	*ToolConfig
	server string // "http" for a request
	path   *keyPath
	named  *keyPath // where its name stands
}

// tools are those that are enabled, of enabled servers, in the order of the file.
func (c *CatalogConfig) tools() []catalogTool {
	var list []catalogTool
	root := (*keyPath)(nil).key("catalog")
	for i := range c.Servers {
		s := &c.Servers[i]
		for j := range s.Tools {
			t := &s.Tools[j]
			if !s.Enabled || !t.Enabled {
				continue
			}
			path := root.key("servers").key(s.Name).key("tools").key(t.Upstream)
			d := catalogTool{&t.ToolConfig, s.Name, path, path}
			if t.Name != t.Upstream {
				d.named = path.key("as")
			}
			list = append(list, d)
		}
	}
	for i := range c.HTTP {
		if t := &c.HTTP[i]; t.Enabled {
			path := root.key("http").key(t.Name)
			list = append(list, catalogTool{&t.ToolConfig, "http", path, path})
		}
	}
	return list
}
