package local

import "patterngate/patterns"

// Options say what an engine over a state file needs.
type Options struct {
	// Path of the state file; made where it is not there. ":memory:" keeps all in this process.
	Path string
	// Source makes again what runs were begun with; nil: only runs begun by this engine are carried on by it.
	Source patterns.Source
	// Redact are pointers to values that the record keeps only as salted hashes (spec/config.md section 2, redact).
	Redact []string
	// Config is the hash of the configuration in force, Snapshot what it is made again from by the Source of another
	// process; kept once. See [Engine.Config].
	Config   string
	Snapshot []byte
	// Hook is told of every boundary of the journal, for tests that end the process there; nil: nobody.
	Hook func(point string)
}

// Open opens or makes a state file and goes on with every run in it that has no living owner and can be carried on here.
// The engine's fields may be set until [Engine.Go].
func Open(o Options) (*Engine, error) { return nil, errTODO }

// Go begins to carry on what the state file holds.
func (e *Engine) Go() {}

// Config is the snapshot of a configuration under which a recorded run was begun, by its hash.
func (e *Engine) Config(hash string) (snapshot []byte, ok bool) { return nil, false }
