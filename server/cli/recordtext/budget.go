package recordtext

import (
	"fmt"
	"maps"
	"slices"

	"patterngate/patterns"
	"patterngate/server/cli/console"
)

// The widths that tables and timelines are made for where nobody says which, and within which they are.
const ()

// budgetWords are the limits of a run and, where that is known, what was used of them.
func budgetWords(budget map[string]patterns.Spent, known bool) []string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(budget)) {
		if !known {
			parts = append(parts, fmt.Sprintf("%s at most %v", console.Clip(name, console.MaxName), budget[name].Limit))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %v of %v", console.Clip(name, console.MaxName), budget[name].Used, budget[name].Limit))
	}
	return parts
}
