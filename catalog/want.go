package catalog

import (
	"fmt"
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

// collector turns the validator's tree of faults into a flat list, with words on what would have been right.
type collector struct {
	root  *node
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
	}
}

func (c *collector) missing(at ijson.Pointer, here *node, names []string) {
	for _, name := range names {
		c.add(at.Member(name), MismatchMissing, here.at([]string{name}).words())
	}
}

// wantOf words what a keyword asks of a value.
func wantOf(fault santhosh.ErrorKind) string {
	switch k := fault.(type) {
	case *kind.Enum:
		return "one of " + listed(k.Want)
	case *kind.Const:
		return listed([]any{k.Want})
	case *kind.Format:
		return "format " + k.Want
	case *kind.Pattern:
		return "a text that matches " + k.Want
	case *kind.MinLength:
		return fmt.Sprintf("at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("at most %d items", k.Want)
	case *kind.UniqueItems:
		return "items that are all different"
	case *kind.AnyOf, *kind.OneOf: // the faults of the ways not meant would mislead
		return "one of the forms that the schema allows"
	case *kind.FalseSchema, *kind.Not:
		return "not this"
	}
	if want := wantNumber(fault); want != "" {
		return want
	}
	return fault.LocalizedString(message.NewPrinter(language.English))
}

func wantNumber(fault santhosh.ErrorKind) string {
	switch k := fault.(type) {
	case *kind.Minimum:
		return "at least " + decimal(k.Want)
	case *kind.Maximum:
		return "at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "a multiple of " + decimal(k.Want)
	}
	return ""
}

func decimal(r *big.Rat) string {
	f, _ := r.Float64()
	return string(ijson.Canonical(f))
}

func (n *node) knownNames() string {
	if n == nil || len(n.names) == 0 {
		return "no member of that name"
	}
	return "one of " + strings.Join(n.names, ", ")
}

func listed(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			texts[i] = "null"
		case string:
			texts[i] = strconv.Quote(v)
		default:
			texts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(texts, ", ")
}

// words says in a word or two what a value is to be: the most telling of spelling, enum, format and type.
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

// oneLine keeps a text on one line of at most maxWant characters; texts of schemas may come from outside.
func oneLine(text string) string {
	text = ijson.Words(strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > maxWant {
		return string(slices.Concat(runes[:maxWant-1], []rune("…")))
	}
	return text
}
