package recordtext

import (
	"maps"
	"slices"

	"patterngate/patterns"
	"patterngate/server/cli/console"
)

// The widths of tables and timelines are constants of package console.
// budgetWords lists the limits of a run and, if known is set, how much of each was used.
func budgetWords(budget map[string]patterns.Spent, known bool) []string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(budget)) {
		if !known {
			parts = append(parts, atMost(console.Clip(name, console.MaxName), budget[name].Limit))
			continue
		}
		parts = append(parts, usedOf(console.Clip(name, console.MaxName), budget[name].Used, budget[name].Limit))
	}
	return parts
}
