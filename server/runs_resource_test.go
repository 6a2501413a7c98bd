package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// startRefundOf begins a run that is equal to no other.
func startRefundOf(key any) string {
	return strings.Replace(startRefund, `{`, fmt.Sprintf(`{"idempotency_key":"%v",`, key), 1)
}

const startRefund = `{"goal":"x","actions":[{"kind":"tool","name":"get_refund_context","args":{"user_id":42}}]}`

// A run can be read as a resource while it waits and after it ended, in both eras, and shows the envelope.
func TestRunResource(t *testing.T) {
	c := connect(t, serving(t))
	for _, era := range eras {
		id := c.call(sv, startRefund).result(t).Structured["run_id"].(string)
		uri := runsURI + id
		read := func() map[string]any {
			var e map[string]any
			text := contents(t, c.ask(era, "resources/read", fmt.Sprintf(`{"uri":%q}`, uri)))
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				t.Fatal(err)
			}
			return e
		}
		if e := read(); e["status"] != "waiting" || e["run_id"] != id || e["waiting_for"].(map[string]any)["turn"] != 2.0 {
			t.Errorf("%s: a waiting run is shown as %v", era, e)
		}
		ended := c.call(sv, `{"run_id":"`+id+`","actions":[{"kind":"final","answer":"Done."}]}`).result(t).Structured
		if e := read(); e["status"] != "ok" || e["summary"] != ended["summary"] || e["answer"] != "Done." {
			t.Errorf("%s: the ended run is shown as %v, its call as %v", era, e, ended)
		}
	}
}

// Runs that are not the principal's, or not at all, are not there; a broken address is no way around.
func TestForeignRunResource(t *testing.T) {
	s := serving(t)
	c := connect(t, s)
	id := c.call(sv, startRefund).result(t).Structured["run_id"].(string)
	for _, era := range eras {
		want := map[string]int{"legacy": -32002, "modern": -32602}[era]
		for _, uri := range []string{"run_0123456789abcdef", "", id + "/", "/" + id, "%72" + id[1:], strings.ToUpper(id), id + "x", "{run_id}", strings.Repeat("x", 5000)} {
			m := c.ask(era, "resources/read", fmt.Sprintf(`{"uri":%q}`, runsURI+uri))
			if m.Error == nil || m.Error.Code != want {
				t.Errorf("%s: %.80s was answered by %.300s, want %d", era, uri, m.line, want)
			}
		}
	}
	if _, ok := s.runEnvelope("token:eve", id); ok {
		t.Error("another principal sees the run")
	}
	if _, ok := s.runEnvelope(s.principal, id); !ok {
		t.Error("its own principal does not see the run")
	}
}

// Who subscribed to a run hears of each change of its state, and nobody else does.
func TestRunUpdates(t *testing.T) {
	c := connect(t, serving(t))
	c.send(initialize, initialized)
	c.next()
	id := c.call(sv, startRefund).result(t).Structured["run_id"].(string)
	other := c.call(sv, startRefundOf("other")).result(t).Structured["run_id"].(string)
	if m := c.ask("legacy", "resources/subscribe", fmt.Sprintf(`{"uri":%q}`, runsURI+id)); m.Error != nil {
		t.Fatalf("subscribe: %s", m.line)
	}
	finish := `,"actions":[{"kind":"final","answer":"Done."}]}`
	c.send(callLine(5, sv, `{"run_id":"`+other+`"`+finish), callLine(6, sv, `{"run_id":"`+id+`"`+finish))
	updates := 0
	var heard []string
	defer func() {
		if t.Failed() {
			t.Logf("heard %q", heard)
		}
	}()
	for answers := 0; answers < 2 || updates < 2; {
		m := c.next()
		heard = append(heard, string(m.line))
		switch {
		case m.Method == "notifications/resources/updated" && m.Params["uri"] == runsURI+id:
			updates++
		case m.Method != "":
			t.Errorf("told of %s", m.line)
		default:
			answers++
		}
	}
	if m := c.ask("legacy", "resources/unsubscribe", fmt.Sprintf(`{"uri":%q}`, runsURI+id)); m.Error != nil {
		t.Errorf("unsubscribe: %s", m.line)
	}
}

// Wishes to hear of what is not there are acknowledged and not kept, whatever their length.
func TestSubscriptionsToNothing(t *testing.T) {
	s := serving(t)
	c := connect(t, s)
	c.send(initialize, initialized)
	c.next()
	id := c.call(sv, startRefund).result(t).Structured["run_id"].(string)
	for _, name := range []string{strings.Repeat("x", 1<<20), "run_0123456789abcdef", "", id + "/", id} {
		if m := c.ask("legacy", "resources/subscribe", fmt.Sprintf(`{"uri":%q}`, runsURI+name)); m.Error != nil {
			t.Errorf("subscribing to %.40s: %s", name, m.line)
		}
	}
	s.subscribed.mu.Lock()
	defer s.subscribed.mu.Unlock()
	for session, own := range s.subscribed.by {
		if _, ok := own[runsURI+id]; !ok || len(own) != 1 {
			t.Errorf("session %s has %d subscriptions, want the one to its run", session, len(own))
		}
	}
	if len(s.subscribed.by) != 1 {
		t.Errorf("%d sessions are subscribed, want 1", len(s.subscribed.by))
	}
}

// Completion offers the principal's runs, the newest first.
func TestRunCompletion(t *testing.T) {
	c := connect(t, serving(t))
	var ids []string
	for i := range 3 {
		ids = append(ids, c.call(sv, startRefundOf(i)).result(t).Structured["run_id"].(string))
	}
	for _, era := range eras {
		m := c.ask(era, "completion/complete", `{"ref":{"type":"ref/resource","uri":"`+runsTemplate+`"},"argument":{"name":"run_id","value":"run_"}}`)
		if want := fmt.Sprintf(`"values":[%q,%q,%q]`, ids[2], ids[1], ids[0]); !strings.Contains(m.line, want) {
			t.Errorf("%s: %s, want %s", era, m.line, want)
		}
	}
}
