package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"patterngate/ijson"
)

// collector converts the validator's tree of faults to a flat list, with a text on what would be right.
type collector struct {
	root  *node
	value any // the value that was checked
	found []Mismatch
}

func (c *collector) add(at ijson.Pointer, k MismatchKind, want string) {
	c.found = append(c.found, Mismatch{Pointer: at, Kind: k, Want: oneLine(want)})
}

func (c *collector) collect(fault *santhosh.ValidationError) {
	at := ijson.Pointer("")
	for _, token := range fault.InstanceLocation {
		at = at.Member(token)
	}
	here := c.root.at(fault.InstanceLocation)
	switch k := fault.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range fault.Causes {
			c.collect(cause)
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			c.add(at.Member(name), MismatchUnknown, here.knownNames())
		}
	case *kind.PropertyNames:
		c.add(at.Member(k.Property), MismatchUnknown, here.knownNames())
	case *kind.Required:
		c.missing(at, here, k.Missing)
	case *kind.Dependency:
		c.missing(at, here, k.Missing)
	case *kind.DependentRequired:
		c.missing(at, here, k.Missing)
	case *kind.Type:
		c.add(at, MismatchType, strings.Join(k.Want, " or "))
	default:
		c.add(at, MismatchValue, wantOf(fault.ErrorKind))
		switch fault.ErrorKind.(type) {
		case *kind.Enum, *kind.Const: // the validator does not look into the value
			if v, there := at.In(c.value); there {
				c.inner(at, here, v)
			}
		}
	}
}

// within adds what is wrong inside a value that is not one of the listed ones: unknown members, missing members, wrong
// types.
func (c *collector) within(at ijson.Pointer, n *node, v any) {
	if n == nil {
		return
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			c.inner(at.Index(i), n.items, item)
		}
	case map[string]any:
		var missing []string
		for _, name := range n.required {
			if _, there := v[name]; !there {
				missing = append(missing, name)
			}
		}
		c.missing(at, n, missing)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if p, known := n.properties[name]; known {
				c.inner(at.Member(name), p, v[name])
			} else if n.closed {
				c.add(at.Member(name), MismatchUnknown, n.knownNames())
			} else {
				c.inner(at.Member(name), n.others, v[name])
			}
		}
	}
}

func (c *collector) inner(at ijson.Pointer, n *node, v any) {
	if n == nil || n.kind == "" || (&node{kind: n.kind}).fits(v) {
		c.within(at, n, v)
		return
	}
	c.add(at, MismatchType, n.kind)
}

func (c *collector) missing(at ijson.Pointer, here *node, names []string) {
	for _, name := range names {
		c.add(at.Member(name), MismatchMissing, here.at([]string{name}).wanted())
	}
}

// wantOf describes what a keyword requires of a value.
func wantOf(fault santhosh.ErrorKind) string {
	switch k := fault.(type) {
	case *kind.Enum:
		return oneOfNames(listed(k.Want))
	case *kind.Const:
		return listed([]any{k.Want})
	case *kind.Format:
		return "format " + k.Want
	case *kind.Pattern:
		return textThatMatches(k.Want)
	case *kind.MinLength:
		return atLeastCharacters(k.Want)
	case *kind.MaxLength:
		return atMostCharacters(k.Want)
	case *kind.MinItems:
		return atLeastItems(k.Want)
	case *kind.MaxItems:
		return atMostItems(k.Want)
	case *kind.UniqueItems:
		return differentItems
	case *kind.AnyOf, *kind.OneOf: // the faults of the other forms would mislead
		return oneOfForms
	case *kind.FalseSchema, *kind.Not:
		return notThis
	}
	if want := wantNumber(fault); want != "" {
		return want
	}
	return fault.LocalizedString(message.NewPrinter(language.English))
}

func wantNumber(fault santhosh.ErrorKind) string {
	switch k := fault.(type) {
	case *kind.Minimum:
		return atLeast(decimal(k.Want))
	case *kind.Maximum:
		return atMost(decimal(k.Want))
	case *kind.ExclusiveMinimum:
		return moreThan(decimal(k.Want))
	case *kind.ExclusiveMaximum:
		return lessThan(decimal(k.Want))
	case *kind.MultipleOf:
		return multipleOf(decimal(k.Want))
	}
	return ""
}

func decimal(r *big.Rat) string {
	f, _ := r.Float64()
	return string(ijson.Canonical(f))
}

func (n *node) knownNames() string {
	if n == nil || len(n.names) == 0 {
		return noSuchMember
	}
	return oneOfNames(strings.Join(n.names, ", "))
}

func listed(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			texts[i] = "null"
		case string:
			texts[i] = strconv.Quote(v)
		case map[string]any, []any:
			text, _ := json.Marshal(v) // it was decoded from JSON
			texts[i] = string(text)
		default:
			texts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(texts, ", ")
}

// wanted describes what an absent member must be. It includes the pattern of a text, because a caller cannot guess the
// text without it.
func (n *node) wanted() string {
	if n != nil && n.kind == "string" && n.spelling == "" && len(n.enum) == 0 && n.format == "" && n.pattern != "" {
		return textThatMatches(n.pattern)
	}
	return n.words()
}

// words describes in a word or two what a value must be. It uses the first that is set of spelling, enum, format and
// type.
func (n *node) words() string {
	switch {
	case n == nil:
	case n.spelling != "":
		return n.spelling
	case len(n.enum) > 0:
		return enumWords(n.enum)
	case n.format != "":
		return n.format
	case n.kind != "":
		return n.kind
	}
	return "any"
}

const maxEnumWords = 8

func enumWords(enum []any) string {
	var members []string
	for _, v := range enum[:min(len(enum), maxEnumWords)] {
		members = append(members, plainText(v))
	}
	if len(enum) > maxEnumWords {
		members = append(members, "...")
	}
	return strings.Join(members, "|")
}

const maxWant = 200

// oneLine returns a text as one line of at most maxWant characters. Texts of schemas may come from outside.
func oneLine(text string) string {
	text = ijson.Words(strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > maxWant {
		return string(slices.Concat(runes[:maxWant-1], []rune("…")))
	}
	return text
}
