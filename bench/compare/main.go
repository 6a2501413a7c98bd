// Command compare prints how the product does beside the bare loop and the bare server, with the targets.
//
//	go run ./bench/compare                          everything, in about four minutes
//	go run ./bench/compare -only hop,many,start     some of it; "hop" is hop-stdio,hop-http, "many" is many-local,many-http
//
// Each figure is the median of the ratios within a round; "control" is the bare side against itself.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"patterngate/bench"
)

func main() {
	rounds := flag.Int("rounds", 9, "interleaved rounds")
	runs := flag.Int("runs", 200, "runs in a block")
	only := flag.String("only", strings.Join(parts, ","), "what to measure")
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
	servers := slices.ContainsFunc(what, func(name string) bool { return name != "inprocess" && name != "delays" && name != "durable-slow" })
	if c.programs, err = bench.Build(dir, servers); err != nil {
		return err
	}
	if c.model, err = c.programs.StartModel(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.model.Close()) }()
	for _, name := range what {
		fmt.Printf("[%d processors%s]\n", runtime.NumCPU(), load())
		if err := c.part(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// load returns how busy the machine is, on Linux. A value near 0 means that no other program runs.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	lately, _, _ := strings.Cut(string(text), " ")
	return ", load " + lately + " before this"
}

// parts are what is measured, in this order.
var parts = []string{"inprocess", "stdio", "start", "delays", "hop", "many", "sessions", "durable", "durable-slow"}

func (c *comparison) part(name string) error {
	switch name {
	case "inprocess":
		return c.inProcess()
	case "stdio":
		return c.overStdio()
	case "start":
		return c.start()
	case "delays":
		return c.delays()
	case "hop":
		return errors.Join(c.hop(false), c.hop(true))
	case "hop-stdio", "hop-http":
		return c.hop(name == "hop-http")
	case "many":
		return errors.Join(c.manyLocal(), c.manyHTTP())
	case "many-local":
		return c.manyLocal()
	case "many-http":
		return c.manyHTTP()
	case "sessions":
		return c.sessions()
	case "durable":
		return c.durable()
	case "durable-slow":
		return c.durableSlow()
	}
	return fmt.Errorf("want one of %s", strings.Join(parts, ", "))
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}
