package describe

import (
	"fmt"

	"patterngate/server/sentence"
)

// This file has all texts of the package but the descriptions of arguments, which are in schema.go. Names and outside texts
// arrive cut and escaped.

// The title and description of describe_catalog. A client's model reads them before it calls the tool.
const (
	catalogTitle = "List catalog tools"
	catalogAbout = "Lists the tools that a plan, route or action may call: what each does, its arguments, its effect, and whether a " +
		"person may have to approve. Use it before you write your own."
)

// The summary: which tools there are, and which of them are shown.

func toolsFound(n int) string { return fmt.Sprintf("%s found.", sentence.Count(n, "tool")) }

func toolsCallable(tools, patterns int) string {
	return fmt.Sprintf("%s can be called, by %s.", sentence.Count(tools, "tool"), sentence.Count(patterns, "pattern"))
}

func toolsUnused(n int) string {
	return fmt.Sprintf("%s behind the gate: no pattern uses them.", sentence.Count(n, "more tool"))
}

func toolsNotReady(n int) string {
	return fmt.Sprintf("%s shown cannot be called now: see state and why.", sentence.Count(n, "tool"))
}

func bestMatch(words, met int) string {
	return fmt.Sprintf("No tool matches all %d words of the query. These match %d.", words, met)
}

func shownRange(from, to int) string { return fmt.Sprintf("These are %d to %d.", from, to) }

func othersIn(tool string) string { return fmt.Sprintf("%s shows the others.", tool) }

const (
	callForMore        = "Call again with cursor for more."
	noToolMatches      = "None of these tools matches a word of the query."
	patternUsesNone    = "The pattern cannot use any of these tools."
	patternUsesNothing = "The pattern cannot use any tool."
	noToolAtAll        = "No tool can be called."
)

// The headings of the text channel, and parts of its lines.

const (
	toolsHeading    = "\nTOOLS (arguments | effect | whether a person is asked | patterns that can use it | what it does)\n"
	patternsHeading = "\nPATTERNS (kind | budget of a run | who is asked)\n"

	alsoIdempotent = ", idempotent"
	noPattern      = "no pattern"
)

func onServer(server string) string { return ", server " + server }

// nameTaken says why a list of tools cannot be made.
func nameTaken(name string) string { return fmt.Sprintf("tool %q: two tools have this name", name) }

// What arguments must be.

const (
	wantCursor   = "the next_cursor of a call with the same pattern, names and query; leave it out to start again"
	wantName     = "a tool's name"
	wantCallable = "the name of a tool that can be called; describe_catalog without names lists them"
	wantOneOf    = "one of "
)

func wantNames(most int) string { return fmt.Sprintf("at most %d names", most) }

func wantBytes(most int) string { return fmt.Sprintf("at most %d bytes", most) }
