package call

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patterngate/catalog/upstream"
	"patterngate/server/cli/console"
)

// answer is what a tool of a slow server says, after some time.
type answer struct {
	after  time.Duration
	status string // "": no answer, but an error
}

// slowServer plays a server whose tool work begins a run that run_wait waits for. Each call takes the next answer.
type slowServer struct {
	answers []answer
	asked   []string // tool and arguments of every call
}

const workSchema = `{"type":"object","properties":{"goal":{"type":"string"},"max_wait_seconds":{"type":"number","minimum":0,"maximum":240,"default":45}}}`

// serve answers the requests of one client, each on its own, until its input ends or ctx does.
func (s *slowServer) serve(ctx context.Context, in io.ReadCloser, out io.Writer, tools []string) {
	defer in.Close()
	var calls sync.WaitGroup
	defer calls.Wait()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion, Name string
				Arguments             json.RawMessage
			}
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := func(text string) {
			_, _ = fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, text)
		}
		switch m.Method {
		case "initialize":
			result(fmt.Sprintf(`"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}`, m.Params.ProtocolVersion))
		case "tools/list":
			var list []string
			for _, tool := range tools {
				list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, tool, workSchema))
			}
			result(`"result":{"tools":[` + strings.Join(list, ",") + `]}`)
		case "tools/call":
			s.asked = append(s.asked, m.Params.Name+" "+string(m.Params.Arguments))
			next := answer{status: "ok"}
			if len(s.answers) > 0 {
				next, s.answers = s.answers[0], s.answers[1:]
			}
			calls.Go(func() {
				if pause(ctx, next.after) == nil {
					result(next.text())
				}
			})
		default:
			result(`"error":{"code":-32601,"message":"no such method"}`)
		}
	}
}

func (a answer) text() string {
	if a.status == "" {
		return `"error":{"code":-32603,"message":"broken"}`
	}
	return fmt.Sprintf(`"result":{"content":[{"type":"text","text":"%s | work"}],"structuredContent":`+
		`{"status":%q,"stop_reason":"success","run_id":"run_00000000000000aa","summary":"So it is.","next":{"action":"done"}}}`, strings.ToUpper(a.status), a.status)
}

// play makes a call of work as the command does and returns the exit code, the streams and how long it took.
func (s *slowServer) play(t *testing.T, wait time.Duration, interrupt time.Duration, tools ...string) (out, errs string, took time.Duration, err error) {
	t.Helper()
	requests, toServer := io.Pipe()
	answers, fromServer := io.Pipe()
	serving, end := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.serve(serving, requests, fromServer, tools)
	}()
	client, err := upstream.Over(t.Context(), answers, toServer, upstream.Identity{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	c := &toolCall{Commands: &Commands{Console: &console.Console{Out: &o, Err: &e, Color: "never"}, Config: new(""), State: new("")}, name: "work", wait: wait, errs: &lockedWriter{to: &e}}
	to := &callee{client: client, wait: func() {}}
	defer func() {
		end()
		to.close()
		<-over
	}()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if interrupt > 0 {
		time.AfterFunc(interrupt, cancel)
	}
	tool, err := to.tool(ctx, "work")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = c.make(ctx, to, tool, json.RawMessage(`{"goal":"g"}`))
	took = time.Since(began)
	return o.String(), e.String(), took, err
}

func TestCallFollows(t *testing.T) {
	const begin, again = `work {"goal":"g"}`, `run_wait {"run_id":"run_00000000000000aa"}`
	tests := map[string]struct {
		answers []answer
		wait    time.Duration
		without bool // run_wait
		asked   []string
		code    console.ExitCode
		out     string
		took    time.Duration
	}{
		"it ends in time":         {[]answer{{0, "ok"}}, time.Minute, false, []string{begin}, 0, "OK", 0},
		"it is not followed":      {[]answer{{45 * time.Second, "running"}}, 0, false, []string{begin}, 7, "RUNNING", 45 * time.Second},
		"it is asked for twice":   {[]answer{{45 * time.Second, "running"}, {45 * time.Second, "running"}, {3 * time.Second, "ok"}}, 10 * time.Minute, false, []string{begin, again, again}, 0, "OK", 93 * time.Second},
		"it waits for its caller": {[]answer{{45 * time.Second, "running"}, {time.Second, "waiting"}}, 10 * time.Minute, false, []string{begin, again}, 7, "WAITING", 46 * time.Second},
		"it is over first": {[]answer{{45 * time.Second, "running"}, {15 * time.Second, "running"}}, time.Minute, false,
			[]string{begin, `run_wait {"run_id":"run_00000000000000aa","max_wait_seconds":15}`}, 7, "RUNNING", time.Minute},
		"it is over before a call returns by itself": {[]answer{{1500 * time.Millisecond, "running"}}, 1500 * time.Millisecond, false,
			[]string{`work {"goal":"g","max_wait_seconds":1.5}`}, 7, "RUNNING", 1500 * time.Millisecond},
		"a server that answers at once is not flooded": {slices.Repeat([]answer{{0, "running"}}, 100), 5 * time.Second, false,
			[]string{`work {"goal":"g","max_wait_seconds":5}`, `run_wait {"run_id":"run_00000000000000aa","max_wait_seconds":5}`, `run_wait {"run_id":"run_00000000000000aa","max_wait_seconds":4}`,
				`run_wait {"run_id":"run_00000000000000aa","max_wait_seconds":3}`, `run_wait {"run_id":"run_00000000000000aa","max_wait_seconds":2}`,
				`run_wait {"run_id":"run_00000000000000aa","max_wait_seconds":1}`}, 7, "RUNNING", 5 * time.Second},
		"a server without run_wait": {[]answer{{45 * time.Second, "running"}}, time.Minute, true, []string{begin}, 7, "RUNNING", 45 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowServer{answers: tt.answers}
				tools := []string{"work", waitTool}
				if tt.without {
					tools = tools[:1]
				}
				out, errs, took, err := s.play(t, tt.wait, 0, tools...)
				code, _ := errors.AsType[console.ExitCode](err)
				if code != tt.code || code == 0 && err != nil || !strings.HasPrefix(out, tt.out+" | work") || strings.Count(out, " | work") != 1 || took != tt.took {
					t.Errorf("call --wait %v ends with %v after %v:\n%s%s\nwant %d after %v and %s once", tt.wait, err, took, out, errs, tt.code, tt.took, tt.out)
				}
				if !slices.Equal(s.asked, tt.asked) {
					t.Errorf("call --wait %v asked\n%q, want\n%q", tt.wait, s.asked, tt.asked)
				}
			})
		})
	}
}

// What was known stays printed where the following breaks off, and a run that is followed is not cancelled.
func TestCallFollowsInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowServer{answers: []answer{{45 * time.Second, "running"}, {time.Second, ""}}}
		out, _, _, err := s.play(t, time.Hour, 0, "work", waitTool)
		failed, ok := errors.AsType[*console.Error](err)
		if !ok || failed.Code != console.ExitFault || !strings.HasPrefix(out, "RUNNING | work") {
			t.Errorf("a call whose server breaks ends with %v:\n%s", err, out)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &slowServer{answers: []answer{{45 * time.Second, "running"}, {45 * time.Second, "running"}}}
		out, errs, took, err := s.play(t, time.Hour, 50*time.Second, "work", waitTool)
		if !errors.Is(err, context.Canceled) || !strings.HasPrefix(out, "RUNNING | work") || !strings.Contains(errs, "call: interrupted; run_00000000000000aa was not cancelled\n") || took < 50*time.Second {
			t.Errorf("a call that is interrupted ends with %v after %v:\n%s%s", err, took, out, errs)
		}
	})
}
