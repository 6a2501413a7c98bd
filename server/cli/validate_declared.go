package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"patterngate/server/assembly"
	"patterngate/server/cli/console"
	"patterngate/server/cli/inspect"

	"patterngate/server/settings/yamldoc"
)

// check loads the configuration and finds what is wrong with it, for validate.
func (a *invocation) check() (inspect.Checked, error) {
	loaded, found, err := assembly.Load(a.sources(), assembly.LoadOptions{})
	refused, ours := errors.AsType[*yamldoc.Error](err)
	if err != nil && !ours {
		return inspect.Checked{}, console.Fault("validate", err)
	}
	checked := inspect.Checked{Document: loaded.Document, Found: found, Refused: refused}
	if refused != nil {
		checked.Found = append(checked.Found, refused.Faults...)
		return checked, nil
	}
	later, summary := a.checkDeclared(loaded)
	checked.Found, checked.Summary = append(checked.Found, later...), summary
	return checked, nil
}

// checkDeclared makes what serve would show of a configuration, and warns about tools that clients could drop or cut.
// summary says how much of a model's context the tools use.
func (a *invocation) checkDeclared(l assembly.Loaded) (faults []yamldoc.Fault, summary string) {
	s, err := l.Server(a.Environ, slog.New(slog.DiscardHandler))
	if err != nil {
		return []yamldoc.Fault{l.FaultAt(yamldoc.Fault{Reason: err.Error(), Want: "mend what it names"})}, ""
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
	return faults, fmt.Sprintf("tools/list %d bytes, about %d tokens", bytes, tokens)
}
