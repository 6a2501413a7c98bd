package redaction

import (
	"slices"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
	"patterngate/patterns"
)

// What a rule computes can tell what is hidden: that a card begins with 4, that a pin is right. So beside a verdict, where values
// stand by their expressions, those are hidden whose expression reads a hidden place, whatever they are:
//
//	"args.card": ...                        the argument itself, also where it is too short to be known again
//	"args.pin == \"1234\"": true             computed from it
//	"run.effects.exists(e, e.args == ...)"   reads arguments whole, and so all their places
//	"vars.right_pin": true                   a var that does so: who knows the policies names it, see [ComputedVars]

// varsWord begins the pointer of a var that reads a hidden place.
const varsWord = "vars"

// maxExpression is from where on an expression beside its value may be cut (spec/config.md section 5.2): what it reads is not known.
const maxExpression = 200 - utf8.UTFMax

// ComputedVars names the vars of a policy, given by their names and texts in the order of the file, that read what pointers hide, as
// pointers to be added to these.
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

// ruled are values beside a verdict.
func (w *walk) ruled(v map[string]any, places [][]string) any {
	if w.purpose == finding {
		return w.object(v, places) // what is computed from a value is not that value
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

// reads reports an expression beside its value that reads a hidden place.
func (w *walk) reads(expression string) bool {
	return !w.None() && len(expression) > maxExpression || w.computes(expression)
}

// computes reports an expression that reads a hidden place, by its words.
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

// touched reports whether a path below what has a name holds a hidden place, or lies in one. Arguments that are a member are those
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

// pathAfter is the path of members that follows a name, as far as it is written out: .a, .?a, ["a"], [?"a"].
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

// expressionWord is a word of an expression: a name, a text in quotes without these, or one character.
type expressionWord struct {
	text         string
	name, quoted bool
}

// expressionWords are the words of an expression. It is not read further: what means nothing has no value either.
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

// endsRaw reports that a text in quotes that follows has no escapes: r"...".
func endsRaw(words []expressionWord) bool {
	if len(words) == 0 || !words[len(words)-1].name {
		return false
	}
	return strings.ContainsAny(words[len(words)-1].text, "rR") && len(words[len(words)-1].text) <= 2
}

// quotedLength is how long a text in quotes is, without its end.
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

// Shown returns values beside a verdict for people to see, without those that tell what is hidden; nil: none is left.
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
