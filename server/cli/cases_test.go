package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"patterngate/ijson"
	"patterngate/patterns/llm/llmtest"
)

// For a closer look at [TestCases], for instance -era 2026-07-28 or the program built with -race.
var (
	era     = flag.String("era", "", "protocol era of all sessions; empty alternates")
	program = flag.String("program", "", "the program under test; empty is this binary, in CI a built one")
)

// sessionCases is how many cases of one configuration share a process.
const sessionCases = 16

// worked is one worked case of the contract: what the server is configured with, what the caller sends, what the
// model replies, and what must come of it.
type worked struct {
	name string

	About     string          `json:"about"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Config    json.RawMessage `json:"config"`
	LLM       []llmtest.Reply `json:"llm"`
	Expect    json.RawMessage `json:"expect"`
	Requests  []workedRequest `json:"requests"`
	IsError   bool            `json:"is_error"`
}

type workedRequest struct {
	Phase string          `json:"phase"`
	User  json.RawMessage `json:"user"`
}

// TestCases carries out every worked case through a real stdio session of the program, against a model server that
// replies as the case says.
func TestCases(t *testing.T) {
	t.Parallel()
	binary := build(t)
	var ids madeIDs
	states := []string{""}
	if os.Getenv("CI") != "" {
		states = append(states, ":memory:")
	}
	for number, group := range grouped(readCases(t)) {
		speaks := *era
		if speaks == "" {
			speaks = []string{handshake, stateless}[number%2]
		}
		for _, state := range states {
			served := serving{binary, speaks, state}
			t.Run(fmt.Sprintf("%02d %s%s", number, served.era, served.state), func(t *testing.T) {
				t.Parallel()
				runSession(t, served, group, &ids)
			})
		}
	}
}

// build builds the program in CI, unless -program names one; elsewhere the test binary is the program. Left out are only
// the debugger's tables, which are most of the time that linking takes.
func build(t *testing.T) string {
	t.Helper()
	if *program != "" {
		return *program
	}
	if os.Getenv("CI") == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return self
	}
	binary := filepath.Join(t.TempDir(), "patterngate.exe")
	command := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "patterngate")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

func readCases(t *testing.T) []worked {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/cases: %d files, %v", len(files), err)
	}
	var cases []worked
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) == "planning" { // sessions of several calls, see [TestPlanningCases]
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w := worked{name: filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".json")}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases = append(cases, w)
	}
	return cases
}

// grouped puts cases with the same configuration together, [sessionCases] at most, in a stable order.
func grouped(cases []worked) [][]worked {
	byConfig := map[string][]worked{}
	for _, w := range cases {
		byConfig[string(w.Config)] = append(byConfig[string(w.Config)], w)
	}
	var groups [][]worked
	for _, config := range slices.Sorted(maps.Keys(byConfig)) {
		groups = slices.AppendSeq(groups, slices.Chunk(byConfig[config], sessionCases))
	}
	return groups
}

func runSession(t *testing.T, served serving, cases []worked, ids *madeIDs) {
	model := llmtest.NewServer()
	t.Cleanup(model.Close)
	s := startSession(t, served, cases[0].Config, model.URL)
	for i, w := range cases {
		ok := t.Run(w.name, func(t *testing.T) {
			model.Script(w.LLM...)
			got, err := s.call(w.Tool, w.Arguments)
			if err != nil {
				t.Fatalf("%s: %v\n%s", w.About, err, s.end())
			}
			j := w.judge(got, model.Requests())
			for _, fault := range append(j.faults, ids.faults(w.name, j.ids)...) {
				t.Error(fault)
			}
			if t.Failed() {
				t.Logf("%s\ngot %s", w.About, got.Structured)
			}
		})
		if !ok && s.process.ProcessState != nil {
			t.Fatalf("the server is gone; %d cases did not run", len(cases)-i-1)
		}
	}
	if err := s.close(); err != nil {
		t.Errorf("closing stdin: got %v, want exit 0\n%s", err, s.end())
	}
	if _, err := os.Stat(s.stateFile); (err == nil) != (served.state == "") {
		t.Errorf("the state file: %v; want one unless runs are kept in memory", err)
	}
}

// judge judges an answer and the requests that were made for it.
func (w worked) judge(got toolResult, requests []llmtest.Request) judge {
	var j judge
	if got.IsError != w.IsError {
		j.fault("", "isError is %v, want %v", got.IsError, w.IsError)
	}
	if len(got.Content) == 0 || got.Content[0].Type != "text" || ijson.Blank(got.Content[0].Text) {
		j.fault("", "content has no text")
	}
	want, err := object(w.Expect)
	if err != nil {
		j.fault("", "what is expected: %v", err)
		return j
	}
	structured, err := object(got.Structured)
	if err != nil {
		j.fault("", "structuredContent: %v", err)
		return j
	}
	j.result(want, structured)
	w.judgeRequests(&j, requests)
	return j
}

// judgeRequests compares the user messages; the ids in them must be those of the result.
func (w worked) judgeRequests(j *judge, got []llmtest.Request) {
	if len(got) == 0 && w.noTime() {
		return
	}
	if len(got) != len(w.Requests) {
		j.fault("/requests", "got %d model requests, want %d", len(got), len(w.Requests))
		return
	}
	known := slices.Collect(maps.Values(j.ids))
	asked := judge{}
	for i, want := range w.Requests {
		at := ijson.Pointer("/requests").Index(i)
		if got[i].Phase() != want.Phase {
			asked.fault(at.Member("phase"), "got %s, want %s", got[i].Phase(), want.Phase)
		}
		expected, err := ijson.Decode(want.User)
		if err != nil {
			asked.fault(at.Member("user"), "expected message: %v", err)
			continue
		}
		user, err := ijson.Decode([]byte(got[i].UserText()))
		if err != nil {
			asked.fault(at.Member("user"), "got %.200q: %v", got[i].UserText(), err)
			continue
		}
		asked.message(at.Member("user"), expected, user)
	}
	for at, id := range asked.ids {
		if !slices.Contains(known, id) {
			asked.fault(at, "got id %s, which the result does not have", id)
		}
	}
	j.faults = append(j.faults, asked.faults...)
}

// noTime reports a configuration under which the first request may or may not go out.
func (w worked) noTime() bool {
	var config struct {
		Patterns map[string]struct {
			Budget struct {
				MaxTime *float64 `json:"max_seconds"`
			} `json:"budget"`
		} `json:"patterns"`
	}
	if json.Unmarshal(w.Config, &config) != nil {
		return false
	}
	limit := config.Patterns[w.Tool].Budget.MaxTime
	return limit != nil && *limit == 0
}

func object(text []byte) (map[string]any, error) {
	v, err := ijson.Decode(text)
	if err != nil {
		return nil, err
	}
	found, is := v.(map[string]any)
	if !is {
		return nil, fmt.Errorf("got %s, want an object", show(v))
	}
	return found, nil
}

// madeIDs holds the hex digits of the ids of all effects of all cases: no two effects share them. It is safe for concurrent use.
type madeIDs struct {
	mu   sync.Mutex
	seen map[string]string
}

// faults lists those of a case's ids that other effects have too. It looks at history only, which shows each effect
// once.
func (m *madeIDs) faults(name string, ids map[ijson.Pointer]string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen == nil {
		m.seen = map[string]string{}
	}
	var faults []string
	for at, id := range ids {
		if !strings.HasPrefix(string(at), "/history/") {
			continue
		}
		hex := id[strings.LastIndexByte(id, '_')+1:]
		if other, twice := m.seen[hex]; twice {
			faults = append(faults, fmt.Sprintf("%q: the digits of id %s stand at %s too", at, id, other))
		}
		m.seen[hex] = name + " " + string(at)
	}
	return faults
}
