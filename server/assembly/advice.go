package assembly

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns/local"
	"patterngate/server"
	"patterngate/server/settings"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// maxListedProperties, maxListedInput and maxListedOutput limit a tool that a file declares (spec/config.md section 7,
// input; design.md section 7). Clients drop larger tools.
const (
	maxListedProperties = 14
	maxListedInput      = server.MaxListedSchema // bytes
	maxListedOutput     = 4 << 10                // bytes
)

// oversize is a tool of a pattern of the file that clients would drop.
type oversize struct {
	pattern, tool string
	yamldoc.Fault
}

// oversized returns these tools among those that are served.
func (c *Loaded) oversized(s *server.Server) (list []oversize) {
	owner := map[string]string{}
	for _, p := range c.Patterns {
		if !p.IsOwn() || !p.Enabled || p.Kind == gateway.Call { // a call has its tool's schema; validate warns about it
			continue
		}
		for _, tool := range p.ToolNames() {
			owner[tool] = p.Name
		}
	}
	for _, t := range s.Tools() {
		pattern, own := owner[t.Name]
		if !own {
			continue
		}
		add := func(has, most int, noun, want string) {
			if has > most {
				list = append(list, oversize{pattern, t.Name, yamldoc.Fault{
					Reason: overListed(noun, t.Name, has, map[bool]string{true: "properties", false: "bytes"}[most == maxListedProperties], most),
					Want:   want,
				}})
			}
		}
		add(countProperties(t.RawInputSchema), maxListedProperties, theInputSchema, wantLessInput)
		add(len(t.RawInputSchema), maxListedInput, theInputSchema, wantShorterInput)
		add(len(t.RawOutputSchema), maxListedOutput, theOutputSchema, wantShorterAnswer)
	}
	return list
}

// Oversized returns the tools of patterns of the file that clients would drop, as faults with their places.
func (l Loaded) Oversized(s *server.Server) (faults []yamldoc.Fault) {
	for _, o := range l.oversized(s) {
		at := []string{"patterns", o.pattern}
		if settings.Says(l.Root, "patterns", o.pattern, "input") {
			at = append(at, "input")
		}
		faults = append(faults, l.FaultAt(o.Fault, at...))
	}
	return faults
}

// countProperties returns the number of properties at a schema's root.
func countProperties(schema json.RawMessage) int {
	var root struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &root) // Patterngate made this JSON
	return len(root.Properties)
}

// bearable returns an error if clients would drop a tool.
func (c *Loaded) bearable(s *server.Server) error {
	var faults []error
	for _, o := range c.oversized(s) {
		where := "patterns." + o.pattern
		if p, _ := c.Pattern(o.pattern); p.At.Line > 0 {
			where = atLine(p.At.Line, where)
		}
		faults = append(faults, fmt.Errorf("%s: %s; %s", where, o.Reason, o.Want))
	}
	return errors.Join(faults...)
}

// bearableBefore is bearable for a configuration that is not served yet.
func (c *Loaded) bearableBefore(d *Declaration) error {
	if !slices.ContainsFunc(c.Patterns, func(p settings.Pattern) bool { return p.IsOwn() && p.Enabled && p.Kind != gateway.Call }) {
		return nil
	}
	s, err := wire(*c, d, &local.Engine{}, served{slog.New(slog.DiscardHandler), func() server.Page { return server.Page{} }})
	if err != nil {
		return err
	}
	return c.bearable(s)
}

// Hints returns advice about a configuration that loads, by place: writes whose lost replies a person must settle, arguments
// that are relative paths, variables that are not set, and servers without tools. It looks for files, and starts nothing.
func (l Loaded) Hints() []yamldoc.Fault {
	var hints []yamldoc.Fault
	for _, s := range l.Catalog.Servers {
		if !s.Enabled {
			continue
		}
		if f, found := l.RelativeArguments(s); found {
			hints = append(hints, f)
		}
		if f, found := l.unsetVariables(s); found {
			hints = append(hints, f)
		}
		if len(s.Tools) == 0 {
			hints = append(hints, l.FaultAtKey(yamldoc.Fault{
				Severity: yamldoc.SeverityHint, Reason: toolless, Want: wantTools(s.Name),
			}, "catalog", "servers", s.Name))
		}
	}
	if f, found := l.unsettledWrites(); found {
		hints = append(hints, f)
	}
	return yamldoc.ByPlace(hints)
}

// RelativeArguments returns a hint about arguments of a server's program that are relative paths of files or directories
// beside the configuration, unless the program starts in a directory that has them. Without a directory for the program, it
// starts where the client starts Patterngate, which is elsewhere. Its place is that of the first argument.
func (l Loaded) RelativeArguments(s tools.Server) (f yamldoc.Fault, found bool) {
	if s.Stdio == nil || l.Path == "" {
		return f, false
	}
	dir, err := filepath.Abs(filepath.Dir(l.Path))
	if err != nil {
		return f, false
	}
	var paths, words []int
	whole := slices.ContainsFunc(s.Stdio.Args, func(arg tools.Value) bool { return filepath.IsAbs(arg.Text) })
	for i, arg := range s.Stdio.Args {
		path := argumentPath(arg)
		switch {
		case path == "" || !exists(filepath.Join(dir, path)) || s.Stdio.Dir != "" && exists(filepath.Join(s.Stdio.Dir, path)):
		case strings.ContainsAny(path, `./\`):
			paths = append(paths, i)
		case s.Stdio.Dir == l.dir && !whole: // a word could also be a subcommand, above all beside a whole path
			words = append(words, i)
		}
	}
	if len(paths) == 0 && len(words) > 0 {
		paths = words[len(words)-1:]
	}
	if len(paths) == 0 {
		return f, false
	}
	quoted, absolute := make([]string, len(paths)), make([]string, len(paths))
	for i, at := range paths {
		path := argumentPath(s.Stdio.Args[at])
		quoted[i], absolute[i] = yamldoc.Quoted(path), filepath.Join(dir, path)
	}
	return l.FaultAt(yamldoc.Fault{
		Severity: yamldoc.SeverityHint, Reason: relativeArguments(quoted, s.Stdio.Dir), Want: wantWholePaths(absolute),
	}, "catalog", "servers", s.Name, "stdio", "args", fmt.Sprintf("[%d]", paths[0])), true
}

// unsetVariables returns a hint about the variables that a server's program is to get from Patterngate's environment, and that
// are not set there.
func (l Loaded) unsetVariables(s tools.Server) (f yamldoc.Fault, found bool) {
	if s.Stdio == nil {
		return f, false
	}
	var names []string
	for _, v := range s.Stdio.Env {
		if v.Pass && machine.Lookup(l.own.secrets.environ, v.Name) == "" {
			names = append(names, v.Name)
		}
	}
	return l.FaultAt(yamldoc.Fault{
		Severity: yamldoc.SeverityHint, Reason: notSetHere(names), Want: wantVariables,
	}, "catalog", "servers", s.Name, "stdio", "env"), len(names) > 0
}

// argumentPath returns the text of an argument that could be a relative path: the argument, or the value of an option such
// as --root=data. It returns "" for others and for secrets.
func argumentPath(arg tools.Value) string {
	path := arg.Text
	if _, value, option := strings.Cut(path, "="); option && strings.HasPrefix(path, "-") {
		path = value
	}
	if arg.Secret.Set() || strings.HasPrefix(path, "-") || filepath.IsAbs(path) {
		return ""
	}
	return path
}

// exists reports whether there is a file or directory at a path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// unsettledWrites returns a hint, at the first of them, about the writes for which no key says how an unknown outcome is
// settled.
func (l Loaded) unsettledWrites() (f yamldoc.Fault, found bool) {
	var names []string
	for _, t := range l.Catalog.Tools() {
		if t.Effect == catalog.Read || t.Idempotent || t.Once != "" || t.Reconcile != nil {
			continue
		}
		if names = append(names, t.Name); len(names) == 1 {
			f = l.FaultAt(yamldoc.Fault{Severity: yamldoc.SeverityHint, Want: wantSettled}, l.DeclaredAt(t.Name)...)
		}
	}
	f.Reason = unsettled(names)
	return f, len(names) > 0
}
