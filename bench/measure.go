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
	figures := make([]Figures, len(sides))
	for round := range rounds {
		for i := range sides {
			at := (i + round) % len(sides)
			p50, err := block(w, sides[at], n)
			if err != nil {
				return nil, err
			}
			figures[at] = append(figures[at], p50)
		}
	}
	return figures, nil
}

// block is the median time of n runs, after a few that do not count.
func block(w Workload, s Side, n int) (time.Duration, error) {
	runtime.GC() // nobody pays for another side's garbage
	for range max(1, n/10) {
		if err := s.Run(w); err != nil {
			return 0, err
		}
	}
	times := make([]time.Duration, n)
	for i := range times {
		start := time.Now()
		if err := s.Run(w); err != nil {
			return 0, err
		}
		times[i] = time.Since(start)
	}
	return median(times), nil
}

// Median is the median of the rounds' p50.
func (f Figures) Median() time.Duration { return median(slices.Clone(f)) }

// Over is the median of the ratios to another side's figures, each within its round.
func (f Figures) Over(floor Figures) float64 {
	ratios := make([]float64, len(f))
	for i := range f {
		ratios[i] = float64(f[i]) / float64(floor[i])
	}
	return median(ratios)
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
