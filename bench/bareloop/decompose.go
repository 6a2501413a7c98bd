package bareloop

import (
	"context"

	"patterngate/catalog/demo"
	"patterngate/patterns/llm/prompts"
)

type step struct {
	ID    string         `json:"id"`
	Title string         `json:"title"`
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args"`
}

type stepDone struct {
	StepNo      int  `json:"step_no"`
	PlanStep    step `json:"plan_step"`
	Observation any  `json:"observation"`
}

// Decompose asks for a plan, takes its steps in order and has the observations combined: two model calls.
func (l *Loop) Decompose(ctx context.Context, goal string) (Result, error) {
	var plan struct {
		Steps []step `json:"steps"`
	}
	err := l.decide(ctx, prompts.Plan, struct {
		Goal  string  `json:"goal"`
		Max   int     `json:"max_plan_steps"`
		Tools []offer `json:"available_tools"`
	}{goal, 6, l.offers(demo.DecompositionTools)}, &plan)
	if err != nil {
		return Result{}, err
	}
	var history []stepDone
	for i, s := range plan.Steps {
		observation, err := l.call(ctx, s.Tool, s.Args, 1)
		if err != nil {
			return Result{}, err
		}
		history = append(history, stepDone{i + 1, s, observation})
	}
	answer, err := l.ask(ctx, prompts.PlanAnswer, struct {
		Goal    string     `json:"goal"`
		History []stepDone `json:"history"`
	}{goal, history}, false)
	if err != nil {
		return Result{}, err
	}
	result := success(answer, history)
	result.Plan = plan.Steps
	return result, nil
}
