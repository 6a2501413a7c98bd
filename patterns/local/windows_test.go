package local_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/store/processtest"
)

// dayCap lets a tool be called so often in a day, by all runs of the state together; from asks on a person decides.
type dayCap struct {
	most  int
	asks  int // 0: nobody is asked
	mine  bool
	judge *atomic.Int64 // how often it judged; nil: nobody counts
}

var _ gateway.Windowed = dayCap{}

func (d dayCap) Windows(tool string) []gateway.Window {
	if tool == "" {
		return nil
	}
	return []gateway.Window{{Name: "cap.day", Tools: []string{"count"}, OfPrincipal: d.mine, Since: func(now time.Time) time.Time { return now.Add(-24 * time.Hour) }}}
}

func (d dayCap) Review(c gateway.Case) gateway.Verdict {
	if d.judge != nil {
		d.judge.Add(1)
	}
	seen, there := c.Windows["cap.day"]
	if !there || seen.Err != nil {
		return gateway.Verdict{Reason: "policy_error:day_cap", Rule: "day_cap"}
	}
	n := 0
	for _, e := range seen.Effects {
		if e.Counts() {
			n++
		}
	}
	values := map[string]any{"size(windows.day.effects)": float64(n)}
	switch {
	case n >= d.most:
		return gateway.Verdict{Reason: "day_cap", Rule: "day_cap", Values: values}
	case d.asks > 0 && n >= d.asks:
		return gateway.Verdict{Decision: gateway.Escalate, Reason: "many", Rule: "many", Values: values}
	}
	return gateway.Verdict{Decision: gateway.Approve, Reason: "in_cap", Rule: "in_cap"}
}

// windowed is a run of n calls under a day's cap.
func windowed(t testing.TB, tool catalog.Tool, n int, policy gateway.Reviewer) patterns.Job {
	job := stepsOf(t, tool, n)
	job.Principal, job.Spec.Reviewer = mine, policy
	return job
}

// However many runs call at once, a cap over all of them is never exceeded, and what it leaves is used up.
func TestPortRunsShareACap(t *testing.T) {
	t.Parallel()
	const most = 11
	onBoth(t, func(t *testing.T, open opener) {
		for _, effect := range []catalog.Effect{catalog.Write, catalog.Read} {
			t.Run(string(effect), func(t *testing.T) {
				e, made := open(t), atomic.Int64{}
				tool := counting(t, effect, func(context.Context) error { made.Add(1); return nil })
				var all sync.WaitGroup
				var blocked atomic.Int64
				for i := range 8 {
					all.Go(func() {
						for range 2 {
							job := windowed(t, tool, 2, dayCap{most: most})
							ended, err := e.Start(t.Context(), job)
							if err != nil {
								t.Errorf("run of %d: %v", i, err)
								return
							}
							s := e.until(t, ended.RunID, patterns.Over)
							if r := s.Ended.Result; r.StopReason == "policy_block:day_cap" {
								blocked.Add(1)
								if r.Blocked == nil || r.Blocked.Rule != "day_cap" || len(r.Blocked.Values) != 1 {
									t.Errorf("blocked by %+v", r.Blocked)
								}
							} else if !r.OK() {
								t.Errorf("stopped by %s", r.StopReason)
							}
							e.intact(t, s.Ended.RunID)
						}
					})
				}
				all.Wait()
				if made.Load() != most || blocked.Load() == 0 {
					t.Errorf("%d calls were made and %d runs blocked; want %d calls", made.Load(), blocked.Load(), most)
				}
			})
		}
	})
}

// A window of one principal holds only their calls.
func TestPortWindowOfAPrincipal(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, tool := open(t), counting(t, catalog.Write, nil)
		for i, principal := range []string{mine, "local:2", mine} {
			job := windowed(t, tool, 2, dayCap{most: 2, mine: true})
			job.Principal = principal
			ended, err := e.Start(t.Context(), job)
			if err != nil || ended.Result.OK() != (i < 2) {
				t.Errorf("run %d of %s: %v, %s; want the third blocked", i, principal, err, ended.Result.StopReason)
			}
		}
	})
}

// A rule whose window nobody can tell blocks, and so does one that is asked without an engine.
func TestWindowsThatNobodyTellsBlock(t *testing.T) {
	policy := dayCap{most: 10}
	gate := gateway.NewGate(gateway.Config{Reviewer: policy})
	if r := gate.Review(gateway.Case{Tool: "count"}); r.Decision != gateway.Block || r.Rule != "day_cap" {
		t.Errorf("without windows the ruling is %+v, want a block", r)
	}
	if r := gate.Review(gateway.Case{Tool: "count", Weigh: func(gateway.Weighing) any { return nil }}); r.Decision != gateway.Block {
		t.Errorf("without a record the ruling is %+v, want a block", r)
	}
	if r := gate.Review(gateway.Case{Tool: "count", Weigh: func(gateway.Weighing) any { return "approve" }}); r.Decision != gateway.Block {
		t.Errorf("by a record that is none the ruling is %+v, want a block", r)
	}
}

// What a window made of a call is recorded, a replay takes it from there, and the policy is not asked again.
func TestPortWindowsAreRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		e, judged := open(t), &atomic.Int64{}
		tool := counting(t, catalog.Write, nil)
		job := windowed(t, tool, 2, dayCap{most: 3, judge: judged})
		first, err := e.Start(t.Context(), job)
		if err != nil || !first.Result.OK() {
			t.Fatalf("%v, %s", err, first.Result.StopReason)
		}
		second, err := e.Start(t.Context(), job)
		if err != nil || second.Result.StopReason != "policy_block:day_cap" {
			t.Fatalf("%v, %s; want day_cap", err, second.Result.StopReason)
		}
		events := e.intact(t, second.RunID)
		var bodies []string
		for _, event := range events {
			if event.Kind == patterns.JudgedEvent && strings.HasPrefix(event.Key, "judge#") {
				bodies = append(bodies, string(event.Body))
			}
		}
		if len(bodies) != 2 || !strings.Contains(bodies[0], `"decision":"approve"`) || !strings.Contains(bodies[0], `"effects":2`) || !strings.Contains(bodies[1], `"decision":"block"`) ||
			!strings.Contains(bodies[1], `"rule":"day_cap"`) || !strings.Contains(bodies[1], `"effects":3`) || !strings.Contains(bodies[1], `"proposal":{"args":{"n":1},"tool":"count"}`) {
			t.Errorf("judged: %q", bodies)
		}
		before := judged.Load()
		again, err := local.ReplayStored(events, job)
		if err != nil || asJSON(t, again.Result) != asJSON(t, second.Result) || judged.Load() != before {
			t.Errorf("replayed (%v), judged %d times more:\n%s\nlived\n%s", err, judged.Load()-before, asJSON(t, again.Result), asJSON(t, second.Result))
		}
	})
}

// A person decides where the window wants one, and what they approved is judged by the window again.
func TestWindowAsksAPerson(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		between int // calls of another run while they think
		want    string
	}{"approved": {0, patterns.Success}, "spent meanwhile": {2, "policy_block:day_cap"}} {
		t.Run(name, func(t *testing.T) {
			e := openers["file"](t)
			tool := counting(t, catalog.Write, nil)
			job := windowed(t, tool, 2, dayCap{most: 3, asks: 1})
			job.Spec.Approver = patterns.Approver{Kind: patterns.InboxApprover, Expires: time.Hour}
			id := e.beginning(t, job)
			s := e.until(t, id, patterns.Parked)
			if w := s.Ended.Waiting; w == nil || w.Rule != "many" || w.Values["size(windows.day.effects)"] != 1.0 {
				t.Fatalf("waits for %+v, want a person by the rule many", w)
			}
			if tt.between > 0 {
				other, err := e.Start(t.Context(), windowed(t, tool, tt.between, dayCap{most: 9}))
				if err != nil || !other.Result.OK() {
					t.Fatalf("%v, %s", err, other.Result.StopReason)
				}
			}
			page, err := e.Approvals().ListApprovals(patterns.ApprovalFilter{Rule: "many"})
			if err != nil || len(page.Rows) != 1 || page.Rows[0].Values["size(windows.day.effects)"] != 1.0 {
				t.Fatalf("%v, %+v; want one that waits by the rule", err, page.Rows)
			}
			decideAll(t, e.Engine, id, gateway.ChooseApprove)
			if r := e.until(t, id, patterns.Over).Ended.Result; r.StopReason != tt.want {
				t.Errorf("ended with %s, want %s", r.StopReason, tt.want)
			}
			e.intact(t, id)
		})
	}
}

// spending is a run in a child process: its calls are written down beside the state file.
func spending(t testing.TB, path string, calls, most int) patterns.Job {
	tool := counting(t, catalog.Write, func(context.Context) error {
		f, err := os.OpenFile(path+".world", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString("made\n")
		return errors.Join(err, f.Close())
	})
	return windowed(t, tool, calls, dayCap{most: most})
}

const childrenCap = 12

var _ = processtest.Role("spend", func(path string, ready func()) error {
	t := childTest{}
	job := spending(t, path, 2, childrenCap)
	job.Config = "sha256:test"
	e, err := local.Open(local.Options{Path: path, Config: "sha256:test", Snapshot: []byte("{}"), Source: configs{"sha256:test": job}})
	if err != nil {
		return err
	}
	defer e.Close()
	e.Go()
	ready()
	var all sync.WaitGroup
	faults := make([]error, 8)
	for i := range faults {
		all.Go(func() {
			_, faults[i] = e.Start(context.Background(), job)
		})
	}
	all.Wait()
	return errors.Join(faults...)
})

// Two processes with 8 runs each at once never spend more than a cap over all, also where one of them is killed meanwhile.
func TestProcessesShareACap(t *testing.T) {
	t.Parallel()
	for name, kills := range map[string]bool{"both live": false, "one is killed": true} {
		t.Run(name, func(t *testing.T) {
			path := newState(t)
			job := spending(t, path, 2, childrenCap)
			job.Config = "sha256:test"
			e := opened(t, path, configs{"": job, "sha256:test": job})
			e.Go()
			p := port{e, &begun{}}
			c := processtest.Spawn(t, "spend", path)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if _, err := e.Start(t.Context(), job); err != nil {
						t.Errorf("Start: %v", err)
					}
				})
			}
			if kills {
				c.Kill(t)
			}
			all.Wait()
			if !kills {
				c.End(t)
			}
			for _, id := range p.RunIDs(mine) {
				p.until(t, id, patterns.Over)
				p.intact(t, id)
			}
			b, err := os.ReadFile(path + ".world")
			made := strings.Count(string(b), "made")
			acts := countedActs(t, p)
			if err != nil || acts > childrenCap || !kills && (made != childrenCap || acts != made) {
				t.Errorf("%v; %d calls were sent, %d acts; want at most %d", err, made, acts, childrenCap)
			}
		})
	}
}

// countedActs is how many calls count against a cap, by the runs' own results.
func countedActs(t *testing.T, p port) (n int) {
	for _, id := range p.RunIDs(mine) {
		s, _ := p.Run(mine, id)
		for _, e := range s.Ended.Result.Ledger {
			if e.Counts() {
				n++
			}
		}
	}
	return n
}
