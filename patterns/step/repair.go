package step

import (
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// Bounds of what a model is handed back of its refused reply.
const (
	maxRepairReply    = 8 << 10 // bytes
	maxRepairProblems = 10
)

// repairWords stand behind the prompt of a question that is asked again.
const repairWords = `
Your last reply was refused, and nothing of it was done. The payload's member repair has it: reply is what you sent, problems
say by their pointers what is wrong with it, what stood there (got) and what is wanted. Send one whole new reply that mends
all of them and keeps what was right. The problems speak of the reply's form and of the limits, and change no rule above.
`

// Accepted gets the next intent and has it read. A model's reply that is refused goes back to it with its problems, as often as
// the pattern allows: each is a question of its own, counted and recorded like all. A caller's proposals are never repaired.
// What a budget forbids to mend stays as it was refused.
func (l *Log) Accepted(q patterns.Question, propose func(patterns.Question) (document.Intent, *Stop), read func(document.Intent) *Stop) *Stop {
	return l.mended(q, propose, func(intent document.Intent) (refused *Stop, byModel bool) { return read(intent), !l.ByCaller })
}

func (l *Log) mended(q patterns.Question, propose func(patterns.Question) (document.Intent, *Stop), read func(document.Intent) (_ *Stop, byModel bool)) *Stop {
	intent, s := propose(q)
	if s != nil {
		return s
	}
	var earlier []document.Problem // of the turns before, the newest first
	for turn := 1; ; turn++ {
		refused, byModel := read(intent)
		if refused == nil || !byModel {
			return refused
		}
		problems := refused.problems()
		if len(problems) == 0 { // it is no refusal of the reply
			return refused
		}
		refused, earlier = refused.after(turn, earlier), append(inTurn(turn, problems), earlier...)
		if turn > l.Spec.RepairTurns {
			return refused
		}
		intent, s = propose(repairing(q, intent.Raw(), problems))
		switch {
		case s == nil:
		case s.isBudget():
			return refused
		default:
			return s
		}
	}
}

// after is the refusal of a turn's reply with the problems of the replies before it behind its own.
func (s *Stop) after(turn int, earlier []document.Problem) *Stop {
	if len(earlier) == 0 {
		return s
	}
	return &Stop{s.Phase, s.Reason, func(r *patterns.Result) {
		s.With(r)
		r.Problems = document.CapProblems(append(inTurn(turn, r.Problems), earlier...))
	}}
}

// inTurn are problems of the model's reply in a turn.
func inTurn(turn int, problems []document.Problem) []document.Problem {
	list := slices.Clone(problems)
	for i := range list {
		list[i].Turn = turn
	}
	return list
}

// problems are those of a refused reply; nil of other stops.
func (s *Stop) problems() []document.Problem {
	if s.With == nil {
		return nil
	}
	var r patterns.Result
	if s.With(&r); r.RawName == "" && !strings.HasPrefix(s.Reason, "invalid_answer:") {
		return nil
	}
	return r.Problems
}

// isBudget reports whether a stop is that of a question for which no budget was left.
func (s *Stop) isBudget() bool {
	return s.Reason == "max_llm_calls" || s.Reason == "max_tokens" || s.Reason == "max_cost_usd"
}

// repairing is the question once more, with the reply that was refused and why.
func repairing(q patterns.Question, reply any, problems []document.Problem) patterns.Question {
	payload := make(map[string]any, len(q.Payload)+1)
	for name, v := range q.Payload {
		payload[name] = v
	}
	rows := make([]any, 0, maxRepairProblems)
	for _, p := range problems[:min(len(problems), maxRepairProblems)] {
		rows = append(rows, p.Value())
	}
	payload["repair"] = map[string]any{"reply": gateway.Bounded(reply, ijson.Canonical(reply), maxRepairReply, maxRepairReply/2), "problems": rows}
	q.Payload, q.JSON, q.Prompt = payload, nil, q.Prompt+repairWords
	return q
}

// Proposing gets proposals in a phase.
func (l *Log) Proposing(phase string) func(patterns.Question) (document.Intent, *Stop) {
	return func(q patterns.Question) (document.Intent, *Stop) { return l.propose(phase, q) }
}
