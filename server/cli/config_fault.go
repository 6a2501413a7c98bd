package cli

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

	reasoned bool // the line has the reason, which says more than what stands there
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
	if f.Got != "" && !f.reasoned {
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

// ConfigError is a configuration that does not load: every fault that was found, by place.
type ConfigError struct {
	Faults []Fault
	// More counts faults beyond the first 50.
	More int

	unread bool // the file could not be read at all
}

// Error is one line a fault.
func (e *ConfigError) Error() string {
	lines := make([]string, 0, len(e.Faults)+1)
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// maxFaults is how many faults are shown at once.
const maxFaults = 50

// configFaults collects what is found on the way.
type configFaults struct {
	faults, warnings []Fault
	unread           bool // the file could not be read at all
}

func (c *configFaults) add(at place, path *keyPath, f Fault) {
	f.File, f.Line, f.Column, f.Path = at.source, at.line, at.column, path.String()
	f.Severity = SeverityFault
	c.faults = append(c.faults, f)
}

func (c *configFaults) warn(at place, path *keyPath, f Fault) {
	f.File, f.Line, f.Column, f.Path = at.source, at.line, at.column, path.String()
	f.Severity = SeverityWarning
	c.warnings = append(c.warnings, f)
}

// err is nil where nothing is wrong.
func (c *configFaults) err() error {
	if len(c.faults) == 0 {
		return nil
	}
	sorted := byPlace(c.faults)
	shown := min(len(sorted), maxFaults)
	return &ConfigError{Faults: sorted[:shown], More: len(sorted) - shown, unread: c.unread}
}

// byPlace sorts faults by file, line and column; those of variables and flags come after it, in the order found.
// What an alias repeats at the same place and path is said once.
func byPlace(faults []Fault) []Fault {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b Fault) int {
		if a.Line == 0 || b.Line == 0 {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(sorted)
}

// place is where something stands: a file's line and column, or a variable's or flag's name alone.
type place struct {
	source       string
	line, column int
}

// keyPath is the way from the root of the file to a value, written only when something is wrong with it. A nil
// keyPath is the root.
type keyPath struct {
	up   *keyPath
	step string
}

func (p *keyPath) key(name string) *keyPath { return &keyPath{p, name} }

func (p *keyPath) item(i int) *keyPath { return &keyPath{p, "[" + strconv.Itoa(i) + "]"} }

// String joins the steps with dots; a key that could be misread is quoted.
func (p *keyPath) String() string {
	if p == nil {
		return ""
	}
	step := p.step
	item := strings.HasPrefix(step, "[") && strings.HasSuffix(step, "]")
	if !item && !plainKey(step) {
		step = quoted(step)
	}
	above := p.up.String()
	if above == "" || item {
		return above + step
	}
	return above + "." + step
}

// plainKey reports whether a key is shown without quotes.
func plainKey(key string) bool {
	return key == "<<" || key != "" && len(key) <= maxQuoted && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
}

// maxQuoted is how much of a text from the file a message repeats, in bytes.
const maxQuoted = 64

// quoted is text as one line of JSON, cut where it is long.
func quoted(text string) string {
	if cut := ijson.Cut(text, maxQuoted); cut != text {
		text = cut + "…"
	}
	return string(ijson.Canonical(text))
}

// listed names things in words: a, b or c.
func listed(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
