package local_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// Settings that are changed hold for what begins then; what is wrong with them changes nothing.
func TestChange(t *testing.T) {
	path, s := newState(t), &service{}
	job := s.ownJob(t, gateway.Call, nil)
	job.Config = "sha256:new"
	e := opened(t, path, configs{"sha256:new": job})
	before := e.Settings()
	if err := e.Change(local.Settings{Redact: []string{"/nowhere"}, Config: "sha256:bad"}); err == nil {
		t.Error("a pointer to nowhere was taken")
	}
	if got := e.Settings(); got.Config != before.Config || got.Config != "sha256:test" {
		t.Errorf("after a fault %+v, want %+v", got, before)
	}
	next := local.Settings{
		Waits:    local.Waits{CallerWait: time.Minute, Join: -1, MaxParked: 3},
		Catalog:  job.Spec.Catalog,
		Redact:   []string{"/args/n"},
		Config:   "sha256:new",
		Snapshot: []byte(`{"new":1}`),
	}
	if err := e.Change(next); err != nil {
		t.Fatal(err)
	}
	ended, err := e.Start(t.Context(), job)
	if err != nil || !ended.Result.OK() {
		t.Fatalf("%v, %s", err, ended.Result.StopReason)
	}
	for hash, want := range map[string]string{"sha256:test": "{}", "sha256:new": `{"new":1}`} {
		if got, ok := e.Config(hash); !ok || string(got) != want {
			t.Errorf("%s is %q, want %s", hash, got, want)
		}
	}
	events, _, err := e.Operator().Record(ended.RunID)
	if text := record(events); err != nil || strings.Contains(text, `"n":1`) || !strings.Contains(text, patterns.Redacted) {
		t.Errorf("%v, what is to be hidden by now stands in the record: %s", err, text)
	}
	// The first one's snapshot is there though the disk was full when it was put in force.
	e.Full(t, true)
	last := next
	last.Config, last.Snapshot = "sha256:last", []byte(`{"last":1}`)
	if err := e.Change(last); err != nil {
		t.Fatal(err)
	}
	job.Config = "sha256:last"
	if _, err := e.Start(t.Context(), job); err == nil {
		t.Error("a run began without its configuration")
	}
	e.Full(t, false)
	if ended, err = e.Start(t.Context(), job); err != nil || !ended.Result.OK() {
		t.Fatalf("%v, %s", err, ended.Result.StopReason)
	}
	if got, ok := e.Config("sha256:last"); !ok || string(got) != `{"last":1}` {
		t.Errorf("the last one is %q, %t", got, ok)
	}
}

// Whatever is changed while runs begin: each has its configuration in the file, and ends as it would have alone.
func TestChangeUnderLoad(t *testing.T) {
	path, s := newState(t), &service{}
	job := s.ownJob(t, gateway.Call, nil)
	e := opened(t, path, nil)
	e.Go()
	const changes, each = 8, 4
	var runs sync.WaitGroup
	var mu sync.Mutex
	var ids []string
	for n := range changes {
		hash := fmt.Sprintf("sha256:%d", n)
		settings := local.Settings{Waits: local.Waits{CallerWait: time.Minute, MaxParked: 9}, Catalog: job.Spec.Catalog, Config: hash, Snapshot: []byte(hash)}
		if n%2 == 1 {
			settings.Redact = []string{"/args/n"}
		}
		if err := e.Change(settings); err != nil {
			t.Fatal(err)
		}
		for range each {
			runs.Go(func() {
				job := job
				job.Config, job.Task.Args = hash, object{"n": float64(n)}
				ended, err := e.Start(t.Context(), job)
				if err != nil || !ended.Result.OK() {
					t.Errorf("under %s: %v, %s", hash, err, ended.Result.StopReason)
				}
				if got, ok := e.Config(hash); !ok || string(got) != hash {
					t.Errorf("%s is %q when a run has ended under it", hash, got)
				}
				mu.Lock()
				ids = append(ids, ended.RunID)
				mu.Unlock()
			})
		}
	}
	runs.Wait()
	if len(ids) != changes*each {
		t.Errorf("%d runs, want %d", len(ids), changes*each)
	}
	for _, id := range ids {
		port{e, nil}.intact(t, id)
	}
	if n := e.Count(t, "SELECT count(*) FROM runs WHERE config NOT IN (SELECT hash FROM configs)"); n != 0 {
		t.Errorf("%d runs have no configuration", n)
	}
}
