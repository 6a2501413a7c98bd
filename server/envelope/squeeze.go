package envelope

import (
	"maps"
	"slices"

	"patterngate/gateway"
	"patterngate/gateway/document"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/server/arguments"
	"patterngate/server/sentence"
)

// squeezes lists bounds for a result whose parts other than rows do not fit. Each one is stricter than the one before.
// Clients and models may choose ids, names, arguments and pointers of any length, and a client must always get an
// answer.
var squeezes = []struct {
	bytes    int // of a text, and of arguments
	rows     int // of plan, filled and failed_critical
	words    bool
	problems int
	effects  int
}{
	{bytes: 1024, rows: 1000},
	{bytes: 1024, rows: 1000, words: true, problems: 20, effects: 100},
	{bytes: 256, rows: 20, words: true, problems: 5, effects: 20},
	{bytes: 48, rows: 0, words: true, problems: 1, effects: 5},
}

// squeeze bounds the parts that are not rows: first repeated arguments, then also texts. It returns false when no
// stricter bound is left.
func (v *view) squeeze() bool {
	if v.squeezed == len(squeezes) {
		return false
	}
	s := squeezes[v.squeezed]
	v.squeezed++
	v.squeezeArguments(s.bytes, s.rows)
	if s.words {
		v.squeezeWords(s.bytes, s.problems, s.effects)
	}
	return true
}

func (e *Envelope) squeezeArguments(bytes, rows int) {
	e.Plan = squeezedPlan(e.Plan, bytes, rows)
	e.Route, e.Action = squeezedIntent(e.Route, bytes), squeezedIntent(e.Action, bytes)
	e.Human, e.Block = squeezedDecision(e.Human, bytes), e.Block.squeezed(bytes)
	if e.Called != nil {
		less := *e.Called
		less.Args = squeezedArgs(less.Args, bytes)
		e.Called = &less
	}
	switch w := e.WaitingFor.(type) {
	case *CallerWait:
		e.WaitingFor = w.squeezed(bytes, rows)
	case *RetryWait:
		e.WaitingFor = w.squeezed(rows)
	}
	e.Aggregate = squeezedAggregate(e.Aggregate, bytes, rows)
	if kept := squeezedJudged(e.Judged, bytes, max(rows, 1)); e.Judged != nil {
		e.Judged, e.JudgedOmitted = kept, e.JudgedOmitted+len(e.Judged)-len(kept)
	}
	e.FailedCritical = e.FailedCritical[:min(len(e.FailedCritical), rows)]
	e.Filled = slices.Clone(e.Filled[:min(len(e.Filled), rows)])
	for i := range e.Filled {
		e.Filled[i].Value = *squeezedValue(&e.Filled[i].Value, bytes)
	}
}

func (e *Envelope) squeezeWords(bytes, problems, effects int) {
	e.StopReason, e.SelectedRoute = sentence.Short(e.StopReason, bytes), sentence.Short(e.SelectedRoute, bytes)
	e.Next = e.Next.squeezed(bytes)
	e.Problems = squeezedProblems(e.Problems, problems, bytes)
	e.squeezeAnswer(4 * bytes)
	e.Received = squeezedValue(e.Received, bytes)
	if n := len(e.Effects) - effects; n > 0 {
		e.Effects = e.Effects[n:]
		e.EffectsOmitted += n
	}
}

// squeezeAnswer cuts the answer if it is a text. An answer that must fit a schema cannot be cut, so it is left out, and
// only its length is shown.
func (e *Envelope) squeezeAnswer(most int) {
	text := e.answerText()
	answer := sentence.Short(text, most)
	switch _, isText := e.Answer.(string); {
	case answer == text:
		return
	case isText:
		e.Answer = answer
	default:
		e.Answer = nil
	}
	e.AnswerBytes = max(e.AnswerBytes, len(text))
}

// enoughToContinue is the size in bytes of arguments that only name the run and its turn.
const enoughToContinue = 128

// squeezed returns the wait with a short observation and few names.
func (w *CallerWait) squeezed(bytes, rows int) *CallerWait {
	less := *w
	if less.Last != nil {
		less.Last = *squeezedValue(&less.Last, bytes)
	}
	less.Expects.Names = w.Expects.Names[:min(len(w.Expects.Names), rows)]
	less.Expects.Forbidden = w.Expects.Forbidden[:min(len(w.Expects.Forbidden), rows)]
	return &less
}

// squeezed returns the wait with few names of missing things.
func (w *RetryWait) squeezed(rows int) *RetryWait {
	less := *w
	less.Needs = w.Needs[:min(len(w.Needs), rows)]
	return &less
}

// squeezedProblems returns the first problems with short texts, and the number of the others.
func squeezedProblems(problems []document.Problem, most, bytes int) []document.Problem {
	if len(problems) == 0 {
		return problems
	}
	all := arguments.CountProblems(problems)
	list := slices.Clone(problems[:min(len(problems), most)])
	for i := range list {
		p := &list[i]
		for isLong(p.Pointer, bytes) {
			p.Pointer = p.Pointer.Parent()
		}
		p.Reason, p.Want, p.DidYouMean = sentence.Short(p.Reason, bytes), sentence.Short(p.Want, bytes), sentence.Short(p.DidYouMean, bytes)
	}
	if list[len(list)-1].Reason == arguments.ReasonMore {
		list = list[:len(list)-1]
	}
	if all > len(list) {
		list = append(list, document.Problem{Reason: arguments.ReasonMore, Got: document.Got(float64(all - len(list)))})
	}
	return list
}

func squeezedPlan(plan any, bytes, most int) any {
	if most == 0 {
		return nil
	}
	switch plan := plan.(type) {
	case []gateway.Step:
		list := slices.Clone(plan[:min(len(plan), most)])
		for i, s := range list {
			list[i] = gateway.Step{
				ID: sentence.Short(s.ID, bytes), Title: sentence.Short(s.Title, bytes), Tool: sentence.Short(s.Tool, bytes),
				Args: squeezedArgs(s.Args, bytes),
			}
		}
		return list
	case []gateway.Task:
		list := slices.Clone(plan[:min(len(plan), most)])
		for i, t := range list {
			list[i] = gateway.Task{
				ID: sentence.Short(t.ID, bytes), Worker: sentence.Short(t.Worker, bytes), Args: squeezedArgs(t.Args, bytes), Critical: t.Critical,
			}
		}
		return list
	}
	return plan
}

// squeezedArgs returns the arguments. Long ones are in the cut form of observations.
func squeezedArgs(args map[string]any, bytes int) map[string]any {
	text := ijson.Canonical(args)
	if len(text) <= bytes+64 {
		return args
	}
	return map[string]any{"truncated": true, "bytes": float64(len(text)), "head": sentence.Short(string(text), bytes)}
}

// squeezedIntent returns a route or an action with short arguments and texts.
func squeezedIntent(v any, bytes int) any {
	row, ok := v.(map[string]any)
	if !ok {
		return v
	}
	row = maps.Clone(row)
	for name, member := range row {
		switch member := member.(type) {
		case string:
			row[name] = sentence.Short(member, bytes)
		case map[string]any:
			row[name] = squeezedArgs(member, bytes)
		}
	}
	return row
}

func squeezedDecision(h *patterns.HumanApproval, bytes int) *patterns.HumanApproval {
	if h == nil {
		return nil
	}
	less := *h
	less.RevisedAction = squeezedIntent(h.RevisedAction, bytes)
	if bytes < maxChangeValue {
		less.Asked, less.Left = nil, nil
	}
	less.Comment, less.By = sentence.Short(h.Comment, bytes), sentence.Short(h.By, bytes)
	return &less
}

func squeezedAggregate(a *patterns.Aggregate, bytes, most int) *patterns.Aggregate {
	if a == nil || most == 0 {
		return nil
	}
	less := *a
	if a.Report != nil {
		less.Report = a.Report.Cut(patterns.Cut{
			Rows: most, Text: func(text string) string { return sentence.Short(text, bytes) },
			Members: func(members map[string]any) map[string]any { return squeezedArgs(members, bytes) },
		})
		return &less
	}
	less.Fields = squeezedArgs(a.Fields, bytes)
	less.Errors = slices.Clone(a.Errors[:min(len(a.Errors), most)])
	for i := range less.Errors {
		less.Errors[i].Reason = sentence.Short(less.Errors[i].Reason, bytes)
	}
	return &less
}

// Bounded returns a value, or the beginning of its JSON if that takes more than that many bytes.
func Bounded(v any, bytes int) any { return *squeezedValue(&v, bytes) }

func squeezedValue(v *any, bytes int) *any {
	if v == nil {
		return nil
	}
	text := ijson.Canonical(*v)
	if len(text) <= bytes {
		return v
	}
	var head any = sentence.Short(string(text), bytes)
	return &head
}

// isLong reports whether a pointer takes more than that many bytes. A pointer cannot be cut, because it would then
// point elsewhere.
func isLong(at ijson.Pointer, bytes int) bool { return sentence.Short(string(at), bytes) != string(at) }
