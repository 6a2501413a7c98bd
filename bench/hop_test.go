package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Both sides of a hop answer the same bytes in both channels, about 5 KB of them, one call at a time and many at once.
func TestHopsAreTheSame(t *testing.T) {
	if os.Getenv("CI") != "true" {
		t.Skip("builds and starts ten programs; runs with CI=true")
	}
	programs, err := Build(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	model, err := programs.StartModel()
	if err != nil {
		t.Fatal(err)
	}
	defer ended(t, model.Close)
	for _, era := range Eras() {
		for over, http := range map[string]bool{"stdio": false, "HTTP": true} {
			t.Run(string(era)+" "+over, func(t *testing.T) {
				sides, err := programs.Hop(model, era, http)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { ended(t, func() error { return closeAll(sides) }) })
				_, want, err := resultOf(sides[0].Answer())
				if err != nil {
					t.Fatal(err)
				}
				for i, side := range sides {
					_, got, err := resultOf(side.Answer())
					if diff := cmp.Diff(want, got); err != nil || diff != "" {
						t.Errorf("side %d: %v, bare -, side +\n%s", i, err, diff)
					}
					if err := side.Once(); err != nil {
						t.Errorf("side %d, a call: %v", i, err)
					}
					side.Vary()
					if err := side.AtOnce(3*crowded, crowded); err != nil {
						t.Errorf("side %d, calls at once: %v", i, err)
					}
				}
				if n := len(want.Structured); n < 4500 || n > 5500 {
					t.Errorf("%d bytes of structured content, want about 5000", n)
				}
			})
		}
	}
}

var requestID = regexp.MustCompile(`"id":(\d+)`)

// answers has a server over pipes that gets the lines of n requests and then writes what they are answered.
func answers(t *testing.T, n int, answer func(ids []string) string) *stdioCaller {
	t.Helper()
	fromClient, in := io.Pipe()
	fromServer, out := io.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer out.Close()
		defer fromClient.Close() // before, so that a request too many meets it
		lines := bufio.NewReader(fromClient)
		var ids []string
		for range n {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			ids = append(ids, requestID.FindStringSubmatch(line)[1])
		}
		_, _ = io.WriteString(out, answer(ids)) // a client that has seen enough reads no more
	}()
	t.Cleanup(func() { fromClient.Close(); fromServer.Close(); <-over })
	c := &stdioCaller{Session: &Session{in: in, out: bufio.NewReader(fromServer)}, params: []byte(`{}`)}
	c.want = []byte(`,"result":{"n":1}}` + "\n")
	return c
}

func line(id string) string { return answerHead + id + `,"result":{"n":1}}` + "\n" }

// A call over stdio fails unless its answer is the wanted one.
func TestStdioCallIsJudged(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(ids []string) string
		want   string // in the error; empty: none
	}{
		"the wanted one":       {func(ids []string) string { return line(ids[0]) }, ""},
		"after a notification": {func(ids []string) string { return `{"jsonrpc":"2.0","method":"x"}` + "\n" + line(ids[0]) }, ""},
		"another result":       {func(ids []string) string { return strings.Replace(line(ids[0]), `:1}`, `:2}`, 1) }, "want one of 19"},
		"an error":             {func(ids []string) string { return answerHead + ids[0] + `,"error":{}}` + "\n" }, `"error":{}`},
		"none":                 {func([]string) string { return "" }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			err := answers(t, 1, tt.answer).Once()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Once() = %v, want %q", err, tt.want)
			}
		})
	}
}

// Calls at once may be answered in any order, each once.
func TestStdioCallsAtOnceAreJudged(t *testing.T) {
	const n = 4
	all := func(ids []string) string {
		var text string
		for _, id := range ids {
			text += line(id)
		}
		return text
	}
	for name, tt := range map[string]struct {
		answer func(ids []string) string
		want   string
	}{
		"in order":     {all, ""},
		"turned round": {func(ids []string) string { slices.Reverse(ids); return all(ids) }, ""},
		"one twice":    {func(ids []string) string { ids[2] = ids[1]; return all(ids) }, "no answer to a call under way"},
		"a foreign id": {func(ids []string) string { ids[2] = "99"; return all(ids) }, "no answer to a call under way"},
		"no id":        {func(ids []string) string { ids[2] = "null"; return all(ids) }, "no answer to a call under way"},
		"one other":    {func(ids []string) string { return strings.Replace(all(ids), `:1}`, `:2}`, 1) }, "want one of 19"},
		"one missing":  {func(ids []string) string { return all(ids[1:]) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			err := answers(t, n, tt.answer).AtOnce(n, n)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("AtOnce(%d, %[1]d) = %v, want %q", n, err, tt.want)
			}
		})
	}
}

// No more calls are under way than are wanted: the next is written when an answer is there.
func TestStdioKeepsSoManyUnderWay(t *testing.T) {
	const n, at = 10, 3
	c := answers(t, at, func(ids []string) string { return line(ids[0]) })
	if err := c.AtOnce(n, at); err == nil {
		t.Fatal("one of ten answers was enough")
	}
	if c.id != at && c.id != at+1 { // what follows the answer may meet the end
		t.Errorf("%d calls were written after one answer, want %d", c.id, at+1)
	}
}

// A call over HTTP fails unless its answer is the wanted one, with status 200.
func TestWebCallIsJudged(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		answer func(id string) string
		want   string
	}{
		"the wanted one": {200, line, ""},
		"another result": {200, func(id string) string { return strings.Replace(line(id), `:1}`, `:2}`, 1) }, "want one of 19"},
		"another id":     {200, func(string) string { return line("77") }, "an answer to 77"},
		"a stream":       {200, func(id string) string { return "data: " + line(id) }, "an answer to 0, want one to"},
		"refused":        {503, line, "status 503"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.answer(string(requestID.FindSubmatch(body)[1])))
			}))
			defer server.Close()
			c := &webCaller{
				web: newWeb(server.Listener.Addr().String(), Handshake, 4), params: []byte(`{}`), want: []byte(`,"result":{"n":1}}` + "\n"),
				headers: http.Header{}, stop: func() error { return nil },
			}
			defer ended(t, c.Close)
			for call, err := range map[string]error{"Once": c.Once(), "AtOnce": c.AtOnce(20, 4)} {
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("%s = %v, want %q", call, err, tt.want)
				}
			}
		})
	}
}

// What each era wants stands in the headers and in the body.
func TestEras(t *testing.T) {
	for era, want := range map[Era]struct{ method, name, session, meta string }{
		Handshake: {"", "", "s1", ""},
		Stateless: {"tools/call", "describe_catalog", "", string(Stateless)},
	} {
		session := "s1"
		if era == Stateless {
			session = ""
		}
		h := newWeb("127.0.0.1:9", era, 1).head("tools/call", catalogTool, session)
		if got := h.Get("Mcp-Method"); got != want.method || h.Get("Mcp-Name") != want.name || h.Get("Mcp-Session-Id") != want.session || h.Get("Mcp-Protocol-Version") != string(era) {
			t.Errorf("%s: headers %v, want %+v", era, h, want)
		}
		if body := request(1, "tools/call", era.toolCall("x", "{}")); bytes.Contains(body, []byte(`"_meta"`)) != (want.meta != "") {
			t.Errorf("%s: body %s", era, body)
		}
	}
}

// Calls that vary are all the same to who reads JSON, and all different to who reads bytes.
func TestVaried(t *testing.T) {
	params := Stateless.toolCall(catalogTool, hopArguments)
	var want any
	if err := json.Unmarshal(params, &want); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{string(params): true}
	for call := range 512 {
		text := varied(params, call)
		var got any
		if err := json.Unmarshal(text, &got); err != nil || !cmp.Equal(got, want) || seen[string(text)] {
			t.Fatalf("call %d: %q, seen: %v, %v; want %s", call, text, seen[string(text)], err, params)
		}
		seen[string(text)] = true
	}
}

func TestBehindID(t *testing.T) {
	for text, want := range map[string]struct {
		id   int
		rest string
		ok   bool
	}{
		line("12"):                          {12, `,"result":{"n":1}}` + "\n", true},
		answerHead + "7":                    {7, "", true},
		answerHead + `"7",`:                 {0, `"7",`, false},
		`{"jsonrpc":"2.0","method":"x"}`:    {0, `{"jsonrpc":"2.0","method":"x"}`, false},
		`{"id":1,"jsonrpc":"2.0"}`:          {0, `{"id":1,"jsonrpc":"2.0"}`, false},
		strings.Repeat(" ", 3) + line("12"): {0, strings.Repeat(" ", 3) + line("12"), false},
	} {
		id, rest, ok := behindID([]byte(text))
		if ok != want.ok || ok && (id != want.id || string(rest) != want.rest) {
			t.Errorf("behindID(%q) = %d, %q, %v, want %+v", text, id, rest, ok, want)
		}
	}
}
