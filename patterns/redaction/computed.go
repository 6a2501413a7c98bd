package redaction

import (
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/patterns"
)

// The result of a rule can reveal a hidden value, for example that a card begins with 4 or that a pin is right. A verdict lists values
// by their expressions. Each value whose expression reads a hidden place is hidden there, whatever the value is:
//
//	"args.card": ...                        the argument itself, also if it is too short to be found elsewhere
//	"args.pin == \"1234\"": true             computed from it
//	"run.effects.exists(e, e.args == ...)"   reads whole arguments, and so all their places
//	"vars.right_pin": true                   a var that reads a hidden place, see [ComputedVars]

// varsWord begins the pointer of a var that reads a hidden place.
const varsWord = "vars"

// maxExpression is the length in bytes above which an expression in a verdict may be cut (spec/config.md section 5.2). What a cut
// expression reads is not known.
const maxExpression = 200 - utf8.UTFMax

// ComputedVars returns the vars of a policy that read what pointers hide, as pointers such as /vars/right_pin. Add them to the given
// pointers. names and texts are those of the vars, in the order of the file. The result is nil if the pointers are wrong or hide nothing.
func ComputedVars(pointers, names, texts []string) []string {
	r, err := Read(pointers)
	if err != nil || r.None() {
		return nil
	}
	var list []string
	w := walk{Values: r.Values(), tools: r.tools}
	for i, name := range names {
		if i < len(texts) && w.computes(texts[i]) {
			list = append(list, "/"+varsWord+"/"+name)
			w.vars = append(w.vars, name)
		}
	}
	return list
}

// ruled goes through the values of a verdict, and hides those whose expression reads a hidden place.
func (w *walk) ruled(v map[string]any, places [][]string) any {
	if w.purpose == finding {
		return w.object(v, places) // a value computed from a hidden value is not that value
	}
	clear, secret := map[string]any{}, map[string]any{}
	for expression, value := range v {
		if w.reads(expression) {
			secret[expression] = value
		} else {
			clear[expression] = value
		}
	}
	out, isMap := w.object(clear, places).(map[string]any)
	if _, hidden := out[patterns.Redacted]; !isMap || hidden || len(out) != len(clear) {
		return w.replace(v)
	}
	for expression, value := range secret {
		if w.within(expression) {
			return w.replace(v)
		}
		out[expression] = w.replace(value)
	}
	return out
}

// reads reports whether an expression of a verdict reads a hidden place, or may read one because it may be cut.
func (w *walk) reads(expression string) bool {
	return !w.None() && len(expression) > maxExpression || w.computes(expression)
}

// computes reports whether an expression reads a hidden place. It judges by the words of the expression.
func (w *walk) computes(text string) bool {
	if w.None() {
		return false
	}
	words := expressionWords(text)
	for i, word := range words {
		before := i - 1
		if before > 0 && words[before].text == "?" {
			before--
		}
		inIndex := before >= 0 && words[before].text == "[" && !words[before].quoted
		switch {
		case word.name && w.touched(word.text, pathAfter(words[i+1:]), before >= 0 && words[before].text == "."):
			return true
		case word.quoted && inIndex && (strings.Contains(word.text, `\`) || w.touched(word.text, pathAfter(words[min(i+2, len(words)):]), true)):
			return true
		}
	}
	return false
}

// touched reports whether a path below a name holds a hidden place, or is inside one. If the name is a member, args means the arguments
// of other calls.
func (w *walk) touched(name string, path []string, member bool) bool {
	var places [][]string
	switch {
	case name == "args" && member:
		places = slices.Concat(w.Rules.args, w.Rules.input, everyArgs(w.Rules.tools))
	case name == "args":
		places = w.argsPlaces()
		if w.answer {
			places = append(places, []string{"answer"})
		}
	case name == "input" && !member:
		places = slices.Concat(w.input, w.argsPlaces())
	case name == "result":
		places = slices.Concat(w.Rules.result, everyResult(w.Rules.tools))
	case name == varsWord && !member:
		for _, v := range w.vars {
			places = append(places, []string{v})
		}
	}
	return slices.ContainsFunc(places, func(place []string) bool {
		for i := range min(len(place), len(path)) {
			if place[i] != "*" && place[i] != path[i] {
				return false
			}
		}
		return true
	})
}

func everyArgs(tools map[string]toolPlaces) (list [][]string) {
	for _, of := range tools {
		list = append(list, of.args...)
	}
	return list
}

func everyResult(tools map[string]toolPlaces) (list [][]string) {
	for _, of := range tools {
		list = append(list, of.result...)
	}
	return list
}

// pathAfter returns the path of members that follows a name. It ends at the first member that is not one of .a, .?a, ["a"], [?"a"].
func pathAfter(words []expressionWord) (path []string) {
	at := func(i int) expressionWord {
		if i < len(words) {
			return words[i]
		}
		return expressionWord{}
	}
	for {
		i := 1
		if at(1).text == "?" && !at(1).quoted {
			i = 2
		}
		switch open := at(0); {
		case open.text == "." && !open.quoted && at(i).name:
			if next := at(i + 1); next.text == "(" && !next.quoted { // a function of it
				return path
			}
			path, words = append(path, at(i).text), words[i+1:]
		case open.text == "[" && !open.quoted && at(i).quoted && at(i+1).text == "]" && !strings.Contains(at(i).text, `\`):
			path, words = append(path, at(i).text), words[i+2:]
		default:
			return path
		}
	}
}

// expressionWord is a word of an expression: a name, the inside of a text in quotes, or one character.
type expressionWord struct {
	text         string
	name, quoted bool
}

// expressionWords splits an expression into words. It does not check the syntax, because only valid expressions have values.
func expressionWords(text string) (words []expressionWord) {
	letter := func(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for len(text) > 0 {
		c, n := text[0], 1
		switch {
		case strings.HasPrefix(text, "//"):
			n = len(text)
			if end := strings.IndexByte(text, '\n'); end >= 0 {
				n = end
			}
		case c == '"' || c == '\'':
			quote := text[:1]
			if triple := strings.Repeat(quote, 3); strings.HasPrefix(text, triple) {
				quote = triple
			}
			inside := quotedLength(text[len(quote):], quote, endsRaw(words))
			words = append(words, expressionWord{text: text[len(quote) : len(quote)+inside], quoted: true})
			n = min(len(text), inside+2*len(quote))
		case c == '`': // a member's name in quotes
			end := strings.IndexByte(text[1:], '`')
			if end < 0 {
				end = len(text) - 1
			}
			words = append(words, expressionWord{text: text[1 : 1+end], name: true})
			n = min(len(text), end+2)
		case letter(c):
			for n < len(text) && (letter(text[n]) || digit(text[n])) {
				n++
			}
			words = append(words, expressionWord{text: text[:n], name: true})
		case c > ' ':
			words = append(words, expressionWord{text: text[:1]})
		}
		text = text[n:]
	}
	return words
}

// endsRaw reports whether the words end with the prefix of a raw text, which has no escapes: r"...".
func endsRaw(words []expressionWord) bool {
	if len(words) == 0 || !words[len(words)-1].name {
		return false
	}
	return strings.ContainsAny(words[len(words)-1].text, "rR") && len(words[len(words)-1].text) <= 2
}

// quotedLength returns the length of a text up to its closing quote.
func quotedLength(text, quote string, raw bool) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && !raw:
			i++
		case strings.HasPrefix(text[i:], quote):
			return i
		}
	}
	return len(text)
}

// Shown returns the values of a verdict that people can see. It leaves out those that reveal what is hidden; nil means that none is
// left.
func (h *Values) Shown(v map[string]any) map[string]any {
	if !h.Active() {
		return v
	}
	w := walk{Values: h, purpose: hiding, tools: h.Rules.tools}
	shown := map[string]any{}
	for expression, value := range v {
		if !w.reads(expression) && !h.Tells(expression) && !h.Tells(string(ijson.Canonical(value))) {
			shown[expression] = value
		}
	}
	if len(shown) == 0 {
		return nil
	}
	return shown
}
