package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"patterngate/ijson"
)

// These are the limits, in bytes, of what is logged of a child's standard error.
const (
	maxStderrLine = 500
	maxStderr     = 64 << 10 // in stderrWindow
	stderrWindow  = time.Minute
	stderrGrace   = 200 * time.Millisecond // for the rest of it, once the child has ended
)

// lastLine keeps the last line that a child wrote to standard error. The zero value has none. It is safe for concurrent
// use.
type lastLine struct {
	mu   sync.Mutex
	text string
	over chan struct{} // closed when standard error has ended; nil: nothing was started
}

// begin says that a child has a standard error. It comes before all other calls.
func (l *lastLine) begin() { l.over = make(chan struct{}) }

// finish says that standard error has ended.
func (l *lastLine) finish() { close(l.over) }

// keep replaces the line, unless text is blank.
func (l *lastLine) keep(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = text
}

// after returns err with the last line, if there is one. It waits for the end of standard error, but not longer than
// stderrGrace.
func (l *lastLine) after(err error) error {
	if l.over == nil || err == nil {
		return err
	}
	timer := time.NewTimer(stderrGrace)
	defer timer.Stop()
	select {
	case <-l.over:
	case <-timer.C: // another process holds it open
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text == "" {
		return err
	}
	return fmt.Errorf(lastLineSaid, err, l.text)
}

// logLines logs lines at debug level until the input ends, and then closes the input. It also gives each line to said. It reads everything, because a
// child blocks when its standard error is full. It logs only the beginning of long lines, and at most maxStderr bytes
// in stderrWindow.
func logLines(in io.ReadCloser, log *slog.Logger, hide func(string) string, said *lastLine) {
	defer in.Close()
	lines := newLines(in, lineBuffer)
	var begun time.Time
	for logged, over := 0, false; !over; {
		line, err := lines.next()
		switch {
		case errors.Is(err, errLong):
			line, over = lines.head, skipWhole(lines) != nil
		case err != nil && len(lines.line) == 0:
			return
		case err != nil: // a last line without a line feed
			line, over = lines.line, true
		}
		if time.Since(begun) > stderrWindow {
			begun, logged = time.Now(), 0
		}
		text := visible(ijson.Cut(hide(strings.ToValidUTF8(string(line), "�")), maxStderrLine))
		said.keep(text)
		if logged < maxStderr {
			logged += len(text)
			log.DebugContext(context.Background(), serverSays, "line", text)
			if logged >= maxStderr {
				log.DebugContext(context.Background(), serverSaysMore)
			}
		}
	}
}

// skipWhole reads to the end of a line of any length.
func skipWhole(l *lines) error {
	for {
		err := l.skip()
		if _, endless := errors.AsType[unreadableError](err); !endless {
			return err
		}
	}
}

// visible writes control characters as visible escapes.
func visible(text string) string {
	clean := func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	if !strings.ContainsFunc(text, clean) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if clean(r) {
			out.WriteString(escaped(r))
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func escaped(r rune) string {
	const digits = "0123456789abcdef"
	return `\u` + string([]byte{digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
}
