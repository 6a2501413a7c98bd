package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common"

	"patterngate/catalog"
	"patterngate/ijson"
)

// Fault is one thing that is wrong with an expression, or a warning about it. [Fault.String] shows it to people.
type Fault struct {
	// Member is the text that is meant if there are several: once, happened, args.key, output.state. It is "" if there is one.
	Member string
	// Offset is the place in the text, in bytes from 0. Line and Column are the same place from 1, in characters.
	Offset, Line, Column int
	Reason               string // what is wrong, in one line
	Want                 string // what to write instead, such as 1000.0; "" if Reason says it
	DidYouMean           string // the one known name or value that is near; ""
	Warning              bool   // the text compiles, and may not do what its author wants
	Key                  bool   // the name at the end of Member is wrong, not its value
	Dyn                  bool   // a type is not known; the fault may disappear when a schema is known
	Pattern              string // the pattern with the params that Member names; "" if Member is in the policy
}

// String returns the fault without its place: "refund_charge has no argument amout_cents (order_id, amount_cents); did you mean
// amount_cents?".
func (f Fault) String() string {
	switch {
	case f.DidYouMean != "":
		return didYouMean(f.Reason, f.DidYouMean)
	case f.Want != "":
		return f.Reason + "; write " + f.Want
	}
	return f.Reason
}

// Limits of a reason.
const (
	maxReason = 300 // bytes
	maxNames  = 12  // known names in a list
)

// placed sets the place of a fault from a line from 1 and a column from 0, and cuts its reason to size.
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

// UnknownName returns the fault of a name that is not among the known ones: "WHAT GOT (known, names)". It suggests the known
// name that is near, if there is one.
func UnknownName(what, got string, known []string) Fault {
	listed := noneThere
	switch {
	case len(known) > maxNames:
		listed = strings.Join(known[:maxNames], ", ") + ", ..."
	case len(known) > 0:
		listed = strings.Join(known, ", ")
	}
	if got != "" {
		what += " " + got
	}
	return Fault{Reason: what + " (" + listed + ")", DidYouMean: catalog.NearTyped(got, known)}
}

// HasErrors reports whether any fault is more than a warning.
func HasErrors(faults []Fault) bool {
	for _, f := range faults {
		if !f.Warning {
			return true
		}
	}
	return false
}

// WithoutAbsence returns the faults without the warnings that a member may be absent. It is for places where an absent member
// is normal: there the value is missing, or the answer is no. It changes the list that it is given.
func WithoutAbsence(faults []Fault) []Fault {
	return slices.DeleteFunc(faults, func(f Fault) bool { return f.Warning && strings.HasSuffix(f.Reason, mayBeAbsent) })
}
