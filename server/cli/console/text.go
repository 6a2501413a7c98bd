package console

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"patterngate/ijson/printable"
)

// WholeRows is the width of a table that is not printed to a terminal: its rows are not cut. A page has this width plus the width at
// which Patterngate's own words are folded.
const WholeRows = 1 << 26

// IsWhole reports whether nothing is cut at a width.
func IsWhole(width int) bool { return width >= WholeRows }

// FoldWidth returns the width at which Patterngate's own words are folded on a page of this width.
func FoldWidth(width int) int {
	if IsWhole(width) {
		return width - WholeRows
	}
	return width
}

// Readable returns the width of a page with lines of at most 100 characters: longer ones are hard to read.
func Readable(width int) int {
	if IsWhole(width) {
		return WholeRows + min(FoldWidth(width), 100)
	}
	return min(width, 100)
}

// Part returns a text for a place of n characters on a page. The text is cut unless the page is whole.
func Part(text string, n, width int) string {
	if IsWhole(width) {
		n = WholeRows
	}
	return Clip(text, n)
}

// Cell returns a text for a column of that many characters. It cuts the text only if the table is cut.
func Cell(text string, column, width int) string {
	if IsWhole(width) {
		column = max(column, maxCell)
	}
	return Clip(text, column)
}

// maxCell is how many characters of a name a table without cuts shows. No name is as long.
const maxCell = 256

// Clip returns a text as one line of at most n characters. Control and bidi characters are spelled out. A cut text ends with three dots.
func Clip(text string, n int) string {
	text = text[:min(len(text), utf8.UTFMax*(n+1))] // a character that this splits is cut off below
	text = printable.Text(text)
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(0, n-3)]) + "..."
}

// MaxFenced is how many lines of a text from outside a page shows.
const MaxFenced = 12

// Fenced returns a text from outside with a bar before each line. The bar shows that the line is not Patterngate's own.
// It shows at most [MaxFenced] lines.
func Fenced(indent, text string, width int) string { return FencedTo(MaxFenced, indent, text, width) }

// FencedTo is [Fenced] with another limit of lines. On a whole page the text is not cut.
func FencedTo(most int, indent, text string, width int) string {
	var b strings.Builder
	if IsWhole(width) {
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

// maxRendered bounds how many bytes of a recorded value are read for one line.
const maxRendered = 64 << 10

// OneLine returns recorded JSON as one line of at most n characters.
func OneLine(raw json.RawMessage, n int) string {
	if IsWhole(n) {
		return Clip(string(raw), n)
	}
	return Clip(string(raw[:min(len(raw), maxRendered)]), n)
}

// Took returns a duration in words: "0.120 s", "2 min 03 s".
func Took(seconds float64) string {
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

// SinceStart returns a time since the start of a run: seconds with three decimals, or words from one hour on.
func SinceStart(seconds float64) string {
	if seconds < 3600 {
		return fmt.Sprintf("%.3f", seconds)
	}
	return Took(seconds)
}

// Fold breaks words into lines of at most width characters. The second and later lines begin with the indent.
func Fold(text string, width int, indent string) string {
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

// MaxName is how many characters of a name or reason a line shows.
const MaxName = 48

// Plural returns a number with its noun: "1 run", "2 runs".
func Plural[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
