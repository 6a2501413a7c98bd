package redaction

import (
	"errors"
	"slices"
	"strconv"

	"patterngate/patterns"
)

// What is kept out of the record is absent for rules that look at earlier runs: a member whose value is such a one is left out, a list
// in which one is is left out whole. No rule is given another number than the true one.
//
// That holds at the places of redact, which whoever writes the policy knows. Elsewhere a value is hidden as it is equal to one at
// such a place, or holds it: who calls chooses both, and would choose which of their calls a cap cannot see. There the window
// cannot be told.

// ErrObscured says that a value is hidden at a place where none has to be.
var ErrObscured = errors.New("a value is hidden where redact does not say so")

// PublicArgs returns a recorded call's arguments without what is hidden. The error is [ErrObscured].
func (r Rules) PublicArgs(tool string, args map[string]any) (map[string]any, error) {
	w := r.walkOf(tool)
	v, err := w.public(args, w.argsPlaces())
	shown, _ := v.(map[string]any)
	return shown, err
}

// PublicOutput returns a recorded result without what is hidden. The error is [ErrObscured].
func (r Rules) PublicOutput(tool string, v any) (any, error) {
	w := r.walkOf(tool)
	return w.public(v, w.outputPlaces(v))
}

// walkOf is a way through values of a tool's calls.
func (r Rules) walkOf(tool string) walk {
	w := walk{Values: &Values{Rules: r}, purpose: hiding, tools: r.tools}
	w.only(tool)
	return w
}

// public is a recorded value without what is hidden at places; nil: all of it is.
func (w *walk) public(v any, places [][]string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if _, hidden := v[patterns.Redacted]; hidden && len(v) == 1 {
			if !slices.ContainsFunc(places, func(p []string) bool { return len(p) == 0 }) {
				return nil, ErrObscured
			}
			return nil, nil
		}
		out := make(map[string]any, len(v))
		for name, m := range v {
			shown, err := w.public(m, w.below(places, name))
			if err != nil {
				return nil, err
			}
			if shown != nil || m == nil {
				out[name] = shown
			}
		}
		return out, nil
	case []any:
		out, hidden := make([]any, len(v)), false
		for i, m := range v {
			shown, err := w.public(m, w.below(places, strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			out[i], hidden = shown, hidden || shown == nil && m != nil
		}
		if hidden {
			return nil, nil
		}
		return out, nil
	}
	return v, nil
}
