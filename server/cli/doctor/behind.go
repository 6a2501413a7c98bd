package doctor

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"patterngate/catalog/pins"
	"patterngate/catalog/upstream"
	"patterngate/server/assembly"
	"patterngate/server/cli/clientfile"
	"patterngate/server/cli/console"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// startsWithin limits how long a server behind the gate can take to start and to list its tools.
const startsWithin = time.Minute

// examineBehind starts the servers of the configuration that have an enabled tool, all at once. It reports what each offers,
// and the tools whose definition changed. The caller ends the servers.
func examineBehind(ctx context.Context, loaded *assembly.Loaded, f *findings) {
	var servers []tools.Server
	for _, s := range loaded.Catalog.Servers {
		if s.Enabled && slices.ContainsFunc(s.Tools, func(t tools.ServerTool) bool { return t.Enabled }) {
			servers = append(servers, s)
		}
	}
	declared, faults := make([][]upstream.Definition, len(servers)), make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { declared[i], faults[i] = loaded.Definitions(ctx, s.Name) })
	}
	all.Wait()
	var changed, accepts []string
	for i, s := range servers {
		hint, relative := loaded.RelativeArguments(s)
		if relative {
			f.warn("server", hint.Want, placed(hint.File, hint.Line, hint.Path, hint.Reason))
		}
		if faults[i] != nil {
			failedBehind(s, faults[i], hint.Want, f)
			continue
		}
		examineDeclared(loaded, s, declared[i], f)
		names, accept := changedTools(loaded.Lock(), s, declared[i])
		changed, accepts = append(changed, names...), append(accepts, accept...)
	}
	if len(changed) > 0 {
		f.warn("tools", fixChanged(accepts), definitionChanged(changed))
	}
}

// changedTools returns the enabled tools of a server that are held because their definition is no longer the accepted one: by
// their names in the catalog, and as SERVER/TOOL.
func changedTools(lock *pins.Lock, s tools.Server, declared []upstream.Definition) (names, accept []string) {
	for _, t := range s.Tools {
		accepted, known := lock.Tool(s.Name, t.Upstream)
		at := slices.IndexFunc(declared, func(d upstream.Definition) bool { return d.Tool() == t.Upstream })
		if !t.Enabled || !known || at < 0 {
			continue
		}
		if now, err := assembly.DefinitionOf(declared[at]); err != nil || now.Hash() != accepted.Hash() {
			names, accept = append(names, console.OtherName(t.Name)), append(accept, pins.Name(s.Name, t.Upstream))
		}
	}
	return names, accept
}

// failedBehind reports a server that does not start or does not answer. If fix is not "", it is what to change
// in the configuration first.
func failedBehind(s tools.Server, why error, fix string, f *findings) {
	if cause := errors.Unwrap(why); cause != nil { // without the kind of fault
		why = cause
	}
	name, text := console.OtherName(s.Name), console.OtherText(why.Error(), 600)
	if s.Stdio == nil {
		f.fail("server", fixEndpoint(name), noAnswer(name, text))
		return
	}
	line := clientfile.Entry{Command: s.Stdio.Command}
	for _, arg := range s.Stdio.Args {
		if arg.Secret.Set() {
			arg.Text = shownSecret
		}
		line.Args = append(line.Args, arg.Text)
	}
	if fix != "" {
		f.fail("server", fix, noStart(name, s.Stdio.Dir, text))
		return
	}
	f.fail("server", fixBehind(s.Stdio.Dir, clientfile.CommandLine(runtime.GOOS, line)), noStart(name, s.Stdio.Dir, text))
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
