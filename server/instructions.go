package server

import (
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/server/arguments"
)

// maxNamed is how many single-call tools the instructions name at most. maxNamesLength is the maximum length of their
// list, in characters. Clients cut instructions that are longer than 1,500 characters in all (design.md section 7).
const (
	maxNamed       = 8
	maxNamesLength = 240
)

// instructions returns the text that teaches the client's model how to use the server. It names only tools that are
// listed (spec/surface.md section 3).
func (s *Server) instructions() string {
	if !s.offers(arguments.WaitTool) || !s.offers(arguments.StatusTool) { // then no pattern is listed
		return whatItIs
	}
	return instructions(s.tools, s.offers(arguments.CatalogTool))
}

// instructions returns the text for patterns. described says that [arguments.CatalogTool] is listed.
func instructions(tools []*tool, described bool) string {
	lines := []string{whatItIs}
	if which := whichTool(uses(tools), described); which != "" {
		lines = append(lines, which)
	}
	if intents(tools) {
		lines = append(lines, howToPropose)
	}
	if len(tools) > 0 {
		lines = append(lines, callArguments)
	}
	waiting := ""
	if continues(tools) {
		waiting = waitingForCaller
	}
	return strings.Join(append(lines, howToRead(waiting), howToBehave), "\n")
}

// uses says which tool is for which purpose. It returns "" if no pattern is listed.
func uses(tools []*tool) string {
	var said, single, own []string
	for _, t := range tools {
		name, use := listedAs(t.Spec), t.Spec.Words.Use
		switch words := name + " " + use; {
		case t.Spec.Kind == gateway.Call:
			single = append(single, name)
		case use == "" && !slices.Contains(own, name):
			own = append(own, name)
		case use != "" && !slices.Contains(said, words): // planning has several tools
			said = append(said, words)
		}
	}
	if len(own) > 0 {
		said = append(said, firstOf(own)+useAsDescribed)
	}
	if len(single) > 0 {
		said = append(said, firstOf(single)+useForOneCall)
	}
	return strings.Join(said, "; ")
}

// firstOf lists the first names, within maxNamed and maxNamesLength, and says how many more there are.
func firstOf(names []string) string {
	list, n := names[0], 1
	for n < min(len(names), maxNamed) && len(list)+len(", ")+len(names[n]) <= maxNamesLength {
		list += ", " + names[n]
		n++
	}
	if more := len(names) - n; more > 0 {
		list += andMore(more)
	}
	return list
}

// intents reports whether a listed pattern takes an intent.
func intents(tools []*tool) bool {
	for _, t := range tools {
		if t.Spec.Kind != gateway.Call {
			return true
		}
	}
	return false
}

// continues reports whether runs of a listed pattern can wait for their caller's next proposal.
func continues(tools []*tool) bool {
	for _, t := range tools {
		if t.Spec.Kind == gateway.Routing || t.Spec.Kind == gateway.Supervisor {
			return true
		}
	}
	return false
}
