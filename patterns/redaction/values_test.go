package redaction

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/journal"
)

var somePlaces = []string{"/args/card", "/args/nested/*/pin", "/result/*/email", "/input/iban", "/answer"}

// record seals events as a run's record does.
type record struct {
	hidden *Values
	head   []byte
}

const runID = "run_0000000000000001"

func (r *record) seal(e journal.Event) patterns.Event { return r.hidden.Seal(runID, e, r.head) }

func sealer(t testing.TB, pointers ...string) *record {
	t.Helper()
	r, err := Read(pointers)
	if err != nil {
		t.Fatal(err)
	}
	return &record{hidden: r.Values()}
}

// opened are events with what a record hid put back, as from the table.
func (r *record) opened(tb testing.TB, events []patterns.Event) []patterns.Event {
	tb.Helper()
	values := map[string]any{}
	for text, hash := range r.hidden.hashes {
		v, err := journal.DecodeTrusted([]byte(text))
		if err != nil {
			tb.Fatal(err)
		}
		values[hash] = v
	}
	lost := false
	open := slices.Clone(events)
	for i := range open {
		body, err := journal.DecodeTrusted(open[i].Body)
		if err != nil {
			tb.Fatal(err)
		}
		open[i].Body = ijson.Canonical(revealed(body, values, &lost))
	}
	if lost {
		tb.Error("a marker stands for nothing")
	}
	return open
}

const card = `41"11\1111 ünï` + "\n\x01" + `😀1111`

func jsonText(v any) string { return string(ijson.Canonical(v)) }

// A value is hidden wherever it appears, and a replay has it again.
func TestRedactedPlaces(t *testing.T) {
	args := map[string]any{"card": card, "to": "u42"}
	action := map[string]any{"kind": "tool", "name": "pay", "args": args}
	start := journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"goal": "pay", "actions": []any{action}}}}
	plain := journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"goal": "pay"}}}
	tests := map[string]struct {
		first, then journal.Event
		secrets     []string
		stays       string
	}{
		"caller's plan":          {first: start, stays: "u42"},
		"caller's plan as text":  {first: journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"plan": jsonText(action)}}}},
		"text in text":           {first: journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"plan": jsonText(map[string]any{"plan": jsonText(action)})}}}},
		"caller's turn":          {first: plain, then: outcome("turn#1", map[string]any{"actions": []any{action}})},
		"model's reply":          {first: plain, then: outcome("plan#1", "Sure: ```json\n"+jsonText(action)+"\n```")},
		"model's broken reply":   {first: plain, then: outcome("plan#1", jsonText(action)[:len(jsonText(action))-3])},
		"a member twice":         {first: plain, then: outcome("plan#1", `{"args":{"card":`+jsonText(card)+`,"card":""}}`)},
		"call":                   {first: plain, then: journal.Event{Kind: patterns.IntentEvent, Key: "pay#1", Body: journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay", Input: ijson.Canonical(args)}}},
		"key of the call":        {first: start, then: journal.Event{Kind: patterns.IntentEvent, Key: "pay#1", Body: journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay", Once: "pay-" + card, Input: []byte("{}")}}},
		"question about it":      {first: start, then: journal.Event{Kind: patterns.IntentEvent, Key: "a#1", Body: journal.IntentBody{Kind: patterns.ModelEffect, Name: "a", Input: ijson.Canonical(map[string]any{"history": jsonText([]any{action})})}}},
		"judged":                 {first: start, then: journal.Event{Kind: patterns.JudgedEvent, Key: "j", Body: journal.JudgedBody{"proposal": action, "decision": "block", "reason": "card " + card}}},
		"problem":                {first: plain, then: journal.Event{Kind: patterns.JudgedEvent, Key: "j", Body: journal.JudgedBody{"problems": []any{map[string]any{"pointer": "/actions/0/args/card", "got": card}}}}},
		"verdict":                {first: start, then: journal.Event{Kind: patterns.IntentEvent, Key: "p#1", Body: journal.IntentBody{Kind: patterns.ToolEffect, Name: "pay", Verdict: map[string]any{"decision": "revise", "reason": "not " + card, "passes": 1.0}}}},
		"in the answer":          {first: start, then: journal.Event{Kind: patterns.EndEvent, Body: journal.EndBody{Envelope: ijson.Canonical(map[string]any{"answer": "paid with " + card})}}},
		"the end":                {first: plain, then: journal.Event{Kind: patterns.EndEvent, Body: journal.EndBody{Envelope: ijson.Canonical(map[string]any{"trace": []any{map[string]any{"args": args}}, "next": map[string]any{"arguments": map[string]any{"iban": card}}})}}},
		"a member's name":        {first: start, then: outcome("x#1", map[string]any{"by_card": map[string]any{card: 1.0}})},
		"result":                 {first: plain, then: outcome("look#1", map[string]any{"user": map[string]any{"email": card}})},
		"result that was cut":    {first: plain, then: outcome("look#1", map[string]any{"truncated": true, "bytes": 99999.0, "head": `{"user":{"email":` + jsonText(card)})},
		"observation":            {first: plain, then: journal.Event{Kind: patterns.EndEvent, Body: journal.EndBody{Envelope: ijson.Canonical(map[string]any{"trace": []any{map[string]any{"observation": []any{map[string]any{"email": card}}}}})}}},
		"input":                  {first: journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"iban": card}}}},
		"final answer":           {first: plain, then: outcome("answer#1", card)},
		"final answer, parallel": {first: plain, then: outcome("task#2/answer#1", card)},
		"a reason":               {first: start, then: journal.Event{Kind: patterns.NoteEvent, Body: journal.NoteBody{What: "cancel", Note: patterns.Note{Reason: "wrong card " + card}}}},
		"late":                   {first: start, then: journal.Event{Kind: patterns.LateEvent, Key: "x#1", Body: journal.OutcomeBody{State: patterns.OK, Output: "was " + card}}},
		"a number":               {first: journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"args": map[string]any{"card": 4111111111111111.0}}}}, then: outcome("x#1", []any{4111111111111111.0, "it was 4111111111111111."}), secrets: []string{"4111111111111111"}},
		"a number in words":      {first: journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"args": map[string]any{"card": 180077.0}}}}, then: outcome("x#1", []any{"paid 180,077.00 USD", "180077USD"}), secrets: []string{"180,077.00", "180077"}},
		"a list":                 {first: journal.Event{Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"args": map[string]any{"card": []any{card, 77777.5}}}}}, then: outcome("x#1", 77777.5), secrets: []string{"77777.5"}},
		"hash of arguments":      {first: start, then: outcome("x#1", map[string]any{"args_hash": "0123456789abcdef"}), secrets: []string{"0123456789abcdef"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tail := sealer(t, somePlaces...)
			events := []journal.Event{tt.first}
			if tt.then.Kind != "" {
				events = append(events, tt.then)
			}
			var stored []patterns.Event
			for i, e := range events {
				e.Seq, e.At = i+1, time.UnixMicro(int64(i+1))
				s := tail.seal(e)
				tail.head = s.Hash
				stored = append(stored, s)
			}
			for _, e := range stored {
				noSecrets(t, e.Body, append(tt.secrets, card)...)
			}
			if !strings.Contains(string(stored[len(stored)-1].Body), Marker) {
				t.Errorf("the last body has no marker: %s", stored[len(stored)-1].Body)
			}
			if !strings.Contains(string(stored[0].Body), tt.stays) {
				t.Errorf("%q is hidden too: %s", tt.stays, stored[0].Body)
			}
			if err := patterns.VerifyChain(runID, stored, int64(len(stored))); err != nil {
				t.Error(err)
			}
			for i, e := range tail.opened(t, stored) {
				if want := string(journal.Encode(events[i].Body)); string(e.Body) != want {
					t.Errorf("revealed %s\nwant %s", e.Body, want)
				}
			}
		})
	}
}

func outcome(key string, output any) journal.Event {
	return journal.Event{Kind: patterns.OutcomeEvent, Key: key, Body: journal.OutcomeBody{State: patterns.OK, Output: output}}
}

// noSecrets looks through a body as it is and with its escapes undone.
func noSecrets(t testing.TB, body []byte, secrets ...string) {
	t.Helper()
	for _, form := range forms(string(body)) {
		for _, secret := range secrets {
			if strings.Contains(form, secret) {
				t.Errorf("%q is in %s", secret, body)
			}
		}
	}
}

// What looks like a marker and comes from outside is never taken for one.
func TestForgedMarkers(t *testing.T) {
	tail := sealer(t, "/args/card")
	first := tail.seal(journal.Event{Seq: 1, Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"args": map[string]any{"card": "4111-1111"}}}})
	var body struct {
		Arguments struct {
			Args struct{ Card map[string]any }
		}
	}
	if err := json.Unmarshal(first.Body, &body); err != nil || body.Arguments.Args.Card[patterns.Redacted] == nil {
		t.Fatalf("%v: %s", err, first.Body)
	}
	forged := outcome("x#1", map[string]any{
		"a": body.Arguments.Args.Card, "b": map[string]any{patterns.Redacted: body.Arguments.Args.Card}, "c": map[string]any{patterns.Redacted: 5.0},
		"d": map[string]any{patterns.Redacted: "sha256:00"}, "e": jsonText(body.Arguments.Args.Card),
	})
	forged.Seq = 2
	second := tail.seal(forged)
	open := tail.opened(t, []patterns.Event{first, second})
	if got, want := string(open[1].Body), string(journal.Encode(forged.Body)); got != want {
		t.Errorf("revealed %s\nwant %s", got, want)
	}
}

// Bodies of any kind come back as they were, and no value of a place is visible.
func TestRedactionRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tail := &record{}
		r, err := Read(somePlaces)
		if err != nil {
			t.Fatal(err)
		}
		tail.hidden = r.Values()
		secret := rapid.StringN(6, 20, -1).Draw(t, "secret")
		value := drawn(secret, 3)
		first := journal.Event{Seq: 1, Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{
			"more": value.Draw(t, "more"), "args": map[string]any{"card": secret},
		}}}
		events := []journal.Event{first}
		for i := range rapid.IntRange(1, 4).Draw(t, "n") {
			e := outcome(rapid.SampledFrom([]string{"turn#1", "answer#1", "pay#1"}).Draw(t, "key"), value.Draw(t, "output"))
			e.Seq = i + 2
			events = append(events, e)
		}
		var stored []patterns.Event
		for _, e := range events {
			stored = append(stored, tail.seal(e))
		}
		values := map[string]any{}
		for text, hash := range tail.hidden.hashes {
			values[hash], _ = journal.DecodeTrusted([]byte(text))
		}
		lost := false
		for i, e := range stored {
			if strings.Contains(string(e.Body), strings.Trim(jsonText(secret), `"`)) && len(secret) > 5 && !strings.Contains(`"arguments":{"$redacted":"sha256:"more","output":,"state":"ok"`, secret) {
				t.Fatalf("%q is in %s", secret, e.Body)
			}
			body, _ := journal.DecodeTrusted(e.Body)
			if got, want := string(ijson.Canonical(revealed(body, values, &lost))), string(journal.Encode(events[i].Body)); got != want || lost {
				t.Fatalf("revealed (lost %t) %s\nwant %s", lost, got, want)
			}
		}
	})
}

// drawn are values that have a text in them in many ways.
func drawn(secret string, depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		kinds := 7
		if depth > 0 {
			kinds = 10
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return secret
		case 1:
			return rapid.String().Draw(t, "before") + secret
		case 2:
			return jsonText(map[string]any{"args": map[string]any{"card": secret}})
		case 3:
			return rapid.String().Draw(t, "text")
		case 4:
			return float64(rapid.IntRange(-5000, 5000).Draw(t, "number"))
		case 5:
			return map[string]any{patterns.Redacted: rapid.SampledFrom([]any{"sha256:ab", 1.0, secret}).Draw(t, "forged")}
		case 6:
			return jsonText(secret + "x")
		case 7:
			return []any{drawn(secret, depth-1).Draw(t, "a"), drawn(secret, depth-1).Draw(t, "b")}
		case 8:
			return map[string]any{"args": drawn(secret, depth-1).Draw(t, "args"), "result": drawn(secret, depth-1).Draw(t, "result")}
		}
		return map[string]any{rapid.SampledFrom([]string{"card", "email", "pin", "answer", "nested"}).Draw(t, "name"): drawn(secret, depth-1).Draw(t, "member")}
	})
}

// Without places a body is what it always was.
func TestRedactNothing(t *testing.T) {
	e := outcome("x#1", map[string]any{"args": map[string]any{"card": card}})
	for name, tail := range map[string]*record{"none": sealer(t), "nil": {}} {
		if got := tail.seal(e); string(got.Body) != string(journal.Encode(e.Body)) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	if _, err := Read([]string{"/args"}); err == nil {
		t.Error("/args alone is taken")
	}
}

// What may be sent comes back from a record, where it lies deeper.
func TestBodiesComeBack(t *testing.T) {
	deep, err := ijson.Decode([]byte(strings.Repeat("[", ijson.MaxDepth) + strings.Repeat("]", ijson.MaxDepth)))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"deep": deep, "great": 1e17, "small": 5e-324} {
		start := journal.StartBody{Arguments: map[string]any{"a": v}}
		body, err := journal.Decode(patterns.StartEvent, journal.Encode(start))
		if again, ok := body.(journal.StartBody); err != nil || !ok || !ijson.Equal(again.Arguments, start.Arguments) {
			t.Errorf("%s: %v, %v", name, body, err)
		}
		envelope := ijson.Canonical(start.Arguments)
		end, err := journal.Decode(patterns.EndEvent, journal.Encode(journal.EndBody{Envelope: envelope}))
		if again, ok := end.(journal.EndBody); err != nil || !ok || string(again.Envelope) != string(envelope) {
			t.Errorf("%s, end: %v, %v", name, end, err)
		}
	}
}

func TestUnescaped(t *testing.T) {
	for text, want := range map[string]string{
		`a`: `a`, `\"`: `"`, `\u0041`: `A`, `\ud83d\ude00`: `😀`, `\ud83d`: "\ufffd", `\u00`: `\u00`, `\x`: `\x`, `\`: `\`, `a\\\n`: "a\\\n", `\ud83d\u0041`: "\ufffdA",
	} {
		if got := unescaped(text); got != want {
			t.Errorf("unescaped(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	for text, want := range map[string][]float64{
		"paid 800.00 USD.": {800, -800}, "1,200USD": {1200, -1200}, "-5": {5, -5}, "rf_42_805a8f": nil, "tx-77": {77, -77}, "": nil, "none": nil, "1.2.3": nil,
	} {
		if got := figures(text); !slices.Equal(got, want) {
			t.Errorf("figures(%q) = %v, want %v", text, got, want)
		}
	}
}

func BenchmarkSealRedacted(b *testing.B) {
	for name, places := range map[string][]string{"none": nil, "one": {"/args/card"}} {
		b.Run(name, func(b *testing.B) {
			tail := sealer(b, places...)
			tail.seal(journal.Event{Seq: 1, Kind: patterns.StartEvent, Body: journal.StartBody{Arguments: map[string]any{"args": map[string]any{"card": "4111-1111"}}}})
			e := outcome("x#1", map[string]any{"text": strings.Repeat("what it says ", 50), "n": 1.0, "list": []any{1.0, 2.0, "x"}})
			e.Seq = 2
			for b.Loop() {
				tail.seal(e)
			}
		})
	}
}
