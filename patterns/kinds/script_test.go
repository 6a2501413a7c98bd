package kinds

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/step"
)

// world answers the effects of one scripted run, as an engine does that has a record: by key, else by doing them. Its
// clock moves a second with each effect.
type world struct {
	script  map[string]patterns.Outcome // by key; what a key has none for is done
	parks   string                      // at this key the run waits
	down    time.Duration               // how long the process was away where the script interrupts
	takes   time.Duration               // how long a person thinks
	waited  time.Duration               // for people
	beside  map[string]string           // before the effect with a key ends, the branch with a path goes on to its end
	open    map[string]func()           // branches that may go on so
	clock   time.Time
	effects []patterns.Effect
	keys    []string
	parked  *patterns.Waiting
	quotas  map[string]int
	settled []patterns.Outcome // that the pattern told, of calls with a business key
	order   int
	shows   func() patterns.Result // how the run shows itself; it is asked at each effect, as an engine may be then
}

// scripted is a branch of a scripted run.
type scripted struct {
	*world
	path string
	seen map[string]int
	at   time.Time
}

var _ patterns.Run = (*scripted)(nil)

var begun = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func (s *scripted) ID() string     { return "run_0123456789abcdef" }
func (s *scripted) Now() time.Time { return s.at }

func (s *scripted) Recorded() time.Time { return s.at }

func (s *scripted) key(name string) string {
	s.seen[name]++
	return s.path + name + "#" + strconv.Itoa(s.seen[name])
}

func (s *scripted) Do(e patterns.Effect) patterns.Outcome {
	key := s.key(e.Name)
	s.effects, s.keys = append(s.effects, e), append(s.keys, key)
	if s.shows != nil {
		s.shows()
	}
	if key == s.parks {
		s.parked = e.Waiting()
		runtime.Goexit()
	}
	for _, q := range e.Quotas {
		if s.quotas[q.Name]++; s.quotas[q.Name] > q.Limit {
			return patterns.Outcome{State: patterns.Canceled, Reason: q.Name, Recorded: patterns.Recorded{Key: key}}
		}
	}
	switch deadline := s.deadline(e); {
	case deadline.IsZero():
	case endsInTime(e) && !s.clock.Add(e.Timeout).Before(deadline):
		return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonNoTime, Recorded: patterns.Recorded{Key: key, At: s.clock}}
	case !s.clock.Before(deadline):
		return patterns.Outcome{State: patterns.Canceled, Reason: patterns.ReasonDeadline, Recorded: patterns.Recorded{Key: key, At: s.clock}}
	}
	began, once := s.clock, cmp.Or(callOf(e).Once, "once "+key)
	if other := s.open[s.beside[key]]; other != nil {
		other()
	}
	out, ok := s.script[key]
	if !ok {
		out = s.perform(e, once)
	}
	switch {
	case step.Interrupted(out):
		out.Down = s.down
	case e.Waiting() != nil:
		s.clock, s.waited = s.clock.Add(s.takes), s.waited+s.takes
	}
	s.clock = s.clock.Add(time.Second)
	s.order++
	out.Key, out.Order, out.Began, out.At, out.Once = key, s.order, began, s.clock, once
	s.at = s.clock
	return out
}

// deadline is an effect's, with the time in which people were waited for.
func (s *scripted) deadline(e patterns.Effect) time.Time {
	if rested := e.Untimed.Add(s.waited); !e.Deadline.IsZero() && !e.Untimed.IsZero() && rested.After(e.Deadline) {
		return rested
	}
	return e.Deadline
}

// endsInTime reports whether a pause must end before the deadline.
func endsInTime(e patterns.Effect) bool {
	pause, _ := e.Act.(patterns.PauseAct)
	return pause.InTime
}

// callOf returns the call that an effect makes; the zero CallAct: it makes none.
func callOf(e patterns.Effect) patterns.CallAct {
	call, _ := e.Act.(patterns.CallAct)
	return call
}

// perform does what needs nobody.
func (s *scripted) perform(e patterns.Effect, once string) patterns.Outcome {
	switch a := e.Act.(type) {
	case patterns.JudgeAct: // nobody knows of earlier runs
		return patterns.Outcome{State: patterns.OK, Output: a.Weighing.Judge(nil).Value(a.Weighing.Args())}
	case patterns.CallAct:
		done := a.Permit.Perform(context.Background(), once)
		switch done.State {
		case gateway.DoneOK:
			return patterns.Outcome{State: patterns.OK, Output: done.Value, Bytes: done.Bytes}
		case gateway.DoneBadResult:
			return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonBadResult, Output: done.Value}
		}
		return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonToolError}
	case patterns.ConsentAct:
		return patterns.Outcome{State: patterns.OK, Output: a.Approval.Approver.Decide(a.Approval.Action).Value()}
	case patterns.PauseAct:
		s.clock = s.clock.Add(e.Timeout)
		return patterns.Outcome{State: patterns.OK}
	case patterns.ProposalAct:
		return patterns.Outcome{State: patterns.OK}
	case patterns.PlanAct: // it keeps none
		return patterns.Outcome{State: patterns.OK}
	}
	return patterns.Outcome{State: patterns.Failed, Reason: patterns.ReasonExpired}
}

func (s *scripted) Settled(e patterns.Effect, out patterns.Outcome) {
	s.settled = append(s.settled, out)
}
func (s *scripted) Shows(soFar func() patterns.Result) { s.shows = soFar }

func (s *scripted) Flow(next func() (string, func(patterns.Run), bool)) {
	for name, body, ok := next(); ok; name, body, ok = next() {
		body(&scripted{s.world, s.key(name) + "/", map[string]int{}, s.at})
		s.at = s.clock
	}
}

func (s *scripted) Go(name string, n, _ int, body func(patterns.Run, int)) {
	s.open = map[string]func(){}
	var paths []string
	for i := range n {
		path := s.key(name) + "/"
		paths = append(paths, path)
		s.open[path] = func() {
			delete(s.open, path)
			branch := &scripted{world: s.world, path: path, seen: map[string]int{}, at: s.at}
			body(branch, i)
			s.at = branch.at
		}
	}
	for _, path := range paths {
		if goes := s.open[path]; goes != nil {
			goes()
		}
	}
}

// run carries a pattern out in this world; where it parks there is no result.
func (w *world) run(t *testing.T, spec patterns.Spec, task patterns.Task) (patterns.Result, *patterns.Waiting) {
	t.Helper()
	w.clock, w.quotas = begun, map[string]int{}
	code, ok := Of(spec.Kind)
	if !ok {
		t.Fatalf("no pattern of kind %q", spec.Kind)
	}
	var result patterns.Result
	ended := make(chan bool, 1)
	go func() {
		finished := false
		defer func() { ended <- finished }()
		result = code(&scripted{world: w, seen: map[string]int{}, at: begun}, spec, task)
		finished = true
	}()
	if !<-ended && w.parked == nil {
		t.Fatal("the pattern's goroutine ended without a result")
	}
	return result, w.parked
}

// called lists the keys of the calls of a tool.
func (w *world) called(tool string) []string {
	var keys []string
	for i, e := range w.effects {
		if callOf(e).Permit.Tool() == tool {
			keys = append(keys, w.keys[i])
		}
	}
	return keys
}

// effect is the effect under a key.
func (w *world) effect(t *testing.T, key string) patterns.Effect {
	t.Helper()
	i := slices.Index(w.keys, key)
	if i < 0 {
		t.Fatalf("no effect %s among %v", key, w.keys)
	}
	return w.effects[i]
}

// judgments lists all that the run handed over, as PHASE NAME DECISION REASON, each behind the key that it goes with.
func (w *world) judgments(r patterns.Result) []string {
	var lines []string
	add := func(with string, list []patterns.Judged) {
		for _, j := range list {
			phase, _ := j.Body["phase"].(string)
			decision, _ := j.Body["decision"].(string)
			reason, _ := j.Body["reason"].(string)
			lines = append(lines, with+" < "+phase+" "+j.Name+" "+decision+" "+reason)
		}
	}
	for i, e := range w.effects {
		add(w.keys[i], e.Judged)
	}
	add("end", r.Judged)
	return lines
}

// lost is the outcome of a call whose process ended.
var lost = patterns.Outcome{State: patterns.Unknown, Reason: patterns.ReasonInterrupted}

func answered(v map[string]any) patterns.Outcome {
	return patterns.Outcome{State: patterns.OK, Output: v}
}
