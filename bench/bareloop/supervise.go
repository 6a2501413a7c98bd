package bareloop

import (
	"context"
	"errors"
	"maps"

	"patterngate/catalog/demo"
	"patterngate/patterns/llm/prompts"
)

const (
	maxSteps  = 8
	autoLimit = 1000 // USD that are refunded without a person
	personCap = 800  // USD that the make-believe person approves
)

type action struct {
	Kind   string         `json:"kind"`
	Name   string         `json:"name,omitempty"`
	Args   map[string]any `json:"args,omitempty"`
	Answer string         `json:"answer,omitempty"`
}

type reviewed struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

type approval struct {
	Approved bool   `json:"approved"`
	Comment  string `json:"comment"`
	Revised  action `json:"revised_action"`
}

type actionDone struct {
	Step         int       `json:"step"`
	Action       action    `json:"action"`
	Supervisor   reviewed  `json:"supervisor"`
	Executed     action    `json:"executed_action"`
	ExecutedFrom string    `json:"executed_from"`
	Observation  any       `json:"observation"`
	Human        *approval `json:"human_approval,omitempty"`
}

type actionSummary struct {
	Step         int    `json:"step"`
	Proposed     string `json:"proposed_tool"`
	Decision     string `json:"supervisor_decision"`
	Executed     string `json:"executed_tool"`
	ExecutedFrom string `json:"executed_from"`
	Status       any    `json:"observation_status"`
}

type actionState struct {
	Completed int         `json:"steps_completed"`
	Used      []string    `json:"tools_used"`
	Decisions []string    `json:"supervisor_decisions"`
	Last      *actionDone `json:"last_step"`
}

type actionPayload struct {
	Goal   string          `json:"goal"`
	State  actionState     `json:"state_summary"`
	Recent []actionSummary `json:"recent_step_summaries"`
	Tools  []offer         `json:"available_tools"`
}

// Supervise carries out one proposed action after the other until the closing answer: in the reference run four model
// calls. A large refund is cut to what the make-believe person would approve; nothing else is judged.
func (l *Loop) Supervise(ctx context.Context, goal string) (Result, error) {
	history := []actionDone{}
	for n := 1; n <= maxSteps; n++ {
		var a action
		if err := l.decide(ctx, prompts.Action, l.actionPayload(goal, history), &a); err != nil {
			return Result{}, err
		}
		done := actionDone{Step: n, Action: a, Executed: a, ExecutedFrom: "original"}
		if a.Kind == "final" {
			done.Supervisor = reviewed{"approve", "final_with_context"}
			done.Observation = map[string]any{"status": "final"}
			return success(a.Answer, append(history, done)), nil
		}
		done.judge()
		observation, err := l.call(ctx, a.Name, done.Executed.Args, 1)
		if err != nil {
			return Result{}, err
		}
		done.Observation = observation
		history = append(history, done)
	}
	return Result{}, errors.New("too many steps")
}

// judge is what is left of the supervisor: the words for the history and the person's cap.
func (d *actionDone) judge() {
	d.Supervisor = reviewed{"approve", map[string]string{
		"get_refund_context": "read_only_context", "issue_refund": "refund_within_auto_limit", "send_refund_email": "email_after_refund",
	}[d.Action.Name]}
	amount, _ := d.Action.Args["amount_usd"].(float64)
	if d.Action.Name != "issue_refund" || amount <= autoLimit {
		return
	}
	d.Supervisor = reviewed{"escalate", "high_refund_requires_human"}
	d.Executed.Args = maps.Clone(d.Action.Args)
	d.Executed.Args["amount_usd"] = float64(personCap)
	d.ExecutedFrom = "human_revised"
	d.Human = &approval{true, "approved_with_cap:800.0", d.Executed}
}

func (l *Loop) actionPayload(goal string, history []actionDone) actionPayload {
	p := actionPayload{Goal: goal, Tools: l.offers(demo.RefundTools)}
	p.State = actionState{Completed: len(history), Used: []string{}, Decisions: []string{}}
	p.Recent = []actionSummary{}
	for i, d := range history {
		p.State.Used = append(p.State.Used, d.Action.Name)
		p.State.Decisions = append(p.State.Decisions, d.Supervisor.Decision)
		if i >= len(history)-3 {
			p.Recent = append(p.Recent, actionSummary{d.Step, d.Action.Name, d.Supervisor.Decision, d.Executed.Name, d.ExecutedFrom, statusOf(d.Observation)})
		}
		if i == len(history)-1 {
			p.State.Last = &history[i]
		}
	}
	return p
}
