package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
)

// start starts a program that runs as long as the story, waits for a line on one of its outputs, and returns what the pattern's
// group holds there.
func (s *stage) start(cmd *exec.Cmd, out io.Reader, pattern string) string {
	if s.err != nil {
		return ""
	}
	if err := cmd.Start(); err != nil {
		s.must(err)
		return ""
	}
	s.running = append(s.running, cmd)
	wanted := regexp.MustCompile(pattern)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		_, _ = s.log.Write(append(lines.Bytes(), '\n')) // in memory
		if found := wanted.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(s.log, out) }() // a log that nobody reads must not fill its pipe
			return found[1]
		}
	}
	s.fail("%s did not say %s", cmd.Path, pattern)
	return ""
}

// end asks a program to end, and wants it to end well; where a system cannot ask, it kills.
func (s *stage) end(cmd *exec.Cmd) {
	if cmd.Process.Signal(os.Interrupt) != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		return
	}
	if err := cmd.Wait(); err != nil && s.ctx.Err() == nil {
		s.fail("%s did not end well: %w", cmd.Path, err)
	}
}

// words are what patterngate says on standard error; they are shown where a story fails.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps them.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// last is the end of what was said, as a fault; nil for nothing.
func (w *words) last() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := bytes.TrimSpace(w.text.Bytes())
	if len(text) == 0 {
		return nil
	}
	return errors.New("patterngate said:\n" + string(text[max(0, len(text)-4096):]))
}
