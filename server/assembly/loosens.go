package assembly

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"patterngate/ijson"
	"patterngate/server/settings/yamldoc"
)

// loosens returns the ways in which a configuration permits more than the one before it (spec/config.md section 8). It
// returns one line for each, in the order of their places. A change that it cannot rank counts as looser.
func loosens(from, to map[string]any) []string {
	w := &looseness{}
	w.compare(nil, from, to)
	return w.found
}

// Loosens returns the ways in which a configuration permits more than the one before it, in words. It is nil if it permits
// nothing more.
func Loosens(from, to Loaded) []string { return loosens(from.judged(), to.judged()) }

// judged returns the part of a configuration that a reload could loosen: all its keys, and the accepted definitions of its
// servers' tools.
func (c Loaded) judged() map[string]any {
	all := c.Value()
	all[lockMember] = c.lockedTools()
	return all
}

// looseness compares two configurations member by member.
type looseness struct{ found []string }

func (w *looseness) add(path []string, format string, args ...any) {
	w.found = append(w.found, strings.Join(path, ".")+": "+fmt.Sprintf(format, args...))
}

// compare compares the values at a path. It applies the rule of the place, or else compares the members.
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

// members compares the members of a place.
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

// looseRule adds a line if a change at a place loosens.
type looseRule func(w *looseness, path []string, was, is any)

// namedPlaces are the places of named entries. A new entry loosens.
var namedPlaces = []struct{ place, what string }{
	{"patterns.*", "pattern"}, {"catalog.servers.*", "server"}, {"catalog.servers.*.tools.*", "tool"}, {"catalog.http.*", "tool"},
}

// placeRules are the places whose change can loosen; * is any name. Without a rule, the members of a place are compared.
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
	{"offer", offeredMore},
	{"redact", gone},
	{"http.origins", namedMore},
	{"http.hosts", namedMore},
	{"catalog.allow_networks", namedMore},
	{"catalog.expose", namedMore},
	{"catalog.servers.*.enabled", switchedOn},
	{"catalog.servers.*.stdio", anyChange},
	{"catalog.servers.*.http", anyChange},
}

// toolRules are the rules of a tool's members.
var toolRules = map[string]looseRule{
	"effect": weaker("destructive", "write", "read"), "idempotent": anyChange, "fix": anyChange, "bound": anyChange, "once": anyChange,
	"reconcile": anyChange, "request": anyChange, "input": anyChange, "output": anyChange, "output_schema": anyChange, "redact": gone,
	"rate": anyChange, "retry": anyChange, "enabled": switchedOn, "policy": anyChange, "as": anyChange,
}

// ruleOfPlace returns the rule of a place, or nil if there is none.
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

// acceptedAnew adds a line if a definition is accepted that was not accepted before.
func acceptedAnew(w *looseness, path []string, _, is any) {
	if is != nil {
		w.add(path, "accepted")
	}
}

// switchedOn adds a line if something is enabled that was disabled. A missing value means enabled.
func switchedOn(w *looseness, path []string, was, is any) {
	if was == false && is != false {
		w.add(path, nowOn)
	}
}

// raised adds a line if a limit is higher, or removed.
func raised(w *looseness, path []string, was, is any) {
	before, had := was.(float64)
	after, has := is.(float64)
	switch {
	case had && !has:
		w.add(path, limitRemoved, yamldoc.NumberText(before))
	case had && has && after > before:
		w.add(path, limitRaised, yamldoc.NumberText(before), yamldoc.NumberText(after))
	}
}

// namedMore adds a line if a list has new items, or is removed. No list means everything.
func namedMore(w *looseness, path []string, was, is any) {
	before, limited := was.([]any)
	after, limits := is.([]any)
	if limited && !limits {
		w.add(path, listRemoved)
		return
	}
	if !limited {
		if len(path) > 0 && path[0] == "patterns" && path[len(path)-1] != "tools" {
			return // everything was allowed before
		}
	}
	for _, v := range after {
		if !slices.ContainsFunc(before, func(b any) bool { return ijson.Equal(b, v) }) {
			w.add(path, itemAdded, ijson.Canonical(v))
		}
	}
}

// offeredMore is [namedMore] where no list before means everything.
func offeredMore(w *looseness, path []string, was, is any) {
	if _, limited := was.([]any); limited {
		namedMore(w, path, was, is)
	}
}

// gone adds a line for each item that a list no longer has.
func gone(w *looseness, path []string, was, is any) {
	before, _ := was.([]any)
	after, _ := is.([]any)
	for _, v := range before {
		if !slices.ContainsFunc(after, func(a any) bool { return ijson.Equal(a, v) }) {
			w.add(path, itemRemoved, ijson.Canonical(v))
		}
	}
}

// weaker returns a rule for words from the strictest to the loosest. Any other word is looser than all.
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
			w.add(path, weakened, ijson.Canonical(was), ijson.Canonical(is))
		}
	}
}

// entry compares the members of an entry that was there before, and adds a line for a new one.
func (w *looseness) entry(path []string, was, is any, what string) {
	before, had := was.(map[string]any)
	after, has := is.(map[string]any)
	switch {
	case !has || after["enabled"] == false:
	case !had || before["enabled"] == false:
		w.add(path, itemAdded, what)
	default:
		w.members(path, was, is)
	}
}
