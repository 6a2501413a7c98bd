// Command manyruns carries out orchestrator runs at once with the delays of the reference, and prints as JSON what one
// took, what all took, and how much memory its process had at most.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"patterngate/bench"
)

func main() {
	n := flag.Int("n", 1000, "runs at once")
	by := flag.String("by", string(bench.ByRules), "whose plan: rules or caller")
	flag.Parse()
	if err := run(bench.Proposer(*by), *n); err != nil {
		fmt.Fprintln(os.Stderr, "manyruns:", err)
		os.Exit(1)
	}
}

func run(by bench.Proposer, n int) error {
	m, err := bench.ManyRuns(context.Background(), by, n, 1)
	if err != nil {
		return err
	}
	if m.PeakMB, err = bench.MemoryMB("self", "VmHWM"); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}
