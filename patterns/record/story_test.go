package record

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
)

// events makes a record of lines "SECOND KIND KEY BODY"; a key of - is none. It is not sealed: nothing here looks at hashes.
func events(lines ...string) []patterns.Event {
	var list []patterns.Event
	for i, line := range lines {
		part := strings.SplitN(line, " ", 4)
		at := int64(0)
		for _, digit := range part[0] {
			at = at*10 + int64(digit-'0')
		}
		list = append(list, patterns.Event{
			Seq: int64(i + 1), At: at * 1_000_000, Kind: patterns.EventKind(part[1]), Key: strings.Trim(part[2], "-"), Body: json.RawMessage(part[3]),
		})
	}
	return list
}

func TestReadRows(t *testing.T) {
	s := Read(events(
		`0 start - {"run_id":"run_1","pattern":"p","pattern_kind":"supervisor","budget":{"max_steps":8}}`,
		`1 intent pay#1 {"effect_kind":"tool","name":"pay","effect":"write","input":{"a":1},"verdict":{"decision":"approve","rule":"small"}}`,
		`2 outcome pay#1 {"state":"failed","reason":"error"}`,
		`3 intent pay#2 {"effect_kind":"tool","name":"pay","effect":"write","input":{"a":1}}`,
		`5 outcome pay#2 {"state":"ok","output":{}}`,
		`6 intent pay#3 {"effect_kind":"tool","name":"pay","effect":"write","input":{"a":{"$redacted":"sha256:00"}}}`,
		`7 outcome refused#1 {"state":"canceled","reason":"cancelled"}`,
		`8 intent approve#1 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"},"rule":"big"}}`,
	))
	type row struct {
		key, state, rule, phase string
		attempt                 int
		hashed                  bool
	}
	want := []row{
		{"pay#1", "failed", "small", "execution", 0, true},
		{"pay#2", "ok", "", "execution", 2, true},
		{"pay#3", "open", "", "execution", 0, false}, // the hash of what was sent is not that of what is recorded
		{"refused#1", "canceled", "", "", 0, false},
		{"approve#1", "open", "big", "human_approval", 0, false},
	}
	if len(s.Rows) != len(want) {
		t.Fatalf("%d rows, want %d: %+v", len(s.Rows), len(want), s.Rows)
	}
	for i, w := range want {
		r := s.Rows[i]
		if got := (row{r.Key, r.State, r.Rule, r.Phase, r.Attempt, r.ArgsHash != ""}); got != w {
			t.Errorf("row %d = %+v, want %+v", i, got, w)
		}
	}
	if s.Status != "waiting" || s.Took != 8 || s.Budget["max_steps"].Limit != 8 {
		t.Errorf("status %q, took %v, budget %v; want waiting, 8, max_steps 8", s.Status, s.Took, s.Budget)
	}
}

// A person's yes belongs to the call after it alone; a settlement to the call that it is about.
// A story says whether the calls returned results: of a run that ended as its result does, of one that waits by its record.
// A pause for which there was no time is a pause, and no call.
func TestRefusedPauseIsNoCall(t *testing.T) {
	s := Read(events(
		`0 start - {"run_id":"run_1","pattern":"p","pattern_kind":"orchestrator","code":1}`,
		`1 outcome task#1/sleep#1 {"state":"canceled","reason":"no_time"}`,
	))
	if len(s.Rows) != 1 || s.Rows[0].Kind != string(patterns.TimerEffect) || len(s.calls()) != 0 {
		t.Errorf("the rows %+v, want one pause", s.Rows)
	}
}

func TestReadAnswered(t *testing.T) {
	begun := []string{
		`0 start - {"run_id":"run_1","pattern":"p","pattern_kind":"supervisor"}`,
		`1 intent look#1 {"effect_kind":"tool","name":"look","effect":"read","input":{"a":1}}`,
		`2 outcome look#1 {"state":"ok","output":{"error":"nobody"}}`,
	}
	asks := `3 intent approve#1 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"},"rule":"big"}}`
	found := []string{
		`3 intent look#2 {"effect_kind":"tool","name":"look","effect":"read","input":{"a":2}}`, `4 outcome look#2 {"state":"ok","output":{"rows":[]}}`,
	}
	for name, tt := range map[string]struct {
		more []string
		want string
	}{
		"waits":               {[]string{asks}, "no"},
		"waits, one found":    {append(slices.Clone(found), `5`+asks[1:]), "partly"},
		"runs":                {nil, ""},
		"ended":               {[]string{`3 end - {"status":"ok","stop_reason":"success","envelope":{"answered":"partly"}}`}, "partly"},
		"ended before it was": {[]string{`3 end - {"status":"ok","stop_reason":"success","envelope":{}}`}, ""},
	} {
		if got := Read(events(append(slices.Clone(begun), tt.more...)...)).Answered; got != tt.want {
			t.Errorf("%s: answered %q, want %q", name, got, tt.want)
		}
	}
}

// A row of a question says who was asked: the offline rules are no model, and the unknown have no name.
func TestRowWho(t *testing.T) {
	asked := func(outcome, end string) string {
		lines := []string{
			`0 start - {"run_id":"run_1","pattern":"p","pattern_kind":"task_decomposition"}`,
			`1 intent plan#1 {"effect_kind":"model","name":"plan","input":{}}`, `2 outcome plan#1 ` + outcome,
		}
		if end != "" {
			lines = append(lines, `3 end - `+end)
		}
		return Read(events(lines...)).Rows[0].Who()
	}
	const ok = `{"state":"ok","output":"{}"}`
	for name, tt := range map[string]struct{ outcome, end, want string }{
		"rules":          {ok, `{"status":"ok","stop_reason":"success","usage":{"model":"rules"}}`, "the offline rules"},
		"a model":        {ok, `{"status":"ok","stop_reason":"success","usage":{"model":"gpt","llm_calls":1}}`, "the model"},
		"one of several": {`{"state":"ok","output":"{}","usage":{"llm_calls":1,"models":[{"model":"gpt","llm_calls":1}]}}`, "", "the model"},
		"of a caller":    {ok, `{"status":"ok","stop_reason":"success","usage":{"model":"caller"}}`, ""},
		"not known":      {ok, "", ""},
	} {
		if got := asked(tt.outcome, tt.end); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestReceiptCalls(t *testing.T) {
	s := Read(events(
		`0 start - {"run_id":"run_00000000000000a1","pattern":"p","pattern_kind":"supervisor"}`,
		`1 intent approve#1 {"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}}}`,
		`2 outcome approve#1 {"state":"ok","decision":"approve","by":"local:1","assurance":"user","channel":"cli"}`,
		`3 intent pay#1 {"effect_kind":"tool","name":"pay","effect":"write","input":{}}`,
		`4 outcome pay#1 {"state":"unknown","reason":"interrupted"}`,
		`5 intent doubt#1/settle#1 {"effect_kind":"human","name":"settle","input":{"effect":"pay#1","tool":"pay"}}`,
		`6 outcome doubt#1/settle#1 {"state":"ok","output":{"happened":true,"by":"local:1"}}`,
		`7 intent pay#2 {"effect_kind":"tool","name":"pay","effect":"write","input":{}}`,
		`8 outcome pay#2 {"state":"unknown","reason":"interrupted"}`,
	))
	calls := s.Receipt().Calls
	if len(calls) != 2 || calls[0].Approved == nil || calls[0].Approved.By != "local:1" || calls[0].Settled == nil || calls[0].Status != "done" {
		t.Errorf("the first call: %+v", calls)
	}
	if calls[1].Approved != nil || calls[1].Settled != nil || calls[1].Status != "in_doubt" {
		t.Errorf("the second call: %+v", calls[1])
	}
	if verify := s.Receipt().Record.Verify; !strings.HasPrefix(verify, "patterngate runs verify run_00000000000000a1 --head 9:") {
		t.Errorf("verify: %q", verify)
	}
	s.RunID = "run_1; echo"
	if verify := s.Receipt().Record.Verify; verify != "" {
		t.Errorf("a run id that is none of ours stands in a command: %q", verify)
	}
}

// What was tried several times is one act, and what was done by an earlier run is not this one's.
func TestReceiptTellsActsOnce(t *testing.T) {
	const end = `9 end - {"status":"ok","stop_reason":"success","envelope":{"effects":[{"key":"pay#1","status":"done"},{"key":"pay#3","status":"done"}]}}`
	list := []string{
		`0 start - {"run_id":"run_00000000000000a1","pattern":"p","pattern_kind":"call"}`,
		`1 intent pay#1 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k","input":{}}`,
		`2 outcome pay#1 {"state":"unknown","reason":"broken_reply"}`,
		`3 intent pay#2 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k","input":{}}`,
		`4 outcome pay#2 {"state":"ok","output":{}}`,
		`5 intent pay#3 {"effect_kind":"tool","name":"pay","effect":"write","idempotency_key":"k","input":{}}`,
		`6 outcome pay#3 {"state":"duplicate","output":{}}`,
		`7 intent look#1 {"effect_kind":"tool","name":"look","effect":"read","idempotency_key":"r","input":{}}`,
		`8 outcome look#1 {"state":"ok","output":{}}`,
	}
	for name, of := range map[string][]string{"while it runs": list, "at its end": append(list, end)} {
		s := Read(events(of...))
		calls := s.Receipt().Calls
		if len(calls) != 3 || calls[0].Status != "done" || calls[0].Attempts != 2 || calls[0].Reason != "" || calls[1].Key != "pay#3" || !calls[1].Duplicate || calls[2].Attempts != 0 {
			t.Errorf("%s: %+v", name, calls)
		}
		if s.Rows[0].Phase != "call" {
			t.Errorf("%s: phase %q, want call", name, s.Rows[0].Phase)
		}
	}
}

// The person's row, the row of the call and the receipt say what a person was asked, answered and approved.
func TestReadApproval(t *testing.T) {
	s := Read(newScene(t, anna, anna.PublicKey).evidence().Events).Naming(gateway.NewRing([]gateway.PublicKey{anna.PublicKey}))
	rows := map[string]Row{}
	for _, r := range s.Rows {
		rows[r.Kind+" "+r.Key] = r
	}
	asked, refused := rows["human approve#1"], rows["judged "]
	if asked.Approval != "ap_00000000000000a1" || asked.KeyID != anna.ID || asked.KeyName != "Anna" || asked.ExpiresAt != "2026-11-22T09:30:00Z" ||
		asked.DecidedAt != "2026-11-21T10:30:00Z" || asked.SpentBy != "issue_refund#1" || asked.Decision != "edit" || !strings.HasPrefix(asked.Digest, "sha256:") {
		t.Errorf("the row of the question: %+v", asked)
	}
	if len(asked.Edits) != 1 || asked.Edits[0].Name != "amount_usd" || string(asked.Edits[0].From) != "1200" || string(asked.Edits[0].To) != "800" {
		t.Errorf("what the person changed: %+v", asked.Edits)
	}
	if !refused.RefusedAnswer() || refused.Approval != asked.Approval || refused.Why != "approval_invalid" {
		t.Errorf("the row of the refused attempt: %+v", refused)
	}
	calls := s.Receipt().Calls
	if len(calls) != 2 || calls[0].Approved == nil || calls[0].Approved.KeyID != anna.ID || calls[1].Approved == nil || calls[0].Settled == nil || calls[0].Settled.KeyName != "Anna" {
		t.Errorf("the receipt's calls: %+v", calls)
	}
	if list := s.Receipt().Refused; len(list) != 1 || list[0].Approval != asked.Approval {
		t.Errorf("the receipt's refused: %+v", list)
	}
}

func TestEdits(t *testing.T) {
	for name, test := range map[string]struct{ from, to, want string }{
		"none":      {`{"a":1}`, `{"a":1}`, ""},
		"all kinds": {`{"a":1,"b":{"x":1},"c":3}`, `{"a":1,"b":{"x":2},"d":"4"}`, `b {"x":1} {"x":2}; c 3 ; d  "4"; `},
		"redacted":  {`{"a":{"$redacted":"sha256:00"}}`, `{"a":1}`, `a {"$redacted":"sha256:00"} 1; `},
		"no object": {`[]`, `{"a":1}`, ""},
		"absent":    {``, `{"a":1}`, ""},
	} {
		got := ""
		for _, e := range editsOf(json.RawMessage(test.from), json.RawMessage(test.to)) {
			got += e.Name + " " + string(e.From) + " " + string(e.To) + "; "
		}
		if got != test.want {
			t.Errorf("%s: edits %q, want %q", name, got, test.want)
		}
	}
}

// Whatever stands in a record, it is told without a panic, and every event that is no outcome, start or end is a row.
func FuzzRead(f *testing.F) {
	f.Add("intent", "a/b#1", `{"effect_kind":"tool","name":"x","input":{"tasks":[{"id":"1"}]}}`, `{"state":"ok"}`, "1")
	f.Add("judged", "#", `{"proposal":{"name":1}}`, `{"decision":{"approved":true}}`, "x")
	f.Add("end", "/", `{"envelope":{"plan":[{"id":"x"}],"effects":[{}]}}`, `[]`, "")
	f.Fuzz(func(t *testing.T, kind, key, first, second, step string) {
		list := []patterns.Event{
			{Seq: 1, Kind: patterns.StartEvent, Body: json.RawMessage(first)}, {Seq: 2, At: -5, Kind: patterns.EventKind(kind), Key: key, Body: json.RawMessage(first)},
			{Seq: 3, At: 1 << 62, Kind: patterns.OutcomeEvent, Key: key, Body: json.RawMessage(second)}, {Seq: 4, Kind: patterns.IntentEvent, Key: key + "/x", Body: json.RawMessage(second)},
			{Seq: 5, Kind: patterns.EndEvent, Body: json.RawMessage(second)},
		}
		s := Read(list)
		s.Receipt()
		if found, ok := s.Step(step); ok && (len(found.Rows) == 0 || len(found.Events) == 0) {
			t.Errorf("step %q was found and is empty", step)
		}
		if len(s.Rows) > len(list) {
			t.Errorf("%d rows of %d events", len(s.Rows), len(list))
		}
	})
}
