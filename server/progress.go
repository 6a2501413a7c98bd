package server

import (
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
	"patterngate/server/envelope"
	"patterngate/server/outcome"
	"patterngate/server/sentence"
)

// progressPause is the least time between two progress notifications of a call, except the last one.
const progressPause = 100 * time.Millisecond

// progress sends progress lines of a run to a client. A line that comes too soon waits, and a newer line replaces it. A
// client that does not read delays only the end of its own call. On a nil progress, end does nothing.
type progress struct {
	send   func(n progressNote)
	newest chan string   // holds one line
	over   chan struct{} // no more lines come
	idle   chan struct{} // the sender has ended
	value  int           // of the last notification
}

// progressNote is the content of a notifications/progress.
type progressNote struct {
	Token   mcp.ProgressToken `json:"progressToken"`
	Value   int               `json:"progress"`
	Total   int               `json:"total,omitempty"` // known only at the end
	Message string            `json:"message"`
}

// newProgress returns the progress that a request asked for by its token, or nil if it asked for none. send sends one
// notification. Its calls are not concurrent.
func newProgress(meta *mcp.Meta, send func(progressNote)) *progress {
	if meta == nil {
		return nil
	}
	token := meta.ProgressToken
	switch token.(type) {
	case string, float64: // the protocol allows only these types
	default:
		return nil
	}
	return startProgress(func(n progressNote) {
		n.Token = token
		send(n)
	})
}

func startProgress(send func(progressNote)) *progress {
	p := &progress{send: send, newest: make(chan string, 1), over: make(chan struct{}), idle: make(chan struct{})}
	go p.serve()
	return p
}

// tell passes on a line. It never waits. Calls must not be concurrent.
func (p *progress) tell(line patterns.Progress) {
	select {
	case <-p.newest:
	default:
	}
	p.newest <- line.Line
}

// serve sends lines, at most one in each progressPause.
func (p *progress) serve() {
	defer close(p.idle)
	pause := time.NewTimer(progressPause)
	defer pause.Stop()
	for {
		select {
		case line := <-p.newest:
			p.value++
			p.send(progressNote{Value: p.value, Message: line})
		case <-p.over:
			return
		}
		pause.Reset(progressPause)
		select {
		case <-pause.C:
		case <-p.over:
			return
		}
	}
}

// end stops the progress and sends the last line, unless it is empty. No line is sent after that.
func (p *progress) end(last string) {
	if p == nil {
		return
	}
	close(p.over)
	<-p.idle
	if last != "" {
		p.value++
		p.send(progressNote{Value: p.value, Total: p.value, Message: last})
	}
}

// maxProgress is the greatest length of a line in characters.
const maxProgress = 120

// lastWords returns the last line about a run.
func lastWords(e envelope.Envelope, ended patterns.Ended) string {
	line := ended.Phase + ": done"
	switch e.Status {
	case envelope.StatusRunning:
		line = e.Current.Phase + ": " + printable.Text(e.Current.Doing)
	case envelope.StatusWaiting:
		line = e.WaitingFor.Head().Phase + ": " + outcome.WaitWords(e.WaitingFor.Head().Kind)
	case envelope.StatusStopped:
		line = e.Phase + ": stopped, " + sentence.Reason(e.StopReason)
	}
	return sentence.AtMost(line, maxProgress)
}
