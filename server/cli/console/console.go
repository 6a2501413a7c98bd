package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"patterngate/ijson/printable"
	"patterngate/server/settings/machine"

	"golang.org/x/term"
)

// Console is the terminal side of one invocation of the program: its standard streams, its environment, and the flags that say
// how results are printed.
type Console struct {
	In       io.Reader // standard input
	Out, Err io.Writer // standard output and standard error
	Environ  []string  // the environment, as [os.Environ] returns it
	Color    string    // --color: auto, always or never; empty is auto
	JSON     bool      // --json: print one JSON document instead of text
	Given    string    // flags that the next command needs too, such as " --config FILE"; "" for none
}

// CheckColor returns a usage error if --color has another value than auto, always or never.
func (c *Console) CheckColor() error {
	switch c.Color {
	case "auto", "always", "never":
		return nil
	}
	return Usage("--color", fmt.Errorf("got %q", c.Color), "--color auto, always or never")
}

// Exit prints a failure, with its advice, to standard error. It returns the exit code of the program.
func (c *Console) Exit(ctx context.Context, err error) int {
	if err == nil {
		return ExitDone
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return ExitInterrupted
	}
	if code, ok := errors.AsType[ExitCode](err); ok { // everything was printed already
		return int(code)
	}
	failed, ok := errors.AsType[*Error](err)
	if _, unwritten := errors.AsType[*fs.PathError](err); !ok && unwritten { // the result could not be written
		failed, ok = &Error{Code: ExitFault, What: "patterngate", Cause: err}, true
	}
	if !ok { // cobra's own: an unknown command, too many arguments
		failed = &Error{Code: ExitUsage, What: "patterngate", Cause: err, Try: "patterngate --help"}
	}
	for line := range strings.SplitSeq(failed.Error(), "\n") {
		fmt.Fprintln(c.Err, printable.Line(line))
	}
	if failed.Try != "" {
		fmt.Fprintln(c.Err, "try: "+printable.Line(failed.Try))
	}
	return failed.Code
}

// AtTerminal reports whether standard input is a terminal.
func (c *Console) AtTerminal() bool {
	f, ok := c.In.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Paint returns a text with a colour, if standard output is coloured.
func (c *Console) Paint(code, text string) string { return Paint(c.Colored(), code, text) }

// Colored reports whether standard output is coloured.
func (c *Console) Colored() bool { return c.ColoredAt(c.Out) }

// ColoredAt reports whether text on a stream is coloured: as --color says, otherwise at a terminal if NO_COLOR is not set.
func (c *Console) ColoredAt(to io.Writer) bool {
	switch c.Color {
	case "always":
		return true
	case "never":
		return false
	}
	f, ok := to.(*os.File)
	return ok && machine.Lookup(c.Environ, "NO_COLOR") == "" && term.IsTerminal(int(f.Fd()))
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Confirm asks at the terminal whether the command continues, after a text about the risk. It returns nil if yes is set or the person
// says yes, and an error if there is no terminal. what is the command.
func (c *Console) Confirm(what, risk, question string, yes bool) error {
	if yes {
		return nil
	}
	if !c.AtTerminal() {
		return Usage(what, errors.New("it needs a yes, and there is no terminal to ask at"), "patterngate "+what+" --yes")
	}
	_, _ = fmt.Fprintf(c.Err, "%s\n%s [y/N] ", risk, printable.Text(question))
	answer, _ := bufio.NewReader(c.In).ReadString('\n') // no answer means no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return Refused(what, "not done: the answer was no", "")
}

// Print writes a text to standard output.
func (c *Console) Print(text string) error {
	_, err := io.WriteString(c.Out, text)
	return err
}

// PrintJSON writes a value to standard output as one JSON document, with hidden characters escaped.
func (c *Console) PrintJSON(v any) error {
	text, err := JSONText(v)
	if err != nil {
		return Fault("--json", err)
	}
	return c.Print(text)
}

// The widths of lines. usualWidth applies if the width of the terminal is not known. Pages are made for widths from
// MinWidth to MaxWidth.
const (
	usualWidth = 100
	MinWidth   = 60
	MaxWidth   = 240
)

// Width returns how many characters a line can have: the width of the terminal, otherwise COLUMNS, otherwise 100.
func (c *Console) Width() int {
	n, err := strconv.Atoi(machine.Lookup(c.Environ, "COLUMNS"))
	if f, ok := c.Out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if w, _, fault := term.GetSize(int(f.Fd())); fault == nil && w > 0 {
			n, err = w, nil
		}
	}
	if err != nil || n <= 0 {
		return usualWidth
	}
	return min(max(n, MinWidth), MaxWidth)
}

// PageWidth returns how many characters a line of a page can have: the width of the terminal. In a file or another
// program, recorded values are whole, each in one line, so that a search finds everything.
func (c *Console) PageWidth() int {
	if IsTerminal(c.Out) {
		return c.Width()
	}
	return WholeRows + c.Width()
}

// TableWidth returns how many characters a row of a list can have: the width of the terminal. A file or another program gets
// whole rows, whatever COLUMNS is, so that a search finds everything.
func (c *Console) TableWidth() int {
	if IsTerminal(c.Out) {
		return c.Width()
	}
	return WholeRows
}

// PrintLines writes JSON Lines to standard output. At a terminal, it spells out hidden characters. A file or a program
// gets the lines unchanged.
func (c *Console) PrintLines(text []byte) error {
	if f, ok := c.Out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		text = []byte(VisibleLines(string(text)))
	}
	_, err := c.Out.Write(text)
	return err
}

// PaintDiff returns a line of a unified difference in the colour of its first character, if standard output is coloured.
func (c *Console) PaintDiff(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return c.Paint(Green, strings.TrimSuffix(line, "\n")) + "\n"
	case strings.HasPrefix(line, "-"):
		return c.Paint(Red, strings.TrimSuffix(line, "\n")) + "\n"
	}
	return line
}
