package server

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"patterngate/ijson/printable"
	"patterngate/patterns"
)

// progressPause is the least time between two progress notifications of a call, the last one excepted.
const progressPause = 100 * time.Millisecond

// progress tells a client how its run goes on. A line that comes too soon waits, and gives way to a newer one; a
// client that does not listen holds nothing up but its own call's end. A nil progress tells nobody.
type progress struct {
	send   func(n progressNote)
	newest chan string   // of one
	over   chan struct{} // no more lines come
	idle   chan struct{} // the sender has ended
	value  int           // of the notification sent last
}

// progressNote is the content of a notifications/progress.
type progressNote struct {
	Token   mcp.ProgressToken `json:"progressToken"`
	Value   int               `json:"progress"`
	Total   int               `json:"total,omitempty"` // known at the end only
	Message string            `json:"message"`
}

// newProgress is the progress that a request asked for by its token; nil if it asked for none.
func newProgress(ctx context.Context, s *Server, meta *mcp.Meta) *progress {
	if meta == nil {
		return nil
	}
	token := meta.ProgressToken
	switch token.(type) {
	case string, float64: // what the protocol has; another token is none
	default:
		return nil
	}
	return startProgress(func(n progressNote) {
		n.Token = token
		s.notify(ctx, n)
	})
}

func startProgress(send func(progressNote)) *progress {
	p := &progress{send: send, newest: make(chan string, 1), over: make(chan struct{}), idle: make(chan struct{})}
	go p.serve()
	return p
}

// tell takes a line. It never waits; lines come one at a time.
func (p *progress) tell(line patterns.Progress) {
	select {
	case <-p.newest:
	default:
	}
	p.newest <- line.Line
}

// serve sends lines, at most one a pause.
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

// end stops the progress and sends the last line, unless there is none. Nothing of it comes later.
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

// maxProgress is how long a line may be, in characters.
const maxProgress = 120

// lastWords is the last line about a run.
func lastWords(e Envelope, ended patterns.Ended) string {
	line := ended.Phase + ": done"
	switch e.Status {
	case statusRunning:
		line = e.Current.Phase + ": " + printable.Text(e.Current.Doing)
	case statusWaiting:
		line = e.WaitingFor.head().Phase + ": " + waitWords(e.WaitingFor.head().Kind)
	case statusStopped:
		line = e.Phase + ": stopped, " + shownReason(e.StopReason)
	}
	return atMost(line, maxProgress)
}

// waitWords says in a progress line what a run waits for.
func waitWords(kind string) string {
	switch patterns.WaitingKind(kind) {
	case patterns.ForCaller:
		return "waiting for the caller"
	case patterns.ForRetry:
		return "waiting for what is missing"
	}
	return "waiting for a person"
}

// notify sends a progress notification. Over stdio and HTTP it is written at once, in order with the answer: mcp-go
// would hand it to another goroutine, which drops what comes too fast and may write it after the answer, or never.
func (s *Server) notify(ctx context.Context, n progressNote) {
	if c := connOf(ctx); c != nil {
		c.notify("notifications/progress", n)
		return
	}
	if x := exchangeOf(ctx); x != nil {
		x.answer.notify("notifications/progress", n)
		return
	}
	s.sendBySession(ctx, "notifications/progress", n)
}
