package geometry

import (
	"testing"

	"patterngate/patterns"
	"patterngate/patterns/record"
)

// A wait of a day leaves room for two calls of a second. Later times are never drawn before earlier ones, and no time is drawn
// outside the line.
func TestScale(t *testing.T) {
	second, day := 1.0, 86_400.0
	sc := NewScale(record.Story{Took: 86_402, Rows: []record.Row{
		{After: 0, Took: &second, Kind: string(patterns.ToolEffect), State: string(patterns.OK)},
		{After: 1, Took: &day, Kind: string(patterns.HumanEffect), State: string(patterns.OK)},
		{After: 86_401, Took: &second, Kind: string(patterns.ToolEffect), State: string(patterns.OK)},
	}})
	look, wait, pay := sc.Bar(0, 1, ""), sc.Bar(1, 86_401, ""), sc.Bar(86_401, 86_402, "")
	if look.Width < 300 || pay.Width < 300 || wait.Width < 50 || wait.Width > 200 {
		t.Errorf("look %+v, wait %+v, pay %+v; want the calls to fill most of the line", look, wait, pay)
	}
	if gaps := sc.Gaps(); !sc.Short || len(gaps) != 1 || gaps[0].X != wait.X {
		t.Errorf("short %v, gaps %v; want the one wait, shortened", sc.Short, gaps)
	}
	before := 0.0
	for at := 0.0; at < 90_000; at += 7 {
		x := sc.x(at)
		if x < before || x > TimelineWidth {
			t.Fatalf("x(%v) = %v after %v", at, x, before)
		}
		before = x
	}
}
