package cli

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/server/settings"
	"patterngate/server/settings/tools"
	"patterngate/server/settings/yamldoc"
)

// checkDeclared makes what serve would show of a configuration, and warns about tools that clients could drop or cut.
// summary says how much of a model's context the tools use.
func (a *validateCommands) checkDeclared(l Loaded) (faults []yamldoc.Fault, summary string) {
	s, err := a.server(l, slog.New(slog.DiscardHandler))
	if err != nil {
		return []yamldoc.Fault{l.FaultAt(yamldoc.Fault{Reason: err.Error(), Want: "mend what it names"})}, ""
	}
	for _, o := range l.oversized(s) {
		at := []string{"patterns", o.pattern}
		if settings.Says(l.Root, "patterns", o.pattern, "input") {
			at = append(at, "input")
		}
		faults = append(faults, l.FaultAt(o.Fault, at...))
	}
	for _, size := range s.ListSizes() {
		if slices.ContainsFunc(faults, func(f yamldoc.Fault) bool { return strings.Contains(f.Reason, " of "+size.Name+" has ") }) {
			continue
		}
		for _, words := range size.Warnings() {
			faults = append(faults, l.FaultAt(yamldoc.Fault{Severity: yamldoc.SeverityWarning, Reason: words}, l.declaredAt(size.Name)...))
		}
	}
	bytes, tokens := s.ListSize()
	return faults, fmt.Sprintf("tools/list %d bytes, about %d tokens", bytes, tokens)
}

// declaredAt returns the path of the tool that clients see under a name.
func (l Loaded) declaredAt(name string) []string {
	for _, p := range l.Patterns {
		switch {
		case p.Name == name && p.Kind == gateway.Call:
			name = p.Tool
		case slices.Contains(p.ToolNames(), name):
			return []string{"patterns", p.Name}
		}
	}
	for _, s := range l.Catalog.Servers {
		for _, t := range s.Tools {
			if t.Name == name {
				return []string{"catalog", "servers", s.Name, "tools", t.Upstream}
			}
		}
	}
	if slices.ContainsFunc(l.Catalog.HTTP, func(t tools.HTTPTool) bool { return t.Name == name }) {
		return []string{"catalog", "http", name}
	}
	return []string{"patterns", name}
}
