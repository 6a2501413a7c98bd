package local_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// jobs makes jobs again by the pattern's name; a test's run has the arguments of its task.
type jobs map[string]patterns.Job

func (j jobs) Job(b patterns.Begun) (patterns.Job, error) {
	job, ok := j[b.Pattern]
	if !ok {
		return patterns.Job{}, &patterns.Lacking{Cause: "tool_missing", Needs: []string{b.Pattern}}
	}
	job.Principal = b.Principal
	return job, nil
}

// opened is an engine over a state file.
func opened(t testing.TB, path string, source patterns.Source) *local.Engine {
	t.Helper()
	e, err := local.Open(local.Options{Path: path, Source: source, Config: "sha256:test", Snapshot: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	e.Catalog = spec(t, gateway.Supervisor, 0).Catalog
	t.Cleanup(e.Close)
	return e
}

// newState is the path of a state file that nothing was done in: a copy of one made once, as making one takes longer than most
// tests need.
func newState(t testing.TB) string {
	t.Helper()
	path := noState(t)
	if err := os.WriteFile(path, must(emptyState()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// noState is the path of a state file that is still to be made.
func noState(t testing.TB) string { return filepath.Join(t.TempDir(), "state.db") }

var emptyState = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "state")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "state.db")
	e, err := local.Open(local.Options{Path: path})
	if err != nil {
		return nil, err
	}
	e.Close()
	return os.ReadFile(path)
})

// A run in a state file comes to the result of one in memory, and is shown so afterwards, by this and another process.
func TestFileGivesTheSameResult(t *testing.T) {
	t.Parallel()
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			want, _ := carryOut(t, spec(t, run.kind, 0.01), run.task, &script{replies: run.replies})
			path := newState(t)
			job := patterns.Job{Spec: spec(t, run.kind, 0.01), Task: run.task, Model: &script{replies: run.replies}, Caller: patterns.Caller{Principal: "local:1"}}
			source := jobs{job.Spec.Name: job}
			e := opened(t, path, source)
			e.Go()
			ended, err := e.Start(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if got := withoutIDs(comparable(t, ended.Result)); got != withoutIDs(comparable(t, want)) {
				t.Errorf("in a file: %s\nwant %s", got, comparable(t, want))
			}
			shown, ok := e.Run("local:1", ended.RunID)
			if !ok || shown.State != patterns.Over || asJSON(t, shown.Ended.Result) != asJSON(t, ended.Result) {
				t.Errorf("shown (%t, %s) as %s\nwant %s", ok, shown.State, asJSON(t, shown.Ended.Result), asJSON(t, ended.Result))
			}
			events, err := e.Events("local:1", ended.RunID)
			if err != nil || patterns.VerifyChain(ended.RunID, events, shown.Head.Events) != nil {
				t.Errorf("the record: %v, %v", err, patterns.VerifyChain(ended.RunID, events, shown.Head.Events))
			}
			body, err := patterns.DecodeBody(events[len(events)-1])
			if end, ok := body.(*patterns.EndBody); err != nil || !ok || end.Usage.Model != "script" || end.Usage.Usage != ended.Result.Usage {
				t.Errorf("the record ends with %+v, %v; want the usage %+v of script", body, err, ended.Result.Usage)
			}
			if _, ok := e.Run("local:2", ended.RunID); ok {
				t.Error("another principal sees the run")
			}
			e.Close()
			later := opened(t, path, source)
			if again, ok := later.Run("local:1", ended.RunID); !ok || asJSON(t, again.Ended) != asJSON(t, shown.Ended) {
				t.Errorf("later shown (%t) as %s", ok, asJSON(t, again.Ended))
			}
		})
	}
}

// Wherever a process ends, another one carries the run on to the same result.
func TestFileGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	for name, run := range runs {
		t.Run(name, func(t *testing.T) {
			want, record := carryOut(t, spec(t, run.kind, 0.01), run.task, &script{replies: run.replies})
			for at := range record.Events() {
				place(t, at, func(t *testing.T) {
					path := newState(t)
					model := &steady{replies: run.replies}
					job := patterns.Job{Spec: spec(t, run.kind, 0.01), Task: run.task, Model: model, Caller: patterns.Caller{Principal: "local:1"}}
					ended := leave(t, opened(t, path, jobs{job.Spec.Name: job}), job, at)
					later := opened(t, path, jobs{job.Spec.Name: job})
					later.Go()
					s, ok := later.Wait(t.Context(), "local:1", ended.RunID, patterns.Mark{State: patterns.Running})
					if !ok || s.State != patterns.Over && s.Ended.Waiting.Kind != patterns.ForSettlement {
						t.Fatalf("%t, %+v", ok, s)
					}
					if got := s.Ended.Result; s.State == patterns.Over && withoutIDs(comparable(t, got)) != withoutIDs(comparable(t, want)) {
						t.Errorf("%s\nwant %s", comparable(t, got), comparable(t, want))
					}
				})
			}
		})
	}
}

// place tests one place of a record: every third of them, and all in CI.
func place(t *testing.T, at int, test func(*testing.T)) {
	t.Helper()
	t.Run(fmt.Sprintf("at %d", at), func(t *testing.T) {
		if os.Getenv("CI") == "" && at%3 != 1 {
			t.Skip("every third place is tried; with CI=true all are")
		}
		test(t)
	})
}

// leave carries a job out until it tells of its progress for the n-th time, never for n = 0, and closes the engine.
func leave(t *testing.T, e *local.Engine, job patterns.Job, n int) patterns.Ended {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	lines := 0
	job.Progress = func(patterns.Progress) {
		if lines++; lines == n {
			cancel(patterns.ErrDetached)
		}
	}
	ended, err := e.Start(ctx, job)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	return ended
}

// steady answers a question that is asked again as it did before.
type steady struct {
	mu      sync.Mutex
	replies []string
	said    map[string]string
}

func (s *steady) Name() string { return "script" }

func (s *steady) Ask(_ context.Context, q patterns.Question) (patterns.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said == nil {
		s.said = map[string]string{}
	}
	reply, ok := s.said[string(q.JSON)]
	if !ok && len(s.replies) > 0 {
		reply, s.replies = s.replies[0], s.replies[1:]
		s.said[string(q.JSON)] = reply
	}
	return patterns.Answer{Text: reply, Usage: patterns.Usage{Requests: 1, InputTokens: 10, OutputTokens: 5}}, nil
}

var runIDs = regexp.MustCompile(`run_[0-9a-f]{16}`)

func withoutIDs(text string) string { return runIDs.ReplaceAllString(text, "run_") }
