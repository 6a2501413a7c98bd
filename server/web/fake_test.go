package web

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

var began = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const (
	aRun        = "run_00000000000000a1"
	anAsked     = "ap_00000000000000b1"
	rightPhrase = "correct horse battery staple"
	theCSRF     = "csrf-of-this-session"
	refund      = `{"type":"object","properties":{"user_id":{"type":"integer"},"amount_usd":{"type":"number","description":"How much to pay back."},"reason":{"type":"string"},"urgent":{"type":"boolean"},"channel":{"type":"string","enum":["card","bank"]}},"required":["user_id","amount_usd","reason"],"additionalProperties":false}`
	longHash    = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// state is a state file in memory, with the rules of the ports that pages rely on.
type state struct {
	patterns.Approvals // what is not faked panics
	mu                 sync.Mutex
	asked              []patterns.Asked // newest first
	records            map[string][]patterns.Event
	rows               []patterns.RunRow
	keys               []gateway.PublicKey
	snapshots          map[string]patterns.Snapshot
	plans              map[string]patterns.PlanState
	fault              error // of every call
	decided            []patterns.Decided
	refuse             error // of Decide
	changes            chan []string
	marks              uint64
	listing            func() // is called before runs are listed
}

func (s *state) ListApprovals(f patterns.ApprovalFilter) (patterns.ApprovalPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var page patterns.ApprovalPage
	from := 0
	if f.Cursor != "" {
		if _, err := fmt.Sscanf(f.Cursor, "from%d", &from); err != nil {
			return page, patterns.ErrCursor
		}
	}
	limit := cmp.Or(f.Limit, 20)
	for i, a := range s.asked {
		if i < from || f.Run != "" && a.Question.Run != f.Run || f.Rule != "" && a.Rule != f.Rule || !f.All && a.State != patterns.AskedOpen {
			continue
		}
		if len(page.Rows) == limit {
			page.Next = fmt.Sprintf("from%d", i)
			break
		}
		page.Rows = append(page.Rows, a)
	}
	return page, s.fault
}

func (s *state) WaitingApprovals() (int, error) {
	n := 0
	for _, a := range s.asked {
		if a.State == patterns.AskedOpen {
			n++
		}
	}
	return n, s.fault
}

func (s *state) Approval(id string) (patterns.Asked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if a.ID == id {
			return a, s.fault
		}
	}
	return patterns.Asked{}, cmp.Or(s.fault, patterns.ErrNoApproval)
}

func (s *state) Keys() (gateway.Ring, error) { return gateway.NewRing(s.keys), s.fault }

func (s *state) Decide(d patterns.Decided) (patterns.Asked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided = append(s.decided, d)
	i := slices.IndexFunc(s.asked, func(a patterns.Asked) bool { return a.ID == d.Approval })
	if i < 0 {
		return patterns.Asked{}, patterns.ErrNoApproval
	}
	a := &s.asked[i]
	assurance := gateway.UserAssurance
	ring := gateway.NewRing(s.keys)
	switch {
	case s.refuse != nil:
		return patterns.Asked{}, s.refuse
	case a.State != patterns.AskedOpen:
		return *a, &patterns.NotOpen{Why: a.State.Why(), Asked: *a}
	case d.Digest != a.Digest:
		return *a, &patterns.NotOpen{Why: patterns.WhyChanged, Asked: *a}
	case d.Key != "":
		key, ok := ring.Find(d.Key)
		if !ok || key.Verify(d.Message(), d.Signature) != nil {
			return *a, patterns.ErrForged
		}
		assurance = gateway.SignedAssurance
	case ring.Counts(d.At):
		return *a, patterns.ErrUnsigned
	}
	a.State = patterns.AskedDecided
	a.Given = &patterns.Given{Answer: d.Answer, Args: d.Args, Signature: d.Signature, Channel: d.Channel, Assurance: assurance}
	return *a, nil
}

func (s *state) Find(string) (string, error) { return "", patterns.ErrNoRun }

func (s *state) Run(id string) (patterns.Snapshot, bool) {
	snapshot, ok := s.snapshots[id]
	return snapshot, ok
}

func (s *state) Record(id string) ([]patterns.Event, int64, error) {
	events, ok := s.records[id]
	if !ok || s.fault != nil {
		return nil, 0, cmp.Or(s.fault, patterns.ErrNoRun)
	}
	return events, int64(len(events)), nil
}

func (s *state) Kept(id string) ([]patterns.Event, patterns.Kept, error) {
	events, kept, err := s.Record(id)
	return events, patterns.Kept{Head: patterns.Head{Events: kept}}, err
}

func (s *state) List(f patterns.Filter) (patterns.Page, error) {
	if s.listing != nil {
		s.listing()
	}
	var page patterns.Page
	if f.Cursor != "" && f.Cursor != "next" {
		return page, patterns.ErrCursor
	}
	for _, row := range s.rows {
		if (f.Status == "" || row.Status == f.Status) && (f.Pattern == "" || row.Pattern == f.Pattern) {
			page.Rows = append(page.Rows, row)
		}
	}
	if len(page.Rows) > f.Limit {
		page.Rows, page.Next = page.Rows[:f.Limit], "next"
	}
	return page, s.fault
}

func (s *state) Plan(id string) (patterns.PlanState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	plan, ok := s.plans[id]
	if !ok || s.fault != nil {
		return patterns.PlanState{}, cmp.Or(s.fault, patterns.ErrNoPlan)
	}
	return plan, nil
}

func (s *state) Changed(ctx context.Context, since uint64) ([]string, uint64) {
	if ctx.Err() != nil {
		return nil, 7
	}
	select {
	case ids := <-s.changes:
		s.marks++
		return ids, since + 1
	case <-ctx.Done():
		return nil, since
	}
}

var (
	_ patterns.Approvals = (*state)(nil)
	_ patterns.Owner     = (*state)(nil)
)

// ask puts an open question into the state.
func (s *state) ask(id string, args map[string]any) *patterns.Asked {
	q := gateway.Question{Run: aRun, Step: "issue_refund#1", Tool: "issue_refund", Args: args, Expires: began.Add(24 * time.Hour)}
	a := patterns.Asked{
		ID: id, Question: q, Digest: q.Digest(), Key: "human#1", Pattern: "refund_supervisor", Principal: "local:1000", Phase: "execution",
		Effect: catalog.Write, ArgsHash: ijson.ArgsHash(args), Phrase: "refunding 1200.00 USD to user 42", Rule: "high_refund_requires_human",
		Reason: "high_refund_requires_human", Least: gateway.UserAssurance, Schema: json.RawMessage(refund), Since: began.Add(-time.Minute),
		State: patterns.AskedOpen,
	}
	s.asked = append(s.asked, a)
	return &s.asked[len(s.asked)-1]
}

// site is a state with pages over it.
type site struct {
	*state
	pages  *Pages
	tried  []string // passphrases
	signer fakeKey
	now    time.Time
	alive  bool
	told   []patterns.Asked
}

// fakeKey signs without a passphrase's cost.
type fakeKey struct {
	id      string
	private ed25519.PrivateKey
}

func (k fakeKey) KeyID() string           { return k.id }
func (k fakeKey) Sign(text []byte) string { return base64Of(ed25519.Sign(k.private, text)) }

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{state: &state{records: map[string][]patterns.Event{}, snapshots: map[string]patterns.Snapshot{}, plans: map[string]patterns.PlanState{}, changes: make(chan []string)}, now: began}
	s.ask(anAsked, map[string]any{"user_id": 42.0, "amount_usd": 1200.0, "reason": "late delivery"})
	s.pages = New(Config{
		Approvals: s.state, Owner: s.state, Version: "1.0", By: "local:1000", Now: func() time.Time { return s.now },
		Open:     s.open,
		KeyFiles: func() []string { return []string{s.signer.id} },
		Alive:    func() bool { return s.alive },
		Decided:  func(a patterns.Asked) { s.told = append(s.told, a) },
	})
	return s
}

func (s *site) open(id, passphrase string) (gateway.Signer, func(), error) {
	s.tried = append(s.tried, passphrase)
	if passphrase != rightPhrase || id != s.signer.id {
		return nil, nil, errors.New("the passphrase does not open this key")
	}
	return s.signer, func() {}, nil
}

// enroll makes a key that counts.
func (s *site) enroll(t testing.TB) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.signer = fakeKey{gateway.KeyID(public), private}
	key := gateway.PublicKey{ID: s.signer.id, Name: "laptop", Public: public, Enrolled: began.Add(-time.Hour)}
	act := gateway.Act{Act: gateway.ActEnroll, Subject: key.EnrolSubject(), At: key.Enrolled, Nonce: strings.Repeat("0", 32), Key: key.ID}
	key.Vouched = gateway.SignedAct{Act: act, Signature: s.signer.Sign(act.Message())}
	s.keys = append(s.keys, key)
}

// get and post send requests of a signed-in person.
func (s *site) get(path string) *httptest.ResponseRecorder { return s.ask1("GET", path, nil) }

func (s *site) post(path string, form url.Values) *httptest.ResponseRecorder {
	return s.ask1("POST", path, form)
}

func (s *site) ask1(method, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r.WithContext(withSession(r.Context(), session{csrf: theCSRF})))
	return w
}

// answer is the form that a page sends, with what is changed of it: NAME VALUE pairs.
func (s *site) answer(decision string, pairs ...string) url.Values {
	form := url.Values{"csrf": {theCSRF}, "decision": {decision}, "comment": {""}, "digest": {s.asked[0].Digest}}
	fields, _ := fieldsOf(s.asked[0].Question.Args, schemaOf(s.asked[0].Schema))
	for _, f := range fields {
		form.Set(f.Name, f.Shown)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// history is a record that is written by hand.
type history struct {
	t      testing.TB
	events []patterns.Event
}

func (h *history) add(at float64, kind patterns.EventKind, key, body string) {
	h.t.Helper()
	v, err := ijson.DecodeLimit([]byte(body), 64<<20)
	if err != nil {
		h.t.Fatalf("%s %s: %v\n%s", kind, key, err, body)
	}
	e := patterns.Event{
		Seq: int64(len(h.events) + 1), At: began.Add(time.Duration(at * float64(time.Second))).UnixMicro(), Kind: kind, Key: key, Body: ijson.Canonical(v),
	}
	e.Seal(aRun, patterns.HeadOf(h.events).Hash)
	h.events = append(h.events, e)
}

func (h *history) start(arguments string) {
	h.add(0, patterns.StartEvent, "", `{"run_id":"`+aRun+`","pattern":"refund_supervisor","pattern_kind":"supervisor","version":"1.0","principal":"local:1000",
		"client":{"name":"claude-ai","version":"0.1","era":"2025-11-25"},"config":"sha256:00","arguments":`+arguments+`,"budget":{"max_steps":8,"max_seconds":60}}`)
}

func (h *history) effect(from, to float64, key, intent, outcome string) {
	h.add(from, patterns.IntentEvent, key, intent)
	if outcome != "" {
		h.add(to, patterns.OutcomeEvent, key, outcome)
	}
}

func tool(name, effect, input string) string {
	return `{"effect_kind":"tool","name":"` + name + `","effect":"` + effect + `","input":` + input + `,"verdict":{"decision":"approve","rule":"context_is_read_only"}}`
}

var _ http.Handler = (*Pages)(nil)

func base64Of(raw []byte) string { return base64.StdEncoding.EncodeToString(raw) }
