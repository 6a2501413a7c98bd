package local_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"patterngate/catalog"
	"patterngate/gateway"
	"patterngate/patterns"
	"patterngate/patterns/local"
)

// held is a house whose leaf is under way until it is cut or let go.
func held(t testing.TB, effect catalog.Effect) (h *house, entered, open chan struct{}) {
	entered, open = make(chan struct{}, 100), make(chan struct{})
	h = desk(t, func(own *catalog.Tool) {
		own.Effect = effect
		own.Do = func(ctx context.Context, _ catalog.Call) (any, error) {
			entered <- struct{}{}
			select {
			case <-open:
				return object{"id": "1"}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	})
	return h, entered, open
}

// With a run end those that it began, however it ends.
func TestChildrenEndWithTheirParents(t *testing.T) {
	for name, tt := range map[string]struct {
		effect catalog.Effect
		end    func(t *testing.T, p port, id string)
		want   string
		leaf   string
	}{
		"cancelled, reads": {catalog.Read, func(t *testing.T, p port, id string) {
			if _, err := p.Cancel(t.Context(), mine, id, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
				t.Error(err)
			}
		}, "cancelled", "cancelled"},
		"cancelled, writes": {catalog.Write, func(t *testing.T, p port, id string) {
			if _, err := p.Cancel(t.Context(), mine, id, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
				t.Error(err)
			}
		}, "cancelled", "cancelled"},
		"the child is cancelled": {catalog.Read, func(t *testing.T, p port, id string) {
			if _, err := p.Cancel(t.Context(), mine, childOf(t, p.Engine, id).RunID, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
				t.Error(err)
			}
		}, "route_error:desk", "cancelled"},
		"the leaf is cancelled": {catalog.Write, func(t *testing.T, p port, id string) {
			leaf := childOf(t, p.Engine, childOf(t, p.Engine, id).RunID).RunID
			if _, err := p.Cancel(t.Context(), mine, leaf, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
				t.Error(err)
			}
		}, "route_error:desk", "cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"memory", "file"} {
				t.Run(kind, func(t *testing.T) {
					t.Parallel()
					h, entered, _ := held(t, tt.effect)
					e := &local.Engine{Source: h}
					if kind == "file" {
						e = opened(t, newState(t), h)
						e.Go()
					}
					p := port{e, &begun{}}
					job := h.job("hall")
					job.Wait = -1
					began, err := e.Start(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					<-entered
					below := childOf(t, e, began.RunID)
					leaf := childOf(t, e, below.RunID)
					tt.end(t, p, began.RunID)
					if r := p.until(t, began.RunID, patterns.Over).Ended.Result; r.StopReason != tt.want {
						t.Errorf("the hall ended with %s, want %s", r.StopReason, tt.want)
					}
					if r := p.until(t, leaf.RunID, patterns.Over).Ended.Result; r.StopReason != tt.leaf {
						t.Errorf("the leaf ended with %s, want %s", r.StopReason, tt.leaf)
					}
					p.until(t, below.RunID, patterns.Over)
					for _, id := range []string{began.RunID, below.RunID, leaf.RunID} {
						p.intact(t, id)
					}
				})
			}
		})
	}
}

// Who cancels a run that waits with its child runs cancels them all, and nobody is asked any more.
func TestWaitingChildrenEndWithTheirParents(t *testing.T) {
	t.Parallel()
	h := desk(t, nil)
	h.asks()
	p := port{opened(t, newState(t), h), &begun{}}
	p.Go()
	s, q := p.waiting(t, h, "hall")
	below := childOf(t, p.Engine, s.RunID)
	leaf := childOf(t, p.Engine, below.RunID)
	if _, err := p.Cancel(t.Context(), mine, s.RunID, patterns.Note{By: mine, Channel: "mcp"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{s.RunID, below.RunID, leaf.RunID} {
		if r := p.until(t, id, patterns.Over).Ended.Result; r.StopReason != "cancelled" {
			t.Errorf("%s ended with %s", id, r.StopReason)
		}
	}
	if _, err := p.Approvals().Decide(say(q, gateway.ChooseApprove, nil)); err == nil {
		t.Error("who is asked no more was heard")
	}
	if len(h.done) != 0 {
		t.Error("it acted")
	}
}

// A switch that is on stops a run with its child runs: one of its own pattern, of a child's, and of a tool that one calls.
func TestSwitchesReachChildRuns(t *testing.T) {
	for name, s := range map[string]patterns.Switch{
		"parent": {Pattern: "hall"}, "child": {Pattern: "desk"}, "leaf": {Pattern: "pay"}, "tool": {Tool: "own"}, "all": {},
	} {
		t.Run(name, func(t *testing.T) {
			onBothHouses(t, func(t testing.TB) *house { return desk(t, nil) }, func(t *testing.T, h *house, p port) {
				if err := p.KillSwitch(true, s, gateway.SignedAct{}); err != nil {
					t.Fatal(err)
				}
				ended, err := h.start(p.Engine, "hall")
				if err != nil || ended.Result.StopReason != patterns.ReasonKillSwitch || len(h.done) != 0 {
					t.Errorf("%s after %d acts, %v", ended.Result.StopReason, len(h.done), err)
				}
			})
		})
	}
}

// A switch about the parent's pattern that is set while its child runs stops the child before its next effect.
func TestSwitchOfTheParentWhileItsChildRuns(t *testing.T) {
	for _, kind := range []string{"memory", "file"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h, entered, open := held(t, catalog.Read)
			e := &local.Engine{Source: h}
			if kind == "file" {
				e = opened(t, newState(t), h)
				e.Go()
			}
			p := port{e, &begun{}}
			job := h.job("hall")
			job.Wait = -1
			began, err := e.Start(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			<-entered
			if err := e.KillSwitch(true, patterns.Switch{Pattern: "hall"}, gateway.SignedAct{}); err != nil {
				t.Fatal(err)
			}
			below := childOf(t, e, began.RunID)
			close(open)
			for _, id := range []string{began.RunID, below.RunID} { // the desk may not write its answer
				if r := p.until(t, id, patterns.Over).Ended.Result; r.StopReason != patterns.ReasonKillSwitch {
					t.Errorf("%s ended with %s", id, r.StopReason)
				}
			}
		})
	}
}

// Runs lie four deep in each other at most, whatever the configuration says.
func TestDepthOfChildRuns(t *testing.T) {
	onBothHouses(t, func(t testing.TB) *house {
		h := newHouse(t, nil)
		h.over(gateway.Routing, "d4", toPay, "pay")
		h.over(gateway.Routing, "d3", to("d4", `{"goal":"x"}`), "d4")
		h.over(gateway.Routing, "d2", to("d3", `{"goal":"x"}`), "d3")
		h.over(gateway.Routing, "d1", to("d2", `{"goal":"x"}`), "d2")
		return h
	}, func(t *testing.T, h *house, p port) {
		ended, err := h.start(p.Engine, "d1")
		if err != nil || ended.Result.StopReason != "route_error:d2" || len(h.done) != 0 || len(p.RunIDs(mine)) != 4 {
			t.Errorf("%s after %d acts in %d runs, %v", ended.Result.StopReason, len(h.done), len(p.RunIDs(mine)), err)
		}
		if ended, err = h.start(p.Engine, "d2"); err != nil || !ended.Result.OK() {
			t.Errorf("four deep: %s, %v", ended.Result.StopReason, err)
		}
	})
}

// The goal that a call gives a run is judged as a caller's own would be: before anything is begun.
func TestGoalsOfChildRuns(t *testing.T) {
	for name, goal := range map[string]string{"blank": " \t", "too long": strings.Repeat("x", gateway.MaxGoal+1), "number": ""} {
		t.Run(name, func(t *testing.T) {
			onBothHouses(t, func(t testing.TB) *house {
				h := desk(t, nil)
				text, _ := json.Marshal(map[string]any{"goal": goal})
				if h.says["hall"] = to("desk", string(text)); name == "number" {
					h.says["hall"] = to("desk", `{"goal":5}`)
				}
				return h
			}, func(t *testing.T, h *house, p port) {
				ended, err := h.start(p.Engine, "hall")
				if err != nil || ended.Result.StopReason != "route_bad_args:desk" || len(p.RunIDs(mine)) != 1 {
					t.Errorf("%s, %d runs, %v", ended.Result.StopReason, len(p.RunIDs(mine)), err)
				}
			})
		})
	}
}
