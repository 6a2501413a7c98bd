package clientfile

import (
	"bytes"
	"fmt"
	"strings"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// diffLine is how much of a line is shown, in bytes.
const diffLine = 240

// UnifiedDiff shows how a text changes, as diff -U0 does, in one hunk: the lines around it are not shown, since they may
// hold what others keep secret. Of the lines that differ shown returns what may be shown. Line ends that are alike in both texts and byte order marks are not shown, control
// characters are spelled out, and long lines are cut around what differs in them.
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
				out.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return out.String()
}

// textLines splits a text behind its line ends.
func textLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	return lines
}

// hunkRange is a range of lines from first to end as diff -u numbers it.
func hunkRange(first, end int) string {
	if end == first {
		return fmt.Sprintf("%d,0", first)
	}
	return fmt.Sprintf("%d,%d", first+1, end-first)
}

// sameBytes is how many bytes two lines have in common at their beginnings.
func sameBytes(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// shownLine is a line fit to be read, cut where it is long: from shortly before the byte that matters.
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
