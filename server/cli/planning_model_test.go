package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/patterns/llm/llmtest"
)

// planModel is a model that replies by what it is asked: to the n-th request for a plan with the n-th plan, to work on a
// subtask by the subtask's id. It is safe for concurrent use.
type planModel struct {
	t      *testing.T
	server *llmtest.Server

	mu    sync.Mutex
	plans []llmtest.Reply            // what requests for plans and replans get, in order
	work  map[string][]llmtest.Reply // what work on a subtask gets, in order; the last again and again
	gates map[string]chan struct{}   // the work on a subtask is not answered before it is closed
	asked []planAsked
	watch []chan string
	opens []func() // gates, at the end
}

// planAsked is a request: decompose, replan, finalize or "work ID".
type planAsked struct {
	what string
	user map[string]any
	from llmtest.Request
}

// newPlanModel replies to requests for plans in this order; work on a subtask is done "by ID", unless it is scripted.
func newPlanModel(t *testing.T, plans ...any) *planModel {
	t.Helper()
	m := &planModel{t: t, work: map[string][]llmtest.Reply{}, gates: map[string]chan struct{}{}}
	for _, p := range plans {
		m.plans = append(m.plans, replyOf(p))
	}
	m.server = llmtest.NewFunc(m.answer)
	t.Cleanup(func() {
		for _, letGo := range m.opens {
			letGo()
		}
		m.server.Close()
	})
	return m
}

func replyOf(v any) llmtest.Reply {
	switch v := v.(type) {
	case llmtest.Reply:
		return v
	case string:
		return llmtest.Content(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	return llmtest.Content(string(text))
}

// does scripts the work on a subtask.
func (m *planModel) does(id string, replies ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.work[id] = nil
	for _, r := range replies {
		m.work[id] = append(m.work[id], replyOf(r))
	}
}

// holds keeps the work on a subtask unanswered until it is let go.
func (m *planModel) holds(id string) (letGo func()) {
	gate := make(chan struct{})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gates[id] = gate
	letGo = sync.OnceFunc(func() {
		m.mu.Lock()
		delete(m.gates, id)
		m.mu.Unlock()
		close(gate)
	})
	m.opens = append(m.opens, letGo)
	return letGo
}

// watches tells of requests from now on.
func (m *planModel) watches() <-chan string {
	told := make(chan string, 1000)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch = append(m.watch, told)
	return told
}

// next is what the model is asked next.
func next(t *testing.T, told <-chan string) string {
	t.Helper()
	select {
	case what := <-told:
		return what
	case <-time.After(planPatience):
		t.Fatal("the model is not asked")
		return ""
	}
}

func (m *planModel) answer(r llmtest.Request) llmtest.Reply {
	user, _ := r.User().(map[string]any)
	a := planAsked{what: "decompose", user: user, from: r}
	id := ""
	switch subtask, isWork := user["subtask"].(map[string]any); {
	case isWork:
		id, _ = subtask["id"].(string)
		a.what = "work " + id
	case user["remaining"] != nil:
		a.what = "replan"
	case r.Phase() == "finalize":
		a.what = "finalize"
	}
	m.mu.Lock()
	m.asked = append(m.asked, a)
	reply, gate := m.next(a.what, id), m.gates[id]
	for _, told := range m.watch {
		told <- a.what
	}
	m.mu.Unlock()
	if id != "" && gate != nil {
		<-gate
	}
	return reply
}

// next is the reply to a request.
func (m *planModel) next(what, id string) llmtest.Reply {
	switch what {
	case "decompose", "replan":
		if len(m.plans) == 0 {
			m.t.Errorf("the model is asked to %s, and has no plan more", what)
			return llmtest.Status(400)
		}
		reply := m.plans[0]
		m.plans = m.plans[1:]
		return reply
	case "finalize":
		return llmtest.Content("All told.")
	}
	replies := m.work[id]
	if len(replies) == 0 {
		return llmtest.Content("by " + id)
	}
	if len(replies) > 1 {
		m.work[id] = replies[1:]
	}
	return replies[0]
}

// requests are what was asked so far, in order.
func (m *planModel) requests() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var words []string
	for _, a := range m.asked {
		words = append(words, a.what)
	}
	return strings.Join(words, ", ")
}

// times counts requests.
func (m *planModel) times(what string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.asked {
		if a.what == what {
			n++
		}
	}
	return n
}

// last is the newest request of a kind.
func (m *planModel) last(what string) planAsked {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range slices.Backward(m.asked) {
		if a.what == what {
			return a
		}
	}
	m.t.Fatalf("the model was never asked to %s", what)
	return planAsked{}
}
