package importer

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
)

// importedValue is a value of an entry: how the new file writes it, and what the server gets now.
type importedValue struct {
	text   string // written unchanged
	prefix string // of a header, before the secret
	ref    string // the file gets {secret: ref}; "": it gets text
	keep   bool   // now is a secret that goes to a file of its own, which sets ref
	pass   bool   // of a variable: passed on from Patterngate's environment
	now    string // what the server gets
}

// hidden reports whether the value is a secret, which is never printed.
func (v importedValue) hidden() bool { return v.ref != "" || v.keep }

// importedVariable is a variable or header with its value.
type importedVariable struct {
	name string
	importedValue
}

// Server is a client's server in the form of the new file.
type Server struct {
	From    ClientServer
	Name    string // in the new file
	command string // as it is written
	path    string // where the program was found
	args    []importedValue
	env     []importedVariable // by name
	dir     string
	url     string
	headers []importedVariable
	out     string       // why the whole entry becomes a comment: with it, loading the file would fail
	network netip.Prefix // its address, if Patterngate dials it only when allow_networks names it
	leads   string       // a description of that address
	problem string       // why it is not in force; "" where it is
	notes   []string
	tools   []importedTool
}

// note adds a note about the server for the person.
func (s *Server) note(text string) { s.notes = append(s.notes, text) }

// failed reports whether the file has the server as off, and a person can make it start.
func (s *Server) failed() bool { return s.problem != "" && s.out == "" && !s.From.Off }

// fail keeps the first reason why the server is not enabled.
func (s *Server) fail(text string) {
	if s.problem == "" {
		s.problem = text
	}
}

// translator converts a client's entries to those of the new file.
type translator struct {
	goos    string
	environ []string
}

// entry converts one entry. If something that it needs is missing, the server gets a problem, and the other servers
// continue.
func (in translator) entry(s ClientServer) Server {
	out := Server{From: s, problem: s.Problem, notes: slices.Clone(s.notes)}
	if s.Off {
		out.fail(disabledThere)
	}
	switch {
	case s.Command != "":
		in.program(&out)
	case s.URL != "":
		in.endpoint(&out)
	default:
		out.out = out.problem
	}
	return out
}

// program converts a server that is started.
func (in translator) program(out *Server) {
	in.variables(out)
	in.startsIn(out)
	in.arguments(out)
	for _, v := range out.args {
		if v.hidden() {
			out.note(secretArgument)
			break
		}
	}
	in.found(out, in.value(out, "command", "command", out.From.Command))
	out.env = in.usual(out.env)
}

// argument converts one argument. The name of its flag can mark it as secret.
func (in translator) argument(out *Server, args []string, i int, arg string) importedValue {
	name := ""
	if m := flagValue.FindStringSubmatch(arg); m != nil {
		name = m[1]
	} else if i > 0 && !strings.HasPrefix(arg, "-") {
		if m := flagName.FindStringSubmatch(args[i-1]); m != nil {
			name = m[1]
		}
	}
	return in.value(out, fmt.Sprintf("argument %d", i+1), name, arg)
}

// passed returns a variable that is passed on from Patterngate's environment.
func (in translator) passed(name string) importedVariable {
	return importedVariable{name, importedValue{pass: true, now: machine.Lookup(in.environ, name)}}
}

// usual adds the variables that every server gets, for finding programs and the user's files.
func (in translator) usual(env []importedVariable) []importedVariable {
	names := []string{"HOME", "PATH"}
	if in.goos == "windows" {
		names = []string{"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"}
	}
	for _, name := range names {
		if !slices.ContainsFunc(env, func(v importedVariable) bool { return v.name == name }) {
			env = append(env, in.passed(name))
		}
	}
	slices.SortStableFunc(env, func(a, b importedVariable) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(env, func(a, b importedVariable) bool { return a.name == b.name })
}

// endpoint converts a server at a URL.
func (in translator) endpoint(out *Server) {
	whole := in.value(out, "url", "url", out.From.URL)
	address := whole.text
	if whole.hidden() {
		address = whole.now
	}
	var without string
	if out.url, without = PlainURL(address); without != "" {
		out.fail(readableSecret(without))
	}
	if f := tools.FaultOfEndpoint(out.url); out.url != "" && f.Reason != "" {
		out.leaveOut(unusableURL(f.Reason))
	}
	in.sentHeaders(out)
}

// header converts one header. The text before its secret becomes the prefix.
func (in translator) header(out *Server, h Variable) importedValue {
	scheme, rest, ok := strings.Cut(h.Text, " ")
	if ok && namesSecret(h.Name) && !strings.ContainsAny(scheme, "${") {
		v := in.value(out, "header "+h.Name, h.Name, strings.TrimSpace(rest))
		v.prefix, v.now = scheme+" ", scheme+" "+v.now
		return v
	}
	return in.value(out, "header "+h.Name, h.Name, h.Text)
}

// clientReference matches how clients write a reference to a value that is elsewhere.
var clientReference = regexp.MustCompile(`\$\{([^{}]*)\}`)

// value converts one text. named is the name of the value, which can mark it as secret; so can the text itself.
func (in translator) value(out *Server, place, named, text string) importedValue {
	m := clientReference.FindStringSubmatch(text)
	if m == nil {
		return literal(named, text)
	}
	if m[0] == text {
		if v, done := in.whole(out, place, named, m[1]); done {
			return v
		}
	}
	hidden := false
	now := clientReference.ReplaceAllStringFunc(text, func(r string) string {
		word := r[2 : len(r)-1]
		hidden = hidden || namesSecret(word) || strings.HasPrefix(word, "input:")
		v, ok := in.meant(word)
		if !ok {
			out.fail(needsValue(place, r))
		}
		return v
	})
	v := literal(named, now)
	v.keep = v.keep || hidden && now != ""
	return v.without()
}

// literal returns the value of a text without references. A text that one line of the file cannot hold goes to a file of
// its own, like a secret.
func literal(named, text string) importedValue {
	v := importedValue{text: text, now: text, keep: text != "" && (namesSecret(named) || looksSecret(text) || strings.ContainsAny(text, unwritten) || len(text) > tools.MaxText)}
	return v.without()
}

// unwritten are the characters that no value of a configuration can contain.
const unwritten = "\n\r\x00"

// without returns the value without a secret in its text.
func (v importedValue) without() importedValue {
	if v.keep {
		v.text = ""
	}
	return v
}

// whole converts a text that is exactly one reference. A secret stays where it is: the new file refers to the variable.
func (in translator) whole(out *Server, place, named, word string) (importedValue, bool) {
	name, ok := strings.CutPrefix(word, "input:")
	if ok {
		variable := inputVariable(place, named, name)
		now := machine.Lookup(in.environ, variable)
		out.note(clientAsks(place, name, variable))
		if now == "" {
			out.fail(needsVariable(place, variable))
		}
		return importedValue{ref: "env:" + variable, now: now}, true
	}
	name, usual, _ := strings.Cut(strings.TrimPrefix(word, "env:"), ":-")
	isVariable := strings.HasPrefix(place, "variable ")
	if !importVariable.MatchString(name) {
		return importedValue{}, false
	}
	now := machine.Lookup(in.environ, name)
	switch {
	case now == "" && usual != "":
		return literal(named, usual), true
	case now == "":
		out.fail(needsVariable(place, name))
		return importedValue{ref: "env:" + name}, isVariable || namesSecret(named) || namesSecret(name)
	case namesSecret(named), namesSecret(name), looksSecret(now):
		return importedValue{ref: "env:" + name, now: now}, true
	case isVariable && name == named:
		return importedValue{pass: true, now: now}, true
	}
	return importedValue{}, false // it becomes its present text
}

var importVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// inputVariable returns the variable for an input of VS Code: the one that the server reads, else one made from the input's
// name.
func inputVariable(place, named, input string) string {
	if strings.HasPrefix(place, "variable ") && importVariable.MatchString(named) {
		return named
	}
	name := strings.ToUpper(notInNames.ReplaceAllString(input, "_"))
	if !importVariable.MatchString(name) {
		name = "INPUT_" + name
	}
	return name
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// meant returns the present text of a reference.
func (in translator) meant(word string) (string, bool) {
	switch word {
	case "userHome":
		home := machine.HomeDir(in.goos, in.environ)
		return home, home != ""
	case "/", "pathSeparator":
		return string(filepath.Separator), true
	}
	name, usual, given := strings.Cut(strings.TrimPrefix(word, "env:"), ":-")
	if !importVariable.MatchString(name) {
		return "", false
	}
	if v := machine.Lookup(in.environ, name); v != "" {
		return v, true
	}
	return usual, given
}

// DesktopPath is the PATH of programs that are started from a desktop.
const DesktopPath = "/usr/bin:/bin:/usr/sbin:/sbin"

// found finds the command as the client does. If only a shell's PATH has it, the file gets the absolute path, and the
// server a PATH with that directory. Desktop clients start Patterngate with a shorter PATH.
func (in translator) found(out *Server, command importedValue) {
	word := command.now
	if word == "" {
		out.fail(emptyCommand)
		return
	}
	out.command = word
	switch {
	case strings.ContainsAny(word+out.dir+out.From.Dir, unwritten):
		out.leaveOut(lineEnd)
		return
	case ijson.Blank(word) || len(word) > tools.MaxText:
		out.leaveOut(noProgramName)
		return
	}
	if rest, ok := strings.CutPrefix(word, "~/"); ok {
		word = filepath.Join(machine.HomeDir(in.goos, in.environ), rest)
	}
	if strings.ContainsAny(word, `/\`) {
		if !filepath.IsAbs(word) && out.dir != "" {
			word = filepath.Join(out.dir, word)
		}
		out.command, _ = filepath.Abs(word) // the working directory is known, or starting fails later
		if out.path = ProgramAt(out.command, in.goos); out.path == "" {
			out.fail(noProgram(out.command))
		}
		return
	}
	path := machine.Lookup(in.environ, "PATH")
	own := slices.IndexFunc(out.env, func(v importedVariable) bool { return v.name == "PATH" })
	if own >= 0 {
		path = out.env[own].now
	}
	if out.path = ProgramIn(word, path, in.goos); out.path == "" {
		out.fail(notInPath(word))
		return
	}
	if in.goos == "windows" || ProgramIn(word, DesktopPath, in.goos) == out.path {
		return
	}
	out.command = out.path
	if own < 0 {
		path := filepath.Dir(out.path) + ":" + DesktopPath
		out.env = append(out.env, importedVariable{"PATH", importedValue{text: path, now: path}})
	}
}

// ProgramIn finds a program in a list of directories; "" if there is none. It skips relative directories.
func ProgramIn(word, list, goos string) string {
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path := ProgramAt(filepath.Join(dir, word), goos); path != "" {
			return path
		}
	}
	return ""
}

// ProgramAt is the program at that path; "" where there is none. On Windows its ending may be left out.
func ProgramAt(path, goos string) string {
	endings := []string{""}
	if goos == "windows" {
		endings = []string{"", ".exe", ".cmd", ".bat", ".com"}
	}
	for _, ending := range endings {
		info, err := os.Stat(path + ending)
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return path + ending
		}
	}
	return ""
}

// NameServers gives each server a valid name for the file: first those that can be enabled, then the others. The names are
// unique and not reserved.
func NameServers(servers []Server) {
	taken := map[string]bool{"http": true, "demo": true, "pattern": true}
	for _, i := range enabledFirst(servers) {
		base := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(servers[i].From.Name), "_"), "_")
		if base == "" || base[0] < 'a' || base[0] > 'z' {
			base = "s_" + base
		}
		base = strings.TrimRight(base[:min(len(base), 60)], "_")
		servers[i].Name = unused(taken, base)
	}
}

// enabledFirst returns the places of the servers: first of those that can be enabled, then of the others.
func enabledFirst(servers []Server) []int {
	var first, rest []int
	for i := range servers {
		if servers[i].problem == "" {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// unused returns a name made from base that is not taken, and marks it as taken.
func unused(taken map[string]bool, base string) string {
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	taken[name] = true
	return name
}

// environment returns the environment of the server's process, the same as when Patterngate starts it later.
func (s Server) environment() []string {
	values := map[string]string{}
	for _, v := range s.env {
		if v.now != "" || !v.pass {
			values[v.name] = v.now
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, name+"="+values[name])
	}
	return list
}
