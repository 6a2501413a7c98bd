package gateway

import (
	"math"
	"slices"
	"strconv"
)

// A number is searched on the grid of numbers that its schema allows, by their places:
//
//	low ─ … ─ free ─┤ halved ├─ blocked ─ … ─ 4 ─ 2 ─ 1 ─ proposed ─ 1 ─ 2 ─ 4 ─ … ─ high
//
// The steps away from the proposed number double until one number passes. Then the search halves the distance back. It
// also tries the other numbers that the rule holds, if they are nearer.

// grid are the numbers that the search tries: whole multiples of a step.
type grid struct {
	step      float64
	digits    int     // of the step, after its decimal point
	low, high float64 // the first and the last multiple
}

// maxSteps bounds the multiples. Beyond it, a float64 cannot hold every whole number.
const maxSteps = 1 << 53

// cent is the step of numbers if the schema gives no other.
const cent = 0.01

// gridOf returns the numbers that fit a schema. It returns false if the schema allows no numbers.
func gridOf(bounds map[string]any) (grid, bool) {
	step := 0.0
	switch kind := bounds["type"].(type) {
	case string:
		step = stepOf(kind)
	case []any: // a number or null
		for _, k := range kind {
			name, _ := k.(string)
			step = max(step, stepOf(name))
		}
	}
	if step == 0 {
		return grid{}, false
	}
	number := func(name string) (float64, bool) { v, ok := bounds[name].(float64); return v, ok }
	if of, ok := number("multipleOf"); ok && of > 0 && (step == cent || of == math.Trunc(of)) {
		step = of
	}
	text := strconv.FormatFloat(step, 'f', -1, 64)
	g := grid{step: step, low: -maxSteps, high: maxSteps}
	if i := slices.Index([]byte(text), '.'); i >= 0 {
		g.digits = len(text) - i - 1
	}
	if v, ok := number("minimum"); ok {
		g.low = max(g.low, math.Ceil(g.place(v)))
	}
	if v, ok := number("exclusiveMinimum"); ok {
		g.low = max(g.low, math.Floor(g.place(v))+1)
	}
	if v, ok := number("maximum"); ok {
		g.high = min(g.high, math.Floor(g.place(v)))
	}
	if v, ok := number("exclusiveMaximum"); ok {
		g.high = min(g.high, math.Ceil(g.place(v))-1)
	}
	return g, true
}

func stepOf(kind string) float64 {
	switch kind {
	case "integer":
		return 1
	case "number":
		return cent
	}
	return 0
}

// place returns the place of a number on the grid: a whole number if the number is on the grid.
func (g grid) place(v float64) float64 {
	at := v / g.step
	if whole := math.Round(at); math.Abs(whole-at) < 1e-6 {
		return whole
	}
	return min(max(at, -maxSteps), maxSteps)
}

// at returns the number at a place.
func (g grid) at(place float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(place*g.step, 'f', g.digits, 64), 64)
	if err != nil || v == 0 { // avoids -0
		return 0
	}
	return v
}

// number returns the nearest number that passes, among those that the search tries.
func (s *search) number(at spot, from float64) (best float64, ok bool) {
	w := walk{grid: at.grid, from: at.grid.place(from), far: math.Inf(1), passes: func(place float64) bool {
		v := at.grid.at(place)
		return v != from && s.passes(at.name, v)
	}}
	w.away(-1)
	w.away(+1)
	for _, v := range s.values {
		w.near(at.grid.place(v))
	}
	return at.grid.at(w.best), !math.IsInf(w.far, 1)
}

// walk is a search on a grid. Its numbers are places.
type walk struct {
	grid
	from      float64
	passes    func(place float64) bool
	best, far float64 // far is infinite while there is no best
}

// away doubles its steps in one direction until a number passes. It stops when no further number can be better than the
// best.
func (w *walk) away(direction float64) {
	blocked := w.from
	for step := 1.0; ; step *= 2 {
		next := math.Floor(blocked + step)
		if direction < 0 {
			next = math.Ceil(blocked - step)
		}
		next = min(max(next, w.low), w.high)
		if (next-blocked)*direction <= 0 || math.Abs(blocked-w.from) >= w.far {
			return
		}
		if w.passes(next) {
			w.between(blocked, next)
			return
		}
		blocked = next
	}
}

// near tries a number that the rule holds, and its neighbours, if they are nearer than the best.
func (w *walk) near(place float64) {
	for _, next := range []float64{math.Floor(place), math.Ceil(place), math.Floor(place) - 1, math.Ceil(place) + 1} {
		if next >= w.low && next <= w.high && math.Abs(next-w.from) < w.far && w.passes(next) {
			w.between(w.from, next)
		}
	}
}

// between halves the distance between a place that passes and one that does not. It keeps the result if it is nearer
// than the best.
func (w *walk) between(blocked, free float64) {
	for math.Abs(free-blocked) > 1 {
		middle := math.Trunc(blocked + (free-blocked)/2)
		if middle == free || middle == blocked {
			break
		}
		if w.passes(middle) {
			free = middle
		} else {
			blocked = middle
		}
	}
	if far := math.Abs(free - w.from); far < w.far {
		w.best, w.far = free, far
	}
}

// maxValues is how many numbers of a rule are tried.
const maxValues = 12

// numbersIn returns the numbers among values, and the difference of each two. Such a difference is often what a cap
// leaves.
func numbersIn(values map[string]any) []float64 {
	var all []float64
	for _, name := range sortedKeys(values) {
		if v, ok := values[name].(float64); ok && len(all) < maxValues {
			all = append(all, v)
		}
	}
	for i, a := range slices.Clone(all) {
		for _, b := range all[i+1:] {
			if len(all) < 2*maxValues {
				all = append(all, math.Abs(a-b))
			}
		}
	}
	return all
}
