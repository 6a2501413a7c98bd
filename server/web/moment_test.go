package web

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"patterngate/patterns/record"
)

// A time on a page is told in the zone of the machine, with the zone, and in UTC for machines.
func TestMomentHasItsZone(t *testing.T) {
	at := time.Date(2026, 7, 1, 22, 5, 9, 0, time.UTC)
	for name, test := range map[string]struct {
		zone *time.Location
		want string
	}{
		"UTC":           {time.UTC, "2026-07-01 22:05:09 UTC"},
		"east":          {time.FixedZone("CEST", 2*3600), "2026-07-02 00:05:09 CEST (+02:00)"},
		"west, half":    {time.FixedZone("NST", -3*3600-1800), "2026-07-01 18:35:09 NST (-03:30)"},
		"without names": {time.FixedZone("-03", -3*3600), "2026-07-01 19:05:09 -03:00"},
		"GMT":           {time.FixedZone("GMT", 0), "2026-07-01 22:05:09 GMT (UTC)"},
	} {
		m := momentOf(at, at.Add(time.Hour).In(test.zone))
		if m.Day != test.want || m.At != "2026-07-01T22:05:09Z" {
			t.Errorf("%s: %q for people and %q for machines, want %q and 2026-07-01T22:05:09Z", name, m.Day, m.At, test.want)
		}
	}
}

// Every time that is told as an age has the time itself beside it: machines read it, and people see it when they point at it.
func TestPagesTellTimesForMachines(t *testing.T) {
	s := newSite(t)
	stands := regexp.MustCompile(`^<time datetime="2026-[0-9-]+T[0-9:]+Z" title="2026-[0-9: -]+ UTC">[^<]*[0-9] (s|min|h)[^<]*</time>$`)
	page := s.get("/").Body.String()
	told := regexp.MustCompile(`(?:asked|lapses) (.*?)</span>`).FindAllStringSubmatch(page, -1)
	if len(told) < 2 {
		t.Fatalf("the inbox tells %d times, want when a call was asked and when it lapses:\n%s", len(told), page)
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
