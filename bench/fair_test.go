package bench

import (
	"encoding/json"
	"os"
	"regexp"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/patterns"
	"patterngate/patterns/llm/llmtest"
)

// listener is a scripted model in this process that keeps what it was asked.
type listener struct {
	*llmtest.Server
	mu    sync.Mutex
	asked []llmtest.Request
}

func listen(t *testing.T) *listener {
	t.Helper()
	l, script := &listener{}, NewScript()
	l.Server = llmtest.NewFunc(func(r llmtest.Request) llmtest.Reply {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked = append(l.asked, r)
		return script.Reply(r)
	})
	t.Cleanup(l.Close)
	return l
}

// question is what a request says to the model.
type question struct {
	Model, Phase, System string
	Temperature          float64
	User                 any
}

// effectIDs differ from run to run.
var effectIDs = regexp.MustCompile(`(rf|em)_42_[0-9a-f]{12}`)

// questions are the requests so far; afterwards there are none.
func (l *listener) questions(t *testing.T) []question {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []question
	for _, r := range l.asked {
		q := question{Model: r.Model(), Phase: r.Phase(), System: r.System()}
		temperature, ok := r.Temperature()
		if !ok {
			t.Errorf("a request has no temperature: %s", r.Body)
		}
		q.Temperature = temperature
		if err := json.Unmarshal([]byte(effectIDs.ReplaceAllString(r.UserText(), "$1")), &q.User); err != nil {
			t.Errorf("user message %q: %v", r.UserText(), err)
		}
		list = append(list, q)
	}
	l.asked = nil
	return list
}

// sides are both sides at one model.
func sides(t *testing.T, url string) (*Bare, *Ours) {
	t.Helper()
	bare, err := NewBare(url, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := NewOurs(url, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ours.Close)
	return bare, ours
}

// Both sides ask the model the same questions, word for word, and call as many tools.
func TestBothAskTheSame(t *testing.T) {
	model := listen(t)
	bare, ours := sides(t, model.URL)
	for _, w := range Workloads() {
		t.Run(w.Name, func(t *testing.T) {
			if _, err := bare.Run(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			want := model.questions(t)
			result, err := ours.Run(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, model.questions(t)); diff != "" {
				t.Errorf("bare asks -, ours asks +\n%s", diff)
			}
			if len(want) != w.Asks || len(result.Ledger) != w.Calls {
				t.Errorf("%d questions and %d calls, want %d and %d", len(want), len(result.Ledger), w.Asks, w.Calls)
			}
		})
	}
}

// seen is what both sides tell of a run, in one form.
type seen struct {
	Stop    string `json:"stop_reason"`
	Answer  string `json:"answer"`
	Plan    any    `json:"plan"`
	History []struct {
		Observation any `json:"observation"`
	} `json:"history"`
	Aggregate any `json:"aggregate"`
}

// seenIn reads what is seen from a result of any form.
func seenIn(t *testing.T, result any) seen {
	t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := json.Unmarshal([]byte(effectIDs.ReplaceAllString(string(text), "$1")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// oursAs gives our result the members that the envelope has.
func oursAs(r patterns.Result) map[string]any {
	return map[string]any{"stop_reason": r.StopReason, "answer": r.Answer, "plan": r.Plan, "history": r.History, "aggregate": r.Aggregate}
}

// Both sides come to the same answer, plan, observations and aggregate.
func TestBothComeToTheSame(t *testing.T) {
	model := listen(t)
	bare, ours := sides(t, model.URL)
	for _, w := range Workloads() {
		t.Run(w.Name, func(t *testing.T) {
			floor, err := bare.Run(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			result, err := ours.Run(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			want := seenIn(t, floor)
			if diff := cmp.Diff(want, seenIn(t, oursAs(result))); diff != "" {
				t.Errorf("bare -, ours +\n%s", diff)
			}
			if want.Stop != patterns.Success || want.Answer == "" || len(want.History) < w.Calls {
				t.Errorf("bare: %+v, want success, an answer and %d observations", want, w.Calls)
			}
		})
	}
}

// The same holds over stdio, from the built programs.
func TestBothServeTheSame(t *testing.T) {
	if os.Getenv("CI") != "true" {
		t.Skip("builds and starts three programs; runs with CI=true")
	}
	programs, err := Build(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	model, err := programs.StartModel()
	if err != nil {
		t.Fatal(err)
	}
	defer ended(t, model.Close)
	bare := begun(t, programs.StartBare, model)
	ours := begun(t, programs.StartOurs, model)
	for _, w := range Workloads() {
		t.Run(w.Name, func(t *testing.T) {
			want, got := seenIn(t, structured(t, bare, w)), seenIn(t, structured(t, ours, w))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("bare -, ours +\n%s", diff)
			}
		})
	}
}

// begun is a session after its handshake.
func begun(t *testing.T, start func(*Model) (*Session, error), m *Model) *Session {
	t.Helper()
	s, err := start(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ended(t, s.Close) })
	if err := s.Initialize(); err != nil {
		t.Fatal(err)
	}
	return s
}

func ended(t *testing.T, closing func() error) {
	t.Helper()
	if err := closing(); err != nil {
		t.Error(err)
	}
}

func structured(t *testing.T, s *Session, w Workload) map[string]any {
	t.Helper()
	line, err := s.Run(w)
	if err != nil {
		t.Fatal(err)
	}
	result, err := result(line)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
