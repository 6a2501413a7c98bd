package bench

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// Sessions holds how much live heap the sessions of a server over HTTP need. Each session has its own principal, and
// has called a tool once. EachKB is for each open session, and LeftMB for all sessions after their end. The server's
// runtime reports the heap in whole megabytes.
type Sessions struct {
	N      int
	EachKB float64
	LeftMB int64
}

// MostPrincipals is how many tokens a server accepts.
const MostPrincipals = 1000

// MeasureSessions opens a session for each of several principals, and ends all of them.
func (p Programs) MeasureSessions(m *Model, principals int) (got Sessions, err error) {
	config, tokens, err := p.withTokens(principals)
	if err != nil {
		return got, err
	}
	var heap liveHeap
	s, err := p.serveOurs(m, config, heap.read, "GODEBUG=gctrace=1")
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w := newWeb(s.Address, Handshake, 1)
	defer w.transport.CloseIdleConnections()

	first, err := w.sessionOf(tokens[0])
	if err != nil {
		return got, err
	}
	before, err := heap.measure(func() error { return w.list(first) })
	if err != nil {
		return got, err
	}
	open := make([]http.Header, 0, principals)
	for _, token := range tokens {
		head, err := w.sessionOf(token)
		if err != nil {
			return got, err
		}
		open = append(open, head)
	}
	used, err := heap.measure(func() error { return w.list(first) })
	if err != nil {
		return got, err
	}
	for _, head := range open {
		if err := w.end(head); err != nil {
			return got, err
		}
	}
	ended, err := heap.measure(func() error { return w.list(first) })
	return Sessions{principals, float64(used-before) * 1024 / float64(principals), ended - before}, err
}

// withTokens writes a configuration with a token for each principal.
func (p Programs) withTokens(principals int) (config string, tokens []string, err error) {
	dir := filepath.Dir(p.Config)
	config, file := filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "tokens")
	var lines strings.Builder
	for i := range principals {
		tokens = append(tokens, fmt.Sprintf("benchmark-token-%08d", i))
		fmt.Fprintf(&lines, "principal-%d: %s\n", i, tokens[i])
	}
	text := seedConfig + "http: {token_file: " + strconv.Quote(file) + "}\n"
	return config, tokens, errors.Join(os.WriteFile(file, []byte(lines.String()), 0o600), os.WriteFile(config, []byte(text), 0o600))
}

// sessionOf opens a session for the holder of a token and calls describe_catalog in it. It returns the headers for
// further requests.
func (w *web) sessionOf(token string) (http.Header, error) {
	own := *w
	own.token = token
	id, err := own.session()
	if err != nil {
		return nil, err
	}
	head := own.head("tools/call", catalogTool, id)
	_, _, err = own.post(head, request(1, "tools/call", Handshake.toolCall(catalogTool, hopArguments)), nil, http.StatusOK)
	return head, err
}

// list requests the list of tools, which has a long answer.
func (w *web) list(head http.Header) error {
	_, _, err := w.post(head, request(2, "tools/list", []byte(`{}`)), nil, http.StatusOK)
	return err
}

// end ends a session.
func (w *web) end(head http.Header) error {
	response, err := w.transport.RoundTrip(&http.Request{Method: http.MethodDelete, URL: w.url, Header: head, Host: w.url.Host})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("DELETE: status %d", response.StatusCode)
	}
	return nil
}

// liveHeap reads what a server's runtime logs about its garbage collections (GODEBUG=gctrace=1, see package runtime).
type liveHeap struct{ collections, mb atomic.Int64 }

// collected matches the line of a garbage collection and captures the megabytes of the live heap.
var collected = regexp.MustCompile(`^gc \d+ @.* \d+->\d+->(\d+) MB, `)

// read reads one line of the server's log.
func (h *liveHeap) read(line string) {
	if found := collected.FindStringSubmatch(line); found != nil {
		mb, _ := strconv.ParseInt(found[1], 10, 64) // the expression matches only digits
		h.mb.Store(mb)
		h.collections.Add(1)
	}
}

// measure repeats the work until the server has collected its garbage 3 times. It returns the megabytes of the live
// heap.
func (h *liveHeap) measure(work func() error) (mb int64, err error) {
	const mostWork, enough = 100_000, 3
	begun := h.collections.Load()
	for range mostWork {
		if h.collections.Load()-begun >= enough {
			return h.mb.Load(), nil
		}
		if err := work(); err != nil {
			return 0, err
		}
	}
	return 0, errors.New("the server does not tell of its collections")
}
