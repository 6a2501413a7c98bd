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

// Guarded is a file that a server must not reach: a server that can change it can switch the checks off.
type Guarded struct {
	What string // what it is, for example "the configuration"
	Path string // absolute; once as written, once with its links resolved
}

func (l *Document) guarded() []Guarded {
	var list []Guarded
	files := []Guarded{{theConfiguration, l.Path}, {theLock, l.Catalog.Pin}, {theStateFile, l.State}}
	for _, file := range l.PolicyFiles() {
		files = append(files, Guarded{aPolicyFile, file})
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

// Resolved returns a path with its links resolved, as far as the path exists.
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

// acrossDirectories refuses servers that can reach the configuration, the lock, the state file or a policy file. It checks
// the directories that arguments, variables, the start directory, fixed arguments and bounds name. It cannot know what else
// a server can reach.
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
				r.Faults.Add(r.At(path), path, yamldoc.Fault{Reason: isIn(g.What, dir), Want: wantOtherDirectory})
			}
		}
		start, named := "", s.Stdio != nil && s.Stdio.Dir != "" // the directory of a server on another machine is unknown
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
		from := func(text string) string { // the directory in which an argument's relative path starts
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

// OfTheUser reports whether a variable is one that every program has and that gives no access, such as HOME or PATH. It
// says where the user's own files are. A server can also get such a variable by name, and then Patterngate does not see its
// value.
func OfTheUser(variable string) bool {
	switch variable {
	case "HOME", "PATH", "PWD", "TMPDIR", "TMP", "TEMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA":
		return true
	}
	return strings.HasPrefix(variable, "XDG_")
}

// holds returns the first file that lies in a directory which the text names, and that directory.
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

// pathStart matches the start of a path within an argument: --root=/x, /a:/b, file:///x.
var pathStart = regexp.MustCompile(`(?:^|[=,:;"'\s\[({])(?:file://)?((?:~/|~$|/|[A-Za-z]:[\\/])[^"']*)`)

// pathEnd are the characters that can end a path if the text is a list of paths.
const pathEnd = ",:; \t\n])}"

// pathsIn returns the absolute paths that a text is or contains. Relative paths count only if dir, the directory in which
// the program starts, is known. They are the text itself and the value after the = of a flag.
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

// readsLikePath reports whether a text looks like a path: it begins with a dot or contains a slash. It matters if the file
// does not name the start directory, which is then Patterngate's working directory. Without this check, a role called root
// could count as a directory there.
func readsLikePath(text string) bool {
	return strings.HasPrefix(text, ".") || strings.ContainsAny(text, `/\`)
}

// boundDirectories checks the texts that a bound allows. It reads the listed values as paths that start in from(text). Of
// the patterns it checks those that begin with an absolute path.
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
				r.Faults.Add(r.At(below), below, yamldoc.Fault{Reason: isIn(g.What, dir), Want: wantOtherDirectory})
			}
		})
	}
}

// patternHolds returns the first file that a regular expression allows, and the path that matched. A match of a directory
// above the file counts too. Only an expression that begins with an absolute path counts.
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

// isValue reports whether a schema keyword holds values that arguments can have.
func isValue(keyword string) bool {
	return keyword == "enum" || keyword == "const" || keyword == "default"
}

// eachKeyword calls do for all texts in a value, with the name of the member that holds each text. Texts inside enum, const
// and default keep that keyword.
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

// isWithin reports whether path is dir or lies in it. Both are absolute and clean.
func isWithin(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// Exposing returns the first of some files that lies in a directory which a text names, and that directory. The text is an
// argument or a variable of a server that starts in dir, "" if its directory is not known. Exposing returns the zero
// Guarded if there is none.
func Exposing(in Sources, files []Guarded, text, dir string) (Guarded, string) {
	return newLoader(&yamldoc.Faults{}, in.Home).holds(files, text, dir)
}
