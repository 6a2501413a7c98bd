package redaction

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/patterns"
)

// toolPlaces are the places of one tool (spec/config.md section 4, redact): they count in its calls and what those came to.
// Where a body does not say whose arguments or results it holds, they count too.
type toolPlaces struct{ args, result [][]string }

// toolsOwn reports the name of a tool before a pointer.
func toolsOwn(name string) bool { return name != "" && !strings.Contains(name, "/") }

// ofTool adds a place of one tool.
func (r *Rules) ofTool(name, pointer string, tokens []string) error {
	of := r.tools[name]
	switch {
	case len(tokens) > 1 && tokens[0] == "args":
		of.args = append(slices.Clip(of.args), tokens[1:])
	case len(tokens) > 1 && tokens[0] == "result":
		of.result = append(slices.Clip(of.result), tokens[1:])
	default:
		return fmt.Errorf("local: redact: %q is no pointer of a tool; write /args/card or /result/*/email", pointer)
	}
	if r.tools == nil {
		r.tools = map[string]toolPlaces{}
	}
	r.tools[name] = of
	return nil
}

// bothTools are the places of either.
func bothTools(a, b map[string]toolPlaces) map[string]toolPlaces {
	if len(a) == 0 {
		return b
	}
	both := maps.Clone(a)
	for name, of := range b {
		both[name] = toolPlaces{slices.Concat(both[name].args, of.args), slices.Concat(both[name].result, of.result)}
	}
	return both
}

// only has the places of one tool count from here on, besides those of all. "" is a tool that is not known.
func (w *walk) only(tool string) {
	if tool == "" || len(w.Rules.tools) == 0 {
		return
	}
	w.tools = map[string]toolPlaces{}
	if of, ok := w.Rules.tools[tool]; ok {
		w.tools[tool] = of
	}
}

// called is the tool of a call, told by its intent, or by what that came to.
func (h *Values) called(kind patterns.EventKind, key string, body map[string]any) string {
	switch kind {
	case patterns.IntentEvent:
		if tool, _ := body["name"].(string); body["effect_kind"] == string(patterns.ToolEffect) {
			h.calls[key] = tool
			return tool
		}
	case patterns.OutcomeEvent, patterns.LateEvent:
		return h.calls[key]
	}
	return ""
}

// named is the tool that a value speaks of, by the members that say so in plans, tasks, routes, actions and their results.
func (w *walk) named(v map[string]any) string {
	for _, member := range []string{"tool", "worker", "target"} {
		if name, ok := v[member].(string); ok {
			return name
		}
	}
	name, _ := v["name"].(string)
	_, ours := w.Rules.tools[name]
	if _, action := v["kind"].(string); ours || action {
		return name
	}
	return ""
}

// argsPlaces are the places below arguments, resultPlaces those below what a call came to.
func (w *walk) argsPlaces() [][]string {
	list := slices.Clone(w.Rules.args)
	for _, of := range w.tools {
		list = append(list, of.args...)
	}
	return list
}

func (w *walk) resultPlaces() [][]string {
	list := slices.Clone(w.Rules.result)
	for _, of := range w.tools {
		list = append(list, of.result...)
	}
	return list
}
