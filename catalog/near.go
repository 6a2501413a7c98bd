package catalog

import (
	"strings"
	"unicode/utf8"
)

// Near returns the one name that got means. That is a name that differs only in letter case. If there is none, it is a
// name at an edit distance of at most 2 and of less than a third of the name's length. If no name or several names
// match, Near returns "" (spec/surface.md section 1).
func Near(got string, names []string) string {
	if got == "" || len(got) > 256 {
		return ""
	}
	if n, ok := only(names, func(n string) bool { return strings.EqualFold(n, got) }); ok {
		return n
	}
	n, _ := only(names, func(n string) bool {
		d := distance(got, n)
		return d <= 2 && 3*d < utf8.RuneCountInString(n)
	})
	return n
}

// NearTyped returns the name that a person probably meant by got, a word in a command line or a configuration. It differs from
// [Near] in two ways: two swapped neighbours count as one edit, and of several matches it returns the nearest. It returns "" if no
// name is near, or if several are equally near.
func NearTyped(got string, names []string) string {
	if near := Near(got, names); near != "" || got == "" || len(got) > 256 {
		return near
	}
	least, found := 3, ""
	for _, n := range names {
		switch d := swapDistance(got, n); {
		case d > 2 || 3*d >= utf8.RuneCountInString(n) || d > least || n == found:
		case d < least:
			least, found = d, n
		default:
			found = ""
		}
	}
	return found
}

func only(names []string, near func(string) bool) (string, bool) {
	found := ""
	for _, n := range names {
		if !near(n) || n == found {
			continue
		}
		if found != "" {
			return "", false
		}
		found = n
	}
	return found, found != ""
}

// distance returns the Levenshtein distance of two names. If their lengths differ by more than 2, it returns 3.
func distance(a, b string) int { return edits(a, b, false) }

// swapDistance is [distance], but two swapped neighbours are one edit.
func swapDistance(a, b string) int { return edits(a, b, true) }

func edits(a, b string, swaps bool) int {
	if d := utf8.RuneCountInString(a) - utf8.RuneCountInString(b); d > 2 || d < -2 {
		return 3
	}
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if swaps && i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
