package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog/upstream"
	"patterngate/server/cli"
)

// asProgram makes the test program this service, or Patterngate.
const asProgram = "REFUNDS_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "refunds":
		os.Exit(run(os.Args[1:], os.Getenv("PAY_TOKEN"), os.Stdout, os.Stderr))
	case "patterngate":
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// A refund whose reply is lost is paid once: whatever becomes of replies, of this service and of Patterngate, each order is
// paid as often as its runs say, which is once.
//
//	client ──stdio──▶ patterngate serve ──HTTP──▶ refunds ──▶ ledger
//	                    kill -9                     kill -9, then refused connections, lost, late and cut replies
func TestPaidOnceWhateverFails(t *testing.T) {
	for name, kind := range map[string]storyKind{
		"a service that pays again what it is asked again": {service: []string{"--no-dedupe"}},
		"a business key":               {service: []string{"--no-dedupe"}, tool: "once: args.order_id", once: true},
		"a service that knows its key": {tool: "idempotent: true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !kind.repeats() && os.Getenv("CI") == "" {
				t.Skip("an outcome is looked up after five seconds: CI=true waits for it; TestKilledWhileItPays looks up quickly")
			}
			s := newStory(t, kind)
			s.play()
			s.judge()
			if kind.once {
				s.again()
			}
		})
	}
}

// storyKind is what a story's service and tool are.
type storyKind struct {
	service []string // flags
	tool    string   // members of refund_charge
	once    bool
}

// repeats reports whether a call in doubt is repeated, and not looked up.
func (k storyKind) repeats() bool { return strings.HasPrefix(k.tool, "idempotent") }

// clients is how many refunds are under way at once.
const clients = 6

// runs is how many orders are refunded: each by a run, and by another one where the first says that it did nothing.
func runs() int {
	if os.Getenv("CI") != "" {
		return 500
	}
	return 25
}

// story is a team's refunds while all that can fail does. Its faults are picked by a seed.
type story struct {
	t    *testing.T
	kind storyKind
	dir  string
	ctx  context.Context
	seed uint64

	mu       sync.Mutex
	service  *process
	address  string
	gate     *gate
	kills    int // of Patterngate
	restarts int // of the service
	told     map[string][]told
	asked    int // how often a person was asked
}

// told is what became of one run, as its client was told.
type told struct {
	Status     string `json:"status"`
	StopReason string `json:"stop_reason"`
	Summary    string `json:"summary"`
	RunID      string `json:"run_id"`
	WaitingFor struct {
		Kind   string `json:"kind"`
		Effect string `json:"effect"`
	} `json:"waiting_for"`
	Observation struct {
		Key     string `json:"key"`
		Status  string `json:"status"`
		Settled bool   `json:"settled"`
	} `json:"observation"`
}

func newStory(t *testing.T, kind storyKind) *story {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour/4) // of a test that has gone wrong
	t.Cleanup(cancel)
	s := &story{t: t, kind: kind, dir: t.TempDir(), ctx: ctx, seed: 8, address: "127.0.0.1:0", told: map[string][]told{}}
	s.serve(rand.New(rand.NewPCG(s.seed, 0)))
	text := fmt.Sprintf(storyConfig, s.address, s.address, kind.tool)
	if err := os.WriteFile(filepath.Join(s.dir, "pg.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.gate = s.open()
	t.Cleanup(func() { s.gate.end(); s.service.end() })
	return s
}

const storyConfig = `version: 1
inbox: "off"
notify: "off"
catalog:
  allow_networks: ["127.0.0.1/32"]
  http:
    find_refund:
      description: Finds the refund made under an idempotency key.
      request: {method: GET, url: "http://%s/refunds/{key}", headers: {Authorization: {secret: "env:PAY_TOKEN", prefix: "Bearer "}}}
      input: {key: {type: string, description: Idempotency key of the refund.}}
      effect: read
    refund_charge:
      description: Pays money of one order back to the customer.
      request: {method: POST, url: "http://%s/refunds", headers: {Authorization: {secret: "env:PAY_TOKEN", prefix: "Bearer "}},
                body: args, idempotency_header: Idempotency-Key, success: [200, 201], timeout_seconds: 1}
      input:
        order_id: {type: string, pattern: "^A-[0-9]{4}$", description: "Order, like A-1001."}
        amount_cents: {type: integer, minimum: 1, description: Amount to pay back in cents.}
        reason: {type: string, minLength: 5, description: Why the customer gets it back.}
      effect: write
      %s
      retry: {max_retries: 2, delay_seconds: 0.1}
      reconcile: {tool: find_refund, args: {key: effect.key}, happened: 'result.status == "paid"', settle_seconds: 5,
                  output: {key: result.key, status: result.status, settled: "true"}}
  expose: [refund_charge]
`

// serve starts the service with other faults than before, on the same address and ledger.
func (s *story) serve(random *rand.Rand) {
	share := func(most int) string { return fmt.Sprint(random.IntN(most)) }
	args := append([]string{"--addr", s.address, "--ledger", s.ledger(), "--seed", share(1000),
		"--lose", share(30), "--cut", share(20), "--slow", "3s", "--slow-of", share(15)}, s.kind.service...)
	s.service = s.start("refunds", args...)
	line, err := bufio.NewReader(s.service.out).ReadString('\n')
	if err != nil {
		s.t.Errorf("the service does not start: %v: %s", err, s.service.said())
		return
	}
	s.address = strings.TrimSpace(line)
}

func (s *story) ledger() string { return filepath.Join(s.dir, "ledger.jsonl") }

// gate is a Patterngate with a client.
type gate struct {
	*process
	client *upstream.Client
}

func (g *gate) end() {
	g.process.end()
	_ = g.client.Close() // its server is dead
}

// open starts Patterngate on what the one before it left.
func (s *story) open() *gate {
	p := s.start("patterngate", "serve", "--config", filepath.Join(s.dir, "pg.yaml"), "--state", filepath.Join(s.dir, "state.db"), "--log-level", "warn")
	client, err := upstream.Over(s.ctx, p.out, p.in, upstream.Identity{Name: "story", Version: "1"})
	if err != nil {
		s.t.Fatalf("patterngate does not start: %v: %s", err, p.said())
	}
	return &gate{p, client}
}

// play refunds every order, and before each something may be killed, in the middle of what others do.
func (s *story) play() {
	orders := make(chan int, runs())
	for n := range runs() {
		orders <- n
	}
	close(orders)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for n := range orders {
				random := rand.New(rand.NewPCG(s.seed, uint64(n)+1))
				s.disturb(random.IntN(100), random)
				s.refund(fmt.Sprintf("A-%04d", n))
			}
		})
	}
	all.Wait()
}

// disturb kills one of both, or neither.
func (s *story) disturb(dice int, random *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case dice < 8:
		s.reopen()
	case dice < 16:
		s.restarts++
		s.service.end()
		s.serve(random)
	}
}

func (s *story) reopen() {
	s.kills++
	s.gate.end()
	s.gate = s.open()
}

// current is the gate that is open; one that was found dead is replaced, once.
func (s *story) current(dead *gate) *gate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate == dead {
		s.reopen()
	}
	return s.gate
}

// refund has an order refunded. A run that says that it did nothing is followed by another, under a gate that was started
// again: a service that failed many times in a row is not called for a while.
func (s *story) refund(order string) {
	for try := range 6 {
		end := s.run(order, 4900, fmt.Sprintf("%s/%d", order, try))
		s.mu.Lock()
		s.told[order] = append(s.told[order], end)
		gate := s.gate
		s.mu.Unlock()
		if end.Status == "ok" || !strings.HasPrefix(end.StopReason, "tool_unavailable:") {
			return
		}
		s.current(gate)
	}
}

// run has one run made, through as many lives of Patterngate as it takes, and returns how it ended.
func (s *story) run(order string, cents int, key string) (end told) {
	args, _ := json.Marshal(map[string]any{ // plain values
		"order_id": order, "amount_cents": cents, "reason": "late parcel", "idempotency_key": key, "max_wait_seconds": 60,
	})
	var dead *gate
	for s.ctx.Err() == nil {
		gate := s.current(dead)
		result, err := gate.client.CallRaw(s.ctx, "refund_charge", args, nil)
		if err != nil {
			dead = gate
			continue
		}
		end = told{}
		if err := json.Unmarshal(result.Structured, &end); err != nil {
			s.t.Errorf("%s: %v: %s", order, err, result.Text())
			return end
		}
		if end.Status == "ok" || end.Status == "stopped" {
			return end
		}
		if end.Status == "waiting" { // the service was away for so long that its look-ups were given up
			s.settle(order, end)
		}
	}
	s.t.Errorf("%s: no end: %+v", order, end)
	return end
}

// settle acts as the person who settles a call that no look-up could settle: they read the ledger and say what it says.
func (s *story) settle(order string, end told) {
	if end.WaitingFor.Kind != "settlement" {
		s.t.Errorf("%s: %+v, want nothing that waits but a settlement", order, end)
		return
	}
	says := []string{"--did-not-happen"}
	for _, p := range s.payments() {
		if p.OrderID == order {
			result, _ := json.Marshal(map[string]any{"key": p.Key, "status": "paid", "settled": true}) // plain values
			says = []string{"--happened", "--result", string(result)}
		}
	}
	args := []string{"runs", "settle", end.RunID, end.WaitingFor.Effect, "--config", filepath.Join(s.dir, "pg.yaml"), "--state", filepath.Join(s.dir, "state.db")}
	var said bytes.Buffer
	if code := cli.Main(append(args, says...), strings.NewReader(""), &said, &said); code != 0 {
		s.t.Errorf("%s: settling it exits with %d: %s", order, code, &said)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
}

// paid counts the payments of each order.
func (s *story) paid() map[string]int {
	paid := map[string]int{}
	for _, p := range s.payments() {
		paid[p.OrderID]++
	}
	return paid
}

// payments are the ledger's.
func (s *story) payments() (payments []payment) {
	text, err := os.ReadFile(s.ledger())
	if err != nil {
		s.t.Error(err)
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		var p payment
		if err := json.Unmarshal(line, &p); err != nil {
			s.t.Errorf("the ledger has %q: %v", line, err)
			continue
		}
		payments = append(payments, p)
	}
	return payments
}

// judge compares what clients were told with the ledger.
func (s *story) judge() {
	paid, done, settled, runs := s.paid(), 0, 0, 0
	for order, ends := range s.told {
		said := 0
		for _, end := range ends {
			runs++
			switch {
			case end.Status == "ok" && end.Observation.Status == "paid":
				said++
				if end.Observation.Settled {
					settled++
				}
			case end.StopReason != "tool_unavailable:refund_charge" && end.StopReason != "tool_timeout:refund_charge" && end.StopReason != "tool_error:refund_charge":
				s.t.Errorf("%s: %+v, want it paid, or that it certainly was not", order, end)
			}
		}
		if done += said; said != paid[order] {
			s.t.Errorf("%s was paid %d times, and its runs say %d: %+v", order, paid[order], said, ends)
		}
	}
	for order, n := range paid {
		if n > 1 {
			s.t.Errorf("%s was paid %d times", order, n)
		}
	}
	s.t.Logf("%d runs of %d orders, %d paid, %d of them settled, %d by a person; patterngate was killed %d times, the service %d times", runs, len(s.told), done, settled, s.asked, s.kills, s.restarts)
	if 10*s.asked > len(s.told) {
		s.t.Errorf("a person was asked %d times, and look-ups should settle nearly all", s.asked)
	}
	if s.kills == 0 || s.restarts == 0 || settled == 0 && !s.kind.repeats() || 10*done < 9*len(s.told) {
		s.t.Error("too little failed, or too much, for this to prove anything")
	}
}

// again asks for each refund a second time: the first outcome comes, and nothing is paid; with another amount nothing comes.
func (s *story) again() {
	before := s.paid()
	for order := range s.told {
		if before[order] == 0 {
			continue
		}
		if end := s.run(order, 4900, order+"/again"); end.Status != "ok" || end.Observation.Status != "paid" {
			s.t.Errorf("%s a second time: %+v, want the first outcome", order, end)
		}
		if end := s.run(order, 5000, order+"/other"); end.StopReason != "policy_block:once_reused" {
			s.t.Errorf("%s with another amount: %+v, want once_reused", order, end)
		}
	}
	for order, n := range s.paid() {
		if n != before[order] {
			s.t.Errorf("%s was paid %d times, after it had been asked for again", order, n)
		}
	}
}
