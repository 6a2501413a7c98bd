package assembly

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"patterngate/catalog/pins"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// makeTools makes the tools of the loaded configuration, as far as possible, and adds their faults.
func (r *loading) makeTools(l *Loaded, pool *serverPool, environ []string) {
	if pool == nil {
		pool = newServerPool() // for commands that only look: nothing in it is started
	}
	l.pool = pool
	told := faultyPaths(r.Faults.Found)
	if len(told) > 0 { // the tools are still made, to report all faults together; nothing is kept
		pool = newServerPool()
	}
	if told.about("catalog.pin") {
		return
	}
	lock, ok := r.lock(l.Catalog.Pin)
	if !ok {
		return
	}
	l.lock = lock
	own, faults := makeOwnOf(&l.Config, lock, pool, environ, l.Compiled)
	l.own = own
	r.take(l, faults, told)
	r.heldTools(l)
}

// take adds faults that were found when parts were made from the configuration. It skips a place that already has a fault.
func (r *loading) take(l *Loaded, faults []ownFault, told toldPaths) {
	for _, f := range faults {
		if told.about(yamldoc.PathOf(f.path).String()) { // an incomplete value would only cause further faults
			continue
		}
		severity := yamldoc.SeverityFault
		if f.warning {
			severity = yamldoc.SeverityWarning
		}
		f.Severity = severity
		at := l.FaultAt(f.Fault, f.path...)
		switch {
		case f.offset >= 0:
			at = l.FaultIn(f.Fault, f.offset, f.path...)
		case f.key:
			at = l.FaultAtKey(f.Fault, f.path...)
		}
		r.Faults.Record(at)
	}
}

// toldPaths are the places that already have a fault.
type toldPaths []string

func faultyPaths(faults []yamldoc.Fault) toldPaths {
	var list toldPaths
	for _, f := range faults {
		list = append(list, f.Path)
	}
	return list
}

// about reports whether there is a fault at a place, inside it or around it.
func (t toldPaths) about(path string) bool {
	return slices.ContainsFunc(t, func(told string) bool { return liesIn(told, path) || liesIn(path, told) })
}

// liesIn reports whether path equals above or lies below it.
func liesIn(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && above != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// heldTools warns about held tools, and about patterns and exposed names that are not listed because of them.
func (r *loading) heldTools(l *Loaded) {
	for _, h := range l.own.held {
		r.unlisted(l, h)
		r.Faults.Record(l.FaultAt(yamldoc.Fault{
			Severity: yamldoc.SeverityWarning, Reason: heldUnaccepted, Want: wantAccept(pins.Word(h.Server, h.Upstream)), Held: h.name,
		}, "catalog", "servers", h.Server, "tools", h.Upstream))
	}
}

// unlisted warns about patterns of kind call that are not listed until their tool is accepted, since they have no schema to
// show.
func (r *loading) unlisted(l *Loaded, h HeldTool) {
	for _, p := range l.Patterns {
		if p.Enabled && p.Kind == gateway.Call && p.Tool == h.name {
			r.Faults.Record(l.FaultAt(yamldoc.Fault{
				Severity: yamldoc.SeverityWarning, Reason: notListed(h.name), Want: wantAccept(pins.Word(h.Server, h.Upstream)), Held: h.name,
			}, "patterns", p.Name, "tool"))
		}
	}
	if i := slices.Index(l.Catalog.Expose, h.name); i >= 0 {
		r.Faults.Record(l.FaultAt(yamldoc.Fault{
			Severity: yamldoc.SeverityWarning, Reason: notListed(h.name), Want: wantAccept(pins.Word(h.Server, h.Upstream)), Held: h.name,
		}, "catalog", "expose", fmt.Sprintf("[%d]", i)))
	}
}

// Unlisted returns the held tools by the names that clients would use for them.
func (c Loaded) Unlisted() map[string]HeldTool {
	names := map[string]HeldTool{}
	if c.own == nil {
		return names
	}
	for _, h := range c.own.held {
		for _, p := range slices.Concat(c.Patterns, c.Exposed()) {
			if p.Enabled && p.Kind == gateway.Call && p.Tool == h.name {
				names[p.Name] = h
			}
		}
	}
	return names
}

// lock reads the lock file. A missing file is an empty lock.
func (r *loading) lock(path string) (*pins.Lock, bool) {
	if path == "" {
		return &pins.Lock{}, true
	}
	lock, err := pins.Read(path)
	if fault, ok := errors.AsType[*pins.Fault](err); ok {
		r.Faults.Record(yamldoc.Fault{
			File: path, Line: fault.Line, Column: fault.Column, Path: strings.Join(fault.Pointer.Tokens(), "."), Severity: yamldoc.SeverityFault,
			Reason: fault.Reason, Want: wantLock,
		})
		return nil, false
	}
	if err != nil {
		r.Faults.Record(yamldoc.Fault{File: path, Severity: yamldoc.SeverityFault, Reason: err.Error(), Want: wantReadable})
		return nil, false
	}
	return lock, true
}

// lockedTools returns the accepted definitions of the tools that a configuration names. A run that another process
// continues uses them, whatever the lock contains then.
func (c Loaded) lockedTools() map[string]any {
	tools := map[string]any{}
	if c.lock == nil {
		return tools
	}
	for _, s := range c.Catalog.Servers {
		for _, t := range s.Tools {
			d, ok := c.lock.Tool(s.Name, t.Upstream)
			if !s.Enabled || !t.Enabled || !ok {
				continue
			}
			v := map[string]any{"name": d.Name}
			for name, text := range map[string]string{"title": d.Title, "description": d.Description} {
				if text != "" {
					v[name] = text
				}
			}
			for name, raw := range map[string][]byte{"inputSchema": d.Input, "outputSchema": d.Output} {
				if schema, err := ijson.Decode(raw); len(raw) > 0 && err == nil {
					v[name] = schema
				}
			}
			tools[pins.Name(s.Name, t.Upstream)] = v
		}
	}
	return tools
}

// lockOf makes a lock from what lockedTools returned.
func lockOf(tools map[string]any) (*pins.Lock, error) {
	lock := &pins.Lock{}
	for name, v := range tools {
		at, _, ok := strings.Cut(name, "/")
		tool, isTool := v.(map[string]any)
		if !ok || !isTool {
			return nil, fmt.Errorf(notATool, ijson.Cut(name, yamldoc.MaxQuoted))
		}
		d := pins.Definition{}
		d.Name, _ = tool["name"].(string)
		d.Title, _ = tool["title"].(string)
		d.Description, _ = tool["description"].(string)
		if schema, there := tool["inputSchema"]; there {
			d.Input = ijson.Canonical(schema)
		}
		if schema, there := tool["outputSchema"]; there {
			d.Output = ijson.Canonical(schema)
		}
		if err := lock.Accept(at, d, pins.Acceptance{By: lockMember, Assurance: string(gateway.UserAssurance)}); err != nil { // who did is not in it
			return nil, err
		}
	}
	return lock, nil
}

// Exposing is a configuration with one more tool that is called by itself.
func (c Loaded) Exposing(tool string) Loaded {
	c.Catalog.Expose = append(slices.Clone(c.Catalog.Expose), tool)
	return c
}

// makeOwn makes the tools of a configuration that was read from a snapshot.
func (c *Loaded) makeOwn(pool *serverPool, environ []string) error {
	if pool == nil {
		pool = newServerPool()
	}
	c.pool = pool
	c.Catalog.FindCommands(environ)
	lock := c.lock
	if lock == nil {
		lock = &pins.Lock{}
	}
	own, faults := makeOwn(&c.Config, lock, pool, environ)
	for _, f := range faults {
		if !f.warning {
			return errors.New(f.Reason)
		}
	}
	c.own = own
	return nil
}
