package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patterngate/ijson"
	"patterngate/patterns/llm/llmtest"
)

// workedSession is one worked case of planning: several calls in order, with a store of their own.
type workedSession struct {
	name string

	About    string          `json:"about"`
	Config   json.RawMessage `json:"config"`
	LLM      []llmtest.Reply `json:"llm"`
	Requests []workedRequest `json:"requests"`
	Calls    []workedCall    `json:"calls"`
}

// workedCall is one call of a session.
type workedCall struct {
	Tool       string          `json:"tool"`
	Arguments  json.RawMessage `json:"arguments"`
	Expect     json.RawMessage `json:"expect"`
	IsError    bool            `json:"is_error"`
	Background bool            `json:"background"`    // the next calls are made while it runs
	After      float64         `json:"after_seconds"` // since the call in the background was sent
}

// TestPlanningCases carries out every worked session of planning through a real stdio session of the program, against a
// model server that replies as the case says. In CI each has a process and a store of its own; elsewhere, and in memory,
// sessions of one configuration share them, those first that expect to find no plan.
func TestPlanningCases(t *testing.T) {
	t.Parallel()
	binary := build(t)
	share := map[string]int{"": sessionCases} // by state
	if os.Getenv("CI") != "" {
		share = map[string]int{"": 1, ":memory:": sessionCases}
	}
	for state, most := range share {
		for number, group := range groupedSessions(readSessions(t), most) {
			speaks := *era
			if speaks == "" {
				speaks = []string{handshake, stateless}[number%2]
			}
			served := serving{binary, speaks, state}
			t.Run(fmt.Sprintf("%02d %s%s", number, served.era, served.state), func(t *testing.T) {
				t.Parallel()
				runPlanning(t, served, group)
			})
		}
	}
}

func readSessions(t *testing.T) []workedSession {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "planning", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/cases/planning: %d files, %v", len(files), err)
	}
	var list []workedSession
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w := workedSession{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&w); err != nil || len(w.Calls) == 0 {
			t.Fatalf("%s: %d calls, %v", file, len(w.Calls), err)
		}
		list = append(list, w)
	}
	return list
}

// groupedSessions puts sessions with the same configuration together, at most so many, in a stable order.
func groupedSessions(sessions []workedSession, most int) [][]workedSession {
	byConfig := map[string][]workedSession{}
	for _, w := range sessions {
		byConfig[string(w.Config)] = append(byConfig[string(w.Config)], w)
	}
	var groups [][]workedSession
	for _, config := range slices.Sorted(maps.Keys(byConfig)) {
		for group := range slices.Chunk(byConfig[config], most) {
			slices.SortStableFunc(group, func(a, b workedSession) int { return a.listsPlans() - b.listsPlans() })
			groups = append(groups, group)
		}
	}
	return groups
}

// listsPlans is 0 for a session that looks at all plans, else 1.
func (w workedSession) listsPlans() int {
	for _, c := range w.Calls {
		if strings.Contains(string(c.Expect), `"plans":`) {
			return 0
		}
	}
	return 1
}

func runPlanning(t *testing.T, served serving, sessions []workedSession) {
	model := llmtest.NewServer()
	t.Cleanup(model.Close)
	s := startSession(t, served, sessions[0].Config, model.URL)
	for i, w := range sessions {
		ok := t.Run(w.name, func(t *testing.T) {
			model.Script(w.LLM...)
			played := playedSession{session: s, judge: newPlanJudge()}
			if err := played.play(w); err != nil {
				t.Fatalf("%s: %v\n%s", w.About, err, s.end())
			}
			w.judgeRequests(played.judge, model.Requests())
			for _, fault := range played.judge.faults {
				t.Error(fault)
			}
			if t.Failed() {
				t.Logf("%s\ngot %s", w.About, strings.Join(played.got, "\n    "))
			}
		})
		if !ok && s.process.ProcessState != nil {
			t.Fatalf("the server is gone; %d sessions did not run", len(sessions)-i-1)
		}
	}
	if err := s.close(); err != nil {
		t.Errorf("closing stdin: got %v, want exit 0\n%s", err, s.end())
	}
}

// playedSession is a session under way.
type playedSession struct {
	*session
	judge *planJudge
	plans planIDs
	got   []string // structured results, in the order of the calls' answers

	sent   time.Time // when the call in the background was sent
	behind []func() error
}

// play makes all calls; those in the background are judged last.
func (p *playedSession) play(w workedSession) error {
	for i, c := range w.Calls {
		if c.After > 0 {
			<-time.After(time.Until(p.sent.Add(time.Duration(c.After * float64(time.Second)))))
		}
		id, err := p.begin(c.Tool, p.plans.put(c.Arguments))
		if err != nil {
			return err
		}
		take := func() error { return p.take(i, c, id) }
		if c.Background {
			p.sent, p.behind = time.Now(), append(p.behind, take)
			continue
		}
		if err := take(); err != nil {
			return err
		}
	}
	for _, take := range p.behind {
		if err := take(); err != nil {
			return err
		}
	}
	return nil
}

// take awaits an answer and judges it.
func (p *playedSession) take(number int, c workedCall, id int) error {
	answer, err := p.await(id)
	if err != nil {
		return err
	}
	p.got = append(p.got, fmt.Sprintf("%d %s: %s", number, c.Tool, answer.Structured))
	at, j := ijson.Pointer("/calls").Index(number), p.judge
	if answer.IsError != c.IsError {
		j.fault(at, "isError is %v, want %v", answer.IsError, c.IsError)
	}
	if len(answer.Content) == 0 || answer.Content[0].Type != "text" || ijson.Blank(answer.Content[0].Text) {
		j.fault(at, "content has no text")
	}
	got, err := object(answer.Structured)
	if err != nil {
		j.fault(at, "structuredContent: %v", err)
		return nil
	}
	if err := p.plans.note(got); err != nil {
		j.fault(at, "%v", err)
	}
	want, err := object(p.plans.put(c.Expect))
	if err != nil {
		return fmt.Errorf("what is expected of call %d: %w", number, err)
	}
	j.answer(at, want, got)
	return nil
}

// judgeRequests compares what the model was asked in the whole session.
func (w workedSession) judgeRequests(j *planJudge, got []llmtest.Request) {
	if len(got) != len(w.Requests) {
		j.fault("/requests", "got %d model requests, want %d", len(got), len(w.Requests))
		return
	}
	for i, want := range w.Requests {
		at := ijson.Pointer("/requests").Index(i)
		if got[i].Phase() != want.Phase {
			j.fault(at.Member("phase"), "got %s, want %s", got[i].Phase(), want.Phase)
		}
		expected, err := ijson.Decode(want.User)
		if err != nil {
			j.fault(at.Member("user"), "expected message: %v", err)
			continue
		}
		user, err := ijson.Decode([]byte(got[i].UserText()))
		if err != nil {
			j.fault(at.Member("user"), "got %.200q: %v", got[i].UserText(), err)
			continue
		}
		j.request(at.Member("user"), expected, user)
	}
}
