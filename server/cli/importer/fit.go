package importer

import (
	"os"
	"path/filepath"
	"strings"

	"patterngate/server/settings/grammar"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
)

// init leaves out values that the file cannot contain, with a note. One such value would make the whole file invalid.

// variables converts the environment variables of the server.
func (in translator) variables(out *Server) {
	for _, v := range out.From.Env {
		if !nameable(out, v.Name) {
			continue
		}
		value := in.value(out, "variable "+v.Name, v.Name, v.Text)
		if tools.IsSecretName(v.Name) && value.empty() {
			out.note(variableOut(v.Name, isEmpty))
			continue
		}
		out.env = append(out.env, importedVariable{v.Name, value})
	}
	for _, name := range out.From.Passes {
		if nameable(out, name) {
			out.env = append(out.env, in.passed(name))
		}
	}
}

func nameable(out *Server, variable string) bool {
	fits := grammar.VariableNames.Fits.MatchString(variable)
	if !fits {
		out.note(variableOut(variable, noVariable))
	}
	return fits
}

// sentHeaders converts the headers of a server at a URL.
func (in translator) sentHeaders(out *Server) {
	seen := map[string]bool{}
	for _, h := range out.From.headers {
		small := strings.ToLower(h.Name)
		f := tools.FaultOfHeaderName(h.Name)
		if f.Reason == "" && seen[small] {
			f.Reason = repeatedHeader
		}
		value := in.header(out, h)
		if f.Reason == "" && namesSecret(h.Name) && value.empty() {
			f.Reason = isEmpty
		}
		if f.Reason != "" {
			out.note(headerOut(h.Name, f.Reason))
			continue
		}
		seen[small] = true
		out.headers = append(out.headers, importedVariable{h.Name, value})
	}
}

// empty reports whether a value is empty and no reference.
func (v importedValue) empty() bool { return !v.hidden() && !v.pass && v.text == "" }

// arguments converts the server's arguments. An argument that the configuration's reader would refuse as a secret becomes
// one.
func (in translator) arguments(out *Server) {
	before := ""
	for i, arg := range out.From.Args {
		v := in.argument(out, out.From.Args, i, arg)
		if !v.hidden() && tools.IsSecretArgument(before, v.text) {
			v.keep = true
			v = v.without()
		}
		out.args, before = append(out.args, v), v.text
	}
	if len(out.args) > tools.MaxArgs {
		out.leaveOut(tooManyArguments(len(out.args), tools.MaxArgs))
	}
}

// startsIn sets the absolute directory in which the server starts. A relative one starts at the working directory, where
// the server was tried.
func (in translator) startsIn(out *Server) {
	dir := in.value(out, "cwd", "cwd", out.From.Dir).text
	if dir == "" || strings.ContainsAny(dir, unwritten) { // found reports it
		out.dir = dir
		return
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(machine.HomeDir(in.goos, in.environ), rest)
	}
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	out.dir = dir
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		out.leaveOut(noDirectory(dir))
	}
}

// leaveOut makes the whole entry a comment, and gives the reason.
func (s *Server) leaveOut(reason string) {
	if s.out == "" {
		s.out = leftOut(reason)
	}
	s.fail(reason)
}
