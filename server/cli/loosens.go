package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// loosens says in which ways a configuration permits more than the one before it (spec/config.md section 8), a line each in
// the order of their places. What it cannot rank counts as looser.
func loosens(from, to map[string]any) []string {
	w := &looseness{}
	w.compare(nil, from, to)
	return w.found
}

// judged is what of a configuration a reload may loosen: all its keys, and what was accepted of its servers' tools.
func (c Loaded) judged() map[string]any {
	all := c.Value()
	all[lockMember] = c.lockedTools()
	return all
}

// looseness walks two configurations side by side.
type looseness struct{ found []string }

func (w *looseness) add(path []string, format string, args ...any) {
	w.found = append(w.found, strings.Join(path, ".")+": "+fmt.Sprintf(format, args...))
}

// compare goes down as long as a place is made of others.
func (w *looseness) compare(path []string, was, is any) {
	if ijson.Equal(was, is) {
		return
	}
	for _, e := range namedPlaces {
		if matches(strings.Split(e.place, "."), path) {
			w.entry(path, was, is, e.what)
			return
		}
	}
	if rule := ruleOfPlace(path); rule != nil {
		rule(w, path, was, is)
		return
	}
	w.members(path, was, is)
}

// members compares what a place is made of.
func (w *looseness) members(path []string, was, is any) {
	before, _ := was.(map[string]any)
	after, _ := is.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		w.compare(append(slices.Clone(path), name), before[name], after[name])
	}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}

// looseRule says what a change at a place means.
type looseRule func(w *looseness, path []string, was, is any)

// namedPlaces are places by names: one that comes anew loosens.
var namedPlaces = []struct{ place, what string }{
	{"patterns.*", "pattern"}, {"catalog.servers.*", "server"}, {"catalog.servers.*.tools.*", "tool"}, {"catalog.http.*", "tool"},
}

// placeRules are the places whose change may loosen; * is any name. A place without a rule is gone into.
var placeRules = []struct {
	place string
	rule  looseRule
}{
	{"patterns.*.enabled", switchedOn},
	{"patterns.*.budget.per_tool", anyChange},
	{"patterns.*.budget.max_same_call", raisedOrOther},
	{"patterns.*.budget.min_plan_steps", lowered},
	{"patterns.*.budget.min_subtasks", lowered},
	{"patterns.*.budget.*", raised},
	{"patterns.*.allow.*", namedMore},
	{"patterns.*.tools", namedMore},
	{"patterns.*.tool", anyChange},
	{"patterns.*.workers", handsChanged},
	{"patterns.*.routes", handsChanged},
	{"patterns.*.critical", gone},
	{"patterns.*.aggregate", anyChange},
	{"patterns.*.input", anyChange},
	{"patterns.*.answer", changedOrGone},
	{"patterns.*.kind", anyChange},
	{"patterns.*.params", anyChange},
	{"patterns.*.policy", anyChange},
	{"patterns.*.llm", anyChange},
	{"patterns.*.require_approval", weaker("plan", "write", "none")},
	{"patterns.*.approver.kind", weaker("reject", "inbox", "simulated")},
	{"patterns.*.approver.cap_usd", raised},
	{"patterns.*.approver.expires_seconds", raised},
	{"patterns.*.approver.min_assurance", weaker("signed", "user")},
	{"policies.*", policyChanged},
	{"lock.*", acceptedAnew},
	{"llm.provider", anyChange},
	{"llm.base_url", anyChange},
	{"llm.api_key", anyChange},
	{"llm.models", anyChange},
	{"llm.model", anyChange},
	{"llm.role", anyChange},
	{"demo.enabled", anyChange},
	{"redact", gone},
	{"http.origins", namedMore},
	{"http.hosts", namedMore},
	{"catalog.allow_networks", namedMore},
	{"catalog.expose", namedMore},
	{"catalog.servers.*.enabled", switchedOn},
	{"catalog.servers.*.stdio", anyChange},
	{"catalog.servers.*.http", anyChange},
}

// toolRules are those of a tool's members.
var toolRules = map[string]looseRule{
	"effect": weaker("destructive", "write", "read"), "idempotent": anyChange, "fix": anyChange, "bound": anyChange, "once": anyChange,
	"reconcile": anyChange, "request": anyChange, "input": anyChange, "output": anyChange, "output_schema": anyChange, "redact": gone,
	"rate": anyChange, "retry": anyChange, "enabled": switchedOn, "policy": anyChange, "as": anyChange,
}

// ruleOfPlace is the rule of a place; nil where there is none.
func ruleOfPlace(path []string) looseRule {
	for _, r := range placeRules {
		if matches(strings.Split(r.place, "."), path) {
			return r.rule
		}
	}
	if n := len(path); n > 1 && (matches([]string{"catalog", "http", "*", "*"}, path) || matches([]string{"catalog", "servers", "*", "tools", "*", "*"}, path)) {
		return toolRules[path[n-1]]
	}
	return nil
}

func matches(place, path []string) bool {
	if len(place) != len(path) {
		return false
	}
	for i, part := range place {
		if part != "*" && part != path[i] {
			return false
		}
	}
	return true
}

func anyChange(w *looseness, path []string, _, _ any) { w.add(path, "changed") }

// acceptedAnew is looser where a definition was accepted that was not before.
func acceptedAnew(w *looseness, path []string, _, is any) {
	if is != nil {
		w.add(path, "accepted")
	}
}

// switchedOn is looser where something is enabled that was not; absent is on.
func switchedOn(w *looseness, path []string, was, is any) {
	if was == false && is != false {
		w.add(path, "switched on")
	}
}

// raised is looser where a limit is higher, or none any more.
func raised(w *looseness, path []string, was, is any) {
	before, had := was.(float64)
	after, has := is.(float64)
	switch {
	case had && !has:
		w.add(path, "no limit any more; it was %s", yamldoc.NumberText(before))
	case had && has && after > before:
		w.add(path, "raised from %s to %s", yamldoc.NumberText(before), yamldoc.NumberText(after))
	}
}

// namedMore is looser where a list names more; no list is everything.
func namedMore(w *looseness, path []string, was, is any) {
	before, limited := was.([]any)
	after, limits := is.([]any)
	if limited && !limits {
		w.add(path, "no list any more")
		return
	}
	if !limited {
		if len(path) > 0 && path[0] == "patterns" && path[len(path)-1] != "tools" {
			return // it was everything
		}
	}
	for _, v := range after {
		if !slices.ContainsFunc(before, func(b any) bool { return ijson.Equal(b, v) }) {
			w.add(path, "%s added", ijson.Canonical(v))
		}
	}
}

// gone is looser where a list names less.
func gone(w *looseness, path []string, was, is any) {
	before, _ := was.([]any)
	after, _ := is.([]any)
	for _, v := range before {
		if !slices.ContainsFunc(after, func(a any) bool { return ijson.Equal(a, v) }) {
			w.add(path, "%s gone", ijson.Canonical(v))
		}
	}
}

// weaker ranks words from the strictest to the loosest; another word is looser than all.
func weaker(words ...string) looseRule {
	rank := func(v any) int {
		text, _ := v.(string)
		if at := slices.Index(words, text); at >= 0 {
			return at
		}
		if v == nil {
			return 0
		}
		return len(words)
	}
	return func(w *looseness, path []string, was, is any) {
		if rank(is) > rank(was) {
			w.add(path, "weakened from %s to %s", ijson.Canonical(was), ijson.Canonical(is))
		}
	}
}

// entry goes into what was there before.
func (w *looseness) entry(path []string, was, is any, what string) {
	before, had := was.(map[string]any)
	after, has := is.(map[string]any)
	switch {
	case !has || after["enabled"] == false:
	case !had || before["enabled"] == false:
		w.add(path, "%s added", what)
	default:
		w.members(path, was, is)
	}
}
