package catalogcmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"patterngate/catalog"
	"patterngate/catalog/upstream"
	"patterngate/ijson/printable"
	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// serverIn returns the server of that name, or nil if the file has none.
func serverIn(c tools.Catalog, name string) *tools.Server {
	if i := slices.IndexFunc(c.Servers, func(s tools.Server) bool { return s.Name == name }); i >= 0 {
		return &c.Servers[i]
	}
	return nil
}

// offline returns the first named server that is off, or of which the file names no tool. It returns nil if there is none.
// An import leaves such an entry for a server that did not start.
func offline(c tools.Catalog, names []string) *tools.Server {
	for _, name := range names {
		at, _, _ := strings.Cut(name, "/")
		if s := serverIn(c, at); s != nil && (!s.Enabled || len(s.Tools) == 0) {
			return s
		}
	}
	return nil
}

// mayStart asks whether a server that is off in the file can be started, unless yes is set. It returns an error if the answer
// is no, or if there is no terminal. what is the command.
func (a *Commands) mayStart(what string, s *tools.Server, yes bool) error {
	if s.Enabled {
		return nil
	}
	return a.Confirm(what+" "+s.Name, isOff(s.Name), startOnce, yes)
}

// showOffered starts the server, and prints the lines that add its tools to the file. It returns refused, the reason why
// nothing was accepted. If the server does not start, the reason says so, without the secrets that the server repeats.
func (a *Commands) showOffered(ctx context.Context, loaded assembly.Loaded, s *tools.Server, refused error) error {
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	defer loaded.Close()
	progress := a.StateFile.Spin(listingTools)
	declared, err := loaded.Offered(ctx, s.Name)
	progress.Stop()
	off, isOff := errors.AsType[*offError](refused)
	switch {
	case err != nil && isOff:
		if fault, ok := errors.AsType[*catalog.Fault](err); ok {
			err = fault.Cause // its kind means nothing here
		}
		return &offError{failsToStart(off.text, loaded.Mask().Text(err.Error())), off.at}
	case err != nil:
		return refused
	}
	if err := a.Print(offeredLines(loaded, s, declared)); err != nil {
		return err
	}
	return refused
}

// notInTools matches what a name of the catalog cannot contain.
var notInTools = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// offeredLines returns one line of YAML for each tool that the file does not name. It leaves out a tool whose declaration
// repeats a secret.
func offeredLines(loaded assembly.Loaded, s *tools.Server, declared []upstream.Definition) string {
	taken := map[string]bool{}
	for _, t := range loaded.Catalog.Tools() {
		taken[t.Name] = true
	}
	var lines []string
	for _, d := range declared {
		name := d.Tool()
		now, err := assembly.DefinitionOf(d)
		if err != nil || repeats(loaded.Mask(), now) || slices.ContainsFunc(s.Tools, func(t tools.ServerTool) bool { return t.Upstream == name }) {
			continue
		}
		as := notInTools.ReplaceAllString(name, "_")
		if taken[as] {
			as = s.Name + "_" + as
		}
		taken[as] = true
		key := ""
		if as != name {
			key = "as: " + yamldoc.Written(as) + ", "
		}
		line := fmt.Sprintf("        %s: {%seffect: write}", yamldoc.Written(name), key)
		if now.Description != "" {
			line += "   # " + console.OtherText(now.Description, 100)
		}
		lines = append(lines, line+"\n")
	}
	if len(lines) == 0 {
		return allNamed(s.Name)
	}
	place := fmt.Sprintf("%s:%d", printable.Text(loaded.Path), s.At.Line)
	return offersTools(s.Name, console.Plural(len(lines), "tool"), place) + strings.Join(lines, "")
}
