package cli

import (
	"path/filepath"
	"strings"

	"patterngate/server/cli/console"
	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// findProgram looks for a program: by its whole path, or by its name in the directories of a PATH.
func findProgram(program, path string) (found string, f yamldoc.Fault) {
	switch {
	case filepath.IsAbs(program):
		if !isProgram(program) {
			return "", yamldoc.Fault{Reason: "no program " + yamldoc.Quoted(program), Want: "write the path of one that this user may run"}
		}
		return program, yamldoc.Fault{}
	case program == "" || strings.ContainsAny(program, `/\`):
		return "", yamldoc.Fault{Reason: "a relative path", Got: yamldoc.Quoted(program), Want: "write the whole path, or the name of a program on PATH"}
	}
	for _, dir := range filepath.SplitList(path) {
		if at := filepath.Join(dir, program); filepath.IsAbs(dir) && isProgram(at) {
			return at, yamldoc.Fault{}
		}
	}
	if path == "" {
		path = "(empty)"
	}
	return "", yamldoc.Fault{Reason: program + " is not in PATH " + path, Want: `write the path that "which ` + program + `" prints`}
}

// findCommands says where each server's program is, in an environment; what is not found stays "". A server that is off has
// none.
func (c *CatalogConfig) findCommands(environ []string) {
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Enabled && s.Stdio != nil {
			s.Stdio.Path, _ = findProgram(s.Stdio.Command, console.Lookup(environ, "PATH"))
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
