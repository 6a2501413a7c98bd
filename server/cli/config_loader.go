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
