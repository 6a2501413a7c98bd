package console

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"patterngate/ijson/printable"
	"patterngate/server/settings/machine"

	"golang.org/x/term"
)

// When a progress line appears, and how often it moves.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// frames are the pictures of the spinner.
var frames = [...]string{"|", "/", "-", "\\"}

// Progress shows that a command is working: a spinner, what it does, and the elapsed time, in one line that is removed at the end. The line
// appears after a second. A nil Progress shows nothing. It is safe for concurrent use.
type Progress struct {
	to    io.Writer
	width func() int // of the terminal, in characters
	began time.Time
	over  chan struct{}
	ended sync.WaitGroup

	mu    sync.Mutex
	what  string
	shown bool // the line is on the screen
}

// Progress starts to show that the command does something. It returns nil if standard error is not a terminal that can
// redraw a line. The caller must call End.
func (c *Console) Progress(what string) *Progress {
	f, ok := c.Err.(*os.File)
	if !ok || !IsTerminal(f) || machine.Lookup(c.Environ, "TERM") == "dumb" {
		return nil
	}
	return startProgress(f, what, func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil || w <= 0 {
			return usualWidth
		}
		return w
	})
}

// startProgress is Progress for a terminal of this width.
func startProgress(to io.Writer, what string, width func() int) *Progress {
	p := &Progress{to: to, width: width, began: time.Now(), what: what, over: make(chan struct{})}
	p.ended.Go(p.move)
	return p
}

// move redraws the line until End.
func (p *Progress) move() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-p.over:
			return
		case <-tick.C:
			p.draw(frames[frame%len(frames)])
		}
	}
}

// draw writes the line over the previous one.
func (p *Progress) draw(frame string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	spent := time.Since(p.began)
	if spent < progressAfter {
		return
	}
	after := fmt.Sprintf("  %d s", int(spent.Seconds()))
	room := p.width() - 1 - utf8.RuneCountInString(frame+" "+after)
	_, _ = io.WriteString(p.to, "\r\x1b[K"+frame+" "+Clip(p.what, max(0, room))+after)
	p.shown = true
}

// clear removes the line. The caller holds mu.
func (p *Progress) clear() {
	if p.shown {
		_, _ = io.WriteString(p.to, "\r\x1b[K")
	}
	p.shown = false
}

// Say changes what the line says.
func (p *Progress) Say(what string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = printable.Text(what)
}

// Pause removes the line while do prints or asks something.
func (p *Progress) Pause(do func()) {
	if p == nil {
		do()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	do()
}

// End removes the line. More calls of End do nothing.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	select {
	case <-p.over:
	default:
		close(p.over)
	}
	p.mu.Unlock()
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
