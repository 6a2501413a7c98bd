package policycheck

import (
	"fmt"

	"patterngate/server/cli/console"
)

// This file has texts of the package that people read. The texts of help pages are beside their commands.

// Coverage.

const wasIgnored = "ignored"

func addRule(ignore string) string { return "add a rule, or --ignore " + ignore }

func addTest(ignore string) string { return "add a test, or --ignore " + ignore }

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
