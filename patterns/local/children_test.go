package local_test

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// house is a set of patterns that call each other: each is made by its name, as a configuration does it. Its model proposes for a
// pattern what says tells it to, and writes "done" as every final text.
type house struct {
	*service
	t     testing.TB
	tools *catalog.Catalog
	specs map[string]patterns.Spec
	says  map[string]string // proposals by pattern
	text  string            // of every final text
	names map[string]string // of models by pattern; "" for house

	mu    sync.Mutex
	asked map[string]int // questions by pattern
}

// newHouse has a pattern of kind call, pay, over the tool own, which writes.
func newHouse(t testing.TB, change func(*catalog.Tool)) *house {
	t.Helper()
	s := &service{}
	h := &house{service: s, t: t, specs: map[string]patterns.Spec{}, says: map[string]string{}, asked: map[string]int{}, text: "done"}
	h.tools = s.tools(t, func(own *catalog.Tool) {
		own.Effect = catalog.Write
		if change != nil {
			change(own)
		}
	})
	h.add(patterns.Spec{Name: "pay", Kind: gateway.Call, Tool: "own", Tools: []string{"own"}})
	return h
}

// add declares a pattern of the house; its budget and allowlists are those of its kind and tools.
func (h *house) add(s patterns.Spec) {
	if s.Catalog == nil {
		s.Catalog = h.tools
	}
	s.Policy, s.Execution, s.Reroute = s.Tools, s.Tools, rerouted(s.Tools)
	if s.Budget.MaxTime == 0 {
		s.Budget = gateway.DefaultBudget(s.Kind)
		s.Budget.TaskTimeout, s.Budget.MaxTime = time.Minute, time.Hour
	}
	h.specs[s.Name] = s
}

// over declares a pattern whose workers or routes are patterns, each under its own name, with a proposal of its model.
func (h *house) over(kind gateway.Kind, name, says string, below ...string) {
	h.t.Helper()
	var hands []catalog.Tool
	for _, b := range below {
		alias, pattern, _ := strings.Cut(b+"="+b, "=")
		pattern, _, _ = strings.Cut(pattern, "=")
		hands = append(hands, h.hand(alias, pattern))
	}
	view, err := h.tools.With(hands...)
	if err != nil {
		h.t.Fatal(err)
	}
	var names []string
	for _, hand := range hands {
		names = append(names, hand.Name)
	}
	h.says[name] = says
	h.add(patterns.Spec{Name: name, Kind: kind, Catalog: view, Tools: append(names, "own")})
}

// hand is a pattern as a worker or route of another one.
func (h *house) hand(alias, pattern string) catalog.Tool {
	text, goal := `{"type":"object","properties":{"goal":{"type":"string"}},"required":["goal"],"additionalProperties":false}`, "goal"
	if h.specs[pattern].Kind == gateway.Call {
		text, goal = `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`, ""
	}
	schema, err := catalog.CompileSchema([]byte(text))
	if err != nil {
		h.t.Fatal(err)
	}
	effect := catalog.Read
	for _, name := range h.specs[pattern].Tools {
		if tool, _ := h.specs[pattern].Catalog.Tool(name); tool.Effect != catalog.Read && name != "own" || name == "own" && h.specs[pattern].Tool == "own" {
			effect = tool.Effect
		}
	}
	return catalog.Tool{Name: alias, Of: pattern, Pattern: pattern, Goal: goal, Server: catalog.PatternServer, Input: schema, Effect: effect}
}

// Job makes a run of one of the patterns.
func (h *house) Job(b patterns.Begun) (patterns.Job, error) {
	s, ok := h.specs[b.Pattern]
	if !ok {
		return patterns.Job{}, &patterns.Lacking{Cause: "tool_missing", Needs: []string{b.Pattern}}
	}
	job := patterns.Job{Spec: s, Model: h.model(b.Pattern), Caller: patterns.Caller{Principal: b.Principal, Client: b.Client}, Hashes: patterns.Hashes{Config: b.Config}, Arguments: b.Arguments}
	job.Task.Goal, _ = b.Arguments["goal"].(string)
	if job.Task.Finalize = s.Kind != gateway.Call; s.Kind == gateway.Call {
		job.Task.Args = b.Arguments
	}
	return job, nil
}

// start begins a run of a pattern.
func (h *house) start(e *local.Engine, pattern string) (patterns.Ended, error) {
	return e.Start(h.t.Context(), h.job(pattern))
}

func (h *house) job(pattern string) patterns.Job {
	args := object{"goal": "pay it"}
	if h.specs[pattern].Kind == gateway.Call {
		args = object{"n": 1.0}
	}
	job, err := h.Job(patterns.Begun{Pattern: pattern, Caller: patterns.Caller{Principal: mine, Client: "test"}, Arguments: args})
	if err != nil {
		h.t.Fatal(err)
	}
	return job
}

type houseModel struct {
	*house
	pattern string
}

func (h *house) model(pattern string) patterns.Model { return houseModel{h, pattern} }

func (m houseModel) Name() string { return cmp.Or(m.names[m.pattern], "house") }

func (m houseModel) Ask(_ context.Context, q patterns.Question) (patterns.Answer, error) {
	m.mu.Lock()
	m.asked[m.pattern]++
	m.mu.Unlock()
	text := m.text
	if q.Decision() {
		text = m.says[m.pattern]
	}
	if question, asks := strings.CutPrefix(text, "ask: "); asks {
		return patterns.Answer{}, &patterns.ModelFault{Reason: "goal_unclear", Say: question}
	}
	return patterns.Answer{Text: text, Usage: patterns.Usage{Requests: 1, InputTokens: 10, OutputTokens: 5}}, nil
}

// to is a route to a hand.
func to(hand, args string) string {
	return `{"kind":"route","target":"` + hand + `","args":` + args + `}`
}

const (
	toPay  = `{"kind":"route","target":"pay","args":{"n":1}}`
	toDesk = `{"kind":"route","target":"desk","args":{"goal":"pay it"}}`
)

// desk is a house with a desk that hands over to pay, and a hall that hands over to the desk.
func desk(t testing.TB, change func(*catalog.Tool)) *house {
	h := newHouse(t, change)
	h.over(gateway.Routing, "desk", toPay, "pay")
	h.over(gateway.Routing, "hall", toDesk, "desk")
	return h
}

// asks has the leaf ask a person about each call.
func (h *house) asks() {
	s := h.specs["pay"]
	s.Reviewer = gateway.ReviewerFunc(func(gateway.Case) gateway.Verdict {
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "ask"}
	})
	s.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
	h.specs["pay"] = s
}

// onBothHouses runs a test with runs in memory and with runs in a state file.
func onBothHouses(t *testing.T, h func(t testing.TB) *house, test func(t *testing.T, h *house, p port)) {
	for _, name := range []string{"memory", "file"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := h(t)
			e := &local.Engine{Source: in}
			if name == "file" {
				e = opened(t, newState(t), in)
				e.Go()
			} else {
				t.Cleanup(e.Close)
			}
			test(t, in, port{e, &begun{}})
		})
	}
}

// childOf is the one run that a run's call began.
func childOf(t testing.TB, e *local.Engine, parent string) patterns.Snapshot {
	t.Helper()
	var found []patterns.Snapshot
	for _, id := range e.RunIDs(mine) {
		if s, ok := e.Run(mine, id); ok && s.Parent != nil && s.Parent.RunID == parent {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d runs were begun by %s, want one", len(found), parent)
	}
	return found[0]
}

func TestChildRuns(t *testing.T) {
	onBothHouses(t, func(t testing.TB) *house { return desk(t, nil) }, func(t *testing.T, h *house, p port) {
		ended, err := h.start(p.Engine, "hall")
		if err != nil || !ended.Result.OK() {
			t.Fatalf("%+v, %v", ended, err)
		}
		if len(h.done) != 1 {
			t.Errorf("the tool acted %d times, want once", len(h.done))
		}
		row, _ := ended.Result.Trace[0].(patterns.RouteRow)
		below := childOf(t, p.Engine, ended.RunID)
		if row.ChildRunID != below.RunID || below.Pattern != "desk" || below.Client != "test" || below.Parent.Key == "" {
			t.Errorf("the row tells of %s, the child is %s of %s, %+v", row.ChildRunID, below.RunID, below.Pattern, below.Parent)
		}
		seen, _ := ended.Result.History[0].(patterns.Delegation).Observation.(map[string]any)
		if seen["status"] != "ok" || seen["answer"] != "done" {
			t.Errorf("the hall saw %v", seen)
		}
		leaf := childOf(t, p.Engine, below.RunID)
		if leaf.Pattern != "pay" || len(leaf.Parent.Within) != 2 || leaf.Parent.Within[0] != "hall" || leaf.Parent.Within[1] != "desk" {
			t.Errorf("the leaf is %s in %v", leaf.Pattern, leaf.Parent.Within)
		}
		seen, _ = below.Ended.Result.History[0].(patterns.Delegation).Observation.(map[string]any)
		if result, _ := seen["result"].(map[string]any); seen["status"] != "ok" || result["id"] != "1" {
			t.Errorf("the desk saw %v", seen)
		}
		if u := ended.Result.Usage; u.Requests != 4 || u.InputTokens != 40 {
			t.Errorf("the hall used %+v, want its own two requests and the desk's two", u)
		}
		for _, id := range []string{ended.RunID, below.RunID, leaf.RunID} {
			events := p.intact(t, id)
			s, _ := p.Run(mine, id)
			job, err := h.Job(patterns.Begun{Pattern: s.Pattern, Caller: patterns.Caller{Principal: mine}, Arguments: s.Arguments})
			if err != nil {
				t.Fatal(err)
			}
			again, err := local.ReplayStored(events, job)
			if err != nil || asJSON(t, again.Result) != asJSON(t, s.Ended.Result) {
				t.Errorf("%s replays, %v, as %s\nwant %s", s.Pattern, err, asJSON(t, again.Result), asJSON(t, s.Ended.Result))
			}
		}
		if id, _ := p.Newest(mine); id != ended.RunID {
			t.Errorf("the newest run is %s, want the one that was asked for", id)
		}
		page, err := p.List(patterns.Filter{Principal: mine})
		if err != nil || len(page.Rows) != 3 {
			t.Fatalf("%+v, %v", page, err)
		}
		parents := map[string]string{}
		for _, row := range page.Rows {
			parents[row.RunID] = row.Parent
		}
		if parents[leaf.RunID] != below.RunID || parents[below.RunID] != ended.RunID || parents[ended.RunID] != "" {
			t.Errorf("listed with the parents %v", parents)
		}
	})
}

func startBody(t testing.TB, events []patterns.Event) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(events[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// waiting begins a run and waits until it rests with what it waits for.
func (p port) waiting(t testing.TB, h *house, pattern string) (patterns.Snapshot, patterns.Asked) {
	t.Helper()
	ended, err := h.start(p.Engine, pattern)
	if err != nil || ended.Waiting == nil || ended.Waiting.Kind != patterns.ForApproval {
		t.Fatalf("%+v, %v; want it to wait for a person", ended, err)
	}
	q, err := p.Approvals().Approval(ended.Waiting.Approval)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := p.Run(mine, ended.RunID)
	return s, q
}

// What a run waits for, so do those that lie above it, and they go on when it does.
func TestParentsWaitForPeople(t *testing.T) {
	for name, tt := range map[string]struct {
		choice gateway.Choice
		want   string
		below  string // why the run below stopped
		acts   int
	}{
		"approved": {gateway.ChooseApprove, "success", "", 1},
		"rejected": {gateway.ChooseReject, "route_error:desk", "route_error:pay", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := desk(t, nil)
			h.asks()
			p := port{opened(t, newState(t), h), &begun{}}
			p.Go()
			s, q := p.waiting(t, h, "hall")
			below := childOf(t, p.Engine, s.RunID)
			leaf := childOf(t, p.Engine, below.RunID)
			w := s.Ended.Waiting
			if s.State != patterns.Parked || w.Child != leaf.RunID || w.Approval != q.ID || q.Question.Run != leaf.RunID || w.Tool != "own" || q.Pattern != "pay" {
				t.Errorf("%s, it waits for %+v, asked is %+v", s.State, w, q)
			}
			if below.State != patterns.Parked || below.Ended.Waiting.Child != leaf.RunID || leaf.Ended.Waiting.Child != "" {
				t.Errorf("the desk %s for %+v, the leaf for %+v", below.State, below.Ended.Waiting, leaf.Ended.Waiting)
			}
			page, err := p.List(patterns.Filter{Principal: mine, Status: "waiting"})
			if err != nil || len(page.Rows) != 3 {
				t.Errorf("waiting are %+v, %v; want all three", page.Rows, err)
			}
			if _, err := p.Approvals().Decide(say(q, tt.choice, nil)); err != nil {
				t.Fatal(err)
			}
			r := p.until(t, s.RunID, patterns.Over).Ended.Result
			if r.StopReason != tt.want || len(h.done) != tt.acts {
				t.Errorf("%s after %d acts, want %s after %d", r.StopReason, len(h.done), tt.want, tt.acts)
			}
			if row, ok := r.Trace[0].(patterns.RouteRow); !ok || row.ChildRunID != below.RunID || row.ObservationError != tt.below {
				t.Errorf("it is told as %+v, want %q below", r.Trace[0], tt.below)
			}
			for _, id := range []string{s.RunID, below.RunID, leaf.RunID} {
				p.until(t, id, patterns.Over)
				p.intact(t, id)
			}
		})
	}
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// A child that stops with a question for the person passes it to the run that began it.
func TestQuestionsOfChildRuns(t *testing.T) {
	onBothHouses(t, func(t testing.TB) *house {
		h := desk(t, nil)
		h.says["desk"] = "ask: Which member?"
		return h
	}, func(t *testing.T, h *house, p port) {
		ended, err := h.start(p.Engine, "hall")
		if err != nil || ended.Result.StopReason != "route_error:desk" || ended.Result.Say != "Which member?" {
			t.Fatalf("%+v, %v; want the question of the desk", ended.Result, err)
		}
		events := p.intact(t, ended.RunID)
		s, _ := p.Run(mine, ended.RunID)
		job, err := h.Job(patterns.Begun{Pattern: s.Pattern, Caller: patterns.Caller{Principal: mine}, Arguments: s.Arguments})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := local.ReplayStored(events, job); err != nil || again.Result.Say != "Which member?" {
			t.Errorf("it replays, %v, with the question %q", err, again.Result.Say)
		}
	})
}
