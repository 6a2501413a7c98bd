package local

import (
	"maps"
	"slices"
	"sync"
	"time"

	"patterngate/catalog"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
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
	redactor redaction.Rules
}

// Change puts settings in force for runs that are begun from now on. Runs that go on keep theirs. It may be called at any
// time, and changes nothing where it returns an error.
func (e *Engine) Change(s Settings) error {
	redactor, err := redaction.Read(s.Redact)
	if err != nil {
		return err
	}
	e.changed.Store(&inForce{s, redactor})
	if f := e.file; f != nil {
		if !redactor.None() {
			f.journal.Hides()
		}
		f.configure(s.Config, s.Snapshot)
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

// hiding is the redactor in force.
func (f *file) hiding() redaction.Rules {
	if c := f.Engine.changed.Load(); c != nil {
		return c.redactor
	}
	return f.redactor
}

// configure has a configuration stored. Where that fails it comes with the next run that can be begun: one without its
// configuration could not be carried on elsewhere.
func (f *file) configure(hash string, snapshot []byte) {
	if hash == "" {
		return
	}
	f.unstored.add(hash, snapshot)
	f.journal.Submit(&store.Change{Steps: []store.Step{store.AddConfigs(f.unstored.all())}, Done: func(err error) {
		if err == nil {
			f.unstored.drop(hash)
		}
	}})
}

// unstored are configurations by their hashes of which it is not known that the state file has them. Each run is begun with
// all of them: its own may be one before the newest.
type unstored struct {
	mu   sync.Mutex
	list map[string][]byte
}

func (u *unstored) add(hash string, snapshot []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.list == nil {
		u.list = map[string][]byte{}
	}
	u.list[hash] = snapshot
}

func (u *unstored) drop(hash string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.list, hash)
}

// all lists them in the order of their hashes.
func (u *unstored) all() (list []store.Config) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, hash := range slices.Sorted(maps.Keys(u.list)) {
		list = append(list, store.Config{Hash: hash, Body: u.list[hash]})
	}
	return list
}
