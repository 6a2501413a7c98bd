package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/gateway"
)

// till is the service outside: it lives on when the programs before it are killed. What it is asked it does in turn, and then
// it pays.
type till struct {
	t   *testing.T
	url string
	// knows has it pay each key once, as a service does whose calls may be repeated; else it pays what it is asked again.
	knows bool

	mu      sync.Mutex
	turns   []turn
	looks   []turn     // of look-ups
	asked   []string   // the key of each request to pay
	paid    []tillPaid // each payment that was made
	looked  int
	reached chan string   // gets the key of each request that is held
	goes    chan struct{} // closed: what is held is answered
}

// turn is what becomes of a request.
type turn struct {
	pays bool // it is paid before anything else happens
	code int  // of the reply; 0: it is held until it is let go, or who asked is gone
}

type tillPaid struct {
	Key   string `json:"key"`
	Order string `json:"order"`
	Cents int    `json:"cents"`
}

// tillToken is the secret that the service wants; no record holds it.
const tillToken = "tills-own-secret-token"

func newTill(t *testing.T, turns ...turn) *till {
	t.Helper()
	s := &till{t: t, turns: turns, reached: make(chan string, 64), goes: make(chan struct{})}
	web := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

func (s *till) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // else its end is not seen
	if r.Header.Get("Authorization") != "Bearer "+tillToken {
		s.t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}
	if key, isLook := strings.CutPrefix(r.URL.Path, "/paid/"); isLook {
		s.find(w, r, key)
		return
	}
	var p tillPaid
	if err != nil || json.Unmarshal(body, &p) != nil {
		s.t.Errorf("the service cannot read %q: %v", body, err)
	}
	p.Key = r.Header.Get("Idempotency-Key")
	s.mu.Lock()
	do := turn{pays: true, code: http.StatusOK}
	if len(s.turns) > 0 {
		do, s.turns = s.turns[0], s.turns[1:]
	}
	s.asked = append(s.asked, p.Key)
	if do.pays {
		s.pay(p)
	}
	s.mu.Unlock()
	s.answer(w, r, do, p.Key)
}

func (s *till) pay(p tillPaid) {
	if _, before := s.payment(p.Key); !before || !s.knows {
		s.paid = append(s.paid, p)
	}
}

func (s *till) payment(key string) (tillPaid, bool) {
	for _, p := range s.paid {
		if p.Key == key {
			return p, true
		}
	}
	return tillPaid{}, false
}

func (s *till) find(w http.ResponseWriter, r *http.Request, key string) {
	s.mu.Lock()
	s.looked++
	do := turn{code: http.StatusOK}
	if len(s.looks) > 0 {
		do, s.looks = s.looks[0], s.looks[1:]
	}
	s.mu.Unlock()
	s.answer(w, r, do, key)
}

// answer replies with what is known under a key.
func (s *till) answer(w http.ResponseWriter, r *http.Request, do turn, key string) {
	if do.code == 0 {
		s.reached <- key
		select {
		case <-s.goes:
			do.code = http.StatusOK
		case <-r.Context().Done():
			return
		}
	}
	s.mu.Lock()
	p, paid := s.payment(key)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case do.code != http.StatusOK:
		w.WriteHeader(do.code)
		_, _ = io.WriteString(w, `{}`)
	case !paid:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{}`)
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{"state": "paid", "receipt": "R-" + p.Order, "cents": p.Cents})
	}
}

// held waits until a request is held, and returns its key.
func (s *till) held() string {
	s.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case key := <-s.reached:
		return key
	case <-late.C:
		s.t.Fatal("no request came to be held")
	}
	return ""
}

// keys are those of all requests to pay.
func (s *till) keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.asked...)
}

// times is how often an order was paid, lookUps how often anybody was asked about one.
func (s *till) times(order string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.paid {
		if p.Order == order {
			n++
		}
	}
	return n
}

func (s *till) lookUps() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked
}

// tillCatalog declares what pays and what finds a payment, with more members of what pays, and all patterns over both.
func (s *till) scene(t *testing.T, members string) *ownScene {
	t.Helper()
	return newOwnScene(t, s.catalog(members), tillPatterns)
}

func (s *till) catalog(members string) string {
	const secret = `headers: {Authorization: {secret: "env:TILL_TOKEN", prefix: "Bearer "}}`
	return fmt.Sprintf(`  allow_networks: ["127.0.0.1/32"]
  expose: [pay]
  http:
    paid:
      {description: Finds a payment., effect: read, request: {method: GET, url: "%s/paid/{key}", %s}, input: {key: {type: string}}}
    pay:
      description: Pays an order.
      effect: write
      request: {method: POST, url: "%s/pay", %s, idempotency_header: Idempotency-Key, timeout_seconds: 30}
      input: {order: {type: string}, cents: {type: integer}}
      %s
`, s.url, secret, s.url, secret, strings.ReplaceAll(members, "\n", "\n      "))
}

const (
	tillPatterns = `patterns:
  run_task_decomposition: {tools: [pay, paid]}
  run_orchestrator: {tools: [pay, paid], budget: {task_timeout_seconds: 30, max_seconds: 60}}
  route_ticket: {tools: [pay, paid]}
  supervised_refund: {tools: [pay, paid], budget: {max_seconds: 60}}
  plan: {tools: [pay, paid]}
`
	tillOnce   = "once: '\"order-\" + args.order'\n"
	tillLooks  = "reconcile: {tool: paid, args: {key: effect.key}, happened: 'result.state == \"paid\"', settle_seconds: 0}\n"
	tillRepeat = "idempotent: true\n"
)

// tillKinds are the tools that pay, by their kind.
var tillKinds = map[gateway.Kind]string{
	gateway.Call: "pay", gateway.TaskDecomposition: "run_task_decomposition", gateway.Orchestrator: "run_orchestrator",
	gateway.Routing: "route_ticket", gateway.Supervisor: "supervised_refund", gateway.Planning: "plan_execute",
}

// tillArgs are the arguments by which a kind pays an order once.
func tillArgs(kind gateway.Kind, key, order string, cents int) string {
	args, none := map[string]any{"order": order, "cents": cents}, map[string]any{"key": "none"}
	sent := map[string]any{}
	switch kind {
	case gateway.Call:
		sent = map[string]any{"order": order, "cents": cents}
	case gateway.TaskDecomposition:
		sent = map[string]any{"goal": "g", "finalize": false, "plan": map[string]any{"kind": "plan", "steps": []any{
			map[string]any{"id": "a", "title": "a", "tool": "pay", "args": args},
			map[string]any{"id": "b", "title": "b", "tool": "paid", "args": none},
			map[string]any{"id": "c", "title": "c", "tool": "paid", "args": map[string]any{"key": "nothing"}},
		}}}
	case gateway.Orchestrator:
		sent = map[string]any{"goal": "g", "report_date": "2026-02-26", "region": "US", "finalize": false, "plan": map[string]any{"kind": "plan", "tasks": []any{
			map[string]any{"id": "a", "worker": "pay", "args": args, "critical": true},
		}}}
	case gateway.Routing:
		sent = map[string]any{"ticket": "t", "finalize": false, "route": map[string]any{"kind": "route", "target": "pay", "args": args}}
	case gateway.Supervisor:
		sent = map[string]any{"goal": "g", "actions": []any{
			map[string]any{"kind": "tool", "name": "pay", "args": args}, map[string]any{"kind": "final", "answer": "done"},
		}}
	case gateway.Planning:
		sent = map[string]any{"plan": map[string]any{"kind": "plan", "subtasks": []any{
			map[string]any{"id": "a", "description": "a", "tool": "pay", "args": args},
		}}}
	}
	sent["idempotency_key"], sent["max_wait_seconds"] = key, 120
	text, _ := json.Marshal(sent) // plain values
	return string(text)
}

// tillRun is what became of a run, as its client was told.
type tillRun struct {
	RunID       string          `json:"run_id"`
	Status      string          `json:"status"`
	StopReason  string          `json:"stop_reason"`
	Summary     string          `json:"summary"`
	Observation json.RawMessage `json:"observation"`
	WaitingFor  struct {
		Kind  string   `json:"kind"`
		Key   string   `json:"effect"`
		Cause string   `json:"cause"`
		Needs []string `json:"needs"`
	} `json:"waiting_for"`
	Effects []struct {
		Key    string `json:"key"`
		Tool   string `json:"tool"`
		Status string `json:"status"`
	} `json:"effects"`
	History []struct {
		Observation json.RawMessage `json:"observation"`
	} `json:"history"`
}

// pays has a kind pay, and waits for what becomes of it.
func (c *servedScene) pays(kind gateway.Kind, key, order string, cents int) tillRun {
	c.t.Helper()
	return c.ran(c.begins(kind, key, order, cents))
}

// begins has a kind pay and does not wait.
func (c *servedScene) begins(kind gateway.Kind, key, order string, cents int) (id int) {
	c.t.Helper()
	return c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tillKinds[kind], tillArgs(kind, key, order, cents)))
}

// ran is the answer to a call.
func (c *servedScene) ran(id int) (run tillRun) {
	c.t.Helper()
	raw := c.answer(id)
	var result struct{ StructuredContent json.RawMessage }
	if err := json.Unmarshal(raw, &result); err != nil || json.Unmarshal(result.StructuredContent, &run) != nil {
		c.t.Fatalf("%s", raw)
	}
	return run
}

// kill ends the program as kill -9 does, and returns when it is gone.
func (c *servedScene) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	c.log.wait()
	c.told.wait()
	_ = c.cmd.Wait() // killed
}

// payments are the calls of pay among a run's effects.
func (r tillRun) payments() (states []string) {
	for _, e := range r.Effects {
		if e.Tool == "pay" {
			states = append(states, e.Status)
		}
	}
	return states
}
