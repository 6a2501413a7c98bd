package expr

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"patterngate/catalog"
)

// This part of the file has words and signs of other languages, and what to write in CEL instead.

// otherOperators are words and signs of other languages where the parser finds no operator of CEL.
var otherOperators = []struct{ got, want string }{
	{"and", "&&"}, {"or", "||"}, {"is", "=="}, {"===", "=="}, {"=", "=="}, {"&", "&&"}, {"|", "||"}, {"AND", "&&"}, {"OR", "||"},
}

// infixFunctions are functions that people write between two values.
var infixFunctions = map[string]string{
	"contains": "contains", "includes": "contains", "like": "contains", "startsWith": "startsWith", "startswith": "startsWith",
	"endsWith": "endsWith", "endswith": "endsWith", "matches": "matches",
}

// otherFunctions are functions of other languages, with the one of CEL.
var otherFunctions = map[string]string{
	"len": "size", "length": "size", "count": "size", "includes": "contains", "some": "exists", "any": "exists", "every": "all",
	"lower": "lowerAscii", "toLower": "lowerAscii", "toLowerCase": "lowerAscii", "upper": "upperAscii", "toUpper": "upperAscii",
	"toUpperCase": "upperAscii", "match": "matches", "test": "matches", "str": "string", "float": "double",
}

// otherWords are values of other languages, with the one of CEL.
var otherWords = map[string]string{"True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "None": "null", "nil": "null", "NULL": "null", "Null": "null"}

var firstWord = regexp.MustCompile(`^[A-Za-z_]+`)

// syntaxHint returns what to write at a place where the parser fails; "" if it is unclear.
func syntaxHint(text string, offset int) string {
	before, rest := strings.TrimRight(text[:offset], " \t\n"), strings.TrimLeft(text[offset:], " \t\n")
	word := firstWord.FindString(rest)
	switch name := infixFunctions[word]; {
	case name != "":
		return writtenBehind(name)
	case strings.HasSuffix(before, "<") && strings.HasPrefix(rest, ">"):
		return "!="
	case before == "not" || strings.HasSuffix(before, " not") || strings.HasSuffix(before, "(not"):
		return notBefore
	}
	for _, other := range otherOperators {
		if word == other.got || word == "" && strings.HasPrefix(rest, other.got) {
			return insteadOf(other.want, other.got)
		}
	}
	return ""
}

// nearVariable returns what a person probably meant by a name that is no variable: a word of CEL, an argument without args, or a
// name near one of these. It returns "" if nothing is near, and for a near name that is compared with a text.
func (w *wording) nearVariable(e ast.Expr, name string) string {
	if word := otherWords[name]; word != "" {
		return word
	}
	for _, owner := range []string{"args", "input", "result"} {
		t, there := w.types[owner]
		if !there || t.Kind() != ObjectKind {
			continue
		}
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, f.Name)
		}
		if slices.Contains(fields, name) {
			return owner + "." + name
		}
		if near := catalog.NearTyped(name, fields); near != "" && catalog.NearTyped(name, w.names) == "" && w.unquoted(e, name) == "" {
			return owner + "." + near
		}
	}
	return ""
}

// unquoted returns a name as text in quotes if it is compared with a text, else "".
func (w *wording) unquoted(e ast.Expr, name string) string {
	isText := func(e ast.Expr) bool {
		t := w.ast.GetType(e.ID())
		return t != nil && t.Kind() == types.StringKind
	}
	var in func(of ast.Expr) bool
	in = func(of ast.Expr) bool {
		if of.Kind() == ast.CallKind && !of.AsCall().IsMemberFunction() && len(of.AsCall().Args()) == 2 {
			a, b := of.AsCall().Args()[0], of.AsCall().Args()[1]
			switch of.AsCall().FunctionName() {
			case operators.Equals, operators.NotEquals:
				if a.ID() == e.ID() && isText(b) || b.ID() == e.ID() && isText(a) {
					return true
				}
			case operators.In:
				if b.Kind() == ast.ListKind && isText(a) && slices.ContainsFunc(b.AsList().Elements(), func(item ast.Expr) bool { return item.ID() == e.ID() }) {
					return true
				}
			}
		}
		return slices.ContainsFunc(Children(of), in)
	}
	if e.Kind() != ast.IdentKind || !in(w.ast.Expr()) {
		return ""
	}
	return strconv.Quote(name)
}

var (
	ordering = []string{operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals}
	equality = []string{operators.Equals, operators.NotEquals}
)

// otherType returns what to write where an operator gets values of two types; "" if it is unclear.
func (w *wording) otherType(operator string, args []ast.Expr) string {
	for i, arg := range args {
		v, literal := Literal(arg)
		other := w.ast.GetType(args[1-i].ID())
		if !literal || other == nil {
			continue
		}
		switch v := v.(type) {
		case types.String:
			return literalOf(other.Kind(), string(v))
		case types.Int:
			switch {
			case other.Kind() == types.StringKind && slices.Contains(ordering, operator):
				return sizeOf(shorten(w.text(args[1-i])))
			case other.Kind() == types.StringKind && slices.Contains(equality, operator):
				return strconv.Quote(strconv.FormatInt(int64(v), 10))
			case other.Kind() == types.BoolKind && (v == 0 || v == 1):
				return strconv.FormatBool(v == 1)
			}
		}
	}
	return ""
}

// literalOf returns a text as a literal of a kind; "" if it is none.
func literalOf(kind types.Kind, text string) string {
	switch kind {
	case types.IntKind:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
	case types.BoolKind:
		if text == "true" || text == "false" {
			return text
		}
	case types.DoubleKind:
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			if strings.Trim(text, "-0123456789") == "" {
				return text + ".0"
			}
			return text
		}
	}
	return ""
}
