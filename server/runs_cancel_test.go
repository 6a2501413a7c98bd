package server

import (
	"context"
	"fmt"
	"testing"

	"patterngate/patterns"
	"patterngate/server/arguments"
)

// unwritable is an engine that cannot record a cancellation.
type unwritable struct{ patterns.Engine }

func (e unwritable) Cancel(_ context.Context, principal, id string, _ patterns.Note) (patterns.Snapshot, error) {
	s, _ := e.Run(principal, id)
	return s, fmt.Errorf("%w: the disk is full", patterns.ErrJournal)
}

// A cancellation that cannot be recorded is said to be not taken, and is no fault of ours.
func TestUnrecordedCancellation(t *testing.T) {
	c := connect(t, serving(t, func(c *Config) { c.Engine = unwritable{c.Engine} }))
	id := idOf(t, c.call(sv, startRefund).result(t))
	r := c.call(arguments.CancelTool, about(id)).result(t)
	problems, _ := r.Structured["problems"].([]any)
	if r.IsError || r.Structured["status"] != "waiting" || len(problems) != 1 || problems[0].(map[string]any)["reason"] != arguments.ReasonNotTaken {
		t.Errorf("run_cancel: %v", r.Structured)
	}
}
