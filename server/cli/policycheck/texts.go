package policycheck

import (
	"fmt"
	"strings"

	"patterngate/server/cli/console"
)

// This file has texts of the package that people read. The texts of help pages are beside their commands.

// Coverage.

const wasIgnored = "ignored"

// noArgument returns the error of a word TOOL.ARG that names no argument.
func noArgument(word, near string) error {
	if near != "" {
		return fmt.Errorf("no tool has the argument %s; did you mean %s?", word, near)
	}
	return fmt.Errorf("no tool has the argument %s", word)
}

func addRule(ignore string) string { return "add a rule, or --ignore " + ignore }

func addTest(ignore string) string { return "add a test, or --ignore " + ignore }

// addFinalTest is for a rule that matches final answers.
func addFinalTest(ignore string) string {
	return "add a test with call: {tool: final, args: {answer: TEXT}}, or --ignore " + ignore
}

// decides returns how many rules of a policy decide, and in which calls.
func decides(policy string, rules int, by coveredBy) string {
	text := fmt.Sprintf("%s: %d of %s decide in %s: %s, %s", policy, rules, console.Plural(len(by.Rules), "rule"),
		console.Plural(by.Judged, "call"), console.Plural(by.Tests, "test"), console.Plural(by.Recorded, "recorded call"))
	if by.Judged > by.Tests+by.Recorded {
		text += ", the rest variations"
	}
	return text + "\n"
}

func found(findings, ignored int) string {
	if ignored > 0 {
		return fmt.Sprintf("%s, %d ignored\n", console.Plural(findings, "finding"), ignored)
	}
	return console.Plural(findings, "finding") + "\n"
}

// judgedCalls says on how many calls a finding is based.
func judgedCalls(by coveredBy) string {
	return fmt.Sprintf("%s, %s and their variations: %s", console.Plural(by.Tests, "test"), console.Plural(by.Recorded, "recorded call"), console.Plural(by.Judged, "call"))
}

const (
	noRuleMatches = "the policy judges it, and no rule matches: every call is blocked as no_rule_matched"
	neverFinal    = "no test has a final answer, and records show only blocked ones"
	neverMatched  = "no test and no recorded call uses a tool that it matches"
)

func mayCall(pattern, effect string) string {
	return fmt.Sprintf("%s may call it (%s), and no policy judges it", pattern, effect)
}

func falseInAll(calls int, judged string) string {
	return fmt.Sprintf("false in all %s that it matches (%s)", console.Plural(calls, "call"), judged)
}

func othersDecided(calls int, deciders, judged string) string {
	return fmt.Sprintf("true in %s, but each time %s decided (%s)", console.Plural(calls, "call"), deciders, judged)
}

func noneReads(tool string, rules []string) string {
	return fmt.Sprintf("none of %s of %s reads it: %s", console.Plural(len(rules), "rule"), tool, strings.Join(rules, ", "))
}

// Tests.

func notRun(why string) string { return "it cannot be run: " + why }

func differsWith(pattern string, got, want decided) string {
	return fmt.Sprintf("with the params of %s: %s, and not %s", pattern, got, want)
}

// One decision explained.

func noPolicyJudges(tool string) string { return "no policy judges " + tool }

func onlyAllowLists(tool, pattern string) string {
	return fmt.Sprintf("no policy judges %s in %s: only the allow lists decide", tool, pattern)
}

func judgedBy(tool string, policies []string) string {
	return fmt.Sprintf("%s is judged by %s", tool, strings.Join(policies, " and "))
}

func isMissing(at, want string) string { return fmt.Sprintf("%s is missing: %s", at, want) }

func doesNotFit(at, want string) string { return fmt.Sprintf("%s does not fit: %s", at, want) }

func withParams(pattern string) string { return " with the params of " + pattern }

// Recorded calls judged again.

const (
	hiddenPast      = "values of earlier calls are redacted, or there are too many"
	wouldContinue   = "it would have continued"
	wouldSendOthers = "it would have sent other arguments"
	whichReplaced   = "the file is one policy: say which one it replaces"
)

func noToolHere(tool string) string { return fmt.Sprintf("there is no tool %s here", tool) }

func noPatternHere(pattern string) string { return fmt.Sprintf("there is no pattern %s here", pattern) }

func misfitHere(tool string) string {
	return fmt.Sprintf("the arguments do not fit the schema that %s has here", tool)
}

func wouldStop(reason string) string { return "it would have stopped: " + reason }

func wouldWait(reason string) string {
	return fmt.Sprintf("it would have waited for a person (%s)", reason)
}

func judgedAgain(calls, runs, different, elsewhere int) string {
	return fmt.Sprintf("%s of %s judged again: %d with a different decision, %s would have ended differently\n",
		console.Plural(calls, "call"), console.Plural(runs, "run"), different, console.Plural(elsewhere, "run"))
}

// Two configurations compared.

func onlyIn(policy, file string) string {
	return fmt.Sprintf("policy %s is only in %s\n", policy, file)
}

func differentRun(run, at, tool string, a, b any) string {
	return fmt.Sprintf("%s %s %s: %s, then %s\n", run, at, tool, a, b)
}

func differentTest(policy, test, tool string, a, b any) string {
	return fmt.Sprintf("%s, test %s, %s: %s, then %s\n", policy, test, tool, a, b)
}

func judgedByBoth(tests, calls, differences int) string {
	return fmt.Sprintf("%s and %s judged by both: %s\n", console.Plural(tests, "test"), console.Plural(calls, "recorded call"), console.Plural(differences, "difference"))
}

// Runs recorded as tests.

const (
	alreadyTest    = "it is already a test"
	nowDiffers     = "the policy now decides differently"
	noTestPossible = "no call of this run can become a test"
	noPolicyOfRun  = "no policy judges the calls of this run"
	addByHand      = "patterngate policy record RUN --print, and add the tests by hand"
	fileNotChanged = "the file does not load with these tests, so it was not changed"
)

func notRunHere(why string) string { return "it cannot be run here: " + why }

func noTestOf(command string, calls int, why string) string {
	return fmt.Sprintf("%s: no test of %s: %s", command, console.Plural(calls, "call"), why)
}

func callsJudgedBy(policies []string) string {
	return "its calls are judged by " + strings.Join(policies, " and ")
}

func isEmbedded(policy string) string { return policy + " is embedded and has no file" }

func rowsAdded(file string, rows int, policy string) string {
	return fmt.Sprintf("%s: %s added to the tests of %s\n", file, console.Plural(rows, "row"), policy)
}

func nothingAt(path, file string) string { return fmt.Sprintf("there is no %s in %s", path, file) }

func notBlock(path string) string {
	return fmt.Sprintf("the tests of %s are not a block of lines that begin with \"- \"", path)
}

func rowsNotAdded(file string) string {
	return fmt.Sprintf("the rows cannot be added to %s without changing something else in it", file)
}
