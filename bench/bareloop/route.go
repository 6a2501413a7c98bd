package bareloop

import (
	"context"
	"errors"

	"patterngate/catalog/demo"
	"patterngate/patterns/llm/prompts"
)

const maxAttempts = 3

type route struct {
	Kind   string         `json:"kind"`
	Target string         `json:"target"`
	Args   map[string]any `json:"args"`
}

type delegation struct {
	Attempt     int   `json:"attempt"`
	Route       route `json:"route"`
	Observation any   `json:"observation"`
}

type routeState struct {
	Completed       int      `json:"attempts_completed"`
	Used            []string `json:"routes_used_unique"`
	LastTarget      *string  `json:"last_route_target"`
	LastStatus      any      `json:"last_observation_status"`
	LastObservation any      `json:"last_observation"`
}

type routePayload struct {
	Goal    string `json:"goal"`
	Budgets struct {
		Max  int `json:"max_route_attempts"`
		Left int `json:"remaining_attempts"`
	} `json:"budgets"`
	Forbidden []string     `json:"forbidden_targets"`
	State     routeState   `json:"state_summary"`
	Recent    []delegation `json:"recent_history"`
	Routes    []offer      `json:"available_routes"`
}

// Route hands a ticket over until a specialist has done it and has the answer written: in the reference run three model
// calls, as the first specialist declines.
func (l *Loop) Route(ctx context.Context, ticket string) (Result, error) {
	history, declined := []delegation{}, []string{}
	for attempt := 1; attempt <= maxAttempts; attempt++ {
		var r route
		if err := l.decide(ctx, prompts.Route, l.routePayload(ticket, attempt, declined, history), &r); err != nil {
			return Result{}, err
		}
		observation, err := l.call(ctx, r.Target, r.Args, 1)
		if err != nil {
			return Result{}, err
		}
		history = append(history, delegation{attempt, r, observation})
		if statusOf(observation) == "needs_reroute" {
			declined = append(declined, r.Target)
			continue
		}
		return l.routed(ctx, ticket, r.Target, history)
	}
	return Result{}, errors.New("nobody takes the ticket")
}

func (l *Loop) routed(ctx context.Context, ticket, target string, history []delegation) (Result, error) {
	answer, err := l.ask(ctx, prompts.RouteAnswer, struct {
		Goal     string       `json:"goal"`
		Selected string       `json:"selected_route"`
		History  []delegation `json:"history"`
	}{ticket, target, history}, false)
	if err != nil {
		return Result{}, err
	}
	result := success(answer, history)
	result.Route = target
	return result, nil
}

func (l *Loop) routePayload(ticket string, attempt int, declined []string, history []delegation) routePayload {
	p := routePayload{Goal: ticket, Forbidden: declined, Recent: history, Routes: l.offers(demo.Specialists)}
	p.Budgets.Max, p.Budgets.Left = maxAttempts, maxAttempts-attempt+1
	p.State = routeState{Completed: len(history), Used: declined}
	if len(history) > 0 {
		last := history[len(history)-1]
		p.State.LastTarget, p.State.LastStatus, p.State.LastObservation = &last.Route.Target, statusOf(last.Observation), last.Observation
	}
	return p
}

func statusOf(observation any) any {
	obj, _ := observation.(map[string]any)
	return obj["status"]
}
