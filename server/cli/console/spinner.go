package console

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"patterngate/server/settings/machine"
)

// How a spinner turns. Work that ends before spinnerPatience shows none, so that nothing flickers.
const (
	spinnerSigns    = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	spinnerPatience = 200 * time.Millisecond
	spinnerPace     = 100 * time.Millisecond
)

// Spinner is one line at a terminal while a command works: a sign that turns, the elapsed time, and what is being done. It rewrites the
// line in place and removes it at the end. A nil Spinner does nothing. It is safe for concurrent use.
type Spinner struct {
	to    io.Writer
	width int                      // how many characters a line can have
	paint func(text string) string // the colour of the line
	began time.Time
	over  chan struct{} // closed by Stop
	idle  chan struct{} // closed when the line is removed
	once  sync.Once

	mu    sync.Mutex
	text  string
	drawn int // how many characters the line has on the screen
}

// Spin starts a spinner on standard error. It returns nil if standard error is no terminal that can rewrite a line, or with --json.
// The caller stops it before it prints anything else.
func (c *Console) Spin(text string) *Spinner {
	if c.JSON || !IsTerminal(c.Err) || machine.Lookup(c.Environ, "TERM") == "dumb" {
		return nil
	}
	dim := c.ColoredAt(c.Err)
	return newSpinner(c.Err, Readable(c.Width()), text, func(line string) string { return Paint(dim, Dim, line) })
}

func newSpinner(to io.Writer, width int, text string, paint func(string) string) *Spinner {
	s := &Spinner{to: to, width: width, paint: paint, text: text, began: time.Now(), over: make(chan struct{}), idle: make(chan struct{})}
	go s.turn()
	return s
}

// Say changes what the line says. Control and bidi characters are spelled out.
func (s *Spinner) Say(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// Pause removes the line while do prints something else. The line comes back afterwards.
func (s *Spinner) Pause(do func()) {
	if s == nil {
		do()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove()
	do()
}

// Stop removes the line and waits until it is gone. More calls of Stop do nothing.
func (s *Spinner) Stop() {
	if s == nil {
		return
	}
	s.once.Do(func() { close(s.over) })
	<-s.idle
}

// turn draws the line until the spinner stops, and then removes it.
func (s *Spinner) turn() {
	defer close(s.idle)
	signs := []rune(spinnerSigns)
	timer := time.NewTimer(spinnerPatience)
	defer timer.Stop()
	for n := 0; ; n++ {
		select {
		case <-s.over:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.remove()
			return
		case <-timer.C:
			s.draw(signs[n%len(signs)])
			timer.Reset(spinnerPace)
		}
	}
}

// remove clears the line. The caller holds mu.
func (s *Spinner) remove() {
	if s.drawn > 0 {
		_, _ = fmt.Fprintf(s.to, "\r%s\r", strings.Repeat(" ", s.drawn)) // only decoration: an error has no use
	}
	s.drawn = 0
}

// draw rewrites the line, over the characters of the line before.
func (s *Spinner) draw(sign rune) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := Clip(fmt.Sprintf("%c %.1f s  %s", sign, time.Since(s.began).Seconds(), s.text), s.width-1) // a full line would wrap
	n := utf8.RuneCountInString(line)
	_, _ = fmt.Fprintf(s.to, "\r%s%s", s.paint(line), strings.Repeat(" ", max(0, s.drawn-n)))
	s.drawn = n
}
