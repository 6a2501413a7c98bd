package web

import (
	"fmt"
	"testing"

	"patterngate/patterns/record"
	"patterngate/server/web/geometry"
)

// A day of waiting between two calls is drawn as one gap between two phases.
func TestLongWaitIsAGap(t *testing.T) {
	h := &history{t: t}
	h.start(`{}`)
	h.effect(0, 1, "look#1", tool("look", "read", `{}`), `{"state":"ok"}`)
	h.effect(1, 86_401, "human#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}}}`, `{"state":"ok"}`)
	h.effect(86_401, 86_402, "pay#1", tool("pay", "write", `{}`), `{"state":"ok"}`)
	if drawn := draw(record.Read(h.events), nil); !drawn.Short || len(drawn.Gaps) != 1 || len(drawn.Phases) != 2 {
		t.Errorf("short %v, gaps %v, phases %+v", drawn.Short, drawn.Gaps, drawn.Phases)
	}
}

// That waits are drawn shorter is said only where one is.
func TestScaleIsSaid(t *testing.T) {
	for waited, want := range map[float64]bool{0.2: false, 60: true} {
		h := &history{t: t}
		h.start(`{}`)
		h.effect(0, 2, "look#1", tool("look", "read", `{}`), `{"state":"ok"}`)
		h.effect(2, 2+waited, "human#1", `{"effect_kind":"human","name":"approve","input":{"action":{"name":"pay"}}}`, `{"state":"ok"}`)
		if got := draw(record.Read(h.events), nil); got.Short != want {
			t.Errorf("after 2 s of work a wait of %v s is drawn as %+v of %d: short %v, want %v", waited, got.Gaps, got.Wide, got.Short, want)
		}
	}
}

// Parallel branches stand in groups of their own, on one scale, and what follows them stands below.
func TestDrawBranches(t *testing.T) {
	h := &history{t: t}
	h.start(`{}`)
	h.effect(0, 1, "plan#1", `{"effect_kind":"model","name":"tasks","input":{}}`, `{"state":"ok"}`)
	for i := range 3 {
		h.effect(1, 0, fmt.Sprintf("task#%d/work#1", i+1), tool("work", "read", `{}`), "")
	}
	for i := range 3 {
		h.effect(2+float64(i), 3+float64(i), fmt.Sprintf("task#%d/work#2", i+1), tool("work", "read", `{}`), `{"state":"ok","output":{"n":1}}`)
	}
	h.effect(6, 7, "answer#1", `{"effect_kind":"model","name":"answer","input":{}}`, `{"state":"ok"}`)
	drawn := draw(record.Read(h.events), outputsOf(h.events))
	var names []string
	for _, g := range drawn.Groups {
		names = append(names, fmt.Sprintf("%s:%d", g.Name, len(g.Steps)))
	}
	if got, want := fmt.Sprint(names), "[:1 task#1:2 task#2:2 task#3:2 :1]"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
	if steps := drawn.Groups[1].Steps; len(steps[1].Blocks) != 2 || steps[1].Blocks[1].Text != "{\n  \"n\": 1\n}" {
		t.Errorf("blocks %+v", steps[1].Blocks)
	}
}

// Whatever a record says of times, it is drawn on the line.
func FuzzDraw(f *testing.F) {
	f.Add(int64(0), int64(5), int64(3), "a/b#1")
	f.Add(int64(-1<<62), int64(1<<62), int64(0), "")
	f.Fuzz(func(t *testing.T, a, b, c int64, key string) {
		h := &history{t: t}
		h.start(`{}`)
		for i, at := range []int64{a, b, c} {
			h.add(0, "intent", fmt.Sprint(key, i), tool("x", "read", `{}`))
			h.events[len(h.events)-1].At = at
		}
		h.add(0, "outcome", key+"0", `{"state":"ok","output":{}}`)
		h.events[len(h.events)-1].At = c
		for _, g := range draw(record.Read(h.events), nil).Groups {
			for _, s := range g.Steps {
				if s.Bar.X < 0 || s.Bar.Width < geometry.MinBarWidth || s.Bar.X+s.Bar.Width > geometry.TimelineWidth {
					t.Errorf("bar %+v", s.Bar)
				}
			}
		}
	})
}
