package step

import (
	"reflect"
	"testing"
	"time"

	"patterngate/gateway"
	"patterngate/patterns"
)

// standing is a run in which nothing happens.
type standing struct{ patterns.Run }

func (standing) ID() string          { return "run_0000000000000001" }
func (standing) Now() time.Time      { return time.Unix(0, 0) }
func (standing) Recorded() time.Time { return time.Unix(0, 0) }

// TestFactsHoldTheInputs holds that rules judge a call with the inputs that the run has now.
func TestFactsHoldTheInputs(t *testing.T) {
	t.Parallel()
	l := Begin(standing{}, patterns.Spec{Kind: gateway.Planning}, patterns.Task{Inputs: patterns.Inputs{"region": "EU"}}, gateway.Config{})
	if got := l.facts().Input; !reflect.DeepEqual(got, map[string]any{"region": "EU"}) {
		t.Errorf("at first the facts have the inputs %v", got)
	}
	l.Instruct(patterns.Inputs{"region": "US"}) // those of a stored plan
	if got := l.facts().Input; !reflect.DeepEqual(got, map[string]any{"region": "US"}) {
		t.Errorf("then the facts have the inputs %v", got)
	}
}
