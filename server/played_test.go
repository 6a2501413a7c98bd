package server_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/catalog/demo"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/llm/offline"
)

// seen is what a client's own model learns from a result, by one channel alone.
type seen struct {
	status string
	next   struct {
		Action    string
		Tool      string
		Arguments object
		Fill      []string
	}
	waiting struct {
		Turn    int
		Expects struct {
			Names     []string
			Forbidden []string
		}
		Last object `json:"last_observation"`
	}
	effects string // what was written
}

// channels are the two ways to read a result: Claude Desktop shows its model the text only, Claude Code structured
// content only.
var channels = map[string]func(t *testing.T, r reply) seen{
	"text": func(t *testing.T, r reply) seen {
		var s seen
		lines := strings.Split(r.Content[0].Text, "\n")
		s.status, _, _ = strings.Cut(strings.ToLower(lines[0]), " ")
		for i, line := range lines {
			if text, ok := strings.CutPrefix(line, "NEXT "); ok {
				mustRead(t, text, &s.next)
			}
			if text, ok := strings.CutPrefix(line, "WAITING_FOR "); ok {
				mustRead(t, text, &s.waiting)
			}
			if line == "EFFECTS" {
				s.effects = strings.Join(lines[i+1:], "\n")
			}
		}
		return s
	},
	"structured": func(t *testing.T, r reply) seen {
		var s seen
		s.status, _ = r.object["status"].(string)
		mustRead(t, mustText(t, r.object["next"]), &s.next)
		if w := r.object["waiting_for"]; w != nil {
			mustRead(t, mustText(t, w), &s.waiting)
		}
		effects, _ := r.object["effects"].([]any)
		for _, row := range effects {
			if row := row.(object); row["effect"] != "read" {
				s.effects += row["tool"].(string) + " " + row["status"].(string) + "\n"
			}
		}
		return s
	},
}

func mustRead(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func mustText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// play follows next until there is none to follow; decide fills the one place that it leaves open.
func play(t *testing.T, spec patterns.Spec, first object, read func(*testing.T, reply) seen, decide func(seen) any) []seen {
	t.Helper()
	c := open(t, spec, offline.New(), time.Hour)
	defer c.close()
	s := read(t, c.call(spec.Name, first, false))
	story := []seen{s}
	for s.next.Action == "call" || s.next.Action == "fix_and_retry" {
		arguments := s.next.Arguments
		for _, place := range s.next.Fill {
			arguments[strings.TrimPrefix(place, "/")] = decide(s)
		}
		s = read(t, c.call(s.next.Tool, arguments, false))
		if story = append(story, s); len(story) > 20 {
			t.Fatal("the client goes round in circles")
		}
	}
	return story
}

// A client without any model of the server's plays a whole supervised refund: it looks the customer up, pays what the
// last charge allows, reads how much was really paid, and writes the mail about that.
func TestCallerPlaysARefund(t *testing.T) {
	for name, read := range channels {
		t.Run(name, func(t *testing.T) {
			spec := specOf(t, gateway.Supervisor)
			spec.Approver = patterns.Approver{Kind: patterns.SimulatedApprover, CapUSD: 800}
			action := func(name string, args object) any {
				return []any{object{"kind": "tool", "name": name, "args": args}}
			}
			story := play(t, spec, object{"goal": "Refund the last charge of user 42", "actions": []any{}}, read, func(s seen) any {
				switch last := s.waiting.Last; {
				case last == nil:
					return action("get_refund_context", object{"user_id": 42})
				case last["billing"] != nil:
					return action("issue_refund", object{"user_id": 42, "amount_usd": last["billing"].(object)["last_charge_usd"], "reason": "annual plan"})
				case last["refund"] != nil:
					return action("send_refund_email", object{"user_id": 42, "amount_usd": last["refund"].(object)["amount_usd"], "message": "Paid."})
				}
				return []any{object{"kind": "final", "answer": "Paid and told."}}
			})
			end := story[len(story)-1]
			if len(story) != 5 || end.status != "ok" || end.next.Action != "answer_user" {
				t.Errorf("%d results, the last one %+v; want 5 and ok", len(story), end)
			}
			for _, tool := range []string{"issue_refund done", "send_refund_email done"} {
				if strings.Count(end.effects, tool) != 1 {
					t.Errorf("effects %q, want %s once", end.effects, tool)
				}
			}
		})
	}
}

// A client chooses another specialist when the first one declines, by what the result says.
func TestCallerReroutes(t *testing.T) {
	for name, read := range channels {
		t.Run(name, func(t *testing.T) {
			first := object{"ticket": "user_id=42 wants a refund", "route": object{"target": "technical_specialist"}}
			spec := specOf(t, gateway.Routing)
			spec.Policy = demo.Specialists
			story := play(t, spec, first, read, func(s seen) any {
				names := s.waiting.Expects.Names
				slices.Sort(names)
				return object{"target": names[0]}
			})
			if end := story[len(story)-1]; len(story) != 2 || end.status != "ok" || story[0].waiting.Expects.Forbidden[0] != "technical_specialist" {
				t.Errorf("story %+v, want one reroute and ok", story)
			}
		})
	}
}
