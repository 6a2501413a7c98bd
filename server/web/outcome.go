package web

import (
	"cmp"
	"time"

	"patterngate/gateway"
	"patterngate/gateway/stopreason"
	"patterngate/ijson"
	"patterngate/patterns"
	"patterngate/patterns/record"
	"patterngate/server/web/wording"
)

// outcome describes how a question ended that is no longer open.
type outcome struct {
	State, Title, Class string
	Lines               []string
	By, Channel         string
	Assurance           gateway.Assurance
	Honest              string // what the assurance means
	At                  wording.Moment
	Comment             string
	Changes             []change
	Kept                bool // the changed arguments are known
	Edited              bool
	Ran                 []argument // of an edited call: all arguments that were approved, or of the call that was started
	RanTitle            string
	Goes                string    // how the run continues by itself
	Continue            string    // the line for the chat; "" if there is nothing to continue
	Resume              string    // the command, if this server does not continue runs; otherwise ""
	Ended               *runEnded // how the run ended; nil: it has not
}

// runEnded says how a run ended after a decision.
type runEnded struct {
	Status, Class string
	Lines         []string
}

func (p *Pages) outcome(a patterns.Asked, now time.Time) *outcome {
	o := &outcome{Class: "bad"}
	switch a.State {
	case patterns.AskedExpired:
		o.State, o.Title, o.Lines = wording.StateExpired, wording.TitleExpired, []string{wording.ExpiredMeans}
	case patterns.AskedOver:
		o.State, o.Title, o.Lines = wording.StateClosed, wording.TitleOver, []string{wording.OverMeans}
	case patterns.AskedDecided:
		o.decided(a, now)
		o.By = wording.Name(p.named(o.By))
		if _, whole := a.Plan(); whole {
			o.aboutPlan(a)
		}
	default:
		o.State, o.Title = wording.StateClosed, wording.TitleNotOpen
	}
	if a.Given != nil && runID.MatchString(a.Question.Run) {
		o.Continue, o.Goes = "continue "+a.Question.Run, wording.RunContinues
		if a.Given.Choice == gateway.ChooseReject {
			o.Goes = wording.RunTakesRejection
		}
		if !a.Spent && (p.config.Alive == nil || !p.config.Alive()) {
			o.Resume = resumeCommand(a.Question.Run)
		}
	}
	return o
}

// goOn adds from the run's record how the run continues, or how it ended.
func (o *outcome) goOn(s record.Story, a patterns.Asked, now time.Time) {
	if o.Edited {
		o.ran(s, a)
	}
	if row, blocked := s.BlockedAfter(a.ID); blocked {
		o.State, o.Title, o.Class = wording.StateBlocked, wording.TitleThenBlocked, "bad"
		o.Lines = []string{wording.ThenBlocked(cmp.Or(row.Rule, row.Why), row.Said)}
	}
	if s.EndedAt != "" {
		o.ended(s, a, now)
	}
	switch {
	case a.Given == nil:
	case s.EndedAt != "":
		o.Goes, o.Resume = wording.RunHasEnded, ""
	case a.Given.Choice == gateway.ChooseReject && s.Kind == string(gateway.Supervisor):
		o.Goes = wording.RunStopsHere
	}
}

// ran adds the arguments of the call that used the approval, from the run's record.
func (o *outcome) ran(s record.Story, a patterns.Asked) {
	for _, row := range s.Rows {
		if row.Grant != a.ID || row.Kind != string(patterns.ToolEffect) {
			continue
		}
		if v, err := ijson.Decode(row.Input()); err == nil {
			if args, is := v.(map[string]any); is {
				o.Ran, o.RanTitle = argumentsOf(args, schemaOf(a.Schema)), wording.ArgsExecuted
			}
		}
	}
}

// ended adds how the run ended, and what became of the call that was asked about.
func (o *outcome) ended(s record.Story, a patterns.Asked, now time.Time) {
	e := &runEnded{}
	e.Status, e.Class = wording.RunStatus(s.Status)
	for _, row := range s.Rows {
		if row.Grant == a.ID && row.Grant != "" {
			said, _ := wording.RowState(row)
			e.Lines = append(e.Lines, wording.CallCameTo(row.Name, said))
		}
	}
	if words := gateway.AnsweredWords(s.Answered); words != "" {
		e.Lines = append(e.Lines, wording.Capitalize(words)+".")
	}
	if s.StopReason != patterns.Success {
		meaning := ""
		if row, ok := stopreason.Lookup(s.StopReason); ok {
			meaning = row.Meaning
		}
		e.Lines = append(e.Lines, wording.StoppedBecause(s.StopReason, meaning))
	}
	if at := wording.ParseMoment(s.EndedAt, now); at.At != "" && a.Given != nil {
		if ended, err := time.Parse(time.RFC3339, s.EndedAt); err == nil && ended.After(a.Given.At) {
			e.Lines = append(e.Lines, wording.EndedAfter(ended.Sub(a.Given.At)))
		}
	}
	o.Ended = e
}

// decided adds a person's decision.
func (o *outcome) decided(a patterns.Asked, now time.Time) {
	if a.Given == nil {
		o.State, o.Title, o.Lines = wording.StateDecided, wording.TitleDecided, []string{wording.DecisionDoesNotCount}
		return
	}
	g := *a.Given
	o.State = wording.Decision(string(g.Choice))
	o.By, o.Channel, o.Assurance, o.Honest = wording.Name(g.By), wording.Name(g.Channel), g.Assurance, wording.AssuranceProves(string(g.Assurance), g.Key)
	o.At, o.Comment = wording.MomentOf(g.At, now), wording.Lines(g.Comment, wording.MaxComment)
	switch g.Choice {
	case gateway.ChooseApprove:
		o.Title, o.Class, o.Lines = wording.TitleApproved, "good", []string{wording.ApprovedMeans}
		if a.Spent {
			o.Lines = nil // what may happen has happened
		}
	case gateway.ChooseEdit:
		o.Title, o.Class, o.Edited, o.Kept = wording.TitleEdited, "good", true, g.Args != nil
		o.Lines = []string{wording.EditedMeans}
		if a.Spent {
			o.Lines = []string{wording.EditedBegan}
		}
		if o.Kept {
			o.Ran, o.RanTitle = argumentsOf(g.Args, schemaOf(a.Schema)), wording.ArgsApproved
			o.Changes = changesOf(a.Question.Args, g.Args, schemaOf(a.Schema))
		}
	case gateway.ChooseReject:
		o.Title, o.Lines = wording.TitleRejected, []string{wording.RejectedMeans}
	}
	if a.Spent {
		o.Lines = append(o.Lines, wording.CallBegan)
	}
}

// aboutPlan describes a decision about a whole plan.
func (o *outcome) aboutPlan(a patterns.Asked) {
	if a.Given == nil {
		return
	}
	o.Lines = []string{wording.PlanRejectedMeans}
	if a.Given.Choice == gateway.ChooseApprove {
		o.Lines = []string{wording.PlanApprovedMeans}
	}
	if a.Spent {
		o.Lines = append(o.Lines, wording.FirstStepBegan)
	}
}

// ruleWords says why the policy asks: in the words of the rule or the registry, or else in words that are true for
// every rule.
func ruleWords(a patterns.Asked) string {
	if a.Text != "" {
		if a.Reason != "" && a.Reason != a.Rule {
			return wording.Clip(a.Text, maxSaid) + " (" + wording.Name(a.Reason) + ")"
		}
		return wording.Clip(a.Text, maxSaid)
	}
	for _, reason := range []string{a.Reason, "supervisor_block:" + a.Rule, "policy_block:" + a.Rule} {
		if row, ok := stopreason.Lookup(reason); ok && row.Name == reason {
			return row.Meaning
		}
	}
	if _, whole := a.Plan(); whole {
		return wording.PlanNeedsPerson
	}
	if a.Reason == a.Rule {
		return wording.CallNeedsPerson
	}
	return wording.Clip(a.Reason, wording.MaxComment)
}
