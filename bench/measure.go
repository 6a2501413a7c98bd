package bench

import (
	"runtime"
	"slices"
	"time"
)

// Side is one of the programs that do the same work.
type Side struct {
	Name string
	Run  func(Workload) error
}

// Figures are the times of one side at one workload: the p50 of each round.
type Figures []time.Duration

// Compare measures all sides at a workload in rounds. In each round, every side makes n runs in a row. The first side
// changes from round to round, so that other load on the machine affects all sides equally.
func Compare(w Workload, sides []Side, rounds, n int) ([]Figures, error) {
	return InTurn(len(sides), rounds, func(side int) (time.Duration, error) {
		return block(n, func() error { return sides[side].Run(w) })
	})
}

// InTurn measures several sides in rounds. The first side changes from round to round.
func InTurn(sides, rounds int, measure func(side int) (time.Duration, error)) ([]Figures, error) {
	figures := make([]Figures, sides)
	for round := range rounds {
		for i := range sides {
			at := (i + round) % sides
			took, err := measure(at)
			if err != nil {
				return nil, err
			}
			figures[at] = append(figures[at], took)
		}
	}
	return figures, nil
}

// block returns the median time of n runs, after some runs that do not count.
func block(n int, run func() error) (time.Duration, error) {
	runtime.GC() // removes the garbage of the other sides
	for range max(1, n/10) {
		if err := run(); err != nil {
			return 0, err
		}
	}
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	return median(times), nil
}

// Median returns the median of the rounds.
func (f Figures) Median() time.Duration { return median(slices.Clone(f)) }

// Over returns the median of the ratios to another side's figures. Each ratio is within one round.
func (f Figures) Over(floor Figures) float64 { return f.To(floor).Median }

// Spread is the median of a list and the range of its middle half. For three values or fewer, Low and High are the
// smallest and the largest value.
type Spread struct{ Median, Low, High float64 }

// SpreadOf returns the spread of a list. It sorts the list.
func SpreadOf(list []float64) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	middle, out := median(list), len(list)/4
	return Spread{middle, list[out], list[len(list)-1-out]}
}

// Spread returns the spread of the rounds, in seconds.
func (f Figures) Spread() Spread {
	seconds := make([]float64, len(f))
	for i := range f {
		seconds[i] = f[i].Seconds()
	}
	return SpreadOf(seconds)
}

// To returns the spread of the ratios to another side's figures. Each ratio is within one round.
func (f Figures) To(other Figures) Spread {
	ratios := make([]float64, len(f))
	for i := range f {
		ratios[i] = float64(f[i]) / float64(other[i])
	}
	return SpreadOf(ratios)
}

// median returns the median of a list. It sorts the list.
func median[N time.Duration | float64](list []N) N {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	half := len(list) / 2
	if len(list)%2 == 1 {
		return list[half]
	}
	return (list[half-1] + list[half]) / 2
}
