package cli

import (
	"maps"
	"slices"

	"patterngate/catalog/pins"
	"patterngate/server/settings"
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
	l := Loaded{Document: document}
	making := &loading{Faults: faults}
	making.makeTools(&l, with.Pool, in.Environ)
	making.makePatterns(&l)
	making.makePolicies(&l, !with.Untested)
	warnings := yamldoc.ByPlace(faults.Warnings)
	if err := faults.Err(); err != nil {
		return Loaded{}, warnings, err
	}
	return l, warnings, nil
}

// LoadOptions say how a configuration is loaded. The zero LoadOptions are for a command that only looks.
type LoadOptions struct {
	// Pool holds the servers of the configurations that are loaded; nil: a new one.
	Pool *serverPool
	// Untested leaves the tests of policies to the caller.
	Untested bool
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
				Severity: yamldoc.SeverityWarning, Reason: "a rule may ask a person about a call of " + t.Name + ", and it has no phrase",
				Want: `write phrase: "what a call does, with {arguments}"`,
			}, l.declaredAt(t.Name)...))
		}
	}
}
