// Command compare prints how the product does beside the bare loop and the bare server.
//
//	go run ./bench/compare                   everything, in about a minute
//	go run ./bench/compare -only inprocess   without the servers
//
// Each figure is the median of the ratios within a round; "control" is the bare side against itself.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"patterngate/bench"
)

func main() {
	rounds := flag.Int("rounds", 9, "interleaved rounds")
	runs := flag.Int("runs", 200, "runs in a block")
	only := flag.String("only", "inprocess,stdio,start,delays", "what to measure")
	flag.Parse()
	c := comparison{rounds: *rounds, runs: *runs}
	if err := c.measure(strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

type comparison struct {
	rounds, runs int
	programs     bench.Programs
	model        *bench.Model
}

func (c *comparison) measure(what []string) (err error) {
	dir, err := os.MkdirTemp("", "patterngate-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if c.programs, err = bench.Build(dir, slices.ContainsFunc(what, func(name string) bool { return name != "inprocess" && name != "delays" })); err != nil {
		return err
	}
	if c.model, err = c.programs.StartModel(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.model.Close()) }()
	parts := map[string]func() error{"inprocess": c.inProcess, "stdio": c.overStdio, "start": c.start, "delays": c.delays,
		"hop": c.hopStdio, "hop-http": c.hopHTTP, "many": c.many, "many-http": c.manyHTTP, "sessions": c.sessions}
	for _, name := range what {
		part, ok := parts[name]
		if !ok {
			return fmt.Errorf("%q: want inprocess, stdio, start or delays", name)
		}
		if err := part(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

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

// start prints the medians of a few starts.
func (c *comparison) start() error {
	fmt.Printf("start: %d times\n%-6s %14s %14s %10s\n", c.rounds, "", "tools/list ms", "first run ms", "idle MB")
	for _, side := range []struct {
		name  string
		start func(*bench.Model) (*bench.Session, error)
	}{{"bare", c.programs.StartBare}, {"ours", c.programs.StartOurs}} {
		var listed, first bench.Figures
		for range c.rounds {
			got, err := bench.MeasureStart(c.model, side.start, bench.Workloads()[0], false)
			if err != nil {
				return fmt.Errorf("%s: %w", side.name, err)
			}
			listed, first = append(listed, got.ToolsListed), append(first, got.FirstRun)
		}
		idle, err := bench.MeasureStart(c.model, side.start, bench.Workloads()[0], true)
		if err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
		fmt.Printf("%-6s %14.1f %14.1f %10.1f\n", side.name, us(listed.Median())/1000, us(first.Median())/1000, idle.IdleMB)
	}
	fmt.Println()
	return nil
}

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
