package catalog

import (
	"slices"
	"strings"
	"unicode"
)

// Misspelt reports whether a name can only be a misspelling of another one that it is near to, see [Near]. It returns false where
// the two can name different things:
//   - other digits: v1 and v2
//   - another short word: get_x and set_x, timeout_s and timeout_ms
//   - one word more: timeout_s and timeout
//   - a word that means the opposite: include and exclude, lock and unlock
func Misspelt(got, name string) bool {
	if strings.EqualFold(got, name) {
		return true
	}
	if digitsOf(got) != digitsOf(name) {
		return false
	}
	a, b := wordsOf(got), wordsOf(name)
	if strings.Join(a, "") == strings.Join(b, "") {
		return true
	}
	if len(a) != len(b) {
		return !holds(a, b) && !holds(b, a)
	}
	for i, word := range a {
		if word != b[i] && (opposed(word, b[i]) || len(a) > 1 && ownWords(word, b[i])) {
			return false
		}
	}
	return true
}

func digitsOf(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
}

// wordsOf returns the words of a name in lower case: get_user, get-user and getUser have two.
func wordsOf(name string) []string {
	var words []string
	from, last := 0, ' '
	for i, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			words = append(words, name[from:i])
			from = i
		}
		last = r
	}
	var parts []string
	for _, word := range append(words, name[from:]) {
		parts = append(parts, strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	return parts
}

// holds reports whether more contains all words of less in their order.
func holds(more, less []string) bool {
	for _, word := range more {
		if len(less) > 0 && less[0] == word {
			less = less[1:]
		}
	}
	return len(less) == 0
}

// ownWords reports whether two short words are different words: units, currencies, get and set. A plural, or the beginning of the
// other word, is not a different word.
func ownWords(a, b string) bool {
	const short = 3
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(b) <= short && (len(a) < 2 || !strings.HasPrefix(b, a))
}

// opposed reports whether one word means the opposite of the other.
func opposed(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return slices.ContainsFunc(turning, func(prefix string) bool { return b == prefix+a }) ||
		slices.ContainsFunc(opposites, func(p [2]string) bool { return turns(a, b, p) || turns(b, a, p) })
}

func turns(a, b string, pair [2]string) bool {
	rest, begins := strings.CutPrefix(a, pair[0])
	other, alike := strings.CutPrefix(b, pair[1])
	return begins && alike && (rest == other || rest != "" && other != "" && distance(rest, other) <= 1)
}

var (
	turning = []string{"un", "in", "im", "ir", "il", "de", "re", "no", "non", "dis", "a", "ex", "up", "on"}
	// opposites are words, or beginnings of words, that are spelled alike and mean opposites.
	opposites = [][2]string{
		{"min", "max"}, {"minimum", "maximum"}, {"inc", "exc"}, {"incr", "decr"}, {"inc", "dec"}, {"imp", "exp"}, {"int", "ext"}, {"in", "ex"},
		{"asc", "desc"}, {"ascend", "descend"}, {"payer", "payee"}, {"lender", "lendee"}, {"employer", "employee"}, {"start", "stop"}, {"east", "west"},
		{"north", "south"}, {"male", "female"}, {"credit", "debit"}, {"enable", "disable"}, {"lower", "upper"}, {"send", "spend"}, {"front", "from"}, {"accept", "except"},
	}
)
