package signing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"patterngate/gateway"
	"patterngate/gateway/approver"
	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/cli/console"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Signer signs with an approver key. The person at the terminal types the passphrase of the key.
type Signer struct {
	*console.Console
	// Secret reads a passphrase. Nil reads it from the terminal that controls this process.
	Secret func(ctx context.Context, prompt string) (string, error)
}

// Request describes what is signed, and which keys can sign it.
type Request struct {
	What string       // the command
	Does string       // the action in words, for the prompt
	Call string       // text above the prompt, with everything that is signed; "" for none
	Ring gateway.Ring // the enrolled keys
	Dir  approver.Dir // directory of the key files
	Key  string       // id of the key from --key; "" uses the only one
}

// Act returns an act that the person at the terminal signed. It returns the zero act if no approver key is enrolled and
// none was named.
func (a *Signer) Act(ctx context.Context, h KeyHolder, name string, subject map[string]any, s Request) (gateway.SignedAct, error) {
	ring, err := h.Keys()
	if err != nil {
		return gateway.SignedAct{}, console.Fault(s.What, err)
	}
	if s.Key == "" && !ring.Counts(console.Now()) {
		return gateway.SignedAct{}, nil
	}
	s.Ring, s.Dir = ring, approver.Dir(h.KeyDir())
	key, err := a.OpenKey(ctx, s)
	if err != nil {
		return gateway.SignedAct{}, err
	}
	defer key.Close()
	return approver.Sign(name, subject, key, console.Now()), nil
}

// OpenOnce opens a key once and returns a function that signs acts with it. The function returns unsigned acts if no
// approver key is enrolled and none was named. done closes the key.
func (a *Signer) OpenOnce(ctx context.Context, h KeyHolder, s Request) (sign func(name string, subject map[string]any) gateway.SignedAct, done func(), err error) {
	ring, err := h.Keys()
	if err != nil {
		return nil, nil, console.Fault(s.What, err)
	}
	if s.Key == "" && !ring.Counts(console.Now()) {
		return func(string, map[string]any) gateway.SignedAct { return gateway.SignedAct{} }, func() {}, nil
	}
	s.Ring, s.Dir = ring, approver.Dir(h.KeyDir())
	key, err := a.OpenKey(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return func(name string, subject map[string]any) gateway.SignedAct {
		return approver.Sign(name, subject, key, console.Now())
	}, func() { key.Close() }, nil
}

// OpenKey asks the person for the passphrase and opens the key that signs. If it returns an error, nothing was done.
func (a *Signer) OpenKey(ctx context.Context, s Request) (*approver.Key, error) {
	file, err := s.file()
	if err != nil {
		return nil, err
	}
	typed, err := a.Passphrase(ctx, s.Call, fmt.Sprintf("To %s: passphrase of approver key %s (%s)", s.Does, file.ID, console.Clip(file.Name, console.MaxName)))
	if errors.Is(err, ErrNoTerminal) {
		err = s.Refused("it needs the signature of an approver key: "+err.Error(), "run this command at a terminal; the person with the passphrase types it")
	}
	if err != nil {
		return nil, err
	}
	key, err := file.Open(typed)
	switch {
	case errors.Is(err, approver.ErrPassphrase):
		return nil, s.Refused("the passphrase does not open the key "+file.ID+"; nothing was done", "run this command again")
	case err != nil:
		return nil, console.Fault(s.What, err)
	}
	return key, nil
}

// Refused returns the error for a missing signature.
func (s Request) Refused(cause, try string) error { return console.Refused(s.What, cause, try) }

// file returns the sealed key that signs: the named one, otherwise the only one whose file is here.
func (s Request) file() (approver.File, error) {
	var none approver.File
	count := s.counting()
	switch {
	case s.Key != "" && !count[s.Key]:
		why := console.Quoted(s.Key) + " is not a key that is enrolled here"
		if k, known := s.Ring.Find(s.Key); known && !k.Removed.IsZero() {
			why = "the key " + s.Key + " was removed at " + console.ClockText(k.Removed)
		}
		return none, console.Usage("--key", errors.New(why), "patterngate approvals keys")
	case s.Key != "":
		f, err := s.Dir.Read(s.Key)
		if errors.Is(err, fs.ErrNotExist) {
			return none, s.Refused("the file of the key "+s.Key+" is not here: "+s.Dir.Path(s.Key), "use --key ID of another key, or run this command where that file is")
		}
		if err != nil {
			return none, s.Refused(err.Error(), "patterngate approvals keys")
		}
		return f, nil
	case len(count) == 0:
		return none, s.Refused("only signed acts count here, and no key is valid", "patterngate approvals keys")
	}
	files, err := s.Dir.List()
	if err != nil {
		return none, console.Fault(s.What, err)
	}
	var here []approver.File
	var names []string
	faults := ""
	for _, f := range files {
		switch {
		case f.Err != nil:
			faults += "; " + f.Err.Error()
		case count[f.File.ID]:
			here, names = append(here, f.File), append(names, f.File.ID+" ("+console.Clip(f.File.Name, console.MaxName)+")")
		}
	}
	switch len(here) {
	case 0:
		return none, s.Refused("only signed acts count here, and the file of no enrolled key is in "+string(s.Dir)+faults, "patterngate approvals keys")
	case 1:
		return here[0], nil
	}
	return none, console.Usage(s.What, errors.New("several keys can sign: "+strings.Join(names, ", ")), "--key ID")
}

// counting returns the ids of the keys that count now.
func (s Request) counting() map[string]bool {
	count := map[string]bool{}
	for _, k := range s.Ring.Keys() {
		if k.Counts(console.Now()) {
			count[k.ID] = true
		}
	}
	return count
}

// ErrNoTerminal is returned if no terminal controls the process, so that a person cannot type a passphrase.
var ErrNoTerminal = errors.New("a passphrase is typed at a terminal, and this process has none")

// Passphrase reads a passphrase from the terminal that controls this process, without echo. It never reads standard
// input, a flag, a variable or a file, because an agent can write those. before holds lines about what the person
// signs. They always appear at the same terminal as the prompt, also if the program's output goes elsewhere. The error
// is [ErrNoTerminal], the context's, or [console.ExitInterrupted] if the person cancelled. Passphrase restores the
// terminal in all cases.
func (a *Signer) Passphrase(ctx context.Context, before, prompt string) (string, error) {
	if a.Secret != nil {
		return a.Secret(ctx, before+prompt)
	}
	tty, err := openTerminal()
	if err != nil {
		return "", ErrNoTerminal
	}
	defer tty.Close()
	fd := int(tty.in.Fd())
	was, err := term.MakeRaw(fd) // from here on the terminal echoes nothing, also not what is typed before the prompt appears
	if err != nil {
		return "", ErrNoTerminal
	}
	defer func() {
		_ = term.Restore(fd, was)
		_, _ = fmt.Fprintln(tty.out)
	}()
	text := strings.ReplaceAll(visibleText(before), "\n", "\r\n") + printable.Text(prompt) + ": "
	if _, err := io.WriteString(tty.out, text); err != nil {
		return "", ErrNoTerminal
	}
	type typed struct {
		text string
		err  error
	}
	done := make(chan typed, 1)
	go func() { // the read blocks until the end of a line; a signal must not wait for that
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

// visibleText returns lines with their hidden characters spelled out, or "" for "".
func visibleText(text string) string {
	if text == "" {
		return ""
	}
	return console.VisibleLines(text)
}

// maxTyped is how many bytes of a line are kept. No passphrase is as long.
const maxTyped = 8 << 10

// errGivenUp is returned if the person cancels a line with Ctrl-C or Ctrl-D.
var errGivenUp = errors.New("cancelled")

// readTyped reads one line from a terminal in raw mode. It reads no byte after the line, because that is for the next
// prompt. Backspace and Ctrl-U edit the line. Other control keys are ignored.
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

// Refusal returns the error that says why the store refused a signed act.
func Refusal(what string, err error) error {
	switch {
	case errors.Is(err, patterns.ErrUnsigned):
		return console.Refused(what, "it needs the signature of an approver key", "run this command at a terminal")
	case errors.Is(err, patterns.ErrForged):
		return console.Refused(what, console.PortText(err), "patterngate approvals keys")
	case errors.Is(err, patterns.ErrUsed):
		return console.Refused(what, console.PortText(err), "run this command again")
	case errors.Is(err, patterns.ErrNoKey):
		return console.Usage(what, errors.New("no such key is enrolled here"), "patterngate approvals keys")
	}
	return console.Fault(what, err)
}

// KeyHolder returns the approver keys of a state file, and the directory of their files.
type KeyHolder interface {
	Keys() (gateway.Ring, error)
	KeyDir() string
}

// KeyFlag adds --key to a command. The flag names the approver key that signs.
func KeyFlag(cmd *cobra.Command, id *string) {
	cmd.Flags().StringVar(id, "key", "", "`ID` of the approver key that signs (default: the key whose file is on this machine)")
}
