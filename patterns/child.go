package patterns

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"time"

	"patterngate/gateway"
)

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
		v["aggregate"] = r.Aggregate.Payload()
	}
	if spec.Kind == gateway.Call {
		v["result"] = r.Observation
	}
	return v
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

// ShareLeft is what a run has left of its budget after so many calls and that use of models. Its time is not in it.
func ShareLeft(b gateway.Budget, calls int, used Usage) Share {
	return Share{
		Calls: Rest(b.MaxToolCalls, calls), Requests: Rest(b.MaxLLMCalls, used.Requests),
		Tokens: Rest(b.MaxTokens, used.InputTokens+used.OutputTokens), Cost: restUSD(b.MaxCost, used.CostUSD),
	}
}

// Among is what each of n has of a share that go on side by side: together they never exceed it.
func (s Share) Among(n int) Share {
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

// Less is what stays of a share after a child run used some of it.
func (s Share) Less(out Outcome) Share {
	s.Calls = Rest(s.Calls, out.Calls)
	s.Requests = Rest(s.Requests, out.Usage.Requests)
	s.Tokens = Rest(s.Tokens, out.Usage.InputTokens+out.Usage.OutputTokens)
	s.Cost = restUSD(s.Cost, out.Usage.CostUSD)
	return s
}

// Rest is what stays of a limit.
func Rest(l gateway.Limit, used int) gateway.Limit {
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
	return gateway.USD(RoundUSD(max(0, float64(l)-used)))
}
