package server

import (
	"maps"
	"slices"
	"strings"

	"patterngate/gateway"
	"patterngate/ijson"
	"patterngate/patterns"
)

// A result whose parts besides the rows do not fit is squeezed, harder each time: outsiders may choose ids, names,
// arguments and pointers of any length, and a client must get an answer in any case.
var squeezes = []struct {
	bytes    int // of a text, and of arguments
	problems int
	effects  int
	rows     int // of plan, filled and failed_critical
}{
	{1024, 20, 100, 1000},
	{256, 5, 20, 20},
	{48, 1, 5, 0},
}

// squeeze bounds what is not a row. It is false where that was done as far as it goes.
func (v *view) squeeze() bool {
	if v.squeezed == len(squeezes) {
		return false
	}
	s := squeezes[v.squeezed]
	v.squeezed++
	e := &v.Envelope
	e.StopReason = ijson.Cut(e.StopReason, s.bytes)
	e.Next = e.Next.squeezed(s.bytes)
	e.Problems = squeezedProblems(e.Problems, s.problems, s.bytes)
	if e.Answer != "" && len(e.Answer) > 4*s.bytes {
		e.AnswerBytes = max(e.AnswerBytes, len(e.Answer))
		e.Answer = ijson.Cut(e.Answer, 4*s.bytes)
	}
	e.Plan = squeezedPlan(e.Plan, s.bytes, s.rows)
	e.Route, e.Action = squeezedIntent(e.Route, s.bytes), squeezedIntent(e.Action, s.bytes)
	e.SelectedRoute = ijson.Cut(e.SelectedRoute, s.bytes)
	e.Human = squeezedDecision(e.Human, s.bytes)
	e.Aggregate = squeezedAggregate(e.Aggregate, s.bytes, s.rows)
	e.FailedCritical = e.FailedCritical[:min(len(e.FailedCritical), s.rows)]
	e.Received = squeezedValue(e.Received, s.bytes)
	e.Filled = e.Filled[:min(len(e.Filled), s.rows)]
	if n := len(e.Effects) - s.effects; n > 0 {
		e.Effects = e.Effects[n:]
		e.EffectsOmitted += n
	}
	return true
}

// squeezed is the advice without what the reader has anyway: their own arguments.
func (n next) squeezed(bytes int) next {
	n.Arguments = nil
	n.Say = ijson.Cut(n.Say, 4*bytes)
	n.Changed = slices.DeleteFunc(slices.Clone(n.Changed), func(c change) bool { return len(c.Pointer) > bytes })
	n.Fill = slices.DeleteFunc(slices.Clone(n.Fill), func(at ijson.Pointer) bool { return len(at) > bytes })
	if bytes < 64 { // the last squeeze
		n.Changed, n.Fill = n.Changed[:min(1, len(n.Changed))], n.Fill[:min(1, len(n.Fill))]
	}
	return n
}

// squeezedProblems are the first problems with short words; the rest is counted.
func squeezedProblems(problems []gateway.Problem, most, bytes int) []gateway.Problem {
	if len(problems) == 0 {
		return problems
	}
	all := faults(problems)
	list := slices.Clone(problems[:min(len(problems), most)])
	for i := range list {
		p := &list[i]
		for len(p.Pointer) > bytes {
			p.Pointer = parent(p.Pointer)
		}
		p.Reason, p.Want, p.DidYouMean = ijson.Cut(p.Reason, bytes), ijson.Cut(p.Want, bytes), ijson.Cut(p.DidYouMean, bytes)
	}
	if list[len(list)-1].Reason == reasonMore {
		list = list[:len(list)-1]
	}
	if all > len(list) {
		list = append(list, gateway.Problem{Reason: reasonMore, Got: gateway.Got(float64(all - len(list)))})
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
			list[i] = gateway.Step{ID: ijson.Cut(s.ID, bytes), Title: ijson.Cut(s.Title, bytes), Tool: ijson.Cut(s.Tool, bytes), Args: squeezedArgs(s.Args, bytes)}
		}
		return list
	case []gateway.Task:
		list := slices.Clone(plan[:min(len(plan), most)])
		for i, t := range list {
			list[i] = gateway.Task{ID: ijson.Cut(t.ID, bytes), Worker: ijson.Cut(t.Worker, bytes), Args: squeezedArgs(t.Args, bytes), Critical: t.Critical}
		}
		return list
	}
	return plan
}

// squeezedArgs are arguments in the cut form of observations where they are longer.
func squeezedArgs(args map[string]any, bytes int) map[string]any {
	text := ijson.Canonical(args)
	if len(text) <= bytes+64 {
		return args
	}
	return map[string]any{"truncated": true, "bytes": float64(len(text)), "head": ijson.Cut(string(text), bytes/2)}
}

// squeezedIntent is a route or an action with short arguments and texts.
func squeezedIntent(v any, bytes int) any {
	row, ok := v.(map[string]any)
	if !ok {
		return v
	}
	row = maps.Clone(row)
	for name, member := range row {
		switch member := member.(type) {
		case string:
			row[name] = ijson.Cut(member, bytes)
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
	short := *h
	short.RevisedAction = squeezedIntent(h.RevisedAction, bytes)
	short.Comment, short.By = ijson.Cut(h.Comment, bytes), ijson.Cut(h.By, bytes)
	return &short
}

func squeezedAggregate(a *patterns.Aggregate, bytes, most int) *patterns.Aggregate {
	if a == nil || most == 0 {
		return nil
	}
	short := *a
	for _, domain := range []*any{&short.Sales, &short.Payments, &short.Inventory} {
		if facts, ok := (*domain).(map[string]any); ok {
			*domain = squeezedArgs(facts, bytes)
		}
	}
	short.ReportDate, short.Region = ijson.Cut(a.ReportDate, bytes), ijson.Cut(a.Region, bytes)
	short.Failed = slices.Clone(a.Failed[:min(len(a.Failed), most)])
	for i := range short.Failed {
		f := &short.Failed[i]
		f.TaskID, f.StopReason = ijson.Cut(f.TaskID, bytes), ijson.Cut(f.StopReason, bytes)
	}
	short.Sources = maps.Clone(a.Sources)
	for domain, task := range short.Sources {
		short.Sources[domain] = ijson.Cut(task, bytes)
	}
	return &short
}

func squeezedValue(v *any, bytes int) *any {
	if v == nil {
		return nil
	}
	text := ijson.Canonical(*v)
	if len(text) <= bytes+64 {
		return v
	}
	var short any = strings.ToValidUTF8(ijson.Cut(string(text), bytes), "")
	return &short
}
