package redaction

import (
	"strings"
	"testing"
	"time"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

// A tool's own places hide its values wherever they turn up, and nothing of another tool's.
func TestRedactedOfOneTool(t *testing.T) {
	const pin, mail = "pin-4711-0815", "eve@a.example"
	call := func(key, tool string, args map[string]any) journal.Event {
		return journal.Event{Kind: patterns.IntentEvent, Key: key, Body: journal.IntentBody{Kind: patterns.ToolEffect, Name: tool, Input: ijson.Canonical(args)}}
	}
	secret, open := map[string]any{"card": pin}, map[string]any{"card": "open-1234"}
	tests := map[string]struct {
		events []journal.Event
		gone   string
		stays  string // of another tool
	}{
		"its call":            {[]journal.Event{call("pay#1", "pay", secret)}, pin, ""},
		"another's call":      {[]journal.Event{call("look#1", "look", open)}, "", "open-1234"},
		"its result":          {[]journal.Event{call("pay#1", "pay", open), outcome("pay#1", map[string]any{"mail": mail})}, mail, ""},
		"its result, late":    {[]journal.Event{call("pay#1", "pay", open), {Kind: patterns.LateEvent, Key: "pay#1", Body: journal.OutcomeBody{State: patterns.OK, Output: map[string]any{"mail": mail}}}}, mail, ""},
		"another's result":    {[]journal.Event{call("look#1", "look", open), outcome("look#1", map[string]any{"mail": mail})}, "", mail},
		"a plan":              {[]journal.Event{outcome("plan#1", map[string]any{"steps": []any{map[string]any{"tool": "pay", "args": secret}, map[string]any{"tool": "look", "args": open}}})}, pin, "open-1234"},
		"a plan as text":      {[]journal.Event{outcome("plan#1", jsonText(map[string]any{"steps": []any{map[string]any{"tool": "pay", "args": secret}}}))}, pin, ""},
		"another's as text":   {[]journal.Event{outcome("plan#1", jsonText(map[string]any{"steps": []any{map[string]any{"tool": "look", "args": open}}}))}, "", "open-1234"},
		"an action":           {[]journal.Event{outcome("turn#1", map[string]any{"kind": "tool", "name": "pay", "args": secret})}, pin, ""},
		"another action":      {[]journal.Event{outcome("turn#1", map[string]any{"kind": "tool", "name": "look", "args": open})}, "", "open-1234"},
		"a route":             {[]journal.Event{outcome("route#1", map[string]any{"kind": "route", "target": "pay", "args": secret})}, pin, ""},
		"a task":              {[]journal.Event{outcome("plan#1", map[string]any{"tasks": []any{map[string]any{"worker": "pay", "args": secret}}})}, pin, ""},
		"nobody says whose":   {[]journal.Event{{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: secret}}, outcome("x#1", map[string]any{"args": secret})}, pin, ""},
		"seen elsewhere then": {[]journal.Event{call("pay#1", "pay", secret), outcome("look#1", map[string]any{"text": "used " + pin})}, pin, ""},
		"its trace":           {[]journal.Event{{Kind: patterns.EndEvent, Body: journal.EndBody{Envelope: ijson.Canonical(map[string]any{"trace": []any{map[string]any{"tool": "pay", "observation": map[string]any{"mail": mail}}, map[string]any{"tool": "look", "args": open}}})}}}, mail, "open-1234"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tail := sealer(t, "pay:/args/card", "pay:/result/mail")
			var stored []patterns.Event
			for i, e := range tt.events {
				e.Seq, e.At = i+1, time.UnixMicro(int64(i+1))
				s := tail.seal(e)
				tail.head = s.Hash
				stored = append(stored, s)
			}
			last := string(stored[len(stored)-1].Body)
			if tt.gone != "" {
				noSecrets(t, stored[len(stored)-1].Body, tt.gone)
			}
			if strings.Contains(last, Marker) != (tt.gone != "") {
				t.Errorf("the last body is %s", last)
			}
			if !strings.Contains(last, tt.stays) {
				t.Errorf("%q is hidden: %s", tt.stays, last)
			}
			for i, e := range tail.opened(t, stored) {
				if want := string(journal.Encode(tt.events[i].Body)); string(e.Body) != want {
					t.Errorf("revealed %s\nwant %s", e.Body, want)
				}
			}
		})
	}
	for _, pointer := range []string{"pay:/args", "pay:/input/x", "pay:/answer", "pay:x", ":/args/card"} {
		if _, err := Read([]string{pointer}); err == nil {
			t.Errorf("%s was taken", pointer)
		}
	}
}
