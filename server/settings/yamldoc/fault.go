package yamldoc

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"patterngate/ijson"
	"patterngate/ijson/printable"
)

// Severity is that of a fault, which stops the program, of a warning, which does not, or of a hint, which changes no exit code.
type Severity string

// The severities.
const (
	SeverityFault   Severity = "fault"
	SeverityWarning Severity = "warning"
	SeverityHint    Severity = "hint"
)

// Fault is one thing that is wrong with a document: its place, what is wrong, and what would be right (spec/config.md section 11).
// It never has the value of a secret. The zero Fault is none.
type Fault struct {
	// File is the file, or the environment variable or flag that was read instead.
	File string `json:"file"`
	// Line and Column count from 1, columns in characters. Both are 0 if the fault has no place in a file.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path is the key: llm.provider, patterns.route_ticket.allow.policy[0]. Empty means the file as a whole.
	Path     string   `json:"path"`
	Severity Severity `json:"severity"`
	// Reason says what is wrong, in stable words: unknown key, wrong type, out of range, repeated key.
	Reason string `json:"reason"`
	// Got is the written form of the value, if that says more than the reason.
	Got string `json:"got,omitempty"`
	// Want says what would be right: an instruction.
	Want string `json:"want,omitempty"`
	// DidYouMean is the one known name that is spelled nearly so.
	DidYouMean string `json:"did_you_mean,omitempty"`

	// Reasoned has String show the reason instead of Got.
	Reasoned bool `json:"-"`
	// Held is the tool that a warning reports as held. Empty means another fault.
	Held string `json:"-"`
	// Advice marks a warning that only commands print which check a configuration.
	Advice bool `json:"-"`
}

// String returns the fault as one line: FILE:LINE:COLUMN: PATH: what is wrong; what would be right. Control and bidi characters are
// written as \uXXXX.
func (f Fault) String() string {
	var b strings.Builder
	if f.Severity == SeverityWarning || f.Severity == SeverityHint {
		b.WriteString(string(f.Severity) + ": ")
	}
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	if f.Path != "" {
		b.WriteString(": " + f.Path)
	}
	what := f.Reason
	if f.Got != "" && !f.Reasoned {
		what = "got " + f.Got
	}
	b.WriteString(": " + what)
	if f.Want != "" {
		b.WriteString("; " + f.Want)
	}
	if f.DidYouMean != "" {
		b.WriteString(suggested(f.DidYouMean))
	}
	return printable.Line(b.String())
}

// Error is the error of a document with faults, sorted by place.
type Error struct {
	Faults []Fault
	// More counts faults beyond the first 50.
	More int

	// Unread says that the file could not be read at all.
	Unread bool
}

// Error returns one line for each fault.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.More > 0 {
		lines = append(lines, furtherFaults(e.More))
	}
	return strings.Join(lines, "\n")
}

// MaxFaults is how many faults an [Error] has at most.
const MaxFaults = 50

// Faults collects what is wrong while a document is read and checked. The zero Faults is empty.
type Faults struct {
	// Found are those of severity fault. Both lists are in the order of finding.
	Found, Warnings []Fault
	// Unread says that the file could not be read at all.
	Unread bool
}

// Add records a fault at a place and a path.
func (c *Faults) Add(at Place, path *Path, f Fault) {
	f.File, f.Line, f.Column, f.Path = at.Source, at.Line, at.Column, path.String()
	f.Severity = SeverityFault
	c.Found = append(c.Found, f)
}

// Warn records a warning at a place and a path.
func (c *Faults) Warn(at Place, path *Path, f Fault) {
	f.File, f.Line, f.Column, f.Path = at.Source, at.Line, at.Column, path.String()
	f.Severity = SeverityWarning
	c.Warnings = append(c.Warnings, f)
}

// Err returns an [*Error] of the faults found; nil if there are none. Warnings do not count.
func (c *Faults) Err() error {
	if len(c.Found) == 0 {
		return nil
	}
	sorted := ByPlace(c.Found)
	shown := min(len(sorted), MaxFaults)
	return &Error{Faults: sorted[:shown], More: len(sorted) - shown, Unread: c.Unread}
}

// ByPlace returns faults sorted by file, line and column. Those of variables and flags follow, in the order of finding. A fault
// that an alias repeats at the same place and path is in it once.
func ByPlace(faults []Fault) []Fault {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b Fault) int {
		if a.Line == 0 || b.Line == 0 {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(sorted)
}

// Place is a line and column of a file, both from 1, or the name of a variable or flag alone. The zero Place is none.
type Place struct {
	Source       string
	Line, Column int
}

// Path is the way from the root of a document to a value: keys as they are, items as "[0]". Its text is made only for a fault. A nil
// Path is the root.
type Path struct {
	Up   *Path
	Step string
}

// Key returns the path of a key below p.
func (p *Path) Key(name string) *Path { return &Path{p, name} }

// Item returns the path of the item with an index, from 0, in the list at p.
func (p *Path) Item(i int) *Path { return &Path{p, "[" + strconv.Itoa(i) + "]"} }

// String joins the steps with dots. A key that could be misread is quoted.
func (p *Path) String() string {
	if p == nil {
		return ""
	}
	step := p.Step
	item := strings.HasPrefix(step, "[") && strings.HasSuffix(step, "]")
	if !item && !IsPlainKey(step) {
		step = Quoted(step)
	}
	above := p.Up.String()
	if above == "" || item {
		return above + step
	}
	return above + "." + step
}

// IsPlainKey reports whether a path shows a key without quotes.
func IsPlainKey(key string) bool {
	return key == "<<" || key != "" && len(key) <= MaxQuoted && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
}

// MaxQuoted is how much of a document's text a fault repeats, in bytes.
const MaxQuoted = 64

// Quoted returns text as one JSON string, cut if it is longer than [MaxQuoted].
func Quoted(text string) string {
	if cut := ijson.Cut(text, MaxQuoted); cut != text {
		text = cut + "…"
	}
	return string(ijson.Canonical(text))
}

// Alternatives joins names in words: a, b or c.
func Alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Record records a fault or warning that has its place and severity.
func (f *Faults) Record(fault Fault) {
	if fault.Severity == SeverityWarning {
		f.Warnings = append(f.Warnings, fault)
		return
	}
	f.Found = append(f.Found, fault)
}
