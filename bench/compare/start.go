package main

import (
	"fmt"
	"time"

	"patterngate/bench"
)

// mostStart is what a start may take until tools/list is answered, with the store.
const mostStart = 20 * time.Millisecond

// start prints the medians of starts in turn, and the memory after one.
func (c *comparison) start() error {
	names := []string{"bare", "ours"}
	starts := []func(*bench.Model) (*bench.Session, error){c.programs.StartBare, c.programs.StartOurs}
	w := bench.Workloads()[0]
	first := make([]bench.Figures, len(starts))
	listed, err := bench.InTurn(len(starts), 2*c.rounds, func(side int) (time.Duration, error) {
		got, err := bench.MeasureStart(c.model, starts[side], w, false)
		first[side] = append(first[side], got.FirstRun)
		return got.ToolsListed, err
	})
	if err != nil {
		return err
	}
	fmt.Printf("start: %d times\n%-6s %14s %14s %8s %14s %10s\n", 2*c.rounds, "", "tools/list ms", "half of them", "target", "first run ms", "idle MB")
	for side, name := range names {
		idle, err := bench.MeasureStart(c.model, starts[side], w, true)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s, target := listed[side].Spread(), ""
		if name == "ours" {
			target = fmt.Sprintf("<= %d %s", mostStart.Milliseconds(), verdict(s.Median <= mostStart.Seconds()))
		}
		fmt.Printf("%-6s %14.1f %6.1f to %4.1f %8s %14.1f %10.1f\n",
			name, 1000*s.Median, 1000*s.Low, 1000*s.High, target, us(first[side].Median())/1000, idle.IdleMB)
	}
	fmt.Println()
	return nil
}
