package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Fault is one thing wrong with an expression, or a doubt about it.
type Fault struct {
	Member string // which of several texts: once, happened, args.key, output.state; "" where there is one
	// Offset is where it stands in the text, in bytes; Line and Column say the same from 1, in characters.
	Offset, Line, Column int
	Reason               string // one line
	Want                 string // what is right, such as 1000.0; "" where the reason says it
	DidYouMean           string // the one name or value that comes near; ""
	Warning              bool   // it compiles, and may not do what is meant
	Key                  bool   // the name at the member's end is meant, not what stands there
	Dyn                  bool   // of types that are not known: it may go away once a schema is
	Pattern              string // Member stands in this pattern's params and not in the policy; ""
}

// String words the fault without its place: "refund_charge has no argument amout_cents (order_id, amount_cents); did you
// mean amount_cents?".
func (f Fault) String() string {
	switch {
	case f.DidYouMean != "":
		return f.Reason + "; did you mean " + f.DidYouMean + "?"
	case f.Want != "":
		return f.Reason + "; write " + f.Want
	}
	return f.Reason
}

const (
	maxReason = 300
	maxNames  = 12 // that a reason lists
)

// placed fills in where a fault stands.
func placed(f Fault, source common.Source, line, column int) Fault {
	f.Line, f.Column = max(line, 1), max(column, 0)+1
	text := source.Content()
	for range f.Line - 1 {
		_, after, ok := strings.Cut(text[f.Offset:], "\n")
		if !ok {
			break
		}
		f.Offset = len(text) - len(after)
	}
	for range f.Column - 1 {
		_, size := utf8.DecodeRuneInString(text[f.Offset:])
		f.Offset += size
	}
	f.Reason = ijson.Cut(ijson.Words(f.Reason), maxReason)
	return f
}

// unknown words a name that is none of those there are.
func UnknownName(what, got string, names []string) Fault {
	listed := "there is none"
	switch {
	case len(names) > maxNames:
		listed = strings.Join(names[:maxNames], ", ") + ", ..."
	case len(names) > 0:
		listed = strings.Join(names, ", ")
	}
	if got != "" {
		what += " " + got
	}
	return Fault{Reason: what + " (" + listed + ")", DidYouMean: catalog.Near(got, names)}
}

// failing reports whether any of the faults is more than a warning.
func HasErrors(faults []Fault) bool {
	for _, f := range faults {
		if !f.Warning {
			return true
		}
	}
	return false
}

// withoutAbsence leaves out that something may be absent: where that makes a field missing, or a no, it is no cause for doubt.
func WithoutAbsence(faults []Fault) []Fault {
	return slices.DeleteFunc(faults, func(f Fault) bool { return f.Warning && strings.HasSuffix(f.Reason, mayBeAbsent) })
}
