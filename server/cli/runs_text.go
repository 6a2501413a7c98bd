package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"patterngate/ijson/printable"
	"patterngate/patterns"
)

// The widths that tables and timelines are made for where nobody says which, and within which they are.
const (
	usualWidth = 100
	minWidth   = 60
	maxWidth   = 240
)

// width is how many characters a line may have: the terminal's, else COLUMNS, else the usual.
func (a *app) width() int {
	n, err := strconv.Atoi(lookup(a.environ, "COLUMNS"))
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

// wholeRows is the width of a table that is not printed to a terminal: its rows are not cut. A page has this width plus the width at
// which our own words are folded: nothing else is cut or wrapped.
const wholeRows = 1 << 26

// isWhole reports whether nothing is cut at a width.
func isWhole(width int) bool { return width >= wholeRows }

// foldWidth returns the width at which our own words are folded on a page of this width.
func foldWidth(width int) int {
	if isWhole(width) {
		return width - wholeRows
	}
	return width
}

// readable returns the width of a page with lines of at most 100 characters: longer ones are hard to read.
func readable(width int) int {
	if isWhole(width) {
		return wholeRows + min(foldWidth(width), 100)
	}
	return min(width, 100)
}

// pageWidth returns how many characters a line of a page may have: the width of the terminal. In a file or another program recorded
// values are whole, each in one line, so that a search finds everything.
func (a *app) pageWidth() int {
	if isTerminal(a.out) {
		return a.width()
	}
	return wholeRows + a.width()
}

// part returns a text for a place of n characters on a page. The text is cut unless the page is whole.
func part(text string, n, width int) string {
	if isWhole(width) {
		n = wholeRows
	}
	return clip(text, n)
}

// tableWidth returns how many characters a row of a list may have: the width of the terminal. A file or another program gets
// whole rows, whatever COLUMNS is, so that a search finds everything.
func (a *app) tableWidth() int {
	if isTerminal(a.out) {
		return a.width()
	}
	return wholeRows
}

// cell returns a text for a column of that many characters. It cuts the text only if the table is cut.
func cell(text string, column, width int) string {
	if isWhole(width) {
		column = max(column, maxCell)
	}
	return clip(text, column)
}

// maxCell is how many characters of a name a table without cuts shows. No name is as long.
const maxCell = 256

// clip is a text in one line of at most n characters, its control and bidi characters spelled out.
func clip(text string, n int) string {
	text = text[:min(len(text), utf8.UTFMax*(n+1))] // a character that this splits is cut off below
	text = printable.Text(text)
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(0, n-3)]) + "..."
}

// maxFenced is how many lines of an outsider's text stand on a page.
const maxFenced = 12

// fenced is an outsider's text on lines of their own, each behind a bar: nothing in it can be taken for a line of ours.
func fenced(indent, text string, width int) string { return fencedTo(maxFenced, indent, text, width) }

// fencedTo is as [fenced], cut after so many lines. On a whole page it is not cut.
func fencedTo(most int, indent, text string, width int) string {
	var b strings.Builder
	if isWhole(width) {
		most = math.MaxInt
	}
	room := max(20, width-len(indent)-len("| "))
	lines := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		runes := []rune(printable.Text(line))
		for first := true; first || len(runes) > 0; first = false {
			if lines++; lines > most {
				fmt.Fprintf(&b, "%s| ... (%d bytes in all)\n", indent, len(text))
				return b.String()
			}
			n := min(room, len(runes))
			b.WriteString(strings.TrimRight(indent+"| "+string(runes[:n]), " ") + "\n")
			runes = runes[n:]
		}
	}
	return b.String()
}

// maxRendered is how much of a recorded value is looked at for one line or page, in bytes.
const maxRendered = 64 << 10

// oneLine is recorded JSON in one line; a longer one is cut.
func oneLine(raw json.RawMessage, n int) string {
	if isWhole(n) {
		return clip(string(raw), n)
	}
	return clip(string(raw[:min(len(raw), maxRendered)]), n)
}

// took words a duration of a record.
func took(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.3f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %02d h", int(d.Hours())/24, int(d.Hours())%24)
}

// sinceStart words when something happened, since the start.
func sinceStart(seconds float64) string {
	if seconds < 3600 {
		return fmt.Sprintf("%.3f", seconds)
	}
	return took(seconds)
}

// budgetWords are the limits of a run and, where that is known, what was used of them.
func budgetWords(budget map[string]patterns.Spent, known bool) []string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(budget)) {
		if !known {
			parts = append(parts, fmt.Sprintf("%s at most %v", clip(name, maxName), budget[name].Limit))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %v of %v", clip(name, maxName), budget[name].Used, budget[name].Limit))
	}
	return parts
}

// folded is words of ours in lines of at most width characters, the second and later ones behind an indent.
func folded(text string, width int, indent string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		size := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case n+1+size > width:
			b.WriteString("\n" + indent)
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}

// maxName is how much of a name or reason stands in a line, in characters.
const maxName = 48

// plural counts things.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
