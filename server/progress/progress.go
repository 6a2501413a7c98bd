package progress

import (
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/sentence"
)

// betweenLines is the least time between two progress notifications of a call, except the last one.
const betweenLines = 100 * time.Millisecond

// Progress sends progress lines of a run to a client. A line that comes too soon waits, and a newer line replaces it. A
// client that does not read delays only the end of its own call. On a nil progress, end does nothing.
type Progress struct {
	send   func(n Note)
	newest chan string   // holds one line
	over   chan struct{} // no more lines come
	idle   chan struct{} // the sender has ended
	value  int           // of the last notification
}

// Note is the content of a notifications/progress.
type Note struct {
	Token   mcp.ProgressToken `json:"progressToken"`
	Value   int               `json:"progress"`
	Total   int               `json:"total,omitempty"` // known only at the end
	Message string            `json:"message"`
}

// New returns the progress that a request asked for by its token, or nil if it asked for none. send sends one
// notification. Its calls are not concurrent.
func New(meta *mcp.Meta, send func(Note)) *Progress {
	if meta == nil {
		return nil
	}
	token := meta.ProgressToken
	switch token.(type) {
	case string, float64: // the protocol allows only these types
	default:
		return nil
	}
	return start(func(n Note) {
		n.Token = token
		send(n)
	})
}

func start(send func(Note)) *Progress {
	p := &Progress{send: send, newest: make(chan string, 1), over: make(chan struct{}), idle: make(chan struct{})}
	go p.serve()
	return p
}

// Tell passes on a line. It never waits. Calls must not be concurrent.
func (p *Progress) Tell(line patterns.Progress) {
	select {
	case <-p.newest:
	default:
	}
	p.newest <- line.Line
}

// serve sends lines, at most one in each progressPause.
func (p *Progress) serve() {
	defer close(p.idle)
	pause := time.NewTimer(betweenLines)
	defer pause.Stop()
	for {
		select {
		case line := <-p.newest:
			p.value++
			p.send(Note{Value: p.value, Message: line})
		case <-p.over:
			return
		}
		pause.Reset(betweenLines)
		select {
		case <-pause.C:
		case <-p.over:
			return
		}
	}
}

// End stops the progress and sends the last line, unless it is empty. No line is sent after that.
func (p *Progress) End(last string) {
	if p == nil {
		return
	}
	close(p.over)
	<-p.idle
	if last != "" {
		p.value++
		p.send(Note{Value: p.value, Total: p.value, Message: last})
	}
}

// MaxLine is the greatest length of a line in characters.
const MaxLine = 120

// LastWords returns the last line about a run.
func LastWords(e envelope.Envelope, ended patterns.Ended) string {
	last := line(ended.Phase, isDone)
	switch e.Status {
	case envelope.StatusRunning:
		last = line(e.Current.Phase, printable.Text(e.Current.Doing))
	case envelope.StatusWaiting:
		last = line(e.WaitingFor.Head().Phase, outcome.WaitWords(e.WaitingFor.Head().Kind))
	case envelope.StatusStopped:
		last = line(e.Phase, stopped(sentence.Reason(e.StopReason)))
	}
	return sentence.AtMost(last, MaxLine)
}
