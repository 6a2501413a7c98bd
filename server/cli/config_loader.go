package cli

import (
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// configLoader reads a whole configuration and checks it across keys.
type configLoader struct{ *grammar.Reader }

// newLoader returns a loader that adds to faults. The function home replaces ~/ in paths; nil leaves it.
func newLoader(faults *yamldoc.Faults, home func(path string) string) *configLoader {
	return &configLoader{grammar.NewReader(faults, home)}
}

// left returns what the keys left that were read so far.
func (r *configLoader) left() *readNotes { return notesOf(r.Reader) }

// readNotes is what single keys need of the whole reading, or leave for it.
type readNotes struct {
	embeds bool              // the embedded default is read
	texts  map[string][]byte // they replace those of files; see [ConfigSources]
	// compiled are the schemas of the file's arguments.
	compiled compiledArguments
	// strange are names of allow lists that the embedded default does not have; the file may.
	strange []strangeName
}

// notesOf returns the notes of a reading, empty ones at its beginning.
func notesOf(r *grammar.Reader) *readNotes {
	notes, ok := r.Notes.(*readNotes)
	if !ok {
		notes = &readNotes{}
		r.Notes = notes
	}
	return notes
}
