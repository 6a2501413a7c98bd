package assembly

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/server/settings"
)

// shelf is a state file's configurations, counting how often each was asked for.
type shelf struct {
	mu        sync.Mutex
	snapshots map[string][]byte
	asked     map[string]int
}

func (s *shelf) Config(hash string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[hash]++
	snapshot, ok := s.snapshots[hash]
	return snapshot, ok
}

// shelved are the embedded configuration with n other delays, and where they are kept.
func shelved(t testing.TB, n int) ([]Loaded, *shelf) {
	t.Helper()
	s := &shelf{snapshots: map[string][]byte{}, asked: map[string]int{}}
	var list []Loaded
	for i := range n {
		var c Loaded
		if err := c.Embed(nil); err != nil {
			t.Fatal(err)
		}
		c.Demo.DelayFactor = float64(i) / 100
		c.Patterns[2].Enabled = i != 1
		c.Patterns[3].Param("refund_window_days", float64(i))
		s.snapshots[c.Hash()] = c.Snapshot()
		list = append(list, c)
	}
	return list, s
}

func own(t testing.TB, c Loaded) *Declaration {
	t.Helper()
	d, err := Declare(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Each run is carried on by what it began with, not by what is in force now.
func TestSourceJob(t *testing.T) {
	configs, others := shelved(t, 3)
	s := &source{}
	begun := func(pattern string, c Loaded) patterns.Begun {
		return patterns.Begun{RunID: "run_1", Pattern: pattern, Caller: patterns.Caller{Principal: "local:1"}, Config: c.Hash(), Arguments: map[string]any{"goal": "g"}}
	}
	var unknown Loaded
	if _, err := s.Job(begun("route_ticket", configs[0])); err == nil {
		t.Error("a source that serves nothing made a job")
	}
	s.serve(own(t, configs[0]), others)
	seen := map[string]bool{}
	for i, c := range configs {
		job, err := s.Job(begun("supervised_refund", c))
		if err != nil {
			t.Fatalf("Job under configuration %d: %v", i, err)
		}
		want := gateway.PolicyHash(reviewerIn(t, c, "supervised_refund"))
		if got := gateway.PolicyHash(job.Spec.Reviewer); got != want || seen[got] {
			t.Errorf("the policy under configuration %d is %s, want %s, another one for each", i, got, want)
		}
		seen[want] = true
		if job.Config != c.Hash() || job.Policy != want || job.Catalog == "" || job.Principal != "local:1" || job.Model.Name() != "rules" {
			t.Errorf("job %+v, want the hashes of configuration %d", job, i)
		}
	}
	if others.asked[configs[0].Hash()] > 1 { // once before it was served
		t.Error("the own configuration was looked up")
	}
	for name, tt := range map[string]struct {
		begun patterns.Begun
		want  *patterns.Lacking
	}{
		"a configuration that is not there": {begun("route_ticket", unknown), &patterns.Lacking{Cause: "config_missing", Needs: []string{unknown.Hash()}}},
		"no hash":                           {patterns.Begun{Pattern: "route_ticket"}, &patterns.Lacking{Cause: "config_missing", Needs: []string{""}}},
		"a pattern that is not there":       {begun("nope", configs[0]), &patterns.Lacking{Cause: "tool_missing", Needs: []string{"nope"}}},
		"a pattern that was not offered":    {begun("route_ticket", configs[1]), &patterns.Lacking{Cause: "tool_missing", Needs: []string{"route_ticket"}}},
	} {
		_, err := s.Job(tt.begun)
		lacking, ok := errors.AsType[*patterns.Lacking](err)
		if !ok {
			t.Errorf("%s: Job = %v, want %v", name, err, tt.want)
			continue
		}
		if diff := cmp.Diff(tt.want, lacking); diff != "" {
			t.Errorf("%s: Job lacks (-want +got):\n%s", name, diff)
		}
	}
}

// What is made for others is kept, but not without bound; many may ask at once.
func TestSourceKeepsConfigurations(t *testing.T) {
	configs, others := shelved(t, maxConfigs+3)
	s := &source{}
	s.serve(own(t, configs[0]), others)
	job := func(c Loaded) {
		if _, err := s.Job(patterns.Begun{Pattern: "supervised_refund", Config: c.Hash()}); err != nil {
			t.Error(err)
		}
	}
	used := configs[1]
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { job(used) })
	}
	all.Wait()
	for _, c := range configs[2:] {
		job(c)
		job(used) // it stays, as it was used last but one
	}
	if got := others.asked[used.Hash()]; got != 1 {
		t.Errorf("a configuration in use was loaded %d times, want once", got)
	}
	if got := len(s.kept); got != maxConfigs {
		t.Errorf("%d configurations are kept, want %d", got, maxConfigs)
	}
	first := configs[2]
	if job(first); others.asked[first.Hash()] != 2 {
		t.Errorf("the one not used for longest was loaded %d times, want it made anew", others.asked[first.Hash()])
	}
}

// A secret that comes later is taken then.
func TestSourceWithoutSecret(t *testing.T) {
	c := embedded(t)
	c.LLM.APIKey = settings.NewSecret("key")
	others := &shelf{snapshots: map[string][]byte{c.Hash(): c.Snapshot()}, asked: map[string]int{}}
	b := patterns.Begun{Pattern: "route_ticket", Config: c.Hash()}
	s := &source{}
	s.serve(own(t, embedded(t)), others)
	_, err := s.Job(b)
	if lacking, ok := errors.AsType[*patterns.Lacking](err); !ok || fmt.Sprint(lacking.Cause, lacking.Needs) != "secret_missing[env:OPENAI_API_KEY]" {
		t.Errorf("Job without the key = %v", err)
	}
	s = &source{environ: []string{"OPENAI_API_KEY=other"}}
	s.serve(own(t, embedded(t)), others)
	if job, err := s.Job(b); err != nil || job.Model.Name() != "gpt-4.1-mini" {
		t.Errorf("Job with the key = %v, %v", job.Model, err)
	}
}

// BenchmarkDeclare is what a start pays before it serves, besides its state; the snapshot and the hashes are in it.
func BenchmarkDeclare(b *testing.B) {
	configs, _ := shelved(b, 1)
	for b.Loop() {
		own(b, configs[0])
	}
}

func BenchmarkSnapshot(b *testing.B) {
	configs, _ := shelved(b, 1)
	for b.Loop() {
		configs[0].Hash()
	}
}
