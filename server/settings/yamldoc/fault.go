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

// Severity tells a fault, which stops the program, from a warning, which does not.
type Severity string

// The two severities.
const (
	SeverityFault   Severity = "fault"
	SeverityWarning Severity = "warning"
)

// Fault is one thing that is wrong with the configuration: where it stands, what it is and what would have been
// right (spec/config.md section 11). Values of secrets are never in it.
type Fault struct {
	// File is the file, or the environment variable or flag that was read instead.
	File string `json:"file"`
	// Line and Column count from 1, columns in characters; both are 0 for what has no place in a file.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path is the key: llm.provider, patterns.route_ticket.allow.policy[0]. Empty means the file as a whole.
	Path     string   `json:"path"`
	Severity Severity `json:"severity"`
	// Reason is what is wrong, in stable words: unknown key, wrong type, out of range, repeated key ...
	Reason string `json:"reason"`
	// Got is what stands there, as it is spelled, where that says more than the reason.
	Got string `json:"got,omitempty"`
	// Want is what would have been right.
	Want string `json:"want,omitempty"`
	// DidYouMean is the one known name that comes near.
	DidYouMean string `json:"did_you_mean,omitempty"`

	// Reasoned says that the line has the reason and not Got, as the reason says more.
	Reasoned bool `json:"-"`
}

// String is the fault as one line: FILE:LINE:COLUMN: PATH: what is wrong; what is right. Control and bidi characters
// are spelled out.
func (f Fault) String() string {
	var b strings.Builder
	if f.Severity == SeverityWarning {
		b.WriteString("warning: ")
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
		b.WriteString("; did you mean " + f.DidYouMean + "?")
	}
	return printable.Line(b.String())
}

// Error is a configuration that does not load: every fault that was found, by place.
type Error struct {
	Faults []Fault
	// More counts faults beyond the first 50.
	More int

	// Unread says that the file could not be read at all.
	Unread bool
}

// Error is one line a fault.
func (e *Error) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// MaxFaults is how many faults are shown at once.
const MaxFaults = 50

// Faults collects what is found on the way.
type Faults struct {
	Found, Warnings []Fault
	Unread          bool // the file could not be read at all
}

func (c *Faults) Add(at Place, path *Path, f Fault) {
	f.File, f.Line, f.Column, f.Path = at.Source, at.Line, at.Column, path.String()
	f.Severity = SeverityFault
	c.Found = append(c.Found, f)
}

func (c *Faults) Warn(at Place, path *Path, f Fault) {
	f.File, f.Line, f.Column, f.Path = at.Source, at.Line, at.Column, path.String()
	f.Severity = SeverityWarning
	c.Warnings = append(c.Warnings, f)
}

// Err is nil where nothing is wrong.
func (c *Faults) Err() error {
	if len(c.Found) == 0 {
		return nil
	}
	sorted := ByPlace(c.Found)
	shown := min(len(sorted), MaxFaults)
	return &Error{Faults: sorted[:shown], More: len(sorted) - shown, Unread: c.Unread}
}

// ByPlace sorts faults by file, line and column; those of variables and flags come after it, in the order found.
// What an alias repeats at the same place and path is said once.
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

// Place is where something stands: a file's line and column, or a variable's or flag's name alone.
type Place struct {
	Source       string
	Line, Column int
}

// Path is the way from the root of the file to a value, written only when something is wrong with it. A nil
// keyPath is the root.
type Path struct {
	Up   *Path
	Step string
}

func (p *Path) Key(name string) *Path { return &Path{p, name} }

func (p *Path) Item(i int) *Path { return &Path{p, "[" + strconv.Itoa(i) + "]"} }

// String joins the steps with dots; a key that could be misread is quoted.
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

// IsPlainKey reports whether a key is shown without quotes.
func IsPlainKey(key string) bool {
	return key == "<<" || key != "" && len(key) <= MaxQuoted && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
}

// MaxQuoted is how much of a text from the file a message repeats, in bytes.
const MaxQuoted = 64

// Quoted is text as one line of JSON, cut where it is long.
func Quoted(text string) string {
	if cut := ijson.Cut(text, MaxQuoted); cut != text {
		text = cut + "…"
	}
	return string(ijson.Canonical(text))
}

// Alternatives names things in words: a, b or c.
func Alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Record records a fault or warning with its place.
func (f *Faults) Record(fault Fault) {
	if fault.Severity == SeverityWarning {
		f.Warnings = append(f.Warnings, fault)
		return
	}
	f.Found = append(f.Found, fault)
}
