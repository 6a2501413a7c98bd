package local

import (
	"maps"
	"slices"
	"sync"

	"patterngate/catalog"
	"patterngate/patterns/redaction"
	"patterngate/patterns/store"
)

// Settings are the parts of an engine that a reload changes. Its fields and [Options] hold the first ones.
type Settings struct {
	Waits
	Catalog  *catalog.Catalog
	Redact   []string
	Config   string // hash
	Snapshot []byte
}

// inForce is Settings with the rules that were read from them.
type inForce struct {
	Settings
	redactor redaction.Rules
}

// Change applies settings to runs that begin from now on. Runs in progress keep theirs. It is safe for concurrent use at any time.
// If it returns an error, nothing has changed.
func (e *Engine) Change(s Settings) error {
	redactor, err := redaction.Read(s.Redact)
	if err != nil {
		return err
	}
	e.changed.Store(&inForce{s, redactor})
	e.keeper().configure(s, !redactor.None())
	return nil
}

// Settings returns the settings in force.
func (e *Engine) Settings() Settings {
	if c := e.changed.Load(); c != nil {
		return c.Settings
	}
	return Settings{Waits: e.Waits, Catalog: e.Catalog, Redact: e.options.Redact, Config: e.options.Config, Snapshot: e.options.Snapshot}
}

// hiding returns the redaction rules in force.
func (f *file) hiding() redaction.Rules {
	if c := f.Engine.changed.Load(); c != nil {
		return c.redactor
	}
	return f.redactor
}

func (f *file) configure(s Settings, hides bool) {
	if hides {
		f.journal.Hides()
	}
	f.addConfig(s.Config, s.Snapshot)
}

// addConfig stores a configuration. If that fails, the configuration is stored with the next run that begins: without it another
// process could not continue the run.
func (f *file) addConfig(hash string, snapshot []byte) {
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

// unstored holds the configurations, by hash, that the state file may not have yet. Each run that begins stores all of them,
// because its own may not be the newest one.
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
