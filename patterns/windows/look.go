package windows

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"patterngate/gateway"
	"patterngate/patterns/journal"
	"patterngate/patterns/redaction"
)

// Look is the content of windows that was read before. The windows of a call are read when the call is judged, and twice more until
// its intent is recorded. A Look avoids reading a window again if it has not changed. The zero Look is empty.
type Look map[string]lookedAt // by the window's name

// lookedAt are the calls of earlier runs in a window, as of a mark.
type lookedAt struct {
	mark  string
	calls *Calls
}

// Windows are the windows that a review depends on.
func (l Look) Windows(t Table, w gateway.Weighing, own []gateway.Entry, now time.Time) (map[string]gateway.Seen, error) {
	n, _ := journal.RunNumber(w.RunID())
	all := map[string]gateway.Seen{}
	for _, window := range w.Windows() {
		seen, err := l.windowIn(t, window, n, cmp.Or(w.Principal(), unknownPrincipal), own, now)
		if err != nil {
			return nil, err
		}
		all[window.Name] = seen
	}
	return all, nil
}

// unknownPrincipal has no run.
const unknownPrincipal = "?"

func (l Look) windowIn(t Table, w gateway.Window, n int64, principal string, own []gateway.Entry, now time.Time) (gateway.Seen, error) {
	if w.Since == nil {
		return gateway.Seen{Err: errors.New("it has no beginning")}, nil
	}
	since := w.Since(now)
	if !w.OfPrincipal {
		principal = ""
	}
	list, err := l.callsOf(t, w, since, n, principal)
	switch {
	case errors.Is(err, errCrowded), errors.Is(err, errForgotten), errors.Is(err, errUnreadable), errors.Is(err, redaction.ErrObscured):
		return gateway.Seen{Since: since, Err: err}, nil
	case err != nil:
		return gateway.Seen{}, err
	}
	if err := list.settled(t.Found); err != nil {
		return gateway.Seen{}, err
	}
	return list.with(own, w, since), nil
}

// callsOf are a window's calls of earlier runs: those that were read before, where they are the same.
func (l Look) callsOf(t Table, w gateway.Window, since time.Time, n int64, principal string) (*Calls, error) {
	tools := slices.Compact(slices.Sorted(slices.Values(w.Tools)))
	mark, err := t.Mark(tools, since)
	if err != nil {
		return nil, err
	}
	known, ok := l[w.Name]
	if ok && mark != "" && known.mark == mark+principal {
		return known.calls, nil
	}
	list := newCalls(t.Hiding())
	for _, tool := range tools {
		if err := t.CallsSince(list, tool, since, n, principal); err != nil {
			return nil, err
		}
	}
	if delete(l, w.Name); mark != "" {
		l[w.Name] = lookedAt{mark + principal, list}
	}
	return list, nil
}
