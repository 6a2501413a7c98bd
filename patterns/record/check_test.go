package record

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

var (
	anna = approverOf("Anna", 1, signedStart.Add(-time.Hour), nil)
	ben  = approverOf("Ben", 2, signedStart.Add(-time.Minute), anna)
	eve  = approverOf("Eve", 3, signedStart.Add(-2*time.Hour), nil) // nobody vouches for her
	// yuri is enrolled in the second in which the scene's person decides.
	yuri = approverOf("Yuri", 4, signedStart.Add(time.Hour), nil)
)

func TestCheckHolds(t *testing.T) {
	tests := map[string]struct {
		by   *approver
		keys []gateway.PublicKey
		edit func(*scene)
		want []string
	}{
		"signed": {anna, []gateway.PublicKey{anna.PublicKey}, nil,
			[]string{"ok: 13 events", "approvals: 1 decided, 1 of them signed, 1 spent", "signatures: 2 by key " + anna.ID + " (Anna)"}},
		"signed by a second key": {ben, []gateway.PublicKey{anna.PublicKey, ben.PublicKey}, nil,
			[]string{"ok: 13 events", "approvals: 1 decided, 1 of them signed, 1 spent", "signatures: 2 by key " + ben.ID + " (Ben)"}},
		"by a key that was removed later": {ben, []gateway.PublicKey{anna.PublicKey, removed(ben, signedStart.Add(48*time.Hour), anna)}, nil,
			[]string{"ok: 13 events", "approvals: 1 decided, 1 of them signed, 1 spent", "signatures: 2 by key " + ben.ID + " (Ben)"}},
		"unsigned, no key": {nil, nil, nil, []string{"ok: 13 events", "approvals: 1 decided, 0 of them signed, 1 spent"}},
		"unsigned, a key was enrolled later": {nil, []gateway.PublicKey{approverOf("Anna", 1, signedStart.Add(48*time.Hour), nil).PublicKey}, nil,
			[]string{"ok: 13 events", "approvals: 1 decided, 0 of them signed, 1 spent"}},
		"unsigned, a key that nobody vouches for": {nil, []gateway.PublicKey{{ID: "0", Enrolled: signedStart}}, nil,
			[]string{"ok: 13 events", "approvals: 1 decided, 0 of them signed, 1 spent"}},
		"all in the second in which its key was enrolled": {yuri, []gateway.PublicKey{yuri.PublicKey}, func(s *scene) {
			s.entries[atDecided].seconds, s.entries[atCalled].seconds = 3600.2, 3600.4
		}, []string{"ok: 13 events", "approvals: 1 decided, 1 of them signed, 1 spent", "signatures: 2 by key " + yuri.ID + " (Yuri)"}},
		"unsigned, and a key was enrolled in the same second": {nil, []gateway.PublicKey{yuri.PublicKey}, func(s *scene) {
			s.entries[atDecided].seconds, s.entries[atCalled].seconds = 3600.2, 3600.4
			s.entries = append(s.entries[:atUnknown:atUnknown], s.entries[atEnd])
		}, []string{"ok: 7 events", "approvals: 1 decided, 0 of them signed, 1 spent"}},
		"signed in the second in which its key was removed": {ben, []gateway.PublicKey{anna.PublicKey, removed(ben, signedStart.Add(time.Hour), anna)}, func(s *scene) {
			s.entries = append(s.entries[:atCalled:atCalled], s.entries[atEnd])
		}, []string{"ok: 6 events", "approvals: 1 decided, 1 of them signed, 0 spent", "signatures: 1 by key " + ben.ID + " (Ben)"}},
		"approved as asked": {anna, []gateway.PublicKey{anna.PublicKey}, func(s *scene) {
			s.args = s.question.Args
			s.answer.Choice, s.answer.Executes = gateway.ChooseApprove, s.answer.Digest
			s.write()
			s.body(atCalled)["input"], s.body(atAgain)["input"] = s.args, s.args
		}, []string{"ok: 13 events", "approvals: 1 decided, 1 of them signed, 1 spent", "signatures: 2 by key " + anna.ID + " (Anna)"}},
		"rejected": {anna, []gateway.PublicKey{anna.PublicKey}, func(s *scene) {
			s.answer.Choice, s.answer.Executes = gateway.ChooseReject, ""
			s.write()
			s.entries = append(s.entries[:atCalled:atCalled], s.entries[atEnd])
		}, []string{"ok: 6 events", "approvals: 1 decided, 1 of them signed, 0 spent", "signatures: 1 by key " + anna.ID + " (Anna)"}},
		"nobody answered": {anna, []gateway.PublicKey{anna.PublicKey}, func(s *scene) {
			s.entries[atDecided].body = map[string]any{"state": "failed", "reason": "expired"}
			s.entries = append(s.entries[:atCalled:atCalled], s.entries[atEnd])
		}, []string{"ok: 6 events"}},
		"the demo's person": {anna, nil, func(s *scene) {
			s.entries[atAsked].body = map[string]any{"effect_kind": "human", "name": "approve", "input": map[string]any{"approver": "simulated"}}
			s.entries[atDecided].body = map[string]any{"state": "ok", "decision": "approve", "channel": "simulated", "by": "simulated", "assurance": "simulated", "output": map[string]any{"approved": true}}
			delete(s.body(atCalled), "grant")
			s.entries = append(s.entries[:atUnknown:atUnknown], s.entries[atEnd])
		}, []string{"ok: 7 events"}},
		"of a newer version": {anna, []gateway.PublicKey{anna.PublicKey}, func(s *scene) {
			s.body(atUnknown)["state"], s.body(atCalled)["effect"] = "unknown", 7.0
			s.entries = append(s.entries[:atAgain:atAgain], s.entries[atEnd])
		}, []string{"ok: 11 events", "approvals: 1 decided, 1 of them signed, 0 spent", "signatures: 2 by key " + anna.ID + " (Anna)", "not checked: event 6: this version cannot read it"}},
		"redacted": {anna, []gateway.PublicKey{anna.PublicKey}, func(s *scene) {
			hidden := map[string]any{"$redacted": "sha256:" + strings.Repeat("ab", 32)}
			s.within(atAsked, "object")["args"].(map[string]any)["user_id"] = hidden
			s.within(atDecided, "output")["args"] = map[string]any{"amount_usd": 800.0, "user_id": hidden}
			s.within(atCalled, "input")["user_id"], s.within(atAgain, "input")["user_id"] = hidden, hidden
		}, []string{"ok: 13 events", "approvals: 1 decided, 1 of them signed, 1 spent", "signatures: 2 by key " + anna.ID + " (Anna)",
			"not checked: event 3: redacted", "not checked: event 6: redacted", "not checked: event 11: redacted"}},
		"redacted, digests and comment too": {anna, []gateway.PublicKey{anna.PublicKey}, func(s *scene) {
			hidden := map[string]any{"$redacted": "sha256:" + strings.Repeat("ab", 32)}
			s.body(atAsked)["digest"] = hidden
			s.within(atDecided, "decision")["digest"], s.within(atDecided, "decision")["comment"] = hidden, hidden
		}, []string{"ok: 13 events", "approvals: 1 decided, 0 of them signed, 1 spent", "signatures: 1 by key " + anna.ID + " (Anna)",
			"not checked: event 3: redacted", "not checked: event 5: redacted", "not checked: event 6: redacted", "not checked: event 11: redacted"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, test.by, test.keys...)
			if test.edit != nil {
				test.edit(s)
			}
			if got := Check(s.evidence()).Lines(); !slices.Equal(got, test.want) {
				t.Errorf("Check finds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// A record that is written again with its whole chain, but without the key, does not verify where it says that a person decided.
func TestCheckTampered(t *testing.T) {
	body := func(at int, name string, v any) func(*scene) { return func(s *scene) { s.body(at)[name] = v } }
	in := func(at int, object, name string, v any) func(*scene) {
		return func(s *scene) { s.within(at, object)[name] = v }
	}
	tests := map[string]struct {
		edit func(*scene)
		want string
	}{
		"other arguments in the call":       {in(atCalled, "input", "amount_usd", 801.0), "event 6: is not what ap_00000000000000a1 approved"},
		"an argument more in the call":      {in(atCalled, "input", "note", "x"), "event 6: is not what"},
		"other arguments in the second try": {in(atAgain, "input", "amount_usd", 900.0), "event 11: is not what"},
		"another tool":                      {body(atCalled, "name", "wire_money"), `event 6: spends ap_00000000000000a1, which is for another tool, "issue_refund"`},
		"another policy":                    {in(atCalled, "verdict", "policy", "sha256:12"), "event 6: is not what"},
		"a grant of another run":            {body(atCalled, "grant", "ap_ffffffffffffffff"), `event 6: spends "ap_ffffffffffffffff", which no person gave in this run`},
		"a grant of another step":           {func(s *scene) { s.entries[atCalled].key = "issue_refund#2" }, `event 6: spends ap_00000000000000a1, which is for another step, "issue_refund#1"`},
		"no grant":                          {func(s *scene) { delete(s.body(atCalled), "grant") }, "event 6: is a call that needed a person's approval"},
		"no grant, and a verdict that asks for none": {func(s *scene) {
			delete(s.body(atCalled), "grant")
			s.body(atCalled)["verdict"] = map[string]any{"decision": "approve"}
		}, "event 6: is a call that needed a person's approval"},
		"spent twice": {body(atAgain, "idempotency_key", "pg_2"), "event 11: spends ap_00000000000000a1, which event 6 already spent"},
		"spent before it was given": {func(s *scene) {
			s.entries[atDecided], s.entries[atCalled] = s.entries[atCalled], s.entries[atDecided]
			s.entries[atDecided].seconds, s.entries[atCalled].seconds = 3601, 3602
		}, "event 5: spends \"ap_00000000000000a1\", which no person gave"},
		"spent after it had expired": {func(s *scene) {
			for i := atCalled; i <= atEnd; i++ {
				s.entries[i].seconds += 86400
			}
		}, "event 6: spends ap_00000000000000a1 after it expired"},
		"the question of another run": {func(s *scene) { s.question.Run = "run_ffffffffffffffff"; s.write() }, `event 3: asks a person about a call of another run, "run_ffffffffffffffff"`},
		"the question's arguments":    {func(s *scene) { s.within(atAsked, "object")["args"] = map[string]any{} }, "event 3: asks a person with the digest of another question"},
		"the question's digest":       {body(atAsked, "digest", "sha256:00"), "event 3: asks a person with the digest of another question"},
		"the question's type":         {in(atAsked, "object", "type", "patterngate/approval/v2"), "event 3: asks a person an invalid question"},
		"no object":                   {func(s *scene) { delete(s.body(atAsked), "object") }, "event 3: asks a person an invalid question"},
		"question and digest": {func(s *scene) {
			a := s.answer // as it was signed
			s.question.Args = map[string]any{"amount_usd": 9000.0, "user_id": 42.0}
			s.write()
			s.body(atDecided)["decision"], s.body(atDecided)["signature"] = decoded(a.Object()), s.by.sign(a.Message())
		}, "event 5: decides about another digest"},
		"the decision's choice":    {in(atDecided, "decision", "decision", "approve"), "event 5: contains an invalid decision of a person"},
		"the decision's comment":   {in(atDecided, "decision", "comment", "all of it"), "event 5: does not have a valid signature"},
		"what it executes":         {in(atDecided, "decision", "executes", "sha256:"+strings.Repeat("ab", 32)), "event 5: does not have a valid signature of key " + anna.ID},
		"its time":                 {in(atDecided, "decision", "at", "2026-11-21T10:30:01Z"), "event 5: does not have a valid signature"},
		"a member more":            {in(atDecided, "decision", "more", 1.0), "event 5: contains an invalid decision of a person"},
		"the signature of another": {func(s *scene) { s.body(atDecided)["signature"] = s.body(atSettle)["signature"] }, "event 5: does not have a valid signature"},
		"the signature cut":        {body(atDecided, "signature", "AAAA"), "event 5: does not have a valid signature"},
		"no signature":             {func(s *scene) { delete(s.body(atDecided), "signature") }, "event 5: does not have a valid signature"},
		"no signature, and no key": {func(s *scene) { s.by, s.answer.Key, s.answer.By = nil, "", "local:1000"; s.write() }, "event 5: is not signed, though"},
		"below the assurance that it was asked with": {func(s *scene) {
			was := s.answer
			s.question.Assurance, s.by, s.ring = gateway.SignedAssurance, nil, gateway.Ring{}
			s.answer = gateway.Answered(was.Approval, s.question, was.Choice, s.args)
			s.answer.By, s.answer.At, s.answer.Comment = "local:1000", was.At, was.Comment
			s.write()
		}, `event 5: has the assurance "user", but "signed" is required`},
		"a key that nobody knows":                {func(s *scene) { s.by, s.answer.Key, s.answer.By = eve, eve.ID, "key:"+eve.ID; s.write() }, `event 5: was signed by key "` + eve.ID + `", which is not an approver key`},
		"another key's id":                       {func(s *scene) { s.by = eve; s.write() }, "event 5: does not have a valid signature"},
		"a key that had been removed":            {func(s *scene) { s.by, s.answer.Key, s.answer.By = ben, ben.ID, "key:"+ben.ID; s.write() }, "event 5: was signed by key " + ben.ID + " after the key was removed"},
		"before its key was enrolled":            {func(s *scene) { s.answer.At = signedStart.Add(-2 * time.Hour); s.write() }, "event 5: was signed by key " + anna.ID + " before the key was enrolled"},
		"decided after it had expired":           {func(s *scene) { s.answer.At = s.question.Expires; s.write() }, "event 5: decides after the approval expired"},
		"executes something else than was asked": {func(s *scene) { s.answer.Choice = gateway.ChooseApprove; s.write() }, "event 5: contains an invalid decision of a person"},
		"another assurance":                      {body(atDecided, "assurance", "user"), `event 5: claims the assurance "user", but it is "signed"`},
		"decided by another":                     {body(atDecided, "by", "local:0"), "event 5: gives the run another decision"},
		"the run is told yes for no": {func(s *scene) {
			s.answer.Choice, s.answer.Executes = gateway.ChooseReject, ""
			s.write()
			s.within(atDecided, "output")["approved"] = true
		}, "event 5: gives the run another decision"},
		"the run is told other arguments": {in(atDecided, "output", "args", map[string]any{"amount_usd": 1200.0}), "event 5: gives the run other arguments"},
		"the run is told another comment": {in(atDecided, "output", "comment", "all of it"), "event 5: gives the run another decision"},
		"a word for a decision":           {body(atDecided, "decision", "approve"), "event 5: contains an invalid decision of a person"},
		"a person where nobody was asked": {func(s *scene) {
			delete(s.body(atAsked), "object")
			delete(s.body(atAsked), "digest")
			s.body(atDecided)["decision"] = "approve"
		}, "event 5: is a decision of a person about a question that was never asked"},
		"decided twice": {func(s *scene) {
			s.entries = slices.Insert(s.entries, atCalled, entry{3601, patterns.IntentEvent, "approve#2", s.body(atAsked)}, entry{3601, patterns.OutcomeEvent, "approve#2", s.body(atDecided)})
		}, `event 7: decides "ap_00000000000000a1" a second time`},
		"a settlement of another run": {func(s *scene) {
			s.settle(map[string]any{"run": "run_ffffffffffffffff", "effect": "issue_refund#1", "happened": false})
		}, "event 9: has the signature of an act on another run"},
		"the settlement turned":     {in(atSettled, "output", "happened", true), "event 10: gives the run another outcome of issue_refund#1 than the signed one"},
		"the settlement's act":      {func(s *scene) { s.within(atSettle, "act")["subject"].(map[string]any)["happened"] = true }, "event 9: does not have a valid signature"},
		"a seizure by a settlement": {body(atSettle, "what", "seize"), `event 9: has the signature of another act, "runs.settle"`},
		"an old settlement": {func(s *scene) {
			for i := atSettle; i <= atEnd; i++ {
				s.entries[i].seconds += 400
			}
		}, "event 9: was signed more than 300 seconds before"},
		"an unsigned settlement":  {func(s *scene) { delete(s.body(atSettle), "act"); delete(s.body(atSettle), "signature") }, "event 9: is not signed"},
		"a settlement used twice": {func(s *scene) { s.entries = slices.Insert(s.entries, atSettled, s.entries[atSettle]) }, "event 10: has a signature that was used before"},
		"a model that spends":     {body(atCalled, "effect_kind", "model"), "event 6: spends an approval and is not a call"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, anna, anna.PublicKey, removed(ben, signedStart.Add(time.Minute), anna))
			for i := range s.entries {
				s.entries[i].body = maps.Clone(s.entries[i].body)
			}
			test.edit(s)
			r := Check(s.evidence())
			if r.OK || r.Broken == nil || !strings.HasPrefix(r.Broken.Error(), test.want) {
				t.Errorf("Check finds %q, want %s...", r.Lines(), test.want)
			}
		})
	}
}

// Against keys that are known from elsewhere nothing else counts, whatever the record or the export says of keys.
func TestCheckPinned(t *testing.T) {
	keys := []gateway.PublicKey{anna.PublicKey, ben.PublicKey}
	forged := removed(approverOf("Anna", 1, signedStart.Add(-time.Hour), eve), signedStart.Add(-time.Minute), eve) // a forger who writes the record again writes its keys too
	tests := map[string]struct {
		by   *approver
		ring []gateway.PublicKey
		only []*approver
		want string
	}{
		"this key":                            {anna, keys, []*approver{anna}, "signatures: 2 by key " + anna.ID + " (Anna)"},
		"this key, of which nothing is known": {anna, nil, []*approver{anna}, "signatures: 2 by key " + anna.ID},
		"one of two":                          {ben, keys, []*approver{anna, ben}, "signatures: 2 by key " + ben.ID + " (Ben)"},
		"another key":                         {ben, keys, []*approver{anna}, `broken: event 5: was signed by key "` + ben.ID + `", which is not the given one`},
		"nobody's":                            {nil, nil, []*approver{anna}, "broken: event 5: is not signed; the given key must have signed it"},
		"nobody's, and the ring says that this key was removed": {nil, []gateway.PublicKey{eve.PublicKey, forged}, []*approver{anna},
			"broken: event 5: is not signed; the given key must have signed it"},
		"this key, removed": {ben, []gateway.PublicKey{anna.PublicKey, removed(ben, signedStart.Add(time.Minute), anna)}, []*approver{ben}, "broken: event 5: was signed by key " + ben.ID + " after the key was removed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newScene(t, test.by, test.ring...).evidence()
			for _, a := range test.only {
				e.Only = append(e.Only, a.Public)
			}
			if lines := Check(e).Lines(); lines[len(lines)-1] != test.want {
				t.Errorf("Check finds %q, want %q", lines, test.want)
			}
		})
	}
}

// A chain that does not hold is said before all else, and the kept head and length count.
func TestCheckChain(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*Evidence)
		want string
	}{
		"the length":  {func(e *Evidence) { e.Length = 14 }, "broken: event 14: missing"},
		"a kept head": {func(e *Evidence) { e.Kept = &patterns.Head{Events: 2, Hash: make([]byte, 32)} }, "broken: event 2: is not the one whose head was kept"},
		"a body":      {func(e *Evidence) { e.Events[atCalled].Body = json.RawMessage(`{}`) }, "broken: event 6: does not follow"},
		"another run": {func(e *Evidence) { e.RunID = "run_ffffffffffffffff" }, "broken: event 1: does not follow"},
		"nothing":     {func(e *Evidence) { e.Events = nil }, "broken: event 1: missing"},
	} {
		e := newScene(t, anna, anna.PublicKey).evidence()
		test.edit(&e)
		if lines := Check(e).Lines(); !strings.HasPrefix(lines[0], test.want) {
			t.Errorf("%s: Check finds %q, want %s...", name, lines, test.want)
		}
	}
	if lines := (Report{}).Lines(); lines[0] != "broken: nothing was checked" {
		t.Errorf("the zero Report says %q", lines)
	}
}

// An export carries the keys that its signatures need, and is checked by them alone.
func TestCheckExport(t *testing.T) {
	s := newScene(t, ben, anna.PublicKey, removed(ben, signedStart.Add(48*time.Hour), anna), approverOf("Cleo", 4, signedStart, anna).PublicKey)
	e := s.evidence()
	text := patterns.ExportRecord(signedRun, "supervised_refund", e.Events, s.ring, signedStart)
	x, err := patterns.ReadExport(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Keys) != 2 || x.Keys[0].ID != anna.ID || x.Keys[1].ID != ben.ID || x.Keys[1].Removed.IsZero() {
		t.Errorf("the export has the keys %+v, want Anna, who vouches, and Ben, who signed", x.Keys)
	}
	r := Check(Evidence{RunID: x.RunID, Events: x.Events, Length: x.Head.Events, Ring: x.Ring()})
	if !r.OK || r.Signed != 1 {
		t.Errorf("Check finds %q", r.Lines())
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	for name, test := range map[string]struct{ old, to, want string }{
		"no keys":        {first[strings.Index(first, `"keys":`):], `"keys":[]}`, "which is not an approver key"},
		"another name":   {`"name":"Ben"`, `"name":"Bea"`, "which is not an approver key"},
		"enrolled later": {`"enrolled_at":"2026-11-21T09:29:00Z"`, `"enrolled_at":"2026-11-21T09:29:01Z"`, "which is not an approver key"},
	} {
		x, err := patterns.ReadExport([]byte(strings.Replace(first, test.old, test.to, 1) + "\n" + rest))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := Check(Evidence{RunID: x.RunID, Events: x.Events, Ring: x.Ring()})
		if r.OK || !strings.HasSuffix(r.Broken.Reason, test.want) {
			t.Errorf("%s: Check finds %q, want ...%s", name, r.Lines(), test.want)
		}
	}
}

// BenchmarkCheck checks and tells a record of 1,000 events.
func BenchmarkCheck(b *testing.B) {
	s := newScene(b, anna, anna.PublicKey)
	end := s.entries[atEnd]
	for s.entries = s.entries[:atEnd:atEnd]; len(s.entries) < 999; {
		s.entries = append(s.entries, entry{90003, patterns.IntentEvent, fmt.Sprintf("look#%d", len(s.entries)), map[string]any{"effect_kind": "tool", "name": "look", "input": map[string]any{"n": float64(len(s.entries))}}})
	}
	s.entries = append(s.entries, end)
	e := s.evidence()
	for b.Loop() {
		if !Check(e).OK {
			b.Fatal("it does not hold")
		}
		Read(e.Events).Receipt()
	}
}

// Whatever stands in a record, it is checked without a panic, and what is not signed is never counted as signed.
func FuzzCheck(f *testing.F) {
	s := newScene(f, anna, anna.PublicKey)
	for _, at := range []int{atAsked, atDecided, atCalled, atSettle} {
		e := sealed(signedRun, s.entries)[at]
		f.Add(at, string(e.Kind), e.Key, []byte(e.Body))
	}
	f.Fuzz(func(t *testing.T, at int, kind, key string, body []byte) {
		s := newScene(t, anna, anna.PublicKey)
		events := sealed(signedRun, s.entries)
		if at < 0 || at >= len(events) {
			return
		}
		same := string(body) == string(events[at].Body)
		events[at].Kind, events[at].Key, events[at].Body = patterns.EventKind(kind), key, body
		var before []byte
		for i := range events {
			events[i].Seal(signedRun, before)
			before = events[i].Hash
		}
		r := Check(Evidence{RunID: signedRun, Events: events, Ring: s.ring})
		r.Lines()
		if at == atDecided && r.Signed > 0 && !same {
			if v, err := patterns.DecodeBody(events[at]); err != nil || !signedAsWritten(v, anna.Public) {
				t.Errorf("%s is counted as signed", body)
			}
		}
		Read(events).Receipt()
	})
}

// signedAsWritten reports whether an outcome's decision bears the key's signature, whatever else stands in the outcome.
func signedAsWritten(v any, public ed25519.PublicKey) bool {
	b, ok := v.(*patterns.OutcomeBody)
	if !ok {
		return false
	}
	a, err := gateway.ReadAnswer(b.Decision)
	return err == nil && gateway.PublicKey{ID: gateway.KeyID(public), Public: public}.Verify(a.Message(), b.Signature) == nil
}
