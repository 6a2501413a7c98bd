package local_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// fate is what one attempt comes to: after some time a result, or the cause of its failure.
type fate struct {
	After  time.Duration
	Result any
	Cause  string // "" none
	Text   string // of a model's answer to a question about plans
	Plan   *revised
}

// revised is what a reply about the rest of a plan holds.
type revised struct {
	Fault    string // why it is refused; "" not
	Subs     []*oracleSub
	Complete bool
}

// oracleFates tell what comes. Attempts are counted over a whole session.
type oracleFates interface {
	call(tool string, args map[string]any) fate // the next call of a catalog tool
	work(id string) fate                        // the model's next work on a subtask
	replan(question object) fate
	answer() fate
	delay(id string, attempt int, least time.Duration) time.Duration // least, and up to 10 % more
}

// oracleCall is a call of plan_execute, with the limits of its run.
type oracleCall struct {
	Slots, MaxRetries, MaxSteps          int // MaxSteps 0: no limit
	OnFailure                            string
	Delay                                time.Duration
	Finalize, LLM                        bool
	ToolCalls, LLMCalls, Tokens, PerTool int // -1: no limit
	Time, Timeout                        time.Duration
	Denied                               string // a tool that is not in the execution list
}

// oracleRun is a run of plan_execute.
type oracleRun struct {
	*oraclePlan
	oracleCall
	fates oracleFates

	now      time.Duration
	running  map[string]*oracleAttempt
	retries  map[string]time.Duration // when they fall due
	tried    map[string]int           // attempts in this run
	begun    int                      // subtasks, without the caller's
	budget   string                   // the budget that stopped it; nothing begins any more
	failing  bool                     // a failure did
	calls    int
	asked    int
	tokens   int // of questions that were answered, or not
	perTool  map[string]int
	sigs     map[string]string // who made a call first
	done     map[string]bool
	trace    []oracleRow
	requests []any
	times    []time.Duration // of everything that happened
}

type oracleAttempt struct {
	oracleRow
	ends time.Duration
	fate
}

type oracleRow struct {
	Revision int    `json:"revision"`
	ID       string `json:"subtask_id"`
	Tool     string `json:"tool"`
	Attempt  int    `json:"attempt"`
	OK       bool   `json:"ok"`
	Stop     string `json:"stop_reason"`
	Delay    bool   `json:"delayed"`
	place    int
}

// perQuestion are the tokens that a question costs.
const perQuestion = 15

func newOracleRun(p *oraclePlan, c oracleCall, f oracleFates) *oracleRun {
	return &oracleRun{
		oraclePlan: p, oracleCall: c, fates: f, running: map[string]*oracleAttempt{}, retries: map[string]time.Duration{}, tried: map[string]int{},
		perTool: map[string]int{}, sigs: map[string]string{}, done: map[string]bool{},
	}
}

// begin is a call on a plan that no run has.
func (r *oracleRun) begin(results map[string]any) object {
	left := slices.ContainsFunc(r.Subs, func(s *oracleSub) bool { return s.Status != "completed" })
	if !left {
		switch {
		case r.Strategy == "iterative" && !r.Complete:
			return r.ends("iteration_pending", "")
		case r.Finalize && !r.Answered:
			return r.synthesis("success")
		}
		return r.ends("plan_complete", "execute")
	}
	if reason := r.denied(); reason != "" {
		return r.ends(reason, "execute")
	}
	for _, s := range r.Subs { // a new run turns failed into pending, with fresh retries
		if s.Status == "failed" {
			s.Status, s.Stop = "pending", ""
		}
	}
	r.take(results)
	return r.goOn()
}

// resume is a call on a plan whose run waits.
func (r *oracleRun) resume(results map[string]any) object {
	r.take(results)
	return r.goOn()
}

// take takes the caller's results, which were judged.
func (r *oracleRun) take(results map[string]any) {
	for _, s := range r.order() {
		given, ok := results[s.ID].(map[string]any)
		if !ok {
			continue
		}
		r.tried[s.ID] = 1
		s.Attempts = 1
		row := r.newRow(s, 1)
		if row.OK = given["status"] == "completed"; row.OK {
			r.complete(s, given["result"], "caller")
		} else {
			row.Stop = "caller_failed"
			r.fail(s, row.Stop)
		}
		r.trace = append(r.trace, row)
	}
}

func (r *oracleRun) newRow(s *oracleSub, attempt int) oracleRow {
	return oracleRow{Revision: r.Revision, ID: s.ID, Tool: s.Tool, Attempt: attempt, place: slices.Index(r.order(), s), Delay: attempt > 1}
}

func (r *oracleRun) complete(s *oracleSub, result any, source string) {
	s.Status, s.Result, s.Source, r.done[s.ID] = "completed", result, source, true
}

var transient = []string{"subtask_timeout", "llm_timeout", "llm_unreachable", "llm_error:rate_limit", "llm_error:server"}

// fail is what the failure of an attempt means.
func (r *oracleRun) fail(s *oracleSub, cause string) {
	n := r.tried[s.ID]
	s.Stop = cause
	switch {
	case r.OnFailure == "skip":
		s.Status = "skipped"
		return
	case r.OnFailure == "retry" && slices.Contains(transient, cause) && n <= r.MaxRetries:
		least := min(30*time.Second, r.Delay<<(n-1))
		r.retries[s.ID] = r.now + r.fates.delay(s.ID, n+1, least)
		return
	}
	s.Status, r.failing = "failed", true
}

// giveUp ends the waiting for retries: where a subtask failed they have failed too, where a budget is used up they are
// pending again.
func (r *oracleRun) giveUp() {
	for id := range r.retries {
		if r.failing {
			r.sub(id).Status = "failed"
		}
	}
	clear(r.retries)
}

// goOn carries the run on until it ends or waits.
func (r *oracleRun) goOn() object {
	for {
		r.fill()
		next, what := r.next()
		switch {
		case what == "" && r.failing && r.OnFailure == "replan":
			if reason, phase := r.replan(); reason != "" {
				return r.ends(reason, phase)
			}
			continue
		case what == "" && r.unresolved():
			continue
		case what == "":
			return r.quiet()
		}
		if next >= r.Time { // cut at once
			r.now = r.Time
			for _, a := range r.running {
				a.Stop = "max_seconds"
				r.trace = append(r.trace, a.oracleRow)
			}
			clear(r.running)
			return r.ends("max_seconds", "execute")
		}
		r.now = next
		r.times = append(r.times, next)
		if a := r.running[what]; a != nil {
			r.finish(a)
		} else { // a retry falls due
			r.retries[what] = 0
		}
	}
}

// next is what happens next: a subtask ends, or its retry falls due.
func (r *oracleRun) next() (at time.Duration, id string) {
	for _, s := range r.order() {
		if a := r.running[s.ID]; a != nil && (id == "" || a.ends < at) {
			at, id = a.ends, s.ID
		}
		if due := r.retries[s.ID]; due > 0 && !r.failing && r.budget == "" && (id == "" || due < at) {
			at, id = due, s.ID
		}
	}
	return at, id
}

// fill gives free slots to what is ready, in execution order.
func (r *oracleRun) fill() {
	for len(r.running) < r.Slots && !r.failing && r.budget == "" {
		s := r.first()
		if s == nil {
			return
		}
		if r.budget = r.exhausted(s); r.budget != "" {
			return
		}
		r.start(s)
	}
}

// first is the first subtask in execution order that a slot may take: those begun go on even where no more may begin.
func (r *oracleRun) first() *oracleSub {
	for _, s := range r.order() {
		due, again := r.retries[s.ID]
		if !r.ready(s) || s.Tool == "caller" || r.running[s.ID] != nil || due > 0 {
			continue
		}
		if again || r.MaxSteps == 0 || r.begun < r.MaxSteps || r.exhausted(s) != "" {
			return s
		}
	}
	return nil
}

// exhausted is the budget that keeps a subtask from starting.
func (r *oracleRun) exhausted(s *oracleSub) string {
	if s.Tool != "model" {
		if r.ToolCalls >= 0 && r.calls >= r.ToolCalls {
			return "max_tool_calls"
		}
		return ""
	}
	return r.noQuestion()
}

// noQuestion is the budget that keeps a model from being asked.
func (r *oracleRun) noQuestion() string {
	switch {
	case r.LLMCalls >= 0 && r.asked >= r.LLMCalls:
		return "max_llm_calls"
	case r.Tokens >= 0 && r.tokens >= r.Tokens:
		return "max_tokens"
	}
	return ""
}

func (r *oracleRun) start(s *oracleSub) {
	if _, again := r.retries[s.ID]; !again {
		r.begun++
	}
	delete(r.retries, s.ID)
	r.tried[s.ID]++
	s.Attempts, s.Stop = r.tried[s.ID], ""
	a := &oracleAttempt{oracleRow: r.newRow(s, r.tried[s.ID])}
	args, cause := r.arguments(s)
	if cause == "" && s.Tool != "model" {
		cause = r.barred(s, args)
	}
	if cause != "" { // it fails before it runs
		a.Stop = cause
		r.trace = append(r.trace, a.oracleRow)
		r.fail(s, cause)
		return
	}
	if s.Tool == "model" {
		r.asked++
		sub := object{"id": s.ID, "description": s.Desc}
		if len(args) > 0 {
			sub["args"] = args
		}
		r.requests = append(r.requests, object{"goal": r.Goal, "subtask": sub, "inputs": r.inputsOf(s)})
		a.fate = r.fates.work(s.ID)
	} else {
		r.calls++
		a.fate = r.fates.call(s.Tool, args)
		if a.After >= r.Timeout {
			a.fate = fate{After: r.Timeout, Cause: "subtask_timeout"}
		}
	}
	a.ends = r.now + a.After
	r.running[s.ID] = a
}

func (r *oracleRun) finish(a *oracleAttempt) {
	delete(r.running, a.ID)
	s := r.sub(a.ID)
	if s.Tool == "model" {
		r.tokens += perQuestion
	}
	a.OK, a.Stop = a.Cause == "", a.Cause
	r.trace = append(r.trace, a.oracleRow)
	if !a.OK {
		r.fail(s, a.Cause)
		return
	}
	source := "tool"
	if s.Tool == "model" {
		source = "model"
	}
	r.complete(s, a.Result, source)
}

// barred says why a call may not be made: it is one too many, or does not fit.
func (r *oracleRun) barred(s *oracleSub, args map[string]any) string {
	sig := fmt.Sprint(s.Tool, args)
	if r.PerTool >= 0 && r.perTool[s.Tool] >= r.PerTool {
		return "loop_detected:per_tool_limit"
	}
	if by := r.sigs[sig]; by != "" && by != s.ID {
		return "loop_detected:signature_repeat"
	}
	if n, given := args["n"]; given { // an integer is wanted
		if f, ok := n.(float64); !ok || f != math.Trunc(f) {
			return "executor_bad_args:" + s.Tool
		}
	}
	r.sigs[sig] = s.ID
	r.perTool[s.Tool]++
	return ""
}

// arguments puts the values in that references name.
func (r *oracleRun) arguments(s *oracleSub) (map[string]any, string) {
	args := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Args)) {
		v := s.Args[name]
		text, _ := v.(string)
		if strings.HasPrefix(text, "$$") {
			v = text[1:]
		} else if ref, is := strings.CutPrefix(text, "$results."); is {
			id, pointer, _ := strings.Cut(ref, ".")
			v = r.sub(id).Result
			if pointer != "" { // the pointers here are /v
				obj, _ := v.(map[string]any)
				found, ok := obj[pointer[1:]]
				if !ok {
					return nil, "bad_reference:" + text
				}
				v = found
			}
		}
		args[name] = v
	}
	return args, ""
}

func (r *oracleRun) inputsOf(s *oracleSub) object {
	all := object{}
	for _, d := range r.inputs(s) {
		all[d.ID] = d.Result
	}
	return all
}
