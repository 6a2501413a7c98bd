package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"patterngate/catalog/pins"
	"patterngate/catalog/upstream"
	"patterngate/server/assembly"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/cli/importer"
	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// startsWithin limits how long a server behind the gate can take to start and to list its tools.
const startsWithin = time.Minute

// startsAtOnce is how many servers behind the gate doctor starts at the same time.
const startsAtOnce = 4

// examineBehind starts the servers of the configuration that have an enabled tool, several at once. It reports what each
// offers, and the tools whose definition changed. The caller ends the servers.
func examineBehind(ctx context.Context, loaded *assembly.Loaded, has variables, f *findings) {
	var servers []tools.Server
	for _, s := range loaded.Catalog.Servers {
		if s.Enabled && slices.ContainsFunc(s.Tools, func(t tools.ServerTool) bool { return t.Enabled }) {
			servers = append(servers, s)
		}
	}
	declared, faults := make([][]upstream.Definition, len(servers)), make([]error, len(servers))
	each(len(servers), startsAtOnce, func(i int) { declared[i], faults[i] = loaded.Definitions(ctx, servers[i].Name) })
	var changed, accepts []string
	for i, s := range servers {
		hint, relative := loaded.RelativeArguments(s)
		if relative {
			f.warn("server", hint.Want, placed(hint.File, hint.Line, hint.Path, hint.Reason))
		}
		if faults[i] != nil {
			failedBehind(loaded, s, faults[i], hint.Want, has, f)
			continue
		}
		examineDeclared(loaded, s, declared[i], f)
		names, accept := changedTools(loaded.Lock(), s, declared[i])
		changed, accepts = append(changed, names...), append(accepts, accept...)
	}
	if len(changed) > 0 {
		f.warn("tools", fixChanged(accepts)+f.with, definitionChanged(changed))
	}
}

// each calls do with each number from 0 to n-1, in this order, at most so many at once. It returns when all calls have ended.
func each(n, most int, do func(i int)) {
	var all sync.WaitGroup
	places := make(chan struct{}, most)
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			do(i)
		})
	}
	all.Wait()
}

// changedTools returns the enabled tools of a server that are held because their definition is no longer the accepted one: by
// their names in the catalog, and as SERVER/TOOL, each as a word of a shell.
func changedTools(lock *pins.Lock, s tools.Server, declared []upstream.Definition) (names, accept []string) {
	for _, t := range s.Tools {
		accepted, known := lock.Tool(s.Name, t.Upstream)
		at := slices.IndexFunc(declared, func(d upstream.Definition) bool { return d.Tool() == t.Upstream })
		if !t.Enabled || !known || at < 0 {
			continue
		}
		if now, err := assembly.DefinitionOf(declared[at]); err != nil || now.Hash() != accepted.Hash() {
			names, accept = append(names, console.OtherName(t.Name)), append(accept, pins.Word(s.Name, t.Upstream))
		}
	}
	return names, accept
}

// variables are the environment of Patterngate as the client starts it, and that of the shell in which doctor runs.
type variables struct{ client, shell []string }

// failedBehind reports a server that does not start or does not answer, without the secrets that it repeats. If relative is not "", it is how to write the
// relative paths in its arguments.
func failedBehind(loaded *assembly.Loaded, s tools.Server, why error, relative string, has variables, f *findings) {
	if cause := errors.Unwrap(why); cause != nil { // without the kind of fault
		why = cause
	}
	name, text := console.OtherName(s.Name), console.OtherText(loaded.Mask().Text(why.Error()), 600)
	fix := fixSecret(s, has.client)
	if s.Stdio == nil {
		f.fail("server", cmp.Or(fix, fixEndpoint(name)), noAnswer(name, text))
		return
	}
	f.fail("server", cmp.Or(fix, relative, fixVariable(loaded, s, text, has), fixProgram(s.Stdio)), noStart(name, s.Stdio.Dir, text))
}

// fixProgram returns how to start a program as Patterngate does.
func fixProgram(p *tools.Stdio) string {
	line := clientfile.Entry{Command: p.Command}
	for _, arg := range p.Args {
		if arg.Secret.Set() {
			arg.Text = shownSecret
		}
		line.Args = append(line.Args, arg.Text)
	}
	var names []string
	for _, v := range p.Env {
		names = append(names, v.Name)
	}
	return fixBehind(p.Dir, names, clientfile.CommandLine(runtime.GOOS, line))
}

// fixSecret returns how to provide the first secret of a server that leads nowhere, or "" if there is none.
func fixSecret(s tools.Server, environ []string) string {
	for _, v := range valuesOf(s) {
		info, err := os.Stat(v.Secret.File)
		switch why := v.Secret.Nowhere(environ); {
		case why == "":
		case v.Secret.Env != "":
			return fixSecretVariable(v.Secret.Env)
		case v.Secret.File != "" && err != nil:
			return fixNoSecretFile(v.Secret.File, console.ShellWord(runtime.GOOS, v.Secret.File))
		case v.Secret.File != "" && info.Mode().IsRegular():
			return fixSecretMode(console.ShellWord(runtime.GOOS, v.Secret.File))
		default:
			return fixSecretPlace(why)
		}
	}
	return ""
}

// valuesOf returns the values of a server that can be secrets.
func valuesOf(s tools.Server) []tools.Value {
	var values []tools.Value
	if s.Stdio == nil {
		for _, h := range s.HTTP.Headers {
			values = append(values, h.Value)
		}
		return values
	}
	values = append(values, s.Stdio.Args...)
	for _, v := range s.Stdio.Env {
		values = append(values, v.Value)
	}
	return values
}

// examineShell reports secrets of servers that only the shell's environment provides. Doctor gives it to the program as this
// client does, but the client can be started elsewhere. provided are the variables that the client's entry sets.
func examineShell(c *tools.Catalog, provided []importer.Variable, shell []string, f *findings) {
	var names []string
	for _, s := range c.Servers {
		if !s.Enabled {
			continue
		}
		for _, v := range valuesOf(s) {
			name := v.Secret.Env
			set := slices.ContainsFunc(provided, func(p importer.Variable) bool { return p.Name == name })
			if name != "" && !set && machine.Lookup(shell, name) != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		f.warn("server", fixSecretVariable(names[0]), fromShell(names))
	}
}

// variableName matches names as programs print them if such a variable is missing.
var variableName = regexp.MustCompile(`\b[A-Z][A-Z0-9_]{2,}\b`)

// secretVariable matches names of variables that mostly hold a secret, besides those of [tools.IsSecretName].
var secretVariable = regexp.MustCompile(`KEY|PASS|AUTH`)

// fixVariable returns how to pass a variable on that the text of a fault names, that is set, and that env does not name. It
// returns "" if there is none. The server wrote the text, so for a secret it has no entry to copy.
func fixVariable(loaded *assembly.Loaded, s tools.Server, text string, has variables) string {
	for _, name := range variableName.FindAllString(text, -1) {
		here := machine.Lookup(has.client, name) != ""
		if !here && machine.Lookup(has.shell, name) == "" || slices.ContainsFunc(s.Stdio.Env, func(v tools.Variable) bool { return v.Name == name }) {
			continue
		}
		at := loaded.FaultAt(yamldoc.Fault{}, "catalog", "servers", s.Name, "stdio", "env")
		if tools.IsSecretName(name) || secretVariable.MatchString(name) {
			return fixAsksForSecret(name, at.File, at.Line)
		}
		var entries []string
		for _, v := range s.Stdio.Env {
			if !v.Pass {
				entries = nil
				break
			}
			entries = append(entries, passedOnEntry(v.Name))
		}
		fix := fixNotPassed(name, append(entries, passedOnEntry(name)), len(s.Stdio.Env) > len(entries), at.File, at.Line)
		if !here {
			fix += alsoInClient(name)
		}
		return fix
	}
	return ""
}

// examineDeclared reports how many tools a server offers, and which of the configuration's tools it does not have.
func examineDeclared(loaded *assembly.Loaded, s tools.Server, declared []upstream.Definition, f *findings) {
	missing := 0
	for _, t := range s.Tools {
		if !t.Enabled || slices.ContainsFunc(declared, func(d upstream.Definition) bool { return d.Tool() == t.Upstream }) {
			continue
		}
		missing++
		at := loaded.FaultAt(yamldoc.Fault{}, "catalog", "servers", s.Name, "tools", t.Upstream)
		f.fail("server", fixMissing(at.File, at.Line), missingTool(console.OtherName(s.Name), console.OtherName(t.Upstream)))
	}
	if missing > 0 {
		return
	}
	dir := ""
	if s.Stdio != nil {
		dir = s.Stdio.Dir
	}
	f.ok("server", offers(console.OtherName(s.Name), len(declared), dir))
}
