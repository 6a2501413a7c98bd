package envelope

import "fmt"

// This file has the texts of the package that are sentences or headings. The descriptions of the output schema are in
// output.go, and the names of members in the tags of the types.

// The first line of a dry run: what the same call without dry_run would lead to.
const (
	wouldBeBlocked  = "WOULD BE BLOCKED"
	wouldWait       = "WOULD WAIT for a person"
	wouldDepend     = "WOULD DEPEND on earlier results"
	wouldBeChanged  = "WOULD BE CHANGED"
	wouldBeApproved = "WOULD BE APPROVED"
	isDryRun        = "DRY RUN"
)

// noResult begins the first line of a run that ended well, but none of its calls returned a result.
const noResult = "NO RESULT"

// SimulatedData says that the results are from simulated tools.
const SimulatedData = "demo data"

// redactedSummary replaces a summary that is redacted in the record.
const redactedSummary = "The summary of the run has values that its record keeps only as hashes."

// The parts of a problem in the text channel.
const (
	gotPart        = "; got "
	wantPart       = "; want "
	didYouMeanPart = "; did you mean "
	replyPart      = "; reply "
)

// cameNearest names the tools that a goal may mean, if the offline rules could choose none.
func cameNearest(names string) string {
	return fmt.Sprintf("These came nearest: %s. If you mean one of them, write its name or words of its description in the request.", names)
}

// The changes of a person who approved a call with other arguments.

func approvedWithChanges(simulated bool, call, changes string) string {
	who := "A person"
	if simulated {
		who = "The simulated person"
	}
	return fmt.Sprintf("%s approved %s with changes: %s.", who, call, changes)
}

func changedArgument(name, from, to string) string { return fmt.Sprintf("%s %s -> %s", name, from, to) }

func addedArgument(name, to string) string { return fmt.Sprintf("%s added, %s", name, to) }

func removedArgument(name, from string) string { return fmt.Sprintf("%s removed, was %s", name, from) }

// cutValue is a part of a value in quotes. The marks of what is left out are outside of them.
func cutValue(isText, hasBefore bool, part string, hasAfter bool) string {
	if hasBefore {
		part = "..." + part
	}
	if hasAfter {
		part += "..."
	}
	if !isText {
		return "JSON " + part
	}
	return part
}

func moreChanges(n int) string { return fmt.Sprintf("%d more", n) }

// Headings of the text channel.

func answerHeading(whose string) string {
	return fmt.Sprintf("ANSWER (the %s words, not checked)\n", whose)
}

const offlineRules = "offline rules'"

const (
	subtasksHeading = "SUBTASKS (status | tool | after | what it is for)\n"
	plansHeading    = "PLANS (progress | strategy | revision | goal)\n"
)

func completedOf(done, all int) string { return fmt.Sprintf("%d of %d completed", done, all) }

// notJSON says why a value cannot be shown.
func notJSON(kind string) string { return fmt.Sprintf("a Go %s is not a JSON value", kind) }

// schemaTooLong says why a pattern's answer schema is refused.
func schemaTooLong(bytes, most int) string {
	return fmt.Sprintf("the answer's schema has %d bytes, and the limit is %d", bytes, most)
}
