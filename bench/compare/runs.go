package main

import (
	"fmt"
	"time"

	"patterngate/bench"
)

func (c *comparison) inProcess() error {
	sides, done, err := bench.InProcess(c.model)
	if err != nil {
		return err
	}
	defer done()
	return c.table("in process", sides)
}

func (c *comparison) overStdio() error {
	sides, done, err := bench.OverStdio(c.programs, c.model)
	if err != nil {
		return err
	}
	defer done()
	return c.table("over stdio", sides)
}

// table prints a line for each workload and the means.
func (c *comparison) table(title string, sides []bench.Side) error {
	fmt.Printf("%s: %d rounds of %d runs\n", title, c.rounds, c.runs)
	fmt.Printf("%-6s %10s %10s %10s %10s\n", "", "bare us", "ours us", "control", "ours/bare")
	var controls, ratios float64
	workloads := bench.Workloads()
	for _, w := range workloads {
		f, err := bench.Compare(w, sides, c.rounds, c.runs)
		if err != nil {
			return err
		}
		bare, control, ours := f[0], f[1], f[2]
		controls += control.Over(bare)
		ratios += ours.Over(bare)
		fmt.Printf("%-6s %10.0f %10.0f %9.2fx %9.2fx\n", w.Name, us(bare.Median()), us(ours.Median()), control.Over(bare), ours.Over(bare))
	}
	n := float64(len(workloads))
	fmt.Printf("%-6s %10s %10s %9.2fx %9.2fx\n\n", "mean", "", "", controls/n, ratios/n)
	return nil
}

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// delays prints the time of an orchestrator's run with the reference's delays.
func (c *comparison) delays() error {
	side, done, err := bench.WithDelays(c.model)
	if err != nil {
		return err
	}
	defer done()
	var took bench.Figures
	for range 3 {
		began := time.Now()
		if err := side.Run(bench.Workloads()[1]); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	fmt.Printf("orchestrator with delays: %.3f s\n", took.Median().Seconds())
	return nil
}
