package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"golang.org/x/term"

	"patterngate/patterns"
	"patterngate/server/cli/console"
)

// The widths that tables and timelines are made for where nobody says which, and within which they are.
const (
	usualWidth = 100
	minWidth   = 60
	maxWidth   = 240
)

// width is how many characters a line may have: the terminal's, else COLUMNS, else the usual.
func (a *app) width() int {
	n, err := strconv.Atoi(console.Lookup(a.environ, "COLUMNS"))
	if f, ok := a.out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if w, _, fault := term.GetSize(int(f.Fd())); fault == nil && w > 0 {
			n, err = w, nil
		}
	}
	if err != nil || n <= 0 {
		return usualWidth
	}
	return min(max(n, minWidth), maxWidth)
}

// pageWidth returns how many characters a line of a page may have: the width of the terminal. In a file or another program recorded
// values are whole, each in one line, so that a search finds everything.
func (a *app) pageWidth() int {
	if isTerminal(a.out) {
		return a.width()
	}
	return console.WholeRows + a.width()
}

// tableWidth returns how many characters a row of a list may have: the width of the terminal. A file or another program gets
// whole rows, whatever COLUMNS is, so that a search finds everything.
func (a *app) tableWidth() int {
	if isTerminal(a.out) {
		return a.width()
	}
	return console.WholeRows
}

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
