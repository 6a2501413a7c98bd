package local_test

import (
	"context"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
)

// markOf is how another of this program would mark the beginning of a result of 90,000 bytes.
func markOf(head string) object { return object{"truncated": true, "bytes": 90000.0, "head": head} }

// leftDuring begins a run, and closes its engine when its caller has gone during what asked tells of; it is the run's id.
func leftDuring(t *testing.T, e port, job patterns.Job, asked <-chan struct{}) string {
	t.Helper()
	ctx, leave := context.WithCancelCause(t.Context())
	began := make(chan string, 1)
	go func() {
		ended, err := e.Start(ctx, job)
		if err != nil {
			t.Error(err)
		}
		began <- ended.RunID
	}()
	<-asked
	leave(patterns.ErrDetached)
	id := <-began
	e.Close()
	return id
}

// A look-up that answers with another's mark of a beginning tells nothing, before and after its run has changed hands.
func TestLookUpOfAnothersBeginning(t *testing.T) {
	t.Parallel()
	s := &service{turns: turns{faults(catalog.NoAnswer, false, errActed)}}
	job := s.ownJob(t, gateway.Call, looksUp(0))
	asked := make(chan struct{}, 9)
	list := make([]catalog.Tool, 0, 2)
	for _, name := range job.Spec.Catalog.Names() {
		tool, _ := job.Spec.Catalog.Tool(name)
		if truth := tool.Do; name == "found" {
			tool.Do = func(ctx context.Context, c catalog.Call) (any, error) {
				defer func() { asked <- struct{}{} }()
				if said, err := truth(ctx, c); s.looked() > 1 {
					return said, err
				}
				return markOf(`{"found":tr`), nil
			}
		}
		list = append(list, tool)
	}
	job.Spec.Catalog = must(catalog.New(list...))
	path, source := newState(t), &begun{jobs: []patterns.Job{job}}
	e := openPort(t, path, source)
	id := leftDuring(t, e, job, asked)
	e = openPort(t, path, source)
	r := e.until(t, id, patterns.Over).Ended.Result
	if r.StopReason != patterns.Success || s.calls() != 1 || s.looked() != 2 {
		t.Errorf("ended with %s after %d calls and %d look-ups, want success after one and two", r.StopReason, s.calls(), s.looked())
	}
	e.intact(t, id)
}

// A result that is another's mark of a beginning is shown alike at first and when its record is read again.
func TestAnothersBeginningIsShownAlike(t *testing.T) {
	t.Parallel()
	s := &service{turns: turns{func(context.Context, catalog.Call) (any, error) { return markOf(strings.Repeat("x", 3000)), nil }}}
	job := s.ownJob(t, gateway.Call, nil)
	path, source := newState(t), &begun{}
	e := openPort(t, path, source)
	ended, err := e.Start(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	want := asJSON(t, ended.Result)
	e.Close()
	e = openPort(t, path, source)
	if got := asJSON(t, e.until(t, ended.RunID, patterns.Over).Ended.Result); got != want {
		t.Errorf("at first %s\nread again %s", want, got)
	}
}

// A result of three members that is no mark of a beginning is shown as any: whole, or its beginning where it is long, whatever it
// says of itself. The same of a mark that says less than it has.
func TestWhatLooksLikeAMarkIsShown(t *testing.T) {
	t.Parallel()
	short, long := strings.Repeat("x", 3000), strings.Repeat("x", 60000)
	for name, tt := range map[string]struct {
		result object
		whole  bool
	}{
		"a file reader's":          {object{"truncated": true, "bytes": 20000.0, "content": short}, true},
		"long, says one byte":      {object{"truncated": true, "bytes": 1.0, "content": long}, false},
		"long, says less than one": {object{"truncated": true, "bytes": -9.0, "content": long}, false},
		"half a byte":              {object{"truncated": true, "bytes": 20000.5, "head": short}, true},
		"more than there can be":   {object{"truncated": true, "bytes": 1e300, "head": short}, true},
		"a mark that says less":    {object{"truncated": true, "bytes": 1.0, "head": long}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{turns: turns{func(context.Context, catalog.Call) (any, error) { return tt.result, nil }}}
			path, source := newState(t), &begun{}
			e := openPort(t, path, source)
			ended, err := e.Start(t.Context(), s.ownJob(t, gateway.Call, nil))
			if err != nil {
				t.Fatal(err)
			}
			shown := asJSON(t, ended.Result.Observation)
			if tt.whole && shown != asJSON(t, tt.result) {
				t.Errorf("shown is %.200s, want the whole of it", shown)
			}
			if cut, _ := ended.Result.Observation.(object); !tt.whole && (len(shown) > 8<<10 || cut["truncated"] != true || !strings.Contains(shown, "xxx")) {
				t.Errorf("shown are %d bytes, %.200s; want a beginning of at most 8 KiB", len(shown), shown)
			}
			want := asJSON(t, ended.Result)
			e.Close()
			e = openPort(t, path, source)
			if got := asJSON(t, e.until(t, ended.RunID, patterns.Over).Ended.Result); got != want {
				t.Errorf("at first %.300s\nread again %.300s", want, got)
			}
		})
	}
}
