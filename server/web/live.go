package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"patterngate/patterns"
	"patterngate/server/web/wording"
)

const (
	maxStreams = 32               // pages that watch changes at the same time
	heartbeat  = 15 * time.Second // how often a stream without news sends a sign of life
	streamLife = 10 * time.Minute // then a page reconnects, so that a signed-out browser gets no more
	sendTime   = 10 * time.Second // time for a browser to read what is sent
	maxIDs     = 100              // in one message; more become Everything
)

// mark returns the mark from which a page that is made now must watch.
func (p *Pages) mark() uint64 {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_, next := p.config.Owner.Changed(over, 0)
	return next
}

// live sends a page the ids of the runs and plans that have changed (server-sent events, HTML Living Standard section
// 9.2).
func (p *Pages) live(w http.ResponseWriter, r *http.Request) {
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		w.Header().Set("Retry-After", "60")
		p.refuse(w, r, http.StatusServiceUnavailable, wording.TooManyPages)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	h.Set("X-Accel-Buffering", "no")
	s := stream{w: w, control: http.NewResponseController(w)}
	ctx, cancel := context.WithTimeout(r.Context(), streamLife)
	defer cancel()
	s.tell(ctx, p.config.Owner, p.since(r))
}

// since returns the mark from which a stream sends: where it broke off, or where its page was made, or now.
func (p *Pages) since(r *http.Request) uint64 {
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("since")} {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil && n > 0 {
			return n
		}
	}
	return p.mark()
}

// stream is one page that watches.
type stream struct {
	w       io.Writer
	control *http.ResponseController
}

// tell sends changes until ctx ends or the browser disconnects.
func (s stream) tell(ctx context.Context, owner patterns.Owner, since uint64) {
	if !s.send("retry: 3000\n\n") {
		return
	}
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, heartbeat)
		ids, next := owner.Changed(wait, since)
		cancel()
		text := ": \n\n"
		if len(ids) > 0 {
			text = eventOf(ids, next)
		}
		if ctx.Err() != nil || !s.send(text) {
			return
		}
		since = next
	}
}

// eventOf returns one message, with one line for each id.
func eventOf(ids []string, next uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id: %d\n", next)
	for _, id := range ids {
		if !runID.MatchString(id) && !planID.MatchString(id) || len(ids) > maxIDs {
			b.Reset() // an id is unknown, or there are too many
			fmt.Fprintf(&b, "id: %d\ndata: %s\n", next, patterns.Everything)
			break
		}
		b.WriteString("data: " + id + "\n")
	}
	b.WriteByte('\n')
	return b.String()
}

// send writes a text to a browser. It returns false if the browser does not read it in time.
func (s stream) send(text string) bool {
	if err := s.control.SetWriteDeadline(time.Now().Add(sendTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	_, err := io.WriteString(s.w, text)
	return err == nil && s.control.Flush() == nil
}
