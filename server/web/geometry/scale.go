package geometry

import (
	"cmp"
	"slices"
	"sort"

	"patterngate/patterns/record"
)

// Widths in the units of an SVG view box.
const (
	TimelineWidth = 1000 // of a whole timeline
	MinBarWidth   = 4    // of a bar, however short its time is
)

// Scale maps the time of a run to positions on a line that is [TimelineWidth] units long. It shortens long stretches in which
// the run only waits, so that a call of milliseconds stays visible beside a wait of a day. The zero Scale maps every time to 0.
type Scale struct {
	Short bool // at least one wait is drawn shorter than in proportion

	times []float64 // seconds after the start, rising
	at    []float64 // the position of each of times
	idle  []bool    // whether the run only waits from each time to the next
}

// idleShare bounds the width of one wait: this share of the width of all work.
const idleShare = 0.15

// Interval returns the time of a row, in seconds after the start of the run. whole is how long the run took so far: a row that
// is still open ends there.
func Interval(row record.Row, whole float64) (from, to float64) {
	from, to = row.After, row.After
	switch {
	case row.Took != nil:
		to += max(0, *row.Took)
	case row.State == record.Open:
		to = max(to, whole)
	}
	return from, to
}

// NewScale returns the scale for the rows of a story.
func NewScale(s record.Story) Scale {
	type edge struct {
		at   float64
		busy int
	}
	edges := []edge{{0, 0}, {s.Took, 0}}
	for _, row := range s.Rows {
		from, to := Interval(row, s.Took)
		busy := 1
		if row.Waits() || row.State == record.Open {
			busy = 0
		}
		edges = append(edges, edge{from, busy}, edge{to, -busy})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var sc Scale
	busy := 0
	for _, e := range edges {
		busy += e.busy
		if n := len(sc.times); n > 0 && sc.times[n-1] == e.at {
			sc.idle[n-1] = busy == 0
			continue
		}
		sc.times, sc.idle = append(sc.times, e.at), append(sc.idle, busy == 0)
	}
	sc.place()
	return sc
}

// place computes the position of each time.
func (sc *Scale) place() {
	working, idle := 0.0, 0
	for i := range len(sc.times) - 1 {
		if sc.idle[i] {
			idle++
		} else {
			working += sc.times[i+1] - sc.times[i]
		}
	}
	longest := working * idleShare
	if idle > 4 { // many waits together take no more room than four
		longest = longest * 4 / float64(idle)
	}
	sc.at = make([]float64, len(sc.times))
	for i := range len(sc.times) - 1 {
		width := sc.times[i+1] - sc.times[i]
		if sc.idle[i] && working > 0 && width > longest {
			width, sc.Short = longest, true
		}
		sc.at[i+1] = sc.at[i] + width
	}
	if whole := sc.at[len(sc.at)-1]; whole > 0 {
		for i := range sc.at {
			sc.at[i] *= TimelineWidth / whole
		}
	}
}

// x returns the position of a time.
func (sc Scale) x(t float64) float64 {
	i := sort.SearchFloat64s(sc.times, t)
	switch {
	case len(sc.times) == 0:
		return 0
	case i == len(sc.times):
		return sc.at[i-1]
	case i == 0 || sc.times[i] == t:
		return sc.at[i]
	}
	part := (t - sc.times[i-1]) / (sc.times[i] - sc.times[i-1])
	return sc.at[i-1] + part*(sc.at[i]-sc.at[i-1])
}

// Bar is a stretch of time on the line.
type Bar struct {
	X, Width int    // 0 <= X and X+Width <= [TimelineWidth]
	Class    string // CSS class
}

// Bar returns the bar from one time to another, both in seconds after the start. The bar is at least [MinBarWidth] wide and does
// not leave the line.
func (sc Scale) Bar(from, to float64, class string) Bar {
	x, end := int(sc.x(from)), int(sc.x(to)+0.5)
	width := min(max(end-x, MinBarWidth), TimelineWidth)
	return Bar{X: max(0, min(x, TimelineWidth-width)), Width: width, Class: class}
}

// Gaps returns the waits that are wide enough to see.
func (sc Scale) Gaps() []Bar {
	var list []Bar
	for i := range len(sc.times) - 1 {
		if sc.idle[i] && sc.at[i+1]-sc.at[i] >= MinBarWidth {
			list = append(list, Bar{X: int(sc.at[i]), Width: int(sc.at[i+1] - sc.at[i]), Class: "gap"})
		}
	}
	return list
}
