package openai

import (
	"context"
	"errors"
	"fmt"

	"patterngate/patterns"
)

// MaxFallbacks is how many models may stand behind one.
const MaxFallbacks = 2

// Chain asks its models one after the other: the next where one cannot be reached, or its server broke (a status of 5xx). Any
// other fault is the answer. It is safe for concurrent use.
type Chain struct{ models []*Client }

var _ patterns.Model = (*Chain)(nil)

// NewChain returns a chain of one model and at most [MaxFallbacks] behind it.
func NewChain(first *Client, behind ...*Client) (*Chain, error) {
	if len(behind) > MaxFallbacks {
		return nil, fmt.Errorf("llm: %d models behind %s; want at most %d", len(behind), first.Name(), MaxFallbacks)
	}
	return &Chain{append([]*Client{first}, behind...)}, nil
}

// Name is the first model's.
func (c *Chain) Name() string { return c.models[0].Name() }

// Ask implements [patterns.Model]. All requests count against what the question may cost, and the answer has each model's usage.
func (c *Chain) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	var all patterns.Answer
	for i, m := range c.models {
		answer, err := m.ask(ctx, q)
		all.Text, all.Usage, all.Models = answer.Text, all.Usage.Plus(answer.Usage), patterns.PlusModels(all.Models, answer.Models)
		if err == nil {
			return all, nil
		}
		if q.MaxRequests > 0 {
			q.MaxRequests -= answer.Usage.Requests
		}
		if i == len(c.models)-1 || q.MaxRequests == 0 || ctx.Err() != nil || !leavesToNext(err) {
			return all, outward(ctx, err)
		}
	}
	return all, errNoRequest
}

// leavesToNext reports whether a fault is one that another model may not have.
func leavesToNext(err error) bool {
	var known *fault
	return errors.As(err, &known) && (known.reason == unreachableReason || known.code >= 500)
}

// Team has one model make every decision and another write every text.
type Team struct{ Decide, Write patterns.Model }

var _ patterns.Model = Team{}

// Name is that of who decides; results name those that answered.
func (t Team) Name() string { return t.Decide.Name() }

// Ask implements [patterns.Model].
func (t Team) Ask(ctx context.Context, q patterns.Question) (patterns.Answer, error) {
	if q.Ask == patterns.AskAnswer || q.Ask == patterns.AskWork {
		return t.Write.Ask(ctx, q)
	}
	return t.Decide.Ask(ctx, q)
}
