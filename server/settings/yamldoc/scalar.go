package yamldoc

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/token"

	"patterngate/ijson"
)

// Spellings of numbers. A text that JSON does not know as a number, but another reader of YAML could, is refused. So all readers
// see the same number.
var (
	jsonNumber  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`)
	decimal     = regexp.MustCompile(`^([-+]?)([0-9]*)(?:\.([0-9]*))?([eE][-+]?[0-9]+)?$`)
	otherRadix  = regexp.MustCompile(`^[-+]?0(?:o[0-7]+|x[0-9a-fA-F]+)$`)
	notANumber  = regexp.MustCompile(`^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$`)
	wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)
)

// resolvePlain reads plain text by the core schema of YAML 1.2 (spec/config.md section 1): null, booleans, numbers, else text. It
// returns an Unreadable node for a text that looks like a number and is not spelled as in JSON.
func resolvePlain(text string) Node {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return Node{Kind: Null}
	case "true", "True", "TRUE":
		return Node{Kind: Bool, Flag: true}
	case "false", "False", "FALSE":
		return Node{Kind: Bool}
	}
	if strings.IndexByte("+-.0123456789", text[0]) < 0 {
		return Node{Kind: Text, Text: text}
	}
	if jsonNumber.MatchString(text) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || wholeNumber.MatchString(text) && math.Abs(n) > ijson.MaxInteger {
			return Node{}
		}
		if n == 0 {
			n = 0 // not -0
		}
		return Node{Kind: Number, Number: n, Text: text}
	}
	if notANumber.MatchString(text) || looksNumeric(strings.ReplaceAll(text, "_", "")) {
		return Node{}
	}
	return Node{Kind: Text, Text: text}
}

// IsPlainText reports whether text without quotes is read as text, not as null, boolean or number. It does not check for characters
// that plain text must not have.
func IsPlainText(text string) bool { return resolvePlain(text).Kind == Text }

// looksNumeric reports whether some reader of YAML reads the text as a number.
func looksNumeric(text string) bool {
	return otherRadix.MatchString(text) || decimal.MatchString(text) && strings.ContainsAny(text, "0123456789")
}

// Scalar reads plain text as null, boolean, number or text, at a place. A refused spelling of a number is an Unreadable node and a
// fault that shows the right spelling.
func Scalar(text string, at Place, path *Path, faults *Faults) *Node {
	n := resolvePlain(text)
	n.At, n.nodes = at, 1
	if n.Kind == Unreadable {
		want := "write " + plainSpelling(text)
		if cut := ijson.Cut(text, MaxQuoted); cut == text {
			want += orForText(Quoted(text))
		}
		faults.Add(at, path, Fault{Reason: notAsInJSON, Got: ijson.Cut(text, MaxQuoted), Want: want})
	}
	return &n
}

// plainSpelling returns the number that is meant, spelled as in JSON, or words for the numbers that are allowed.
func plainSpelling(text string) string {
	text = strings.ReplaceAll(text, "_", "")
	if otherRadix.MatchString(text) {
		n, err := strconv.ParseInt(text, 0, 64)
		if err != nil || n > ijson.MaxInteger || n < -ijson.MaxInteger {
			return wholeWords
		}
		return strconv.FormatInt(n, 10)
	}
	part := decimal.FindStringSubmatch(text)
	if part == nil || part[2]+part[3] == "" {
		return aNumber
	}
	plain := strings.TrimPrefix(part[1], "+") + or0(strings.TrimLeft(part[2], "0"))
	if part[3] != "" {
		plain += "." + part[3]
	}
	plain += part[4]
	if n := resolvePlain(plain); n.Kind == Number {
		return plain
	}
	if wholeNumber.MatchString(plain) {
		return wholeWords
	}
	return smallerNumber
}

const wholeWords = smallerInteger

func or0(digits string) string {
	if digits == "" {
		return "0"
	}
	return digits
}

// faultOfPlain finds plain text that YAML does not allow and the scanner accepts. That includes every known case in which the scanner
// changes the text or gives it to the wrong key. The zero Fault is none.
func faultOfPlain(tk *token.Token, flow, key bool) Fault {
	text, written := tk.Value, strings.TrimSpace(tk.Origin)
	quote := func(reason string) Fault { return Fault{Reason: reason, Want: wantQuotes} }
	switch {
	case text == "":
		return Fault{}
	case strings.ContainsRune(written, '\t'):
		return quote(tabInText)
	case key && strings.ContainsRune(written, '\n'):
		return quote(keyOnSeveralLines)
	case strings.ContainsAny(text[:1], ",[]{}#&*!|>'\"%@`"):
		return quote(startsWith(text[:1]))
	case (text[0] == '-' || text[0] == '?' || text[0] == ':') && (len(text) == 1 || text[1] == ' '):
		return quote(startsWith(text[:1]))
	case strings.Contains(text, ": ") || strings.HasSuffix(text, ":"):
		return quote(colonInText)
	case strings.Contains(text, " #"):
		return quote(hashInText)
	case flow && strings.ContainsAny(text, ",[]{}"):
		return quote(bracketInText)
	}
	return Fault{}
}

// faultOfQuoted finds unknown escapes in the quoted text with which the source begins, and text right behind its closing quote. The
// zero Fault is none; a source that does not begin with a quote has none.
func faultOfQuoted(source string) Fault {
	if !strings.HasPrefix(source, `"`) && !strings.HasPrefix(source, "'") {
		return Fault{}
	}
	end := quotedEnd(source)
	if end < 0 {
		return Fault{Reason: unreadableQuotes, Want: wantEscapes}
	}
	rest := source[end:]
	after := strings.TrimLeft(rest, " \t")
	if after == "" || strings.IndexByte("\n,]}:", after[0]) >= 0 || after[0] == '#' && len(after) < len(rest) {
		return Fault{}
	}
	return Fault{Reason: textAfterQuote, Want: wantOneText}
}

// quotedEnd returns the length of the quoted text with which the source begins. It is -1 if the text does not end or has an escape
// that YAML does not know.
func quotedEnd(source string) int {
	quote := source[0]
	for i := 1; i < len(source); i++ {
		switch {
		case quote == '"' && source[i] == '\\':
			if !escape.MatchString(source[i:min(i+10, len(source))]) {
				return -1
			}
			i++
		case quote == '\'' && strings.HasPrefix(source[i:], "''"):
			i++
		case source[i] == quote:
			return i + 1
		}
	}
	return -1
}

var escape = regexp.MustCompile(`^\\(?:[0abtnvfre "/\\N_LP\t\n]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})`)
