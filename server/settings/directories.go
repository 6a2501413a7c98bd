package settings

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/yamldoc"
)

// Guarded are the files with which a server must not be let alone: who changes them switches the gate off.
type Guarded struct {
	What string // the configuration
	Path string // whole, its links resolved
}

func (l *Document) guarded() []Guarded {
	var list []Guarded
	files := []Guarded{{"the configuration", l.Path}, {"the lock", l.Catalog.Pin}, {"the state file", l.State}}
	for _, file := range l.PolicyFiles() {
		files = append(files, Guarded{"a policy file", file})
	}
	for _, g := range files {
		if g.Path == "" || g.Path == MemoryState {
			continue
		}
		if whole, err := filepath.Abs(g.Path); err == nil {
			list = append(list, Guarded{g.What, filepath.Clean(whole)})
			if real := Resolved(whole); real != filepath.Clean(whole) {
				list = append(list, Guarded{g.What, real})
			}
		}
	}
	return list
}

// Resolved is a path without links, as far as it exists.
func Resolved(path string) string {
	path = filepath.Clean(path)
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		rest, at = filepath.Join(filepath.Base(at), rest), up
	}
}

// acrossDirectories refuses servers whose arguments, directory, fixed arguments or bounds name a directory with the
// configuration, the lock or the state file in it. It sees what is written; what else a server can reach it cannot know.
func (r *loader) acrossDirectories(l *Document) {
	files := l.guarded()
	if len(files) == 0 {
		return
	}
	root := (*yamldoc.Path)(nil).Key("catalog").Key("servers")
	for _, s := range l.Catalog.Servers {
		if !s.Enabled {
			continue
		}
		here := root.Key(s.Name)
		refuse := func(path *yamldoc.Path, text, dir string) {
			if g, dir := r.holds(files, text, dir); g.What != "" {
				r.Faults.Add(r.At(path), path, yamldoc.Fault{Reason: g.What + " lies in " + dir, Want: "name a directory without it, or move it"})
			}
		}
		start, named := "", s.Stdio != nil && s.Stdio.Dir != "" // of a server elsewhere nothing is known
		if s.Stdio != nil {
			start = s.Stdio.Start()
			for i, v := range s.Stdio.Args {
				refuse(here.Key("stdio").Key("args").Item(i), v.Text, start)
			}
			for _, e := range s.Stdio.Env {
				if OfTheUser(e.Name) {
					continue
				}
				refuse(here.Key("stdio").Key("env").Key(e.Name), e.Text, "")
			}
			refuse(here.Key("stdio").Key("dir"), s.Stdio.Dir, "")
		}
		from := func(text string) string { // where the value of an argument begins
			if !named && !readsLikePath(text) {
				return ""
			}
			return start
		}
		for _, t := range s.Tools {
			if !t.Enabled {
				continue
			}
			tool := here.Key("tools").Key(t.Upstream)
			for _, v := range t.Fix {
				eachText(v.Value, func(text string) { refuse(tool.Key("fix").Key(v.Name), text, from(text)) })
			}
			r.boundDirectories(files, t.Bound, from, tool.Key("bound"))
		}
	}
}

// OfTheUser reports a variable that every program has and that offers nothing: where the user's own files lie. PATH, HOME and
// the like may as well be passed on by name, and then nobody sees their values.
func OfTheUser(variable string) bool {
	switch variable {
	case "HOME", "PATH", "PWD", "TMPDIR", "TMP", "TEMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA":
		return true
	}
	return strings.HasPrefix(variable, "XDG_")
}

// holds is the first file that lies in a directory which a text names.
func (r *loader) holds(files []Guarded, text, dir string) (Guarded, string) {
	for _, path := range r.pathsIn(text, dir) {
		for _, g := range files {
			if isWithin(g.Path, path) || isWithin(g.Path, Resolved(path)) {
				return g, path
			}
		}
	}
	return Guarded{}, ""
}

// pathStart is where a path may begin within an argument: --root=/x, /a:/b, file:///x.
var pathStart = regexp.MustCompile(`(?:^|[=,:;"'\s\[({])(?:file://)?((?:~/|~$|/|[A-Za-z]:[\\/])[^"']*)`)

// pathEnd is where one may end, if the text is a list of them.
const pathEnd = ",:; \t\n])}"

// pathsIn are the whole paths that a text names or holds. Relative ones count where the directory is known in which the
// program starts: the text itself, and what stands behind a flag's =.
func (r *loader) pathsIn(text, dir string) []string {
	var list []string
	add := func(path string) {
		if r.Home != nil && (path == "~" || strings.HasPrefix(path, "~/")) {
			path = r.Home("~/" + strings.TrimPrefix(strings.TrimPrefix(path, "~"), "/"))
		}
		if filepath.IsAbs(path) {
			list = append(list, filepath.Clean(path))
		}
	}
	if dir != "" {
		_, value, _ := strings.Cut(text, "=")
		for _, relative := range []string{text, value} {
			if relative != "" && !strings.HasPrefix(relative, "-") && !filepath.IsAbs(relative) {
				add(filepath.Join(dir, relative))
			}
		}
	}
	for at := 0; at < len(text); {
		found := pathStart.FindStringSubmatchIndex(text[at:])
		if found == nil {
			break
		}
		path := text[at+found[2] : at+found[3]]
		add(path)
		end := strings.IndexAny(path[min(3, len(path)):], pathEnd) // past the colon of a drive
		if end < 0 {
			break
		}
		add(path[:min(3, len(path))+end])
		at += found[2] + min(3, len(path)) + end
	}
	return list
}

// readsLikePath reports a text that is a path and no other word. Where the file does not name the directory in which a program
// starts, that is the one of whoever starts this program: a role called root would be a directory for one of them.
func readsLikePath(text string) bool {
	return strings.HasPrefix(text, ".") || strings.ContainsAny(text, `/\`)
}

// boundDirectories judges the texts that a bound allows: those it lists, each as it is read from a directory, and its patterns
// that begin with a path.
func (r *loader) boundDirectories(files []Guarded, bound json.RawMessage, from func(text string) string, path *yamldoc.Path) {
	arguments, _ := grammar.RawValue(bound).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		below := path.Key(name)
		eachKeyword(arguments[name], func(keyword, text string) {
			var g Guarded
			var dir string
			switch {
			case keyword == "pattern":
				g, dir = patternHolds(files, text)
			case isValue(keyword):
				g, dir = r.holds(files, text, from(text))
			default:
				g, dir = r.holds(files, text, "")
			}
			if g.What != "" {
				r.Faults.Add(r.At(below), below, yamldoc.Fault{Reason: g.What + " lies in " + dir, Want: "name a directory without it, or move it"})
			}
		})
	}
}

// patternHolds is the first file that a pattern allows, or a directory above it. Only a pattern that begins with a whole path
// speaks of files.
func patternHolds(files []Guarded, pattern string) (Guarded, string) {
	if !strings.HasPrefix(pattern, "^/") {
		return Guarded{}, ""
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Guarded{}, ""
	}
	for _, g := range files {
		for at := g.Path; ; at = filepath.Dir(at) {
			if re.MatchString(at) || re.MatchString(strings.TrimSuffix(at, "/")+"/") {
				return g, at
			}
			if filepath.Dir(at) == at {
				break
			}
		}
	}
	return Guarded{}, ""
}

func eachText(v any, do func(text string)) {
	eachKeyword(v, func(_, text string) { do(text) })
}

// isValue reports a keyword of schemas with values that arguments may have.
func isValue(keyword string) bool {
	return keyword == "enum" || keyword == "const" || keyword == "default"
}

// eachKeyword goes over all texts in a value, each with the name of the member in which it lies; what lies deeper in values of
// arguments has theirs.
func eachKeyword(v any, do func(keyword, text string)) {
	var walk func(keyword string, v any)
	walk = func(keyword string, v any) {
		switch v := v.(type) {
		case string:
			do(keyword, v)
		case []any:
			for _, item := range v {
				walk(keyword, item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				below := name
				if isValue(keyword) {
					below = keyword
				}
				walk(below, v[name])
			}
		}
	}
	walk("", v)
}

// isWithin reports a path that is a directory or lies in it. Both are whole and clean.
func isWithin(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// Exposing returns the first of some files that lies in a directory which a text names, and that directory. The text is an argument or a
// variable of a server that starts in dir; "" if its directory is not known. It returns the zero guarded if there is none.
func Exposing(in Sources, files []Guarded, text, dir string) (Guarded, string) {
	return newLoader(&yamldoc.Faults{}, in.Home).holds(files, text, dir)
}
