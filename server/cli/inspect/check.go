package inspect

import (
	"errors"
	"log/slog"
	"slices"
	"strings"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/settings"
	"patterngate/server/settings/yamldoc"
)

// checked is a configuration with what was found wrong.
type checked struct {
	settings.Document
	found   []yamldoc.Fault // faults and warnings
	refused *yamldoc.Error  // nil: the configuration loads
	hints   []yamldoc.Fault // advice about a configuration that loads
	summary string          // says how much of a model's context the tools use
}

// check loads the configuration and finds what is wrong with it, for validate. argument says that an argument of the command names
// the file. An error says that the program failed, not the configuration.
func (a *Commands) check(argument bool) (checked, error) {
	sources := a.Sources()
	sources.Argument = argument
	loaded, found, err := assembly.Load(sources, assembly.LoadOptions{})
	refused, ours := errors.AsType[*yamldoc.Error](err)
	if err != nil && !ours {
		return checked{}, console.Fault("validate", err)
	}
	if a.Loaded != nil && !ours {
		a.Loaded(loaded)
	}
	c := checked{Document: loaded.Document, found: found, refused: refused}
	if refused != nil {
		c.found = append(c.found, refused.Faults...)
		return c, nil
	}
	later, summary := a.checkDeclared(loaded)
	c.found, c.hints, c.summary = append(c.found, later...), loaded.Hints(), summary
	return c, nil
}

// checkDeclared makes what serve would show of a configuration, and warns about tools that clients could drop or cut.
// summary says how much of a model's context the tools use.
func (a *Commands) checkDeclared(l assembly.Loaded) (faults []yamldoc.Fault, summary string) {
	s, err := l.Server(a.Environ, slog.New(slog.DiscardHandler))
	if err != nil {
		return []yamldoc.Fault{l.FaultAt(yamldoc.Fault{Reason: err.Error(), Want: wantNamed})}, ""
	}
	faults = l.Oversized(s)
	for _, size := range s.ListSizes() {
		if slices.ContainsFunc(faults, func(f yamldoc.Fault) bool { return strings.Contains(f.Reason, " of "+size.Name+" has ") }) {
			continue
		}
		for _, words := range size.Warnings() {
			faults = append(faults, l.FaultAt(yamldoc.Fault{Severity: yamldoc.SeverityWarning, Reason: words}, l.DeclaredAt(size.Name)...))
		}
	}
	bytes, tokens := s.ListSize()
	return faults, listSize(bytes, tokens)
}
