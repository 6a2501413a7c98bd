package redaction

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/patterns"
)

// toolPlaces are the places of one tool (spec/config.md section 4, redact). They count in the calls of the tool and in the results. They
// also count in a body that does not name the tool of its arguments or results.
type toolPlaces struct{ args, result [][]string }

// toolsOwn reports whether the text before a pointer is the name of a tool.
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
		return fmt.Errorf("local: redact: %q is not a pointer of a tool; write /args/card or /result/*/email", pointer)
	}
	if r.tools == nil {
		r.tools = map[string]toolPlaces{}
	}
	r.tools[name] = of
	return nil
}

// bothTools returns the places of both.
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

// only limits the walk to the places of one tool and those of all tools. "" means that the tool is not known, and changes nothing.
func (w *walk) only(tool string) {
	if tool == "" || len(w.Rules.tools) == 0 {
		return
	}
	w.tools = map[string]toolPlaces{}
	if of, ok := w.Rules.tools[tool]; ok {
		w.tools[tool] = of
	}
}

// called returns the tool of the call that an intent or outcome belongs to; "": none, or not known.
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

// named returns the tool that a value names; "": none. It reads the members that name a tool in plans, tasks, routes, actions and their
// results.
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

// argsPlaces returns the places below arguments. resultPlaces returns the places below the result of a call.
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
