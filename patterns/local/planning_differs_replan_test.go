package local_test

import (
	"fmt"
	"maps"
	"slices"
	"testing/synctest"

	"patterngate/gateway/document"
	"patterngate/patterns"
)

// replan is the caller's own, or the model's.
func (s *oracleSession) replan() {
	call := patterns.PlanCall{Verb: patterns.ReplanVerb, PlanID: s.id, Reason: "Why not."}
	task := patterns.Task{Plan: &call}
	s.world.requests = nil
	var reply *revised
	var asked []any
	own := s.IntN(2) == 0
	want, phase := "success", ""
	switch {
	case !slices.ContainsFunc(s.plan.Subs, func(o *oracleSub) bool { return o.Status != "completed" }):
		want, phase = "plan_complete", "replan"
	case s.plan.Replans >= s.plan.MaxReplans:
		want, phase = "max_replans", "replan"
	}
	plan := s.plan.copied()
	var f fate
	switch {
	case own:
		reply = s.mine.revised(s.Rand, s.plan.question(""))
		s.world.fates.fresh, s.world.fates.book = s.mine.fresh, maps.Clone(s.mine.book)
		text := replyText(reply, "")
		if reply.Fault == "non_json" {
			text = "{" + text
		}
		task.Caller = []document.Intent{document.FromText(text, "/plan")}
		s.tell("replan by the caller %s", text)
	case want == "success":
		failed := ""
		for _, status := range []string{"skipped", "failed"} {
			for _, o := range slices.Backward(s.plan.order()) {
				if o.Status == status {
					failed = o.ID
				}
			}
		}
		asked = append(asked, s.plan.question(failed))
		f = s.mine.replan(s.plan.question(failed))
		reply = f.Plan
		s.tell("replan by the model %s %s", f.Cause, f.Text)
	}
	ids := s.plan.ids(func(*oracleSub) bool { return true })
	done := s.plan.ids(s.plan.are("completed"))
	if want == "success" {
		if f.Cause == "" {
			f.Cause = plan.revise(reply)
		}
		if f.Cause != "" {
			want, phase = f.Cause, "replan"
		} else {
			s.plan = plan
			s.run_ = nil
		}
	}
	waited := s.began.Waiting != nil && s.began.RunID != ""
	ended := s.start(patterns.ReplanVerb, s.verb(patterns.ReplanVerb), task)
	r := ended.Result
	o := object{"stop_reason": want, "phase": phase, "view": s.plan.view(s.run_ != nil), "requests": sorted(asked)}
	g := object{"stop_reason": r.StopReason, "phase": r.Phase, "view": seenView(r.Planned.View), "requests": sorted(s.world.requests)}
	if want == "success" {
		o["preserved"], o["removed"] = done, slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(done, id) })
		g["preserved"], g["removed"] = r.Planned.Preserved, r.Planned.Removed
	}
	s.same("replan", o, g)
	if waited && want == "success" { // the run that waited has lost its plan
		synctest.Wait()
		if run, ok := s.engine.Run("local:1", s.began.RunID); !ok || run.Ended.Result.StopReason != patterns.PlanConflict {
			s.Errorf("the run that waited for the caller ended with %q, want plan_conflict", run.Ended.Result.StopReason)
		}
		state, err := s.engine.Plan("local:1", "plan", s.id)
		if err != nil || state.Plan.Last == nil || *state.Plan.Last != (patterns.PlanRun{RunID: s.began.RunID, Status: "stopped", StopReason: patterns.PlanConflict}) {
			s.Errorf("the plan's last run is %+v, %v", state.Plan.Last, err)
		}
		s.began = patterns.Ended{}
	}
}

// round is the next of an iterative plan, by the caller.
func (s *oracleSession) round() {
	n := 1 + s.IntN(3)
	s.mine.fresh++
	s.world.fates.fresh = s.mine.fresh
	m := &oracleMaker{Rand: s.Rand, prefix: fmt.Sprintf("r%d_", s.mine.fresh), earlier: s.plan.Subs, callers: true}
	doc := &revised{Subs: m.make(n), Complete: s.IntN(3) == 0}
	if s.IntN(6) == 0 {
		doc.Subs = nil
	}
	s.both(doc.Subs)
	text := replyText(doc, "")
	if doc.Complete && s.plan.Strategy != "iterative" {
		return
	}
	s.tell("round %s", text)
	call := patterns.PlanCall{Verb: patterns.DecomposeVerb, PlanID: s.id}
	want, phase := "success", ""
	switch {
	case s.plan.Strategy != "iterative", len(s.plan.ids(s.plan.are("pending", "failed"))) > 0:
		want, phase = "invalid_request:mismatch:parent_plan_id", "request"
	case s.plan.Complete:
		want, phase = "plan_complete", "plan"
	case s.plan.Iteration >= s.plan.MaxRounds:
		want, phase = "max_iterations", "plan"
	case len(doc.Subs) == 0 && !doc.Complete:
		want, phase = "invalid_plan:empty", "plan"
	case len(doc.Subs)+len(s.plan.Subs) > s.plan.MaxSubtasks:
		want, phase = "invalid_plan:max_subtasks", "plan"
	default:
		s.plan.Revision++
		s.plan.Iteration++
		s.plan.appended(doc)
		s.run_ = nil
	}
	ended := s.start(patterns.DecomposeVerb, s.verb(patterns.DecomposeVerb), patterns.Task{Goal: s.plan.Goal, Plan: &call, Caller: []document.Intent{document.FromText(text, "/plan")}})
	r := ended.Result
	o := object{"stop_reason": want, "phase": phase}
	g := object{"stop_reason": r.StopReason, "phase": r.Phase}
	if phase != "request" {
		o["view"], g["view"] = s.plan.view(false), seenView(r.Planned.View)
	}
	s.same("round", o, g)
}
