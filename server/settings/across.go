package settings

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// lockName is the name of the lock file next to a configuration file that sets no catalog.pin.
const lockName = "patterngate.lock"

// acrossCatalog checks the catalog against the other sections and the machine: links between tools and patterns, programs,
// the lock, secrets and directories (spec/config.md sections 4, 5.1 and 7).
func (r *loader) acrossCatalog(loaded *Document, environ []string) {
	c := &loaded.Config
	if c.Catalog.Declared && c.Catalog.Pin == "" && loaded.Path != "" {
		c.Catalog.Pin = grammar.AbsolutePath(r.Reader, &yamldoc.Node{Kind: yamldoc.Text, Text: lockName, At: yamldoc.Place{Source: loaded.Path, Line: 1, Column: 1}})
	}
	r.acrossNames(c)
	r.acrossLinks(c)
	r.acrossPatterns(c)
	r.acrossModels(c)
	r.acrossReach(c)
	r.acrossAllow(c)
	r.acrossPrograms(c, environ)
	r.acrossSecrets(c, environ)
	r.acrossLock(c)
	r.acrossDirectories(loaded)
	r.acrossNetworks(c)
}

// acrossNames refuses two tools with the same name, and names that are reserved.
func (r *loader) acrossNames(c *Config) {
	owner := map[string]string{}
	if c.DemoOn() {
		for _, name := range DemoTools {
			owner[name] = theDemo
		}
	}
	for _, t := range c.Catalog.Tools() {
		at := r.KeyAt(t.Named)
		before, taken := owner[t.Name]
		switch {
		case slices.Contains(tools.TakenNames, t.Name):
			r.Faults.Add(at, t.Named, yamldoc.Fault{Reason: hasOwnMeaning(t.Name), Want: wantOtherToolName})
		case taken && t.Named != t.Path:
			r.Faults.Add(at, t.Named, yamldoc.Fault{Reason: isToolOf(t.Name, before), Want: wantOtherName})
		case taken && t.Server == "http":
			r.Faults.Add(at, t.Named, yamldoc.Fault{Reason: alsoToolOf(before), Want: wantOtherName})
		case taken:
			r.Faults.Add(at, t.Named, yamldoc.Fault{Reason: alsoToolOf(before), Want: wantAs})
		default:
			owner[t.Name] = t.Server
		}
	}
	tools := (*yamldoc.Path)(nil).Key("patterns")
	for _, p := range c.Patterns {
		if path := tools.Key(p.Name); p.IsOwn() && isOurTool(p.Name) {
			r.Faults.Add(r.KeyAt(path), path, yamldoc.Fault{Reason: toolOfServer, Want: wantOtherName})
		}
	}
	expose := (*yamldoc.Path)(nil).Key("catalog").Key("expose")
	for i, name := range c.Catalog.Expose {
		path := expose.Item(i)
		_, named := c.Pattern(name)
		switch {
		case named:
			r.Faults.Add(r.At(path), path, yamldoc.Fault{Reason: isPattern(name), Want: wantOnePlace})
		case slices.Contains(c.Catalog.Expose[:i], name):
			r.Faults.Add(r.At(path), path, yamldoc.Fault{Reason: namedTwice(name), Want: wantOnce})
		case isOurTool(name):
			r.Faults.Add(r.At(path), path, yamldoc.Fault{Reason: isToolOfServer(name), Want: wantOtherToolName})
		}
	}
}

// isOurTool reports whether name is an MCP tool that the server has without any configuration.
func isOurTool(name string) bool {
	if slices.Contains(reservedTools, name) {
		return true
	}
	kind, known := KindNamed(name)
	return known && kind == gateway.Planning
}

// toolLink is a tool name and the place where the file writes it.
type toolLink struct {
	path *yamldoc.Path
	name string
}

// links returns each tool that the pattern itself names, with its place in the file.
func (p Pattern) links() []toolLink {
	here := (*yamldoc.Path)(nil).Key("patterns").Key(p.Name)
	if p.Kind == gateway.Call {
		return []toolLink{{here.Key("tool"), p.Tool}}
	}
	var list []toolLink
	for _, h := range p.Hands {
		if h.Tool != "" {
			list = append(list, toolLink{h.path(&p), h.Tool})
		}
	}
	for i, name := range p.Tools {
		list = append(list, toolLink{here.Key("tools").Item(i), name})
	}
	return list
}

// acrossLinks refuses names of tools that are not declared.
func (r *loader) acrossLinks(c *Config) {
	known := c.ToolNames()
	var links []toolLink
	for _, p := range c.Patterns {
		switch {
		case !p.Enabled:
		case p.Kind == gateway.Planning && !p.IsOwn() && !c.Catalog.Declared: // only the demo's tools exist: the call reports the missing one
			for _, l := range p.links() {
				if !slices.Contains(known, l.name) {
					r.Faults.Warn(r.At(l.path), l.path, unknownName(l.name, known, p.Kind))
				}
			}
		default:
			links = append(links, p.links()...)
		}
	}
	for i, name := range c.Catalog.Expose {
		links = append(links, toolLink{(*yamldoc.Path)(nil).Key("catalog").Key("expose").Item(i), name})
	}
	declared := c.Catalog.Tools()
	for _, t := range declared {
		if t.Reconcile != nil {
			links = append(links, toolLink{t.Path.Key("reconcile").Key("tool"), t.Reconcile.Tool})
		}
	}
	for _, l := range links {
		if l.name != "" && !slices.Contains(known, l.name) {
			r.Faults.Add(r.At(l.path), l.path, c.noTool(l, known))
		}
	}
	for _, t := range declared {
		r.reconciled(t, declared, c)
	}
}

// noTool returns the fault for a name that no tool has. If a pattern has the name, the fault suggests to write it as a
// pattern.
func (c *Config) noTool(l toolLink, known []string) yamldoc.Fault {
	f := tools.NoTool(l.name, known)
	if _, pattern := c.Pattern(l.name); pattern && l.path.Step == "tool" && patternOf(l.path) != l.name {
		f.Want, f.DidYouMean = wantPattern(l.name), ""
	}
	return f
}

// reconciled checks the tool that settles the unknown outcomes of another tool. It must only read. For an http tool,
// reconciled checks the argument names too.
func (r *loader) reconciled(t tools.Placed, declared []tools.Placed, c *Config) {
	if t.Reconcile == nil {
		return
	}
	path := t.Path.Key("reconcile")
	at := slices.IndexFunc(declared, func(other tools.Placed) bool { return other.Name == t.Reconcile.Tool })
	if at < 0 {
		return
	}
	if effect := declared[at].Effect; effect != catalog.Read && effect != "" {
		r.Faults.Add(r.At(path.Key("tool")), path.Key("tool"), yamldoc.Fault{Reason: hasEffect(t.Reconcile.Tool, string(effect)), Want: wantRead})
	}
	for i := range c.Catalog.HTTP {
		h := &c.Catalog.HTTP[i]
		if h.Name != t.Reconcile.Tool {
			continue
		}
		input, _ := grammar.RawValue(h.Input).(map[string]any)
		for _, arg := range t.Reconcile.Args {
			if _, known := input[arg.Name]; known {
				continue
			}
			below := path.Key("args").Key(arg.Name)
			f := yamldoc.Fault{Reason: hasNoArgument(h.Name, arg.Name), DidYouMean: gateway.NearTyped(arg.Name, slices.Sorted(maps.Keys(input)))}
			if len(input) > 0 {
				f.Reason += " (" + strings.Join(slices.Sorted(maps.Keys(input)), ", ") + ")"
			}
			r.Faults.Add(r.KeyAt(below), below, f)
		}
	}
}

// acrossAllow warns about names in allow lists that match nothing.
func (r *loader) acrossAllow(c *Config) {
	known := c.ToolNames()
	for _, s := range grammar.NotesOf[patternNotes](r.Reader).strange {
		pattern := patternOf(s.path)
		p, ok := c.Pattern(pattern)
		_, said := r.Places[(*yamldoc.Path)(nil).Key("patterns").Key(pattern).Key("tools").String()]
		its := ok && (said || !c.DemoOn() || p.IsOwn() || len(p.Hands) > 0)
		switch {
		case its && slices.Contains(p.CallNames(), s.name):
		case its && (p.IsOwn() || len(p.Hands) > 0):
			r.Faults.Warn(s.at, s.path, unknownName(s.name, p.CallNames(), s.kind))
		case its && slices.Contains(known, s.name):
			r.Faults.Warn(s.at, s.path, yamldoc.Fault{Reason: notAmongTools(s.name), Want: wantInTools(pattern)})
		case its:
			r.Faults.Warn(s.at, s.path, unknownName(s.name, known, s.kind))
		default:
			r.Faults.Warn(s.at, s.path, unknownName(s.name, s.known, s.kind))
		}
	}
}

// patternOf returns the NAME of a path below patterns.NAME.
func patternOf(path *yamldoc.Path) string {
	for p := path; p != nil; p = p.Up {
		if p.Up != nil && p.Up.Up == nil {
			return p.Step
		}
	}
	return ""
}

// acrossPrograms finds the programs of the stdio servers, and refuses those that do not exist.
func (r *loader) acrossPrograms(c *Config, environ []string) {
	c.Catalog.FindCommands(environ)
	for _, s := range c.Catalog.Servers {
		if !s.Enabled || s.Stdio == nil || s.Stdio.Path != "" || s.Stdio.Command == "" {
			continue
		}
		path := (*yamldoc.Path)(nil).Key("catalog").Key("servers").Key(s.Name).Key("stdio").Key("command")
		if _, f := machine.FindProgram(s.Stdio.Command, machine.Lookup(environ, "PATH")); f.Reason != "" {
			r.Faults.Add(r.At(path), path, f)
		}
	}
}

// acrossSecrets warns about secret references that lead nowhere. It reads no secret and starts no program.
func (r *loader) acrossSecrets(c *Config, environ []string) {
	warn := func(s tools.SecretRef, path *yamldoc.Path) {
		if why := s.Nowhere(environ); s.Set() && why != "" {
			r.Faults.Warn(r.At(path), path, yamldoc.Fault{Reason: leadsNowhere(why), Want: refusedUntil})
		}
	}
	root := (*yamldoc.Path)(nil).Key("catalog")
	if key := (*yamldoc.Path)(nil).Key("llm").Key("api_key"); c.LLM.Key.Set() {
		warn(c.LLM.Key, key)
	}
	for _, m := range c.LLM.Models {
		warn(m.Key, (*yamldoc.Path)(nil).Key("llm").Key("models").Key(m.Name).Key("api_key"))
	}
	for _, s := range c.Catalog.Servers {
		if !s.Enabled {
			continue
		}
		here := root.Key("servers").Key(s.Name)
		if s.Stdio != nil {
			for i, v := range s.Stdio.Args {
				warn(v.Secret, here.Key("stdio").Key("args").Item(i))
			}
			for _, e := range s.Stdio.Env {
				warn(e.Secret, here.Key("stdio").Key("env").Key(e.Name))
			}
		}
		if s.HTTP != nil {
			for _, h := range s.HTTP.Headers {
				warn(h.Secret, here.Key("http").Key("headers").Key(h.Name))
			}
		}
		for _, t := range s.Tools {
			for _, v := range t.Fix {
				if t.Enabled {
					warn(v.Secret, here.Key("tools").Key(t.Upstream).Key("fix").Key(v.Name))
				}
			}
		}
	}
	for _, t := range c.Catalog.HTTP {
		if !t.Enabled {
			continue
		}
		request := root.Key("http").Key(t.Name).Key("request")
		for _, h := range t.Request.Headers {
			warn(h.Secret, request.Key("headers").Key(h.Name))
		}
		for _, q := range t.Request.Query {
			warn(q.Secret, request.Key("query").Key(q.Name))
		}
	}
}

// acrossLock refuses a lock file that every user of the machine can write or replace. A lock file that does not exist is
// allowed: then every tool is held.
func (r *loader) acrossLock(c *Config) {
	if c.Catalog.Pin == "" {
		return
	}
	path := (*yamldoc.Path)(nil).Key("catalog").Key("pin")
	info, err := os.Stat(c.Catalog.Pin)
	var f yamldoc.Fault
	switch {
	case errors.Is(err, fs.ErrNotExist):
		dir, err := os.Stat(filepath.Dir(c.Catalog.Pin))
		if err != nil {
			f = yamldoc.Fault{Reason: noDirectory(yamldoc.Quoted(filepath.Dir(c.Catalog.Pin))), Want: wantFileInDirectory}
		} else {
			f = machine.FaultOfWriters(c.Catalog.Pin, privateFile{dir})
		}
	case err != nil:
		f = machine.CannotRead(err)
	case info.IsDir():
		f = yamldoc.Fault{Reason: isDirectory, Want: wantFile}
	default:
		f = machine.FaultOfWriters(c.Catalog.Pin, info)
	}
	if f.Reason != "" {
		f.Reason = lockFault(c.Catalog.Pin, f.Reason)
		r.Faults.Add(r.At(path), path, f)
	}
}

// privateFile is the fs.FileInfo of a lock file that does not exist yet: it has mode 0600.
type privateFile struct{ fs.FileInfo }

// Mode implements [fs.FileInfo].
func (privateFile) Mode() fs.FileMode { return 0o600 }

// acrossNetworks warns about servers and http tools with addresses that Patterngate does not dial.
func (r *loader) acrossNetworks(c *Config) {
	at := (*yamldoc.Path)(nil).Key("catalog")
	warn := func(raw string, path *yamldoc.Path) {
		if closed := tools.ClosedHostOf(raw, c.Catalog.AllowNetworks); closed != nil {
			r.Faults.Warn(r.At(path), path, yamldoc.Fault{
				Reason: neverDialled(closed.What), Want: closed.Remedy(c.Catalog.AllowNetworks),
			})
		}
	}
	for _, s := range c.Catalog.Servers {
		if s.Enabled && s.HTTP != nil {
			warn(s.HTTP.URL, at.Key("servers").Key(s.Name).Key("http").Key("url"))
		}
	}
	for _, t := range c.Catalog.HTTP {
		if t.Enabled {
			warn(t.Request.URL, at.Key("http").Key(t.Name).Key("request").Key("url"))
		}
	}
}
