package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
	"patterngate/server/envelope"
)

// At most ten lines a second, the newest of those that wait, and the last always.
func TestProgressPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var got []string
		p := startProgress(func(n progressNote) {
			got = append(got, fmt.Sprintf("%v %d/%d %s", time.Since(began), n.Value, n.Total, n.Message))
		})
		for i := range 99 {
			p.tell(patterns.Progress{Line: fmt.Sprint("line ", i)})
			synctest.Wait()
			time.Sleep(3 * time.Millisecond)
		}
		p.end("over")
		want := []string{"0s 1/0 line 0", "100ms 2/0 line 33", "200ms 3/0 line 66", "297ms 4/4 over"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("99 lines in 297 ms (-want +got):\n%s", diff)
		}
	})
}

func TestProgressEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			lines []string
			last  string
			want  []string
		}{
			"no line":       {nil, "over", []string{"1 over"}},
			"nothing":       {nil, "", nil},
			"no last":       {[]string{"a"}, "", []string{"1 a"}},
			"what is older": {[]string{"a", "b", "c"}, "over", []string{"1 a", "2 over"}},
		} {
			var got []string
			p := startProgress(func(n progressNote) { got = append(got, fmt.Sprint(n.Value, " ", n.Message)) })
			for _, line := range tt.lines {
				p.tell(patterns.Progress{Line: line})
				synctest.Wait()
			}
			p.end(tt.last)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		var none *progress
		none.end("over") // a call without a token
	})
}

func TestLastWords(t *testing.T) {
	for want, e := range map[string]envelope.Envelope{
		"finalize: done": {Status: envelope.StatusOK},
		"plan: stopped, invalid_plan:tool_not_allowed:pay": {Status: envelope.StatusStopped, Phase: "plan", StopReason: "invalid_plan:tool_not_allowed:pay"},
		"request: stopped, a:\\u001bb":                     {Status: envelope.StatusStopped, Phase: "request", StopReason: "a:\x1bb"},
	} {
		if got := lastWords(e, patterns.Ended{Phase: "finalize"}); got != want {
			t.Errorf("lastWords(%q in %q) = %q, want %q", e.StopReason, e.Phase, got, want)
		}
	}
	long := lastWords(envelope.Envelope{Status: envelope.StatusStopped, Phase: "plan", StopReason: "invalid_plan:" + strings.Repeat("é", 4000)}, patterns.Ended{})
	if n := len([]rune(long)); n > maxProgress {
		t.Errorf("a line of %d characters: %s", n, long)
	}
}

// Over stdio every notification of a call comes before its answer, in order; without a token there is none.
func TestProgressBeforeAnswer(t *testing.T) {
	for name, token := range map[string]string{"text": `"t-1"`, "number": `5`} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, serving(t))
			for range 50 {
				c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":` + token + `},"name":"` + td + `","arguments":` + goodCall + `}}`)
				var got []message
				for m := c.next(); m.ID == nil; m = c.next() {
					got = append(got, m)
				}
				if len(got) == 0 {
					t.Fatal("no progress before the answer")
				}
				for i, m := range got {
					if m.Method != "notifications/progress" || mustJSON(m.Params["progressToken"]) != token || m.Params["progress"] != float64(i+1) {
						t.Errorf("notification %d: %s", i, m.line)
					}
				}
				last := got[len(got)-1]
				if last.Params["message"] != "execute: done" || last.Params["total"] != float64(len(got)) {
					t.Errorf("the last of %d: %s", len(got), last.line)
				}
			}
			if m := c.call(td, goodCall); m.ID == nil {
				t.Errorf("a call without a token told %s", m.line)
			}
		})
	}
}

// A run that waits tells where it stands while it does.
func TestProgressWhileRunning(t *testing.T) {
	h := newHolding()
	c := connect(t, serving(t, h.with(t)))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + strings.Replace(modernMeta, `{`, `{"progressToken":"p",`, 1) +
		`,"name":"` + td + `","arguments":` + holdCall + `}}`)
	var lines []string
	for len(lines) == 0 || lines[len(lines)-1] != "execute: step 1 of 1, hold" {
		lines = append(lines, fmt.Sprint(c.next().Params["message"]))
	}
	close(h.let)
	if m := c.next(); m.Params["message"] != "execute: done" {
		t.Errorf("after %q came %s", lines, m.line)
	}
	if r := c.next().result(t); r.Structured["status"] != "ok" {
		t.Errorf("the call ended with %v", r)
	}
}
