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
func distance(a, b string) int {
	if d := utf8.RuneCountInString(a) - utf8.RuneCountInString(b); d > 2 || d < -2 {
		return 3
	}
	x, y := []rune(a), []rune(b)
	last, row := make([]int, len(y)+1), make([]int, len(y)+1)
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
		}
		last, row = row, last
	}
	return last[len(y)]
}
