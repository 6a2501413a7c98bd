package patterns

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"time"

	"patterngate/gateway"
)

// A worker or a route may be a pattern: a call of it begins a run of its own, a child run, under what its parent has left
// (spec/config.md section 7):
//
//	parent: intent ──▶ child: start {parent} ──▶ ... ──▶ end ──▶ parent: outcome {status, answer, ...}
//	            │            │ waits for a person ──▶ so does the parent
//	            │            └ is cancelled with what ends the call or the parent
//	            └─ the process dies: whoever carries the parent on joins the child that was begun

// MaxDepth is how deep runs nest: a run that nobody's call began, and three below it.
const MaxDepth = 4

// Parent says whose call began a run.
type Parent struct {
	RunID, Key string
	// Within are the patterns of the runs that the run lies in, the outermost first; the parent's is the last.
	Within []string
	// Share bounds the run besides its own budget.
	Share Share
}

// ChildID is the id of the run that a call begins: of the parent, which nobody guesses, and of the call's place there, so that who
// goes on with a call that was begun joins the same run.
func ChildID(parent, key string) string {
	sum := sha256.Sum256([]byte("child/" + parent + "/" + key))
	return "run_" + hex.EncodeToString(sum[:8])
}

// NoTime is the [Share.Time] of a call that nothing cuts.
const NoTime time.Duration = 1 << 31 * time.Second

// Begun is the job of a run that a call of another run began, within what that left for it; nil: nobody's call did. A child run waits
// for no caller, and is equal to no call.
func (j Job) Begun(by *Parent) Job {
	if by == nil {
		return j
	}
	j.Parent, j.Equal, j.ByKey, j.Wait, j.Progress = by, "", "", 0, nil
	j.Spec.Budget = by.Share.Within(j.Spec.Budget)
	j.Task.Caller, j.Task.Handover = nil, true
	return j
}

// Observed is what a child run that did what it was asked is to its parent: an observation.
func Observed(spec Spec, r Result) any {
	v := map[string]any{"status": "ok"}
	switch {
	case r.AnswerValue != nil: // whole, where the text is cut
		v["answer"] = r.AnswerValue
	case r.Answer != "":
		v["answer"] = r.Answer
	}
	if r.Aggregate != nil {
		v["aggregate"] = r.Aggregate.payload()
	}
	if spec.Kind == gateway.Call {
		v["result"] = r.Observation
	}
	return v
}

// stoppedBelow is why the child run of a call stopped; "" where the call began none, or none that stopped.
func stoppedBelow(out Outcome) string {
	if out.Child == "" || out.State == OK {
		return ""
	}
	about, _ := out.Output.(map[string]any)
	reason, _ := about["stop_reason"].(string)
	return reason
}

// Share is what a run leaves to a child run. The zero Share allows nothing.
type Share struct {
	Time                    time.Duration // whole milliseconds
	Calls, Requests, Tokens gateway.Limit
	Cost                    gateway.USD
}

// Within is a budget within a share: of each figure the smaller one.
func (s Share) Within(b gateway.Budget) gateway.Budget {
	b.MaxTime = min(b.MaxTime, s.Time)
	b.MaxToolCalls = smaller(b.MaxToolCalls, s.Calls)
	b.MaxLLMCalls = smaller(b.MaxLLMCalls, s.Requests)
	b.MaxTokens = smaller(b.MaxTokens, s.Tokens)
	if s.Cost.Named() && (!b.MaxCost.Named() || s.Cost < b.MaxCost) {
		b.MaxCost = s.Cost
	}
	return b
}

func smaller(a, b gateway.Limit) gateway.Limit {
	switch {
	case !a.Named():
		return b
	case !b.Named():
		return a
	}
	return min(a, b)
}

// Value is the share as the record keeps it.
func (s Share) Value() map[string]any {
	v := map[string]any{"max_seconds": s.Time.Seconds()}
	for _, l := range s.limits() {
		if l.limit.Named() {
			v[l.name] = float64(*l.limit)
		}
	}
	if s.Cost.Named() {
		v["max_cost_usd"] = float64(s.Cost)
	}
	return v
}

// ReadShare reads what [Share.Value] made. What is not there is not bounded, but for the time; what is no number allows nothing.
func ReadShare(v any) Share {
	obj, _ := v.(map[string]any)
	figure := func(name string) (n float64, there bool) {
		v, there := obj[name]
		n, _ = v.(float64)
		return max(0, n), there
	}
	var s Share
	for _, l := range s.limits() {
		*l.limit = gateway.Unlimited
		if n, there := figure(l.name); there {
			*l.limit = gateway.Limit(min(n, math.MaxInt32))
		}
	}
	s.Cost = gateway.NoPrice
	if usd, there := figure("max_cost_usd"); there {
		s.Cost = gateway.USD(usd)
	}
	seconds, _ := figure("max_seconds")
	s.Time = time.Duration(min(seconds, 1<<31) * float64(time.Second)).Round(time.Millisecond)
	return s
}

type shareLimit struct {
	name  string
	limit *gateway.Limit
}

func (s *Share) limits() []shareLimit {
	return []shareLimit{{"max_tool_calls", &s.Calls}, {"max_llm_calls", &s.Requests}, {"max_tokens", &s.Tokens}}
}

// among is what each of n has of a share that go on side by side: together they never exceed it.
func (s Share) among(n int) Share {
	for _, l := range s.limits() {
		if l.limit.Named() {
			*l.limit /= gateway.Limit(max(1, n))
		}
	}
	if s.Cost.Named() {
		s.Cost /= gateway.USD(max(1, n))
	}
	return s
}

// less is what stays of a share after a child run used some of it.
func (s Share) less(out Outcome) Share {
	s.Calls = rest(s.Calls, out.Calls)
	s.Requests = rest(s.Requests, out.Usage.Requests)
	s.Tokens = rest(s.Tokens, out.Usage.InputTokens+out.Usage.OutputTokens)
	s.Cost = restUSD(s.Cost, out.Usage.CostUSD)
	return s
}

// rest is what stays of a limit.
func rest(l gateway.Limit, used int) gateway.Limit {
	if !l.Named() {
		return l
	}
	return max(0, l-gateway.Limit(used))
}

// restUSD is what stays of an amount.
func restUSD(l gateway.USD, used float64) gateway.USD {
	if !l.Named() {
		return l
	}
	return gateway.USD(nanos(max(0, float64(l)-used)))
}

// left is what the run has left for child runs, but for its time, which the engine knows.
func (l *log) left() Share {
	b, used := l.spec.Budget, l.usage
	return Share{
		Calls: rest(b.MaxToolCalls, l.gate.Tried()), Requests: rest(b.MaxLLMCalls, used.Requests),
		Tokens: rest(b.MaxTokens, used.InputTokens+used.OutputTokens), Cost: restUSD(b.MaxCost, used.CostUSD),
	}
}

// begins reports whether a call begins a child run.
func begins(p gateway.Permit) bool {
	name, _ := p.Pattern()
	return name != ""
}

// spend counts what a child run used as the run's own: its calls, and what its models cost.
func (l *log) spend(p gateway.Permit, out Outcome) {
	if begins(p) {
		l.usage = l.usage.Plus(out.Usage)
		l.models = PlusModels(l.models, out.Models)
		l.gate.Count(out.Calls)
	}
}
