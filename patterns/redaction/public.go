package redaction

import (
	"errors"
	"slices"
	"strconv"

	"patterngate/patterns"
)

// Rules that look at earlier runs do not see hidden values. A member with a hidden value is left out, and a list with a hidden element is
// left out whole. So a rule never computes with a wrong number.
//
// This holds at the places of redact, which the author of the policy knows. At other places a value is hidden because it equals or
// holds a value from such a place. The caller chooses both values, and could choose which calls a cap does not see. So a value that is
// hidden at another place makes the window unknown, see [ErrObscured].

// ErrObscured says that a value is hidden at a place that redact does not name.
var ErrObscured = errors.New("a value is hidden where redact does not say so")

// PublicArgs returns the arguments of a recorded call without hidden values. The error is [ErrObscured].
func (r Rules) PublicArgs(tool string, args map[string]any) (map[string]any, error) {
	w := r.walkOf(tool)
	v, err := w.public(args, w.argsPlaces())
	shown, _ := v.(map[string]any)
	return shown, err
}

// PublicOutput returns a recorded result without hidden values. The error is [ErrObscured].
func (r Rules) PublicOutput(tool string, v any) (any, error) {
	w := r.walkOf(tool)
	return w.public(v, w.outputPlaces(v))
}

// walkOf returns a walk through values of a tool's calls.
func (r Rules) walkOf(tool string) walk {
	w := walk{Values: &Values{Rules: r}, purpose: hiding, tools: r.tools}
	w.only(tool)
	return w
}

// public returns a recorded value without the values that are hidden at places; nil means that the whole value is hidden.
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
