package local_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/gateway/planning"
	"patterngate/patterns"
	"patterngate/patterns/local"
	"patterngate/patterns/reference"
)

// TestPlanningOracle has engine and oracle go through made-up sessions and compares all that they show.
func TestPlanningOracle(t *testing.T) {
	from, n := 1, 60
	if os.Getenv("CI") != "" {
		n = 1500
	}
	if s := os.Getenv("ORACLE_SEEDS"); s != "" {
		a, b, _ := strings.Cut(s, ":")
		from, _ = strconv.Atoi(a)
		n, _ = strconv.Atoi(b)
	}
	for seed := from; seed < from+n; seed++ {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newOracleSession(t, seed).run() })
		})
		if !ok && os.Getenv("ORACLE_ALL") == "" {
			break
		}
	}
}

type oracleSession struct {
	testing.TB
	*rand.Rand
	engine *local.Engine
	world  *oracleWorld
	mine   *oracleFate // the oracle's
	plan   *oraclePlan
	id     string
	run_   *oracleRun // that waits; nil: none
	began  patterns.Ended
	spec   patterns.Spec
	said   []string
	final  bool // calls of executes want a final text
}

func newOracleSession(t testing.TB, seed int) *oracleSession {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	bad := []int{0, 10, 30, 60}[r.IntN(4)]
	fates := func() *oracleFate {
		return &oracleFate{seed: seed, bad: bad, counts: map[string]int{}, book: map[string]*oracleSub{}, delays: map[string]float64{}}
	}
	s := &oracleSession{TB: t, Rand: r, engine: &local.Engine{}, world: &oracleWorld{fates: fates()}, mine: fates()}
	s.spec = patterns.Spec{Kind: gateway.Planning, Plans: "plan", LLM: true, Envelope: patterns.RequireNone, Catalog: s.world.catalog(t), Budget: gateway.DefaultBudget(gateway.Planning)}
	reference.Declare(&s.spec)
	s.spec.Policy, s.spec.Execution, s.spec.Tools = oracleTools, oracleTools, oracleTools
	return s
}

func (s *oracleSession) verb(v patterns.PlanVerb) patterns.Spec {
	spec := s.spec
	spec.Name = "plan_" + string(v)
	return spec
}

func (s *oracleSession) tell(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func (s *oracleSession) start(v patterns.PlanVerb, spec patterns.Spec, task patterns.Task) patterns.Ended {
	s.Helper()
	ended, err := s.engine.Start(s.Context(), patterns.Job{Spec: spec, Task: task, Model: s.world, Caller: patterns.Caller{Principal: "local:1"}})
	if err != nil {
		s.Fatalf("%s: %v\n%s", v, err, strings.Join(s.said, "\n"))
	}
	return ended
}

func (s *oracleSession) run() {
	defer s.engine.Close()
	s.decompose()
	for range 1 + s.IntN(5) {
		switch k := s.IntN(10); {
		case k < 6:
			if s.run_ != nil {
				s.resume()
			} else {
				s.execute()
			}
		case k < 8:
			s.replan()
		default:
			s.round()
		}
	}
}

func (s *oracleSession) decompose() {
	m := &oracleMaker{Rand: s.Rand, prefix: "s", callers: s.IntN(2) == 0}
	strategy := planning.Flat
	n := 1 + s.IntN(9)
	switch s.IntN(4) {
	case 0:
		strategy, m.tree = planning.Hierarchical, true
	case 1:
		strategy, n = planning.Iterative, 1+s.IntN(3)
	}
	s.plan = &oraclePlan{Goal: "Review April", Strategy: string(strategy), MaxReplans: 2, MaxSubtasks: 15, Revision: 1, MaxRounds: 10}
	doc := &revised{Subs: m.make(n)}
	if strategy == planning.Iterative {
		s.plan.Iteration = 1
		doc.Complete = s.IntN(3) == 0
	}
	s.plan.appended(doc)
	s.both(doc.Subs)
	text := replyText(doc, "")
	if strategy == planning.Flat && s.IntN(3) == 0 {
		text = s.checklist(n)
	}
	call := patterns.PlanCall{Verb: patterns.DecomposeVerb, Strategy: strategy, MaxDepth: 3, MaxSubtasks: 15}
	s.tell("decompose %s %s", strategy, text)
	ended := s.start(patterns.DecomposeVerb, s.verb(patterns.DecomposeVerb), patterns.Task{Goal: s.plan.Goal, Plan: &call, Caller: []document.Intent{document.FromText(text, "/plan")}})
	if ended.Result.StopReason != patterns.Success {
		s.Fatalf("decompose: %s %v\n%s", ended.Result.StopReason, ended.Result.Problems, text)
	}
	s.id = ended.Result.Planned.PlanID
	s.same("decompose", object{"view": s.plan.view(false)}, object{"view": seenView(ended.Result.Planned.View)})
}

// checklist is another plan: numbered items wait for the one before, ticked ones are done.
func (s *oracleSession) checklist(n int) (text string) {
	s.plan.Subs = nil
	for i := range n {
		sub := &oracleSub{ID: fmt.Sprintf("item_%d", i+1), Desc: fmt.Sprintf("Item %d.", i+1), Tool: "model", Status: "pending"}
		mark, tick := "  - ", " "
		if s.IntN(2) == 0 {
			mark = fmt.Sprintf("%d) ", i+1)
			if i > 0 {
				sub.Deps = []string{fmt.Sprintf("item_%d", i)}
			}
		}
		if s.IntN(3) == 0 {
			sub.Status, sub.Source, tick = "completed", "caller", "x"
		}
		text += mark + "[" + tick + "] " + sub.Desc + "\nA remark.\n"
		s.plan.Subs = append(s.plan.Subs, sub)
	}
	s.both(s.plan.Subs)
	return text
}

func (s *oracleSession) both(subs []*oracleSub) {
	s.mine.known(subs)
	s.world.fates.known(subs)
}

func (s *oracleSession) limit(most int) int {
	if s.IntN(5) > 0 {
		return -1
	}
	return s.IntN(most)
}

func (s *oracleSession) execute() {
	c := oracleCall{
		Slots: 1, MaxRetries: s.IntN(4), OnFailure: []string{"abort", "skip", "retry", "replan"}[s.IntN(4)], Finalize: s.IntN(4) == 0, LLM: s.IntN(8) > 0,
		Delay: time.Duration(s.IntN(12000)) * time.Millisecond, ToolCalls: s.limit(8), LLMCalls: s.limit(4), Tokens: s.limit(60), PerTool: s.limit(4),
		Time: 24 * time.Hour, Timeout: 30 * time.Second,
	}
	if slices.ContainsFunc(s.plan.Subs, func(o *oracleSub) bool { return o.Tool == "model" }) {
		c.LLM = true
	}
	if !c.LLM {
		c.Finalize = false
	}
	if s.IntN(2) == 0 {
		c.Slots = 1 + s.IntN(4)
	}
	if s.IntN(5) == 0 {
		c.MaxSteps = 1 + s.IntN(4)
	}
	if s.IntN(6) == 0 {
		c.Time = time.Duration(1+s.IntN(80000)) * time.Millisecond
	}
	if s.IntN(15) == 0 {
		c.Denied = "r1"
	}
	spec := s.verb(patterns.ExecuteVerb)
	spec.LLM = c.LLM
	b := &spec.Budget
	b.MaxToolCalls, b.MaxLLMCalls, b.MaxTokens, b.MaxCallsPerTool = gateway.Limit(c.ToolCalls), gateway.Limit(c.LLMCalls), gateway.Limit(c.Tokens), gateway.Limit(c.PerTool)
	b.MaxTime, b.SubtaskTimeout = c.Time, c.Timeout
	if c.Denied != "" {
		spec.Execution = []string{"r0", "i0"}
	}
	call := patterns.PlanCall{
		Verb: patterns.ExecuteVerb, PlanID: s.id, Concurrent: c.Slots, OnFailure: patterns.FailureStrategy(c.OnFailure), MaxRetries: c.MaxRetries,
		RetryDelay: c.Delay, MaxSteps: c.MaxSteps,
	}
	var results map[string]any
	if s.IntN(4) == 0 {
		results = s.results(s.plan.ids(func(o *oracleSub) bool { return o.Tool == "caller" && s.plan.ready(o) }))
		call.Results = results
	}
	s.tell("execute %+v results %s", c, asJSON(s, results))
	s.world.requests, s.world.most = nil, 0
	ended := s.meet(func() patterns.Ended {
		return s.start(patterns.ExecuteVerb, spec, patterns.Task{Plan: &call, Finalize: c.Finalize})
	}, func() object {
		s.run_ = newOracleRun(s.plan, c, s.mine)
		return s.run_.begin(results)
	})
	if s.world.most > c.Slots {
		s.Errorf("%d at once with %d slots", s.world.most, c.Slots)
	}
	s.began = ended
}

func (s *oracleSession) resume() {
	results := s.results(s.plan.ids(func(o *oracleSub) bool { return o.Tool == "caller" && s.plan.ready(o) }))
	if len(results) == 0 {
		return
	}
	s.tell("results %s", asJSON(s, results))
	s.world.requests, s.world.most = nil, 0
	s.began = s.meet(func() patterns.Ended {
		ended, err := s.engine.Continue(s.Context(), patterns.Continuation{Principal: "local:1", RunID: s.began.RunID, Given: object{"results": results}})
		if err != nil {
			s.Fatalf("%v\n%s", err, strings.Join(s.said, "\n"))
		}
		return ended
	}, func() object { return s.run_.resume(results) })
}

// results are made up for some of the caller's subtasks.
func (s *oracleSession) results(ids []string) map[string]any {
	all := map[string]any{}
	for _, id := range ids {
		if s.IntN(4) == 0 {
			continue
		}
		if s.IntN(4) == 0 {
			all[id] = object{"status": "failed", "result": "no"}
			continue
		}
		var result any = object{"v": float64(s.IntN(9))}
		if s.plan.sub(id).Expect == nil {
			result = []any{float64(7), "text", object{"w": 1.0}, result, nil}[s.IntN(5)]
		}
		all[id] = object{"status": "completed", "result": result}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// meet has engine and oracle do the same, one after the other: the oracle takes over the pauses that the engine chose.
func (s *oracleSession) meet(engine func() patterns.Ended, oracle func() object) patterns.Ended {
	s.Helper()
	began := time.Now()
	ended := engine()
	took := time.Since(began)
	synctest.Wait() // for what was cut
	rows := ended.Result.Trace
	if ended.Waiting != nil {
		rows = ended.Waiting.SoFar.Trace
	}
	clear(s.mine.delays)
	for _, row := range rows {
		if a := row.(patterns.AttemptRow); a.DelaySeconds != nil {
			s.mine.delays[fmt.Sprint(a.SubtaskID, " ", a.Attempt)] = *a.DelaySeconds
		}
	}
	then := time.Duration(0)
	if s.run_ != nil {
		then = s.run_.now
	}
	want := oracle()
	run := s.run_
	if _, waits := want["ready_for_caller"]; !waits {
		s.run_ = nil
	}
	if s.mine.wrong != "" {
		s.Error(s.mine.wrong)
	}
	guessed := slices.ContainsFunc(run.times, func(t time.Duration) bool { return t%time.Microsecond != 0 })
	if guessed && run.Time < 24*time.Hour || tight(append(run.times, run.Time)) {
		s.Skip("two things at one time")
	}
	got := seen(ended)
	if d := run.now - then - took; !guessed && (d < -10*time.Millisecond || d > 10*time.Millisecond) {
		want["took"], got["took"] = (run.now - then).String(), took.String()
	}
	want["requests"], got["requests"] = sorted(run.requests), sorted(s.world.requests)
	run.requests = nil
	s.same("execute", want, got)
	return ended
}

func sorted(list []any) []string {
	all := []string{}
	for _, v := range list {
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%v", plain(v))), " "))
	}
	slices.Sort(all)
	return all
}

func tight(times []time.Duration) bool {
	times = slices.Clone(times)
	slices.Sort(times)
	for i := 1; i < len(times); i++ {
		if times[i]-times[i-1] < 4*time.Millisecond {
			return true
		}
	}
	return false
}

func (s *oracleSession) same(what string, want, got object) {
	s.Helper()
	if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
		s.Fatalf("%s: - the oracle, + the engine\n%s\nsession:\n%s", what, diff, strings.Join(s.said, "\n"))
	}
}

func (p *oraclePlan) copied() *oraclePlan {
	c := *p
	c.Subs = nil
	for _, s := range p.Subs {
		o := *s
		c.Subs = append(c.Subs, &o)
	}
	return &c
}
