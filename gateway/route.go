package gateway

import (
	"maps"
	"slices"

	"patterngate/gateway/document"
	"patterngate/ijson"
)

// Route is an accepted choice of one specialist. Target is stripped, and the ticket is reduced to its words.
type Route struct {
	Target string
	Args   map[string]any
	Filled []document.Filled
}

// Row returns the route as results and payloads show it: {kind, target, args}.
func (r Route) Row() map[string]any {
	return map[string]any{"kind": "route", "target": r.Target, "args": r.Args}
}

// RouteRules are the rules that a route must fit.
type RouteRules struct {
	Allowed   []string // the policy allowlist
	Forbidden []string // targets that declined in this run
	Ticket    string   // the ticket of a caller's route that names none
	// Takes reports whether a target has an argument ticket. Only then is a ticket required or filled in. nil: all
	// targets have one.
	Takes func(target string) bool
	// Fill returns the arguments of a target that a caller may omit. Goal returns those that are the run's own request,
	// if neither a caller nor a model sets them. nil: none.
	Fill, Goal func(target string) map[string]any
}

// ParseRoute parses and checks a route (spec/patterns.md section 4, in its order).
func ParseRoute(in document.Intent, rules RouteRules) (Route, *document.Refusal) {
	f := document.NewFaults("invalid_route")
	doc, filled, ok := document.Open(f, in, document.DefaultReasons, "route")
	if !ok {
		return Route{}, f.Refusal()
	}
	doc.Extra("extra_keys", ofRoute(rules.Allowed), "kind", "target", "args")
	route := Route{Filled: filled}
	route.Target, _ = doc.Name("target", document.NameReasons{Missing: "missing_target", NotAllowed: "route_not_allowed"}, rules.Allowed)
	wants := rules.Takes == nil || !slices.Contains(rules.Allowed, route.Target) || rules.Takes(route.Target)
	what := ticketObject
	if !wants {
		what = argumentsObject
	}
	if args, ok := doc.Args("bad_args", what); ok && !wants {
		route.fill(args, rules, in)
	} else if ok {
		route.ticket(document.Object{Faults: f, Members: args, At: in.At.Member("args")}, in.Caller, rules.Ticket)
	}
	if slices.Contains(rules.Forbidden, route.Target) {
		doc.Wrong("repeat_target_after_reroute", "target", declinedBefore(document.OneOf(without(rules.Allowed, rules.Forbidden))))
	}
	if r := f.Refusal(); r != nil {
		return Route{}, r
	}
	return route, nil
}

// fill sets the route's arguments. It adds those that were omitted and have only one value.
func (r *Route) fill(args map[string]any, rules RouteRules, in document.Intent) {
	others := map[string]any{}
	if slices.Contains(rules.Allowed, r.Target) && rules.Fill != nil && in.Caller {
		maps.Copy(others, rules.Fill(r.Target))
	}
	if slices.Contains(rules.Allowed, r.Target) && rules.Goal != nil {
		maps.Copy(others, rules.Goal(r.Target))
	}
	r.Args = withAbsent(args, others)
	for _, name := range sortedKeys(others) {
		if _, given := args[name]; !given && in.Caller {
			r.Filled = append(r.Filled, document.Filled{Pointer: in.At.Member("args").Member(name), Value: others[name]})
		}
	}
}

// ticket sets the arguments of a route whose ticket is required, and reduces the ticket to its words. Other arguments
// pass unchanged. A caller may omit the ticket if the run has one.
func (r *Route) ticket(args document.Object, byCaller bool, ofRun string) {
	r.Args = maps.Clone(args.Members)
	if byCaller && !args.Has("ticket") && !ijson.Blank(ofRun) {
		r.Args["ticket"] = ijson.Words(ofRun)
		r.Filled = append(r.Filled, document.Filled{Pointer: args.At.Member("ticket"), Value: r.Args["ticket"]})
		return
	}
	r.Args["ticket"] = ijson.Words(args.Text("ticket", "missing_ticket", ticketText))
}

func without(names, less []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(less, n) })
}

// ofRoute returns other names of the members of a route.
func ofRoute(allowed []string) []document.Synonym {
	return []document.Synonym{
		{Name: "kind", Words: []string{"type"}, As: document.NamedIn([]string{"route"})},
		{Name: "target", Words: slices.Concat(document.WordsOfTool, []string{"route", "specialist", "destination", "agent"}), As: document.NamedIn(allowed)}, document.ArgsSynonym(),
	}
}
