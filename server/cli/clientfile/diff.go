package clientfile

import (
	"bytes"
	"fmt"
	"strings"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// diffLine is the number of bytes of a long line that the diff shows, without the … that marks a cut.
const diffLine = 240

// UnifiedDiff returns the difference of two texts in the format of diff -U0, as one hunk. It returns "" for equal texts.
//
// It omits the lines around the hunk, because they may hold secrets. It passes each line that differs to shown, which
// returns the part that a reader may see. It omits line ends and writes control characters as \uXXXX. It cuts long
// lines; if one line replaces one other, it cuts around the first difference.
func UnifiedDiff(file string, before, after []byte, shown func(line string) string) string {
	if bytes.Equal(before, after) {
		return ""
	}
	a, b := textLines(before), textLines(after)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%s +%s @@\n", printable.Text(file), printable.Text(file),
		hunkRange(head, len(a)-tail), hunkRange(head, len(b)-tail))
	from, gone, come := 0, a[head:len(a)-tail], b[head:len(b)-tail]
	if len(gone) == 1 && len(come) == 1 {
		from = sameBytes(shown(gone[0]), shown(come[0]))
	}
	for _, lines := range []struct {
		mark string
		list []string
		from int
	}{{"-", gone, from}, {"+", come, from}} {
		for _, line := range lines.list {
			out.WriteString(lines.mark + shownLine(shown(line), lines.from) + "\n")
			if !strings.HasSuffix(line, "\n") {
				out.WriteString(noLineEnd + "\n")
			}
		}
	}
	return out.String()
}

// textLines splits a text after each line feed. Each line keeps its line end.
func textLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	return lines
}

// hunkRange returns the lines from first up to end, without end, as diff -u writes a range. Both count from 0.
func hunkRange(first, end int) string {
	if end == first {
		return fmt.Sprintf("%d,0", first)
	}
	return fmt.Sprintf("%d,%d", first+1, end-first)
}

// sameBytes returns the number of equal bytes at the start of two lines.
func sameBytes(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// shownLine returns a line for people: without its line end, and with control characters other than tabs as \uXXXX. It cuts a
// long line so that it begins shortly before the byte from.
func shownLine(line string, from int) string {
	line = strings.TrimRight(line, "\r\n")
	before := ""
	if len(line) > diffLine && from > diffLine/4 {
		before, line = "…", strings.ToValidUTF8(line[min(from, len(line))-diffLine/4:], "")
	}
	if cut := ijson.Cut(line, diffLine); cut != line {
		line = cut + "…"
	}
	words := strings.Split(line, "\t")
	for i, w := range words {
		words[i] = printable.Text(w)
	}
	return before + strings.Join(words, "\t")
}
