package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"patterngate/bench"
)

// durable prints what a state file costs, in process and over stdio.
func (c *comparison) durable() error {
	err := c.inState(func(dir string) error {
		sides, done, err := bench.Durably(c.model, dir, 0)
		if err != nil {
			return err
		}
		defer done()
		return c.costs("durable, in process", sides, bench.Workloads(), 1.9)
	})
	if err != nil {
		return err
	}
	sides, done, err := bench.DurablyServed(c.programs, c.model)
	if err != nil {
		return err
	}
	defer done()
	return c.costs("durable, over stdio", sides, bench.Workloads(), 1.5)
}

// durableSlow prints what it costs before a model that takes 50 ms.
func (c *comparison) durableSlow() error {
	few := *c
	few.runs = max(1, c.runs/20)
	return c.inState(func(dir string) error {
		sides, done, err := bench.Durably(c.model, dir, 50*time.Millisecond)
		if err != nil {
			return err
		}
		defer done()
		return few.costs("durable, the model takes 50 ms", sides, bench.Workloads()[:1], 1.02)
	})
}

func (c *comparison) inState(measure func(dir string) error) error {
	dir, err := os.MkdirTemp("", "patterngate-state-")
	if err != nil {
		return err
	}
	return errors.Join(measure(dir), os.RemoveAll(dir))
}

// costs prints a line for each workload. The target is the task decomposition's, which is the first.
func (c *comparison) costs(title string, sides []bench.Side, workloads []bench.Workload, target float64) error {
	fmt.Printf("%s: %d rounds of %d runs\n", title, c.rounds, c.runs)
	fmt.Printf("%-6s %10s %10s %10s %12s\n", "", "memory us", "file us", "control", "file/memory")
	for i, w := range workloads {
		f, err := bench.Compare(w, sides, c.rounds, c.runs)
		if err != nil {
			return err
		}
		memory, control, file := f[0], f[1], f[2]
		fmt.Printf("%-6s %10.0f %10.0f %9.2fx %11.2fx", w.Name, us(memory.Median()), us(file.Median()), control.Over(memory), file.Over(memory))
		if i == 0 {
			fmt.Printf("  target %.2fx: %s", target, verdict(file.Over(memory) <= target))
		}
		fmt.Println()
	}
	fmt.Println()
	return nil
}
