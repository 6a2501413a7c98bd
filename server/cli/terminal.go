package cli

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/term"

	"patterngate/server"
)

// errNoTerminal says that nobody is there who could type a passphrase.
var errNoTerminal = errors.New("a passphrase is typed at a terminal, and this process has none")

// passphrase reads what a person types at the terminal that controls this process, unseen. It never reads standard input,
// a flag, a variable or a file: what an agent can write there it could have been told to write. Its error is
// [errNoTerminal] or the context's, after which the terminal is as it was.
func (a *app) passphrase(ctx context.Context, prompt string) (string, error) {
	if a.secret != nil {
		return a.secret(ctx, prompt)
	}
	tty, err := openTerminal()
	if err != nil {
		return "", errNoTerminal
	}
	defer tty.Close()
	fd := int(tty.in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", errNoTerminal
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	_, _ = fmt.Fprint(tty.out, server.Visible(prompt)+": ")
	type typed struct {
		text []byte
		err  error
	}
	done := make(chan typed, 1)
	go func() { // it reads until a line ends; an interrupt must not wait for that
		text, err := term.ReadPassword(fd)
		done <- typed{text, err}
	}()
	select {
	case got := <-done:
		_, _ = fmt.Fprintln(tty.out)
		if got.err != nil {
			return "", errors.New("the terminal closed before a passphrase was typed")
		}
		return string(got.text), nil
	case <-ctx.Done():
		_ = term.Restore(fd, before) // the echo is on again
		_, _ = fmt.Fprintln(tty.out)
		return "", ctx.Err()
	}
}
