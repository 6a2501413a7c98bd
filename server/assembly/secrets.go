package assembly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"patterngate/server/settings/machine"
	"patterngate/server/settings/tools"
)

const (
	maxSecret   = 64 << 10 // bytes
	secretWait  = 5 * time.Second
	secretAfter = 500 * time.Millisecond // after its end, how long a program's children can still hold its output open
)

// secretAt returns the secret. Its error names the place and never quotes the value. A program starts without a shell and
// gets only the given environment. It is stopped after five seconds.
func secretAt(s tools.SecretRef, ctx context.Context, environ []string) (string, error) {
	text, err := "", error(nil)
	switch {
	case s.Env != "":
		text = machine.Lookup(environ, s.Env)
	case s.File != "":
		text, err = readReferred(s.File)
	case len(s.Exec) > 0:
		text, err = runSecret(ctx, s.Exec, environ)
	default:
		return "", errors.New(noReference)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("secret %s: %w", s, err)
	case text == "":
		return "", fmt.Errorf(secretEmpty, s)
	case len(text) > maxSecret:
		return "", fmt.Errorf(secretTooLarge, s, maxSecret)
	case strings.Contains(text, "\x00"):
		return "", fmt.Errorf(secretNUL, s)
	}
	return text, nil
}

// readReferred reads a file that no other user can read. It removes one line end at the end.
func readReferred(path string) (string, error) {
	info, err := os.Stat(path) // before it is opened: opening a pipe would wait
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(notRegularFile)
	}
	if err != nil {
		return "", machine.CauseOf(err)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", machine.CauseOf(err)
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil { // of the opened file
		return "", machine.CauseOf(err)
	}
	if machine.OthersRead(info) {
		return "", fmt.Errorf(readableByOthers, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSecret+3)) // one byte more than the limit and a line end shows that it is too long
	if err != nil {
		return "", machine.CauseOf(err)
	}
	return withoutLineEnd(string(text)), nil
}

func withoutLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// runSecret returns what a program prints. It drops standard error, which could contain the secret.
func runSecret(ctx context.Context, words []string, environ []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, secretWait)
	defer cancel()
	program, err := secretProgram(words[0], machine.Lookup(environ, "PATH"))
	if err != nil {
		return "", err
	}
	out := limitedBuffer{end: cancel}
	cmd := exec.CommandContext(ctx, program, words[1:]...)
	cmd.Args[0], cmd.Env, cmd.Stdout, cmd.WaitDelay = words[0], environ, &out, secretAfter
	machine.OwnGroup(cmd)
	if err = cmd.Run(); err != nil && cmd.Process != nil { // otherwise its children would remain after each call
		_ = cmd.Cancel()
	}
	switch {
	case out.over:
		return "", fmt.Errorf(printedTooMuch, maxSecret)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return "", fmt.Errorf(tookTooLong, secretWait)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", err
	}
	return withoutLineEnd(out.text.String()), nil
}

func secretProgram(program, path string) (string, error) {
	found, f := machine.FindProgram(program, path)
	if f.Reason != "" {
		return "", errors.New(f.Reason)
	}
	return found, nil
}

// limitedBuffer keeps as much as a secret can have, and stops a program that writes more. It does not embed a buffer:
// [io.Copy] would use the buffer's ReadFrom, which has no limit.
type limitedBuffer struct {
	text bytes.Buffer
	over bool
	end  func()
}

// Write implements [io.Writer].
func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxSecret+2 {
		b.over = true
		b.end() // the program may ignore that its output is closed
		return 0, errors.New(tooMuch)
	}
	return b.text.Write(p)
}
