package console

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// screen is a terminal of one line: it knows a return to the beginning of the line, and the removal of what follows.
type screen struct {
	mu   sync.Mutex
	line string
	done []string
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.line + string(p)
	if at := strings.LastIndex(text, "\r\x1b[K"); at >= 0 {
		text = text[at+len("\r\x1b[K"):]
	}
	lines := strings.Split(text, "\n")
	s.done, s.line = append(s.done, lines[:len(lines)-1]...), lines[len(lines)-1]
	return len(p), nil
}

func (s *screen) now() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		p := startProgress(s, "checking cursor", func() int { return 40 })
		want := func(line string) {
			t.Helper()
			synctest.Wait()
			if got := s.now(); got != line {
				t.Errorf("the line is %q, want %q", got, line)
			}
		}
		time.Sleep(950 * time.Millisecond)
		want("") // what is done in a second needs no line
		time.Sleep(100 * time.Millisecond)
		want("/ checking cursor  1 s")
		time.Sleep(100 * time.Millisecond)
		want("- checking cursor  1 s")
		p.Say("a tool named \x1b[31m" + strings.Repeat("x", 60))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if line := s.now(); len(line) > 39 || !strings.Contains(line, `a tool named \u001b`) || !strings.HasSuffix(line, "  11 s") {
			t.Errorf("the line is %q, want it cut to 39 characters with the escape spelled out", line)
		}
		p.Pause(func() { _, _ = io.WriteString(s, "a finding\n") })
		want("")
		p.End()
		p.End()
		time.Sleep(time.Second)
		want("")
		if len(s.done) != 1 || s.done[0] != "a finding" {
			t.Errorf("what was printed between is %q", s.done)
		}
	})
}

// Without a terminal nothing is shown, and the calls do nothing.
func TestNoProgressWithoutATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs strings.Builder
		p := (&Console{Err: &errs}).Progress("checking")
		time.Sleep(5 * time.Second)
		p.Say("more")
		p.Pause(func() { fmt.Fprint(&errs, "found\n") })
		p.End()
		if p != nil || errs.String() != "found\n" {
			t.Errorf("without a terminal standard error has %q", errs.String())
		}
	})
}
