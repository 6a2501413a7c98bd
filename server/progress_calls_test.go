package server

import (
	"fmt"
	"strings"
	"testing"
)

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
