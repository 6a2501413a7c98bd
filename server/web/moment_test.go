package web

import (
	"fmt"
	"regexp"
	"testing"

	"patterngate/patterns/record"
)

// Every time that is told as an age has the time itself beside it: machines read it, and people see it when they point at it.
func TestPagesTellTimesForMachines(t *testing.T) {
	s := newSite(t)
	stands := regexp.MustCompile(`^<time datetime="2026-[0-9-]+T[0-9:]+Z" title="2026-[0-9: -]+ UTC">[^<]*[0-9] (s|min|h)[^<]*</time>$`)
	page := s.get("/").Body.String()
	told := regexp.MustCompile(`(?:asked|expires) (.*?)</span>`).FindAllStringSubmatch(page, -1)
	if len(told) < 2 {
		t.Fatalf("the inbox tells %d times, want when a call was asked and when it expires:\n%s", len(told), page)
	}
	for _, row := range told {
		if !stands.MatchString(row[1]) {
			t.Errorf("%q is told without the time for machines and for people", row[0])
		}
	}
}

// What runs side by side is not added up: no phase takes longer than the run.
func TestPhaseTimesAreWallTimes(t *testing.T) {
	h := &history{t: t}
	h.start(`{}`)
	for i, from := range []float64{0, 0.5, 0.6} {
		h.effect(from, 0, fmt.Sprintf("task#%d/work#1", i+1), tool("work", "read", `{}`), "")
	}
	for i, to := range []float64{1.6, 1.1, 2.31} {
		h.add(to, "outcome", fmt.Sprintf("task#%d/work#1", i+1), `{"state":"ok","output":{}}`)
	}
	h.effect(4, 5, "late#1", tool("work", "read", `{}`), `{"state":"ok","output":{}}`)
	drawn := draw(record.Read(h.events), nil)
	if len(drawn.Phases) != 1 {
		t.Fatalf("phases %+v, want one", drawn.Phases)
	}
	if got := drawn.Phases[0].Took; got != "3.31 s" { // 0 to 2.31, and 4 to 5
		t.Errorf("the phase took %s, want 3.31 s", got)
	}
}
