package cli

import (
	"maps"
	"slices"

	"patterngate/catalog/pins"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// Loaded is a configuration with what is made of it: its tools, its patterns and its policies. [Load] makes it of a file, and
// [configOfSnapshot] of what a state file holds.
type Loaded struct {
	settings.Document

	lock *pins.Lock  // the accepted definitions of servers' tools; nil: none
	own  *ownTools   // made of Catalog and lock
	pool *serverPool // where its servers are
	made *policySet  // made of Policies; nil: not yet
	// parts are made of Patterns; nil: not yet.
	parts *patternSet
}

// Load reads a configuration and makes what it declares. Nothing is started and nothing is dialled. Faults come all at once as a
// [*yamldoc.Error]; then nothing was loaded. Warnings come in both cases.
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

// LoadOptions say how a configuration is loaded. The zero LoadOptions are those of a command that only looks.
type LoadOptions struct {
	// Pool keeps the servers of the configurations that are loaded; nil: a new one.
	Pool *serverPool
	// Untested leaves the tests of policies to the caller.
	Untested bool
}

// loading collects what is wrong while things are made of a document.
type loading struct{ Faults *yamldoc.Faults }

// phrases warns of tools without a phrase about which a rule may ask a person. Without it the approver reads the tool's name and
// its arguments, and no sentence.
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
