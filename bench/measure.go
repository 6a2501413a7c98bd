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

// Figures are the times of one side at one workload, one p50 a round.
type Figures []time.Duration

// Compare measures every side at a workload in rounds: in each round every side makes n runs in a row, the side that
// begins changing from round to round, so that what the machine does meanwhile meets all sides alike.
func Compare(w Workload, sides []Side, rounds, n int) ([]Figures, error) {
	return InTurn(len(sides), rounds, func(side int) (time.Duration, error) {
		return block(n, func() error { return sides[side].Run(w) })
	})
}

// InTurn measures so many sides in rounds, the side that begins changing from round to round.
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

// block is the median time of n runs, after a few that do not count.
func block(n int, run func() error) (time.Duration, error) {
	runtime.GC() // nobody pays for another side's garbage
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

// Median is the median of the rounds.
func (f Figures) Median() time.Duration { return median(slices.Clone(f)) }

// Over is the median of the ratios to another side's figures, each within its round.
func (f Figures) Over(floor Figures) float64 { return f.To(floor).Median }

// Spread is the median of a list, and what half of it lies between: of three and fewer, its least and its greatest.
type Spread struct{ Median, Low, High float64 }

// SpreadOf is the spread of a list, which it sorts.
func SpreadOf(list []float64) Spread {
	if len(list) == 0 {
		return Spread{}
	}
	middle, out := median(list), len(list)/4
	return Spread{middle, list[out], list[len(list)-1-out]}
}

// Spread is the spread of the rounds, in seconds.
func (f Figures) Spread() Spread {
	seconds := make([]float64, len(f))
	for i := range f {
		seconds[i] = f[i].Seconds()
	}
	return SpreadOf(seconds)
}

// To is the spread of the ratios to another side's figures, each within its round.
func (f Figures) To(other Figures) Spread {
	ratios := make([]float64, len(f))
	for i := range f {
		ratios[i] = float64(f[i]) / float64(other[i])
	}
	return SpreadOf(ratios)
}

// median sorts its argument.
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
