package catalog

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"patterngate/ijson"
)

// Signature describes a tool and its arguments for a proposer: "issue_refund {user_id: integer, amount_usd: number,
// reason?: string}". The arguments are in the order of their declaration, "?" marks optional ones, and hidden ones are
// left out.
func (t Tool) Signature(hidden ...string) string {
	var words []string
	t.eachArgument(hidden, func(name string, required bool, n *node) {
		mark := "?"
		if required {
			mark = ""
		}
		words = append(words, name+mark+": "+n.words())
	})
	return t.Name + " {" + strings.Join(words, ", ") + "}"
}

// ArgumentWords returns the same as [Tool.Signature] by argument, as a decoded JSON object: {"user_id": "integer",
// "reason": "optional string"}.
func (t Tool) ArgumentWords(hidden ...string) map[string]any {
	words := map[string]any{}
	t.eachArgument(hidden, func(name string, required bool, n *node) {
		optional := "optional "
		if required {
			optional = ""
		}
		words[name] = optional + n.words()
	})
	return words
}

// These constants limit how many members ReturnWords describes, and how deep they are.
const (
	maxReturnWords = 64
	maxReturnDepth = 5
)

// ReturnWords describes what a tool returns in the shape of its result, as a decoded value: {"month": "string",
// "daily_sales": [{"day": "string", "orders": "integer"}]}. It returns nil if the schema names no members. It leaves
// out members below 5 levels and those after the first 64.
func (t Tool) ReturnWords() any {
	if t.Output == nil || len(t.Output.root().names) == 0 {
		return nil
	}
	left := maxReturnWords
	return t.Output.root().returnWords(&left, maxReturnDepth)
}

func (n *node) returnWords(left *int, deep int) any {
	switch {
	case n == nil || deep == 0:
	case len(n.names) > 0:
		object := map[string]any{}
		for _, name := range n.names {
			if *left--; *left < 0 {
				break
			}
			object[name] = n.properties[name].returnWords(left, deep-1)
		}
		return object
	case n.kind == "array" && n.items != nil:
		return []any{n.items.returnWords(left, deep-1)}
	}
	return n.words()
}

func (t Tool) eachArgument(hidden []string, visit func(name string, required bool, n *node)) {
	if t.Input == nil {
		return
	}
	root := t.Input.root()
	for _, name := range root.names {
		if !slices.Contains(hidden, name) {
			visit(name, slices.Contains(root.required, name), root.properties[name])
		}
	}
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

const maxSay = 200

// Say describes a call for people from its checked arguments, in at most 200 bytes. It fills the tool's phrase:
// "refunding 1200.00 USD to user 42". Without a phrase, or if an argument of the phrase is missing, it returns the
// tool's name and the numbers, booleans and enum members.
//
// The phrase can contain numbers, booleans, enum members and texts that must match a pattern. Free text is never
// included, because a model may have written it.
func (t Tool) Say(args map[string]any) string {
	said := map[string]string{}
	var list []string
	for _, p := range t.Input.Properties() {
		v, given := args[p.Name]
		if text, ok := p.say(v); given && ok {
			said[p.Name] = text
			list = append(list, p.Name+" "+text)
		} else if text, ok := p.sayText(v); given && ok {
			said[p.Name] = text
		}
	}
	whole := t.Phrase != ""
	phrase := placeholder.ReplaceAllStringFunc(t.Phrase, func(name string) string {
		text, ok := said[strings.Trim(name, "{}")]
		whole = whole && ok
		return text
	})
	switch {
	case whole:
		return ijson.Cut(phrase, maxSay)
	case len(list) > 0:
		return ijson.Cut(fmt.Sprintf("%s (%s)", t.Name, strings.Join(list, ", ")), maxSay)
	}
	return t.Name
}

// checkPhrase rejects a phrase that is too long, or has a placeholder that Say can never fill.
func (t Tool) checkPhrase() error {
	if n := utf8.RuneCountInString(t.Phrase); n > maxPhrase {
		return fmt.Errorf(phraseLength, t.Name, n, maxPhrase)
	}
	if t.Phrase == "" {
		return nil
	}
	for _, p := range placeholder.FindAllString(t.Phrase, -1) {
		if !t.Sayable(strings.Trim(p, "{}")) {
			return fmt.Errorf(phraseArgument, t.Name, p)
		}
	}
	return nil
}

// Sayable reports whether a phrase may name an argument: a number, a boolean, an enum, or a text with a pattern.
func (t Tool) Sayable(name string) bool {
	return slices.ContainsFunc(t.Input.Properties(), func(p Property) bool { return p.Name == name && p.sayable() })
}

func (p Property) sayable() bool {
	return p.Type == "number" || p.Type == "integer" || p.Type == "boolean" || len(p.Enum) > 0 || p.Type == "string" && p.Pattern != ""
}

// maxSayText is the maximum size, in bytes, of a text with a pattern in a phrase.
const maxSayText = 64

// sayText returns a text that has a pattern. It is used only in phrases, where a person chose it.
func (p Property) sayText(v any) (string, bool) {
	text, isText := v.(string)
	return ijson.Cut(ijson.Words(text), maxSayText), isText && p.Type == "string" && p.Pattern != ""
}

// say returns one value as text if it is of a kind that cannot contain a message.
func (p Property) say(v any) (string, bool) {
	if slices.ContainsFunc(p.Enum, func(member any) bool { return ijson.Equal(member, v) }) {
		return ijson.Words(plainText(v)), true
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), p.Type == "boolean"
	case float64:
		number := p.Type == "number" || p.Type == "integer"
		if strings.HasSuffix(p.Name, "_usd") && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', 2, 64), number
		}
		return string(ijson.Canonical(v)), number
	}
	return "", false
}
