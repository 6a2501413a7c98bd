package patterns

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"time"

	"patterngate/gateway"
)

// MaxDepth is how deep runs nest: a run without a parent, and three levels below it.
const MaxDepth = 4

// Parent identifies the call that began a run.
type Parent struct {
	RunID, Key string
	// Within lists the patterns of the enclosing runs, the outermost first; the parent's is the last.
	Within []string
	// Share limits the run in addition to its own budget.
	Share Share
}

// ChildID returns the id of the run that a call begins. It is a hash of the parent's id, which cannot be guessed, and the call's key.
// So a process that continues the call joins the same run.
func ChildID(parent, key string) string {
	sum := sha256.Sum256([]byte("child/" + parent + "/" + key))
	return "run_" + hex.EncodeToString(sum[:8])
}

// NoTime is the [Share.Time] of a call without a time limit.
const NoTime time.Duration = 1 << 31 * time.Second

// Begun returns the job as a child run of a parent's call, within the share of that call; nil: the job stays unchanged. A child run
// does not wait for a caller and equals no other call.
func (j Job) Begun(by *Parent) Job {
	if by == nil {
		return j
	}
	j.Parent, j.Equal, j.ByKey, j.Wait, j.Progress = by, "", "", 0, nil
	j.Spec.Budget = by.Share.Within(j.Spec.Budget)
	j.Task.Caller, j.Task.Handover = nil, true
	return j
}

// Observed returns a child run's successful result as the observation that its parent sees.
func Observed(spec Spec, r Result) any {
	v := map[string]any{"status": "ok"}
	switch {
	case r.AnswerValue != nil: // the whole value, even if the text is cut
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

// Share is the part of a budget that a run gives to a child run. The zero Share allows nothing.
type Share struct {
	Time                    time.Duration // whole milliseconds
	Calls, Requests, Tokens gateway.Limit
	Cost                    gateway.USD
}

// Within returns a budget limited by the share: the smaller value of each limit.
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

// Value returns the share in its recorded form.
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

// ReadShare reads the result of [Share.Value]. A missing limit is no limit, except that a missing time is 0. A value that is not a
// number allows nothing.
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

// ShareLeft returns what is left of a budget after this many calls and this use of models. It does not include the time.
func ShareLeft(b gateway.Budget, calls int, used Usage) Share {
	return Share{
		Calls: Rest(b.MaxToolCalls, calls), Requests: Rest(b.MaxLLMCalls, used.Requests),
		Tokens: Rest(b.MaxTokens, used.InputTokens+used.OutputTokens), Cost: restUSD(b.MaxCost, used.CostUSD),
	}
}

// Among returns the share of each of n child runs that run at the same time. Together they never exceed the share.
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

// Less returns what is left of a share after a child run used some of it.
func (s Share) Less(out Outcome) Share {
	s.Calls = Rest(s.Calls, out.Calls)
	s.Requests = Rest(s.Requests, out.Usage.Requests)
	s.Tokens = Rest(s.Tokens, out.Usage.InputTokens+out.Usage.OutputTokens)
	s.Cost = restUSD(s.Cost, out.Usage.CostUSD)
	return s
}

// Rest returns what is left of a limit.
func Rest(l gateway.Limit, used int) gateway.Limit {
	if !l.Named() {
		return l
	}
	return max(0, l-gateway.Limit(used))
}

// restUSD returns what is left of an amount.
func restUSD(l gateway.USD, used float64) gateway.USD {
	if !l.Named() {
		return l
	}
	return gateway.USD(RoundUSD(max(0, float64(l)-used)))
}
