package cli

import (
	"path/filepath"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/yamldoc"
)

// findCommands says where each server's program is, in an environment; what is not found stays "". A server that is off has
// none.
func (c *CatalogConfig) findCommands(environ []string) {
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Enabled && s.Stdio != nil {
			s.Stdio.Path, _ = machine.FindProgram(s.Stdio.Command, machine.Lookup(environ, "PATH"))
		}
	}
}

// absolutePathOf is where a path leads from the file in which it stands, whatever the present directory becomes.
func absolutePathOf(r *grammar.Reader, n *yamldoc.Node) string {
	path := filePathOf(r, n)
	if path == "" || n.At.Source == "" { // of a snapshot: as it was
		return path
	}
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
