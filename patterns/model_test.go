package patterns

import (
	"context"
	"testing"
)

// named is a model that has only a name.
type named string

func (n named) Name() string { return string(n) }

func (named) Ask(context.Context, Question) (Answer, error) { return Answer{}, nil }

// The report of a question for a proposal names its author. It names a model only if there is one.
func TestDoneBy(t *testing.T) {
	asks := func(a Ask) Effect { return Effect{Act: AskAct{&Question{Ask: a}}, Doing: "words"} }
	for name, tt := range map[string]struct {
		effect Effect
		model  Model
		want   string
	}{
		"rules":          {asks(AskPlan), named("rules"), "words (rules)"},
		"a model":        {asks(AskAction), named("gpt-4.1-mini"), "words (model)"},
		"nobody known":   {asks(AskRoute), nil, "words"},
		"a final answer": {asks(AskAnswer), named("rules"), "words"},
		"a call":         {Effect{Act: CallAct{}, Doing: "words"}, named("rules"), "words"},
	} {
		if got := tt.effect.DoneBy(tt.model); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	for _, a := range []Ask{AskPlan, AskTasks, AskRoute, AskAction, AskSubtasks, AskReplan} {
		if a.Choosing() == "" {
			t.Errorf("progress says nothing while %s is chosen", a)
		}
	}
}
