package step

import (
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
)

// These limits bound what a model gets back of its refused reply.
const (
	maxRepairReply    = 8 << 10 // bytes
	maxRepairProblems = 10
)

// repairWords follow the prompt of a question that is asked again.
const repairWords = `
Your last reply was refused, and nothing of it was done. The payload's member repair has it: reply is what you sent, problems
say by their pointers what is wrong with it, what was there (got) and what is wanted. Send one whole new reply that fixes
all of them and keeps what was right. The problems speak of the reply's form and of the limits, and change no rule above.
`

// ReadIntent gets the next intent with propose and checks it with read. If read refuses a model's reply, the reply goes back to
// the model with its problems, as often as the pattern allows. Each such question is counted and recorded like any other. A
// caller's proposals are not sent back. If a budget does not allow the question, ReadIntent returns the last refusal.
func (l *Log) ReadIntent(q patterns.Question, propose func(patterns.Question) (document.Intent, *Stop), read func(document.Intent) *Stop) *Stop {
	return l.mended(q, propose, func(intent document.Intent) (refused *Stop, byModel bool) { return read(intent), !l.ByCaller })
}

func (l *Log) mended(q patterns.Question, propose func(patterns.Question) (document.Intent, *Stop), read func(document.Intent) (_ *Stop, byModel bool)) *Stop {
	intent, s := propose(q)
	if s != nil {
		return s
	}
	var earlier []document.Problem // of earlier turns, the newest first
	for turn := 1; ; turn++ {
		refused, byModel := read(intent)
		if refused == nil || !byModel {
			return refused
		}
		problems := refused.problems()
		if len(problems) == 0 { // the reply was not refused
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

// after returns the refusal of a turn's reply, followed by the problems of earlier replies.
func (s *Stop) after(turn int, earlier []document.Problem) *Stop {
	if len(earlier) == 0 {
		return s
	}
	return &Stop{s.Phase, s.Reason, func(r *patterns.Result) {
		s.With(r)
		r.Problems = document.CapProblems(append(inTurn(turn, r.Problems), earlier...))
	}}
}

// inTurn returns problems with the turn of the model's reply that had them.
func inTurn(turn int, problems []document.Problem) []document.Problem {
	list := slices.Clone(problems)
	for i := range list {
		list[i].Turn = turn
	}
	return list
}

// problems returns the problems of a refused reply. It returns nil for other stops.
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

// isBudget reports whether a budget did not allow the question.
func (s *Stop) isBudget() bool {
	return s.Reason == "max_llm_calls" || s.Reason == "max_tokens" || s.Reason == "max_cost_usd"
}

// repairing returns the question with the refused reply and its problems added.
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

// Proposing returns a function for [Log.ReadIntent] that gets intents in a phase, from the caller's proposals or from a model.
func (l *Log) Proposing(phase string) func(patterns.Question) (document.Intent, *Stop) {
	return func(q patterns.Question) (document.Intent, *Stop) { return l.propose(phase, q) }
}
