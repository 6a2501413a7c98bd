package assembly

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"patterngate/catalog"
	"patterngate/catalog/pins"
	"patterngate/catalog/upstream"
	"patterngate/gateway"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// Loaded is a configuration with the tools, patterns and policies that are made from it. [Load] makes it from a file, and
// [configOfSnapshot] from a state file.
type Loaded struct {
	settings.Document

	lock *pins.Lock  // the accepted definitions of servers' tools; nil: none
	own  *ownTools   // made from Catalog and lock
	pool *serverPool // holds its servers
	made *policySet  // made from Policies; nil: not yet
	dir  string      // of programs for which the file names none; "": the current directory
	// parts are made from Patterns; nil: not yet.
	parts *patternSet
}

// Load reads a configuration and makes what it declares. It starts no program and opens no connection. It returns all
// faults together as a [*yamldoc.Error]; then nothing is loaded. It returns warnings in both cases.
//
//	Read ──▶ Document ──▶ tools ──▶ patterns ──▶ policies, their tests run ──▶ Loaded
func Load(in settings.Sources, with LoadOptions) (Loaded, []yamldoc.Fault, error) {
	document, faults, err := settings.Read(in)
	if err != nil {
		return Loaded{}, nil, err
	}
	l := Loaded{Document: document, dir: with.Dir}
	with.limit(l.Catalog.Servers)
	making := &loading{Faults: faults}
	making.makeTools(&l, with.pool, in.Environ)
	making.makePatterns(&l)
	making.makePolicies(&l, !with.Untested)
	warnings := yamldoc.ByPlace(faults.Warnings)
	if err := faults.Err(); err != nil {
		return Loaded{}, warnings, err
	}
	return l, warnings, nil
}

// Lock returns the accepted definitions of the servers' tools, or nil if there are none.
func (l Loaded) Lock() *pins.Lock { return l.lock }

// Close ends the servers that were started for the configuration.
func (l Loaded) Close() { l.pool.close() }

// Definitions asks a server of the configuration for the tools that it declares. It starts the server or connects to it.
func (l Loaded) Definitions(ctx context.Context, server string) ([]upstream.Definition, error) {
	return l.own.servers[server].Tools(ctx)
}

// Offered is [Loaded.Definitions] for any server of the configuration, also for one that it disables. The server is started,
// but no tool of it can be called.
func (l Loaded) Offered(ctx context.Context, server string) ([]upstream.Definition, error) {
	if _, ok := l.own.servers[server]; ok {
		return l.Definitions(ctx, server)
	}
	c := l.Config
	c.Catalog.HTTP = nil
	c.Catalog.Servers = slices.DeleteFunc(slices.Clone(c.Catalog.Servers), func(s tools.Server) bool { return s.Name != server })
	for i := range c.Catalog.Servers {
		c.Catalog.Servers[i].Enabled, c.Catalog.Servers[i].Tools = true, nil
	}
	own, faults := makeOwn(&c, l.lock, l.pool, l.own.secrets.environ)
	switch running, ok := own.servers[server]; {
	case ok:
		return running.Tools(ctx)
	case len(faults) > 0:
		return nil, errors.New(faults[0].Reason)
	}
	return nil, errors.New(noTransport)
}

// Mask returns what hides the secrets of the configuration in a text.
func (l Loaded) Mask() *catalog.Mask { return l.own.secrets.mask }

// LoadOptions say how a configuration is loaded. The zero LoadOptions are for a command that only looks.
type LoadOptions struct {
	// pool holds the servers of the configurations that are loaded; nil: a new one.
	pool *serverPool
	// Untested leaves the tests of policies to the caller.
	Untested bool
	// Dir is the directory of programs for which the file names none; "": the current directory.
	Dir string
	// StartWithin limits how long each server can take to start; 0: only the configuration limits it.
	StartWithin time.Duration
}

// limit applies the options to the servers of a configuration that was read just now.
func (with LoadOptions) limit(servers []tools.Server) {
	for i := range servers {
		s := &servers[i]
		if s.Stdio != nil && s.Stdio.Dir == "" {
			s.Stdio.Dir = with.Dir
		}
		if with.StartWithin > 0 {
			s.StartTimeout = min(s.StartTimeout, with.StartWithin)
		}
	}
}

// loading collects faults while parts are made from a document.
type loading struct{ Faults *yamldoc.Faults }

// phrases warns about tools without a phrase if a rule can ask a person about them. The approver then sees only the tool's
// name and its arguments.
func (r *loading) phrases(l *Loaded) {
	var asked []string
	for _, name := range slices.Sorted(maps.Keys(l.made.by)) {
		asked = append(asked, l.made.by[name].Asks()...)
	}
	for _, t := range l.Catalog.Tools() {
		if t.Phrase == "" && slices.Contains(asked, t.Name) {
			r.Faults.Record(l.FaultAt(yamldoc.Fault{
				Severity: yamldoc.SeverityWarning, Reason: noPhrase(t.Name),
				Want: wantPhrase, Advice: true,
			}, l.DeclaredAt(t.Name)...))
		}
	}
}

// DeclaredAt returns the path of the tool that clients see under a name.
func (l Loaded) DeclaredAt(name string) []string {
	for _, p := range l.Patterns {
		switch {
		case p.Name == name && p.Kind == gateway.Call:
			name = p.Tool
		case slices.Contains(p.ToolNames(), name):
			return []string{"patterns", p.Name}
		}
	}
	for _, s := range l.Catalog.Servers {
		for _, t := range s.Tools {
			if t.Name == name {
				return []string{"catalog", "servers", s.Name, "tools", t.Upstream}
			}
		}
	}
	if slices.ContainsFunc(l.Catalog.HTTP, func(t tools.HTTPTool) bool { return t.Name == name }) {
		return []string{"catalog", "http", name}
	}
	return []string{"patterns", name}
}
