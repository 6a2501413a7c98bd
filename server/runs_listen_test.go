package server

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"patterngate/server/transport"
)

// Who listens to a run of theirs by subscriptions/listen hears of each change, over both transports, until the stream
// ends; another principal that listens to the same address hears nothing.
func TestListenToRuns(t *testing.T) {
	finish := func(id string) string {
		return `{"run_id":"` + id + `","actions":[{"kind":"final","answer":"Done."}]}`
	}
	wants := func(id string) string {
		return fmt.Sprintf(`"notifications":{"resourceSubscriptions":[%q,"patterngate://runs/run_0123456789abcdef"]}`, runsURI+id)
	}
	tells := func(t *testing.T, m message, id string) {
		t.Helper()
		if m.Method != "notifications/resources/updated" || m.Params["uri"] != runsURI+id || !strings.Contains(m.line, `subscriptionId":9`) {
			t.Errorf("told of %s, want a change of %s on subscription 9", m.line, id)
		}
	}
	t.Run("stdio", func(t *testing.T) {
		s := serving(t)
		c := connect(t, s)
		id := c.call(sv, startRefund).result(t).Structured["run_id"].(string)
		c.send(modernLine(9, listenMethod, wants(id)))
		if m := c.next(); m.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("listen was answered by %s", m.line)
		}
		c.send(callLine(5, sv, finish(id)))
		for told, answered := 0, false; told < 2 || !answered; { // it runs, it has ended; the answer may come in between
			if m := c.next(); m.ID == 5.0 {
				answered = true
			} else {
				told++
				tells(t, m, id)
			}
		}
	})
	t.Run("http", func(t *testing.T) {
		tokens, err := transport.ParseTokens([]byte("ann: " + strings.Repeat("a", 32) + "\neve: " + strings.Repeat("e", 32)))
		if err != nil {
			t.Fatal(err)
		}
		s := serving(t)
		h := listening(t, s, func(c *transport.HTTPConfig) { c.Tokens = tokens })
		of := func(letter, method, name string) head {
			return modernHead(method, name).with(head{"Authorization": "Bearer " + strings.Repeat(letter, 32)})
		}
		call := func(arguments string) result {
			return h.post(of("a", callMethod, sv), modernCall(3, sv, arguments)).last().result(t)
		}
		id := call(startRefund).Structured["run_id"].(string)
		streams := map[string]*bufio.Reader{}
		for _, letter := range []string{"a", "e"} {
			response, err := h.request(t.Context(), "POST", "/mcp", of(letter, listenMethod, ""), modernLine(9, listenMethod, wants(id)))
			if err != nil || response.StatusCode != 200 {
				t.Fatalf("listen: %v, %v", response, err)
			}
			defer response.Body.Close()
			streams[letter] = bufio.NewReader(response.Body)
			if m := nextEvent(t, streams[letter]); m.Method != "notifications/subscriptions/acknowledged" {
				t.Fatalf("listen was answered by %s", m.line)
			}
		}
		call(finish(id))
		for range 2 {
			tells(t, nextEvent(t, streams["a"]), id)
		}
		s.listening.mu.Lock()
		n := len(s.listening.all)
		s.listening.mu.Unlock()
		if n != 1 {
			t.Errorf("%d listeners are told of runs, want the one whose run it is", n)
		}
	})
}
