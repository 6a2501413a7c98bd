package local

import (
	"time"

	"patterngate/catalog"
)

// Settings are what a reload changes of an engine: what its fields and [Options] said at first.
type Settings struct {
	CallerWait, Join time.Duration
	MaxParked        int
	Catalog          *catalog.Catalog
	Redact           []string
	Config           string // hash
	Snapshot         []byte
}

// inForce is Settings with what is made of them.
type inForce struct {
	Settings
	redactor redactor
}

// Change puts settings in force for runs that are begun from now on. Runs that go on keep theirs. It may be called at any
// time, and changes nothing where it returns an error.
func (e *Engine) Change(s Settings) error {
	redactor, err := newRedactor(s.Redact)
	if err != nil {
		return err
	}
	e.changed.Store(&inForce{s, redactor})
	if f := e.file; f != nil {
		if !redactor.none() {
			f.journal.stale.Store(true)
		}
		f.configured.Store(false)
		f.journal.submit(&change{also: f.configure, done: func(err error) { f.configured.Store(err == nil) }})
	}
	return nil
}

// Settings are those in force.
func (e *Engine) Settings() Settings {
	if c := e.changed.Load(); c != nil {
		return c.Settings
	}
	s := Settings{CallerWait: e.CallerWait, Join: e.Join, MaxParked: e.MaxParked, Catalog: e.Catalog}
	if e.file != nil {
		s.Redact, s.Config, s.Snapshot = e.file.options.Redact, e.file.options.Config, e.file.options.Snapshot
	}
	return s
}

// hiding is the redactor of new runs.
func (f *file) hiding() redactor {
	if c := f.Engine.changed.Load(); c != nil {
		return c.redactor
	}
	return f.redactor
}
