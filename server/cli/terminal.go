package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"patterngate/ijson/printable"
	"patterngate/server/cli/console"
)

// errNoTerminal says that nobody is there who could type a passphrase.
var errNoTerminal = errors.New("a passphrase is typed at a terminal, and this process has none")

// passphrase reads what a person types at the terminal that controls this process, unseen. It never reads standard input,
// a flag, a variable or a file: what stands there an agent may have put there. Its error is [errNoTerminal], the context's,
// or [console.ExitInterrupted] where the person gave up; the terminal is then as it was. before are lines of what they sign: they
// stand at the same terminal, wherever the program's own output goes.
func (a *app) passphrase(ctx context.Context, before, prompt string) (string, error) {
	if a.secret != nil {
		return a.secret(ctx, before+prompt)
	}
	tty, err := openTerminal()
	if err != nil {
		return "", errNoTerminal
	}
	defer tty.Close()
	fd := int(tty.in.Fd())
	was, err := term.MakeRaw(fd) // nothing is shown from here on, also of what is typed before the prompt stands there
	if err != nil {
		return "", errNoTerminal
	}
	defer func() {
		_ = term.Restore(fd, was)
		_, _ = fmt.Fprintln(tty.out)
	}()
	text := strings.ReplaceAll(visibleText(before), "\n", "\r\n") + printable.Text(prompt) + ": "
	if _, err := io.WriteString(tty.out, text); err != nil {
		return "", errNoTerminal
	}
	type typed struct {
		text string
		err  error
	}
	done := make(chan typed, 1)
	go func() { // it reads until a line ends; a signal must not wait for that
		text, err := readTyped(tty.in)
		done <- typed{text, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return "", console.ExitCode(console.ExitInterrupted)
		}
		return got.text, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// visibleText is lines with their hidden characters spelled out; of none, nothing.
func visibleText(text string) string {
	if text == "" {
		return ""
	}
	return console.VisibleLines(text)
}

// maxTyped is how much of a line is kept, in bytes; no passphrase is as long.
const maxTyped = 8 << 10

// errGivenUp is returned for a line that was given up with Ctrl-C or Ctrl-D.
var errGivenUp = errors.New("given up")

// readTyped reads one line from a terminal that does nothing with the keys itself. It takes no byte behind the line: that
// is for the next prompt. Backspace and Ctrl-U work; other control keys are nothing.
func readTyped(from io.Reader) (string, error) {
	const interrupt, end, backspace, kill, del = 0x03, 0x04, 0x08, 0x15, 0x7f
	var line []byte
	for key := make([]byte, 1); ; {
		n, err := from.Read(key)
		if n == 0 && err != nil {
			return "", err
		}
		switch c := key[0]; {
		case n == 0:
		case c == '\r', c == '\n':
			return string(line), nil
		case c == interrupt, c == end && len(line) == 0:
			return "", errGivenUp
		case c == kill:
			line = line[:0]
		case c == backspace, c == del:
			_, size := utf8.DecodeLastRune(line)
			line = line[:len(line)-size]
		case c >= ' ' && len(line) < maxTyped:
			line = append(line, c)
		}
	}
}
