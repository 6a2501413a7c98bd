package gateway

import (
	"maps"

	"patterngate/ijson"
)

// Route is an accepted choice of one specialist. Target is stripped, the ticket reduced to its words.
type Route struct {
	Target string
	Args   map[string]any
	Filled []Filled
}

// Row is the route as results and payloads show it: {kind, target, args}.
func (r Route) Row() map[string]any {
	return map[string]any{"kind": "route", "target": r.Target, "args": r.Args}
}

// RouteRules bound a route.
type RouteRules struct {
	Allowed   []string // the policy allowlist
	Forbidden []string // targets that declined in this run
	Ticket    string   // what a caller's route is given where it names no ticket
}

// ParseRoute judges a route (spec/patterns.md section 4, in its order).
func ParseRoute(in Intent, rules RouteRules) (Route, *Refusal) {
	f := &faults{family: "invalid_route"}
	doc, filled := openDocument(f, in, documentReasons, "route")
	if doc == nil {
		return Route{}, f.refusal()
	}
	extraKeys(f, "extra_keys", doc, in.At, "kind", "target", "args")
	route := Route{Filled: filled}
	route.Target = allowedName(f, doc, "target", in.At, nameRules{"missing_target", "route_not_allowed", rules.Allowed})
	route.ticket(f, in, doc, rules.Ticket)
	if contains(rules.Forbidden, route.Target) {
		left := without(rules.Allowed, rules.Forbidden)
		f.add("repeat_target_after_reroute", in.At.Member("target"), doc["target"], "it declined already; "+oneOf(left))
	}
	if r := f.refusal(); r != nil {
		return Route{}, r
	}
	return route, nil
}

// ticket reads the arguments, of which the ticket is required and reduced to its words; others pass.
func (r *Route) ticket(f *faults, in Intent, doc map[string]any, fill string) {
	at := in.At.Member("args")
	args, ok := optionalObject(doc["args"])
	if !ok {
		f.add("bad_args", at, doc["args"], "an object {ticket}")
		return
	}
	r.Args = maps.Clone(args)
	if _, there := args["ticket"]; !there && in.Caller && !ijson.Blank(fill) {
		r.Args["ticket"] = ijson.Words(fill)
		r.Filled = append(r.Filled, Filled{at.Member("ticket"), r.Args["ticket"]})
		return
	}
	if _, ok := text(args["ticket"]); !ok {
		f.add("missing_ticket", at.Member("ticket"), member(args, "ticket"), "the ticket's text").Fix = asText(at.Member("ticket"), args["ticket"])
		return
	}
	r.Args["ticket"] = ijson.Words(args["ticket"].(string))
}

func without(names, less []string) []string {
	var left []string
	for _, n := range names {
		if !contains(less, n) {
			left = append(left, n)
		}
	}
	return left
}
