package web

import (
	"cmp"
	"slices"
	"sort"

	"patterngate/patterns/record"
)

// wide is how many units a drawn timeline is wide, and thin the least that a bar takes.
const (
	wide = 1000
	thin = 4
)

// scale puts the time of a run on a line. Time in which nothing but waiting was done is drawn shorter than it was, so that a
// day of waiting leaves room for the milliseconds of a call. The zero scale puts everything at 0.
type scale struct {
	times []float64 // seconds, rising
	at    []float64 // where each of them stands
	idle  []bool    // nothing was done from this time to the next
	short bool      // a stretch of waiting is drawn shorter than it was
}

// idleShare is the most of the line that one stretch of waiting takes, as a part of all that is not waiting.
const idleShare = 0.15

// interval is when a row of a story took place, in seconds after the start.
func interval(row record.Row, whole float64) (from, to float64) {
	from, to = row.After, row.After
	switch {
	case row.Took != nil:
		to += max(0, *row.Took)
	case row.State == record.Open:
		to = max(to, whole)
	}
	return from, to
}

// newScale makes the scale of a story.
func newScale(s record.Story) scale {
	type edge struct {
		at   float64
		busy int
	}
	edges := []edge{{0, 0}, {s.Took, 0}}
	for _, row := range s.Rows {
		from, to := interval(row, s.Took)
		busy := 1
		if row.Waits() || row.State == record.Open {
			busy = 0
		}
		edges = append(edges, edge{from, busy}, edge{to, -busy})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	var sc scale
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

// place gives each time its place on the line.
func (sc *scale) place() {
	working, idle := 0.0, 0
	for i := range len(sc.times) - 1 {
		if sc.idle[i] {
			idle++
		} else {
			working += sc.times[i+1] - sc.times[i]
		}
	}
	longest := working * idleShare
	if idle > 4 { // many pauses together take no more than a few
		longest = longest * 4 / float64(idle)
	}
	sc.at = make([]float64, len(sc.times))
	for i := range len(sc.times) - 1 {
		width := sc.times[i+1] - sc.times[i]
		if sc.idle[i] && working > 0 && width > longest {
			width, sc.short = longest, true
		}
		sc.at[i+1] = sc.at[i] + width
	}
	if whole := sc.at[len(sc.at)-1]; whole > 0 {
		for i := range sc.at {
			sc.at[i] *= wide / whole
		}
	}
}

// x is where a time stands.
func (sc scale) x(t float64) float64 {
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

// bar is a stretch of time as it is drawn.
type bar struct {
	X, Width int
	Class    string
}

// bar draws the time from one moment to another, never too thin to see and never over the end of the line.
func (sc scale) bar(from, to float64, class string) bar {
	x, end := int(sc.x(from)), int(sc.x(to)+0.5)
	width := min(max(end-x, thin), wide)
	return bar{X: max(0, min(x, wide-width)), Width: width, Class: class}
}

// gaps are the stretches of waiting, as far as they are seen.
func (sc scale) gaps() []bar {
	var list []bar
	for i := range len(sc.times) - 1 {
		if sc.idle[i] && sc.at[i+1]-sc.at[i] >= thin {
			list = append(list, bar{X: int(sc.at[i]), Width: int(sc.at[i+1] - sc.at[i]), Class: "gap"})
		}
	}
	return list
}
